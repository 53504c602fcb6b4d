"""What a person is shown of a run: causes first, nothing lost, and never more than fits."""

from __future__ import annotations

import html.parser

import pytest

from touchstone.harness.known import FIXED, Surprise
from touchstone.harness.results import (
    badge,
    jsonl,
    page,
    run_folder,
    side_by_side,
    since,
    summary,
)
from touchstone.harness.results.summary import Report
from touchstone.harness.tests.results.runs import TARGET, difference, failing, head, rows
from touchstone.harness.tests.spark.made import NOTE, case_row

REPORT = Report(head(), rows(), [Surprise(FIXED, "k-1", "it conforms")])


def test_the_terminal_shows_causes_then_the_table_then_what_was_not_run():
    text = "\n".join(summary.lines(REPORT))
    order = [
        "kfake@0.1 against recorded@4.3: 3 cases diverge, 2 causes",
        " 1. CreateTopics v5  [CreateTopics.connection:answered,closed]",
        "Kafka 0.1 answers, this target closes the connection",
        " 2. CreateTopics v4-v5: topics[*].error_code  [CreateTopics.topics.error_code:37,0]",
        "Kafka 0.1 answers INVALID_PARTITIONS (37), this target answers NONE (0)",
        "2 cases; for example topics.zero[v4], step 'create':",
        "The sentence of topics.zero.",
        "pytest 'suites/topics/test_it.py::test_it[kfake@0.1-v4]' --target kfake.toml",
        "notes (they decide nothing):",
        'FindCoordinator v2: error_message: Kafka 0.1 answers "NONE", this target answers null',
        "\nsuite ",
        "known: k-1: CreateTopics v4: x (1 case)",
        "1 case not run: no capability 'harm'",
        "fixed: k-1: it conforms",
        "scope of Kafka 0.1: 5 of 6 cases judged; 1 not decided; 2 of 19 suites were asked for",
    ]
    at = [text.find(words) for words in order]
    assert -1 not in at, order[at.index(-1)]
    assert at == sorted(at)


def test_twenty_causes_are_shown_and_the_others_counted():
    many = [failing(f"topics.c{i}[v4]", difference(f"f{i:03}", kind="value")) for i in range(30)]
    text = "\n".join(summary.lines(Report(head(), many)))
    assert "20. CreateTopics" in text and "21. CreateTopics" not in text
    assert "... and 10 more causes" in text
    assert "... and 10 more causes" in summary.markdown([Report(head(), many)])


def test_notes_and_pinned_causes_that_are_not_shown_are_counted():
    many = [
        failing(f"topics.c{i}[v4]", difference(f"f{i:03}", kind="value"), known=f"k-{i}",
                notes=[NOTE | {"path": f"note_{i:03}"}])
        for i in range(30)
    ]  # fmt: skip
    text = summary.markdown([Report(head(), many)])
    assert f"... and {30 - summary.NOTES} more causes" in text
    assert f"... and {30 - summary.CAUSES} more notes" in text


def test_what_no_client_can_tell_stands_below_and_is_counted_apart():
    light = difference("metadata", kind="absence") | {"oracle": "", "target": None}
    grave = difference("topics[0].error_code", kind="code")
    rows_ = [
        failing("topics.a[v4]", light),
        failing("topics.b[v4]", grave, difference("later", kind="value") | {"at": 9}),
    ]
    report = Report(head(), rows_)
    assert summary.headline(report).endswith(
        "2 cases diverge, 1 cause; 1 of them only in what no client can tell"
    )
    text = "\n".join(summary.lines(report))
    above, _, below = text.partition(f"{summary.LIGHT}:")
    assert "hits an admin tool; behind it: 1 other difference" in above
    assert "metadata" in below and "metadata" not in above
    assert f"1 light cause: {summary.LIGHT}" in summary.markdown([report])
    shown = page.render([report])
    assert "behind it: 1 other difference" in shown and "topics.b[v4]" in shown
    assert "another code; hits an admin tool" in shown


@pytest.mark.parametrize(("finished", "judged"), [(False, 6), (False, 2), (True, 2)])
def test_a_run_that_was_cut_says_how_far_it_came(finished, judged):
    report = Report(head(), rows()[:judged], finished=finished)
    told = f"incomplete: cut after {judged} of 6 cases"
    assert told in summary.headline(report)
    assert told in summary.markdown([report]) and told in page.render([report])
    assert badge.of([report]).message.startswith("incomplete, ")
    assert not Report(head(), rows()).cut


def test_a_run_without_a_difference_says_so_and_its_scope():
    lines = summary.lines(Report(head(planned=1), rows()[:1]))
    assert lines[1] == "kfake@0.1 against recorded@4.3: no new difference"
    assert lines[-1].startswith("scope of Kafka 0.1: 1 of 1 cases judged")


def test_a_run_that_judged_nothing_does_not_call_that_no_difference():
    assert summary.headline(Report(head(), rows()[-1:])).endswith("no case could be judged")


@pytest.mark.parametrize(
    ("told", "line"),
    [
        ({"profiles": ["quick", "limits"], "configured": False}, "profile quick and limits"),
        ({"profiles": [], "configured": True}, "each claim got those that it wants"),
        ({"profiles": [], "configured": False}, "no profile was named"),
    ],
)
def test_every_report_says_with_which_settings_the_target_was_judged(told, line):
    report = Report(head(**told), rows())
    shown = ["\n".join(summary.lines(report)), summary.markdown([report]),
             page.render([report], lambda row: None)]  # fmt: skip
    assert [line in text for text in shown] == [True, True, True], line


def test_every_report_says_why_it_is_that_release():
    reason = "its ApiVersions fit 4.3 (75 of 75 ranges); 3.9 fits 30 of 75"
    report = Report(head(release="4.3", release_reason=reason), rows())
    line = f"held against Kafka 4.3: {reason}"
    assert line in summary.lines(report)
    assert f"- {line}" in summary.markdown([report]) and line in page.render([report])


def test_rows_of_older_runs_do_not_say_with_which_settings():
    older = {k: v for k, v in head().items() if k not in ("profiles", "configured")}
    assert not any(line.startswith("settings:") for line in summary.lines(Report(older, rows())))


def test_markdown_shows_what_stands_in_answers_as_it_is():
    odd = difference("a|b", "<script>", "`x`*", kind="value")
    text = summary.markdown([Report(head(), [failing("topics.a[v4]", odd)])])
    assert r"a\|b" in text and r"\<script>" in text and r"\`x\`\*" in text
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert table[0].count("|") == table[2].replace(r"\|", "").count("|")


class Reader(html.parser.HTMLParser):
    """Collects tags and what is asked of the network; fails on tags that are not closed."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.asked = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.asked += [value for name, value in attrs if name in ("src", "srcset")]
        if tag not in ("meta",):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def read(text):
    reader = Reader()
    reader.feed(text)
    assert reader.open == []
    return reader


def test_the_page_needs_nothing_else_and_opens_each_cause_to_its_cases():
    text = page.render([REPORT])
    reader = read(text)
    assert reader.asked == [] and "script" not in reader.tags and "link" not in reader.tags
    first, second = "CreateTopics.connection:answered,closed", "topics.error_code:37,0"
    assert text.index(first) < text.index(second)
    assert text.count("<code>topics.zero[v5]</code>") == 2, "among the cases, and on its card"
    assert "Known: every case is pinned" in text and "Notes: they decide nothing" in text


def test_the_page_shows_answers_as_text():
    odd = difference("x", "<script>alert(1)</script>", "&amp;", kind="value")
    text = page.render([Report(head(), [failing("topics.a[v4]", odd)])])
    assert "script" not in read(text).tags


def test_thousands_of_rows_stay_a_page():
    many = [
        failing(f"topics.c{i}[v4]", difference(f"f{i % 50}", i, "x" * 500, kind="value"))
        for i in range(5000)
    ]
    assert len(page.render([Report(head(), many)])) < 8 << 20


def write(path, found, header=None):
    with jsonl.Writer(path, header or head()) as writer:
        for row in found:
            writer.case(row)
        writer.finish(finished="2026-11-21T00:01:00+00:00", exit_code=1)


def test_a_run_folder_gets_a_summary_and_a_page_of_its_whole_files(tmp_path):
    write(tmp_path / "kfake.jsonl", rows())
    write(tmp_path / "other.jsonl", rows("other@1.0"), head("other@1.0"))
    (tmp_path / "cut.jsonl").write_text('{"row":"header"')
    run_folder.write(tmp_path)
    text = (tmp_path / "summary.md").read_text()
    assert text.count("cases diverge, 2 causes") == 2
    assert 'href="#other-1-0"' in (tmp_path / "index.html").read_text()


def test_a_folder_without_a_whole_file_gets_nothing(tmp_path):
    run_folder.write(tmp_path)
    assert list(tmp_path.iterdir()) == []


OTHER = Report(head("other@1.0"), rows("other@1.0")[:2])


def test_targets_stand_side_by_side_by_suite_and_by_cause():
    head_, body = side_by_side.by_suite([REPORT, OTHER])
    assert head_ == ["suite", TARGET, "other@1.0"]
    assert body == [["fetch", "0 of 2 (+1 not judged)", "·"], ["topics", "1 of 3", "1 of 2"]]
    _, body = side_by_side.by_cause([REPORT, OTHER])
    assert [line[2:] for line in body] == [
        ["no answer", "an admin tool", "1", "·", "CreateTopics.connection:answered,closed"],
        ["another code", "an admin tool", "2", "1", "CreateTopics.topics.error_code:37,0"],
        ["another value", "an admin tool", "1", "·", "CreateTopics.x:more"],
    ]
    assert side_by_side.by_target([REPORT, OTHER])[1][1] == [
        "other@1.0", "recorded@4.3", "1 of 2", "1", "1", "0", "0",
    ]  # fmt: skip


def test_columns_that_were_asked_alike_need_no_word():
    assert side_by_side.by_scope([REPORT, Report(head(run="run-22"), rows())])[1] == []
    assert side_by_side.UNLIKE not in side_by_side.markdown([REPORT])


@pytest.mark.parametrize(
    ("changed", "name", "answers"),
    [
        ({"profiles": ["authorizer"]}, "profiles", ["none named", "authorizer"]),
        ({"release": "3.9"}, "release", ["Kafka 0.1", "Kafka 3.9"]),
        ({"deselected": 118}, "deselected", ["0 cases", "118 cases"]),
        ({"oracle": "recorded@3.9"}, "oracle", ["recorded@4.3", "recorded@3.9"]),
        ({"configured": False}, "settings", ["not known", "the target's own"]),
        ({"planned": 12}, "cases", ["6 of 6 planned", "6 of 12 planned"]),
        ({"arguments": ["--strict-notes"]}, "notes", ["do not", "decide too"]),
        ({"commit": "0.2.0"}, "judged by", ["Touchstone c0ffee", "Touchstone 0.2.0"]),
    ],
)
def test_columns_that_were_not_asked_alike_say_in_what(changed, name, answers):
    other = Report(head(run="run-22", **changed), rows())
    assert side_by_side.by_scope([REPORT, other])[1] == [[name, *answers]]
    for text in (side_by_side.markdown([REPORT, other]), side_by_side.html([REPORT, other])):
        assert side_by_side.UNLIKE in text


def test_columns_of_other_cases_count_those_and_what_was_judged():
    fewer = Report(head(run="run-22", planned=4), rows()[:4])
    assert {name: answers for name, *answers in side_by_side.by_scope([REPORT, fewer])[1]} == {
        "cases": ["6 of 6 planned", "4 of 4 planned"], "judged": ["5 cases", "4 cases"],
        "cases of its own": ["2", "0"],
    }  # fmt: skip


EARLIER = "CDDDCIUCC-"
LATER = "DCDdICD-CC"
BECAME = [
    "new", "fixed", None, "differs otherwise", "no longer judged", "judged again", "changed",
    "not in the later", None, "not in the earlier",
]  # fmt: skip


def run_of(codes, run):
    made = [
        case_row(f"topics.c{i}[v4]", code.upper(), TARGET, signature=code)
        for i, code in enumerate(codes)
        if code != "-"
    ]
    return Report(head(run=run, started=f"2026-11-{run[-2:]}T01:00:00Z"), made)


def test_a_later_run_of_a_target_says_what_it_brought():
    earlier, later = run_of(EARLIER, "run-21"), run_of(LATER, "run-22")
    (one,) = since.pairs([later, earlier])
    expected = {kind: [f"topics.c{i}[v4]"] for i, kind in enumerate(BECAME) if kind}
    assert one.cases == expected and set(expected) == set(since.KINDS)
    text = side_by_side.markdown([later, earlier])
    assert "kfake@0.1: run-22 (build not known) since run-21 (build not known)" in text
    rows_ = side_by_side.named(one)[1]
    assert [row[0] for row in rows_] == list(since.KINDS)
    assert rows_[0][1].startswith("CreateTopics") and rows_[0][3] == "topics.c0[v4]"
    assert "topics.c9[v4]" in side_by_side.html([later, earlier])


def test_nothing_new_is_said_in_words():
    same = [run_of(EARLIER, "run-21"), run_of(EARLIER, "run-22")]
    assert "Every case came out as it did." in side_by_side.markdown(same)
    assert since.pairs([run_of(EARLIER, "run-21"), OTHER]) == []


def test_many_cases_of_one_cause_are_counted_where_they_are_not_named():
    many = side_by_side.CASES + 3
    same = [run_of("C" * many, "run-21"), run_of("D" * many, "run-22")]
    assert "and 3 more" in side_by_side.markdown(same)
    assert "and 3 more" not in side_by_side.html(same)


def test_one_target_of_two_runs_is_two_columns():
    again = Report(head(run="run-22"), rows())
    assert side_by_side.names([REPORT, again]) == ["kfake@0.1, run-21", "kfake@0.1, run-22"]


@pytest.mark.parametrize("make", [side_by_side.markdown, side_by_side.html])
def test_no_cause_at_all_is_a_comparison_too(make):
    assert "By cause" in make([Report(head(planned=1), rows()[:1])])
    read(side_by_side.html([REPORT, OTHER]))
