"""A card says what is claimed, what was asked, where the answers part, and how to see it again."""

from __future__ import annotations

import pytest

from touchstone.harness.judgement import card, wording
from touchstone.harness.judgement.card import changed, evidence_of, named
from touchstone.harness.model.expect import all_of, answer
from touchstone.harness.tests.doctor import golden, with_answer
from touchstone.harness.tests.results.runs import difference, failing, head
from touchstone.harness.tests.test_cli import LYING, SEEN, a_bundle


def text(made):
    return "\n".join(card.lines(made))


def test_a_bundle_shows_the_request_and_both_answers():
    made = card.of_bundle(a_bundle(), "bundles/demo.json")
    (step,) = made.steps
    assert step.title == "CreateTopics v7" and "topics[0].num_partitions = 2" in step.request
    (line,) = [one for one in step.lines if one.mark == card.DECIDES]
    assert (line.oracle, line.target) == (
        "answers NONE (0)", "answers TOPIC_ALREADY_EXISTS (36)",
    )  # fmt: skip
    assert "topics[name=$" in line.place, "an element goes by its name"
    assert made.replay == f"touchstone replay bundles/demo.json --target {SEEN.header.target}"


def test_names_of_the_run_are_those_of_the_scenario():
    made = card.of_bundle(a_bundle())
    assert any("$" in line for line in made.steps[0].request)
    assert not any(name in text(made) for name in SEEN.header.names.values())


def test_the_earliest_step_stands_first_and_later_ones_are_counted():
    def other(body):
        body["error_code"] = 3

    labels = ["fetched", "from inside", "a little", "out of range"]
    target = LYING
    for label in labels:
        target = with_answer(target, label, other)
    made = card.of_bundle(a_bundle(target=target))
    assert [step.label for step in made.steps] == ["created", "fetched", "from inside"]
    assert made.later == 2 and "2 more differences in later steps" in text(made)


def test_elements_that_differ_alike_share_a_line():
    differing = [difference(f"topics[{i}].error_code") for i in range(9)]
    differing += [difference(f"topics[{i}].topic_id", "0x00", f"$topic-id-{i}", kind="value")
                  for i in range(9)]  # fmt: skip
    (step,) = card.of_row(failing("topics.a[v4]", *differing), head()).steps
    assert [(line.place, line.alike) for line in step.lines] == [
        ("topics[0].error_code", 8), ("topics[0].topic_id", 8),
    ]  # fmt: skip
    assert step.more == 0


def test_codes_stand_before_values_and_notes_at_the_end():
    note = difference("topics[0].error_message", "a", "b", kind="prose")
    row = failing("topics.a[v4]", difference("size", 1, 2, kind="value"), difference(),
                  notes=[note])  # fmt: skip
    (step,) = card.of_row(row, head()).steps
    assert [(line.place.rpartition(".")[2], line.mark) for line in step.lines] == [
        ("error_code", ">"), ("size", ">"), ("error_message", "note"),
    ]  # fmt: skip


def test_a_setup_step_that_explains_stands_before_what_it_explains():
    find = {"step": "find", "api": "FindCoordinator", "version": 2, "at": 1, "stands": "setup"}
    notes = [
        difference("error_code", 0, 15, **find),
        difference("error_message", "NONE", None, kind="prose", **find),
        difference("host", "a", "b", kind="value", **find | {"step": "later", "at": 9}),
    ]
    made = card.of_row(failing("topics.a[v4]", difference(), notes=notes), head())
    assert [(step.label, [line.mark for line in step.lines]) for step in made.steps] == [
        ("find", ["setup", "note"]), ("create", [">"]),
    ]  # fmt: skip
    assert "3 notes" in text(made)


def test_what_is_expected_and_what_a_checker_found_are_told():
    expected = all_of(answer("created", "topics[0].error_code").is_(0))
    assert "expected NONE (0), got TOPIC_ALREADY_EXISTS (36)" in text(
        card.of_bundle(a_bundle(expectation=expected))
    )
    finding = {"checker": "framing", "step": "create", "path": "", "sentence": "odd"}
    shown = text(card.of_row(failing("topics.a[v4]", findings=[finding]), head()))
    assert "a checker found: odd (framing, step 'create')" in shown


def test_a_connection_that_closed_is_said_in_words():
    closed = difference("connection", "answered", "closed", kind="connection")
    shown = text(card.of_row(failing("topics.a[v4]", closed), head()))
    assert "Kafka 0.1   answers\n" in shown and "this target closes the connection" in shown


def test_a_broken_case_tells_its_reason():
    row = failing("topics.a[v4]") | {"verdict": "BROKEN", "reason": "oracle disagrees: x"}
    assert "oracle disagrees: x" in text(card.of_row(row, head()))


def test_evidence_has_its_link_where_there_is_one():
    link = evidence_of("KIP-98").link
    assert link.startswith("https://") and evidence_of("observed on 2.8.2").link == ""
    shown = card.markdown(card.of_row(failing("topics.a[v4]", evidence=["KIP-98"]), head()))
    assert f"[KIP-98]({link})" in shown and shown.rstrip().endswith("```")


def test_evidence_says_what_it_stands_for():
    row = failing("topics.a[v4]", evidence=["TOPIC-11", "KIP-98", "observed on 2.8.2"])
    shown = text(card.of_row(row, head()))
    assert "  TOPIC-11: A number of partitions of zero or less is refused" in shown
    assert "  KIP-98: Exactly Once Delivery and Transactional Messaging (Data Flow, " in shown
    assert "  evidence: observed on 2.8.2\n" in shown
    clause = "TOPIC-11: A number of partitions of zero or less is refused with INVALID_PARTITIONS"
    assert clause in card.markdown(card.of_row(row, head()))


@pytest.mark.parametrize(
    ("oracle", "target", "expected"),
    [
        ("factor: 3 larger", "factor: 2 larger", ("factor: «3» larger", "factor: «2» larger")),
        ("abc", "xyz", ("abc", "xyz")),
        ("ab", "abc", ("ab«»", "ab«c»")),
        ("x" * 50 + "a" + "y" * 50, "x" * 50 + "b" + "y" * 50,
         ("…" + "x" * 24 + "«a»" + "y" * 24 + "…", "…" + "x" * 24 + "«b»" + "y" * 24 + "…")),
        ("aXa", "aa", ("a«X»a", "a«»a")),
    ],
)  # fmt: skip
def test_texts_are_compared_where_they_change(oracle, target, expected):
    assert changed(oracle, target) == expected


def test_elements_are_named_by_what_identifies_them():
    body = {"topics": [{"name": "t", "partitions": [{"partition_index": 7, "x": [1]}]}]}
    assert named("topics[0].partitions[0].x[0]", body) == (
        "topics[name=t].partitions[partition_index=7].x[0]"
    )
    assert named("topics[3].name", body) == "topics[3].name", "only the target has it"


def test_the_command_is_one_that_a_shell_understands():
    row = failing("topics.a[v4,acks=-1]", where="suites.topics.test_it.test_a")
    assert wording.again(row, head()) == (
        "pytest 'suites/topics/test_it.py::test_a[kfake@0.1-v4,acks=-1]' --target kfake.toml"
    )
    installed = row | {"where": "touchstone.suites.topics.test_it.test_a", "target": "t"}
    assert wording.again(installed, {}) == (
        "pytest --pyargs 'touchstone.suites.topics.test_it::test_a[t-v4,acks=-1]' --target t"
    )


def test_real_answers_of_every_release_make_cards():
    def change(body):
        body["topics"][0]["error_code"] = 3

    for release in ("1.0", "4.3"):
        seen = golden(release)
        target = with_answer(seen, "created", change)
        assert "UNKNOWN_TOPIC_OR_PARTITION (3)" in text(
            card.of_bundle(a_bundle(target=target, oracle=seen))
        )
