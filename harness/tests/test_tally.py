"""The exit code is the worst thing that is true."""

import pytest

from touchstone.harness.known import FIXED, NEW, Surprise
from touchstone.harness.run import tally
from touchstone.harness.tests.spark.made import case_row

SURPRISES = [Surprise(NEW, "a case", "it differs")]


def some_rows(codes):
    return [case_row(f"topics.c{i}[v1]", code, "t@1.0") for i, code in enumerate(codes)]


@pytest.mark.parametrize(
    ("codes", "expected"),
    [
        ([0, 0], tally.CONFORMED),
        ([0, 1, 3], tally.DIFFERENT),
        ([1, 2], tally.BROKE),
        ([0, 139], tally.BROKE),
        ([0, -9], tally.BROKE),
        ([0, 5], tally.BROKE),
        ([], tally.INCOMPLETE),
    ],
)
def test_of_several_the_worst_counts(codes, expected):
    assert tally.worst(codes) == expected


@pytest.mark.parametrize(
    ("codes", "planned", "surprises", "expected"),
    [
        ("CUK", 3, [], tally.CONFORMED),
        ("CUK", 4, [], tally.INCOMPLETE),
        ("", 0, [], tally.INCOMPLETE),
        ("CUI", 3, [], tally.INCOMPLETE),
        ("CUI", 3, SURPRISES, tally.DIFFERENT),
        ("CUB", 4, SURPRISES, tally.BROKE),
    ],
)
def test_of_one_target(codes, planned, surprises, expected):
    assert tally.exit_code(some_rows(codes), planned, surprises) == expected


def outside(codes):
    """Rows of which those that are not decided ask for another target."""
    reason = "out of scope: wants profile quick (a.ms=1)"
    rows = some_rows(codes)
    return [row | {"reason": reason} if row["verdict"] == "INCONCLUSIVE" else row for row in rows]


def test_what_asks_for_another_target_is_told_and_leaves_the_run_complete():
    assert tally.exit_code(outside("CUI"), 3, []) == tally.CONFORMED
    assert tally.exit_code(outside("CI") + some_rows("I"), 3, []) == tally.INCOMPLETE
    assert tally.exit_code(outside("CI"), 3, []) == tally.INCOMPLETE, "a case is missing"
    assert tally.exit_code(outside("II"), 2, []) == tally.INCOMPLETE, "nothing was judged"
    told = tally.scope({"planned": 3}, outside("CII"))
    assert told == (
        "scope: 1 of 3 cases judged; 2 ask for settings or brokers that it does not have"
    )


def test_what_conformed_only_when_asked_again_is_named():
    found = [row | {"at_first": "expected 1, got 2"} for row in some_rows("C" * 22)]
    lines = tally.flaky(found)
    assert lines[0] == "flaky: topics.c0[v1]: at first expected 1, got 2"
    assert lines[-1] == "... and 2 more flaky cases"


def test_how_a_flaky_case_differed_is_one_short_line():
    (row,) = some_rows("C")
    (line,) = tally.flaky([row | {"at_first": "oracle 1, target " + "x" * 20_000}])
    assert "oracle 1, target xxx" in line and len(line) < 300


def test_what_was_not_run_is_named():
    text = "\n".join(tally.not_run(some_rows("CCI"), 5, 2))
    assert "1 case because I of topics.c2[v1]" in text
    assert "not run: 2 planned cases were never started" in text
    assert "deselected: 2 cases" in text


def test_pins_that_say_no_truth_are_named_and_new_differences_are_causes():
    fixed = Surprise(FIXED, "a pin", "it conforms")
    lines = tally.surprising([*SURPRISES, *[fixed] * 22])
    assert lines[0] == str(fixed) and lines[-1] == "... and 2 more surprises"


def test_the_scope_says_what_a_run_says_nothing_about():
    header = {"planned": 6, "deselected": 4, "suites": 19, "release": "4.3"}
    assert tally.scope(header, some_rows("CDUIB")) == (
        "scope of Kafka 4.3: 2 of 10 cases judged; 1 unsupported, proved by a probe; "
        "1 not decided; 1 broken; 1 never started; 4 deselected; 1 of 19 suites were asked for"
    )
    assert tally.scope({"planned": 1}, some_rows("C")) == "scope: 1 of 1 cases judged"


def test_the_table_has_a_line_for_each_suite_and_one_for_all():
    lines = tally.table("suite", some_rows("CKD"))
    assert [line.split()[0] for line in lines] == ["suite", "topics", "total"]
    assert lines[1].split()[1:] == ["1", ".", ".", "1", "1", "."]
