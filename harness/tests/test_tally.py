"""The exit code is the worst thing that is true."""

import pytest

from harness import tally
from harness.known import NEW, Surprise
from harness.tests.spark.made import case_row

NEWS = [Surprise(NEW, "a case", "it differs")]


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
        ("CUI", 3, [], tally.INCOMPLETE),
        ("CUI", 3, NEWS, tally.DIFFERENT),
        ("CUB", 4, NEWS, tally.BROKE),
    ],
)
def test_of_one_target(codes, planned, surprises, expected):
    assert tally.exit_code(some_rows(codes), planned, surprises) == expected


def test_the_table_names_what_conformed_only_when_asked_again():
    found = [row | {"at_first": "expected 1, got 2"} for row in some_rows("C" * 22)]
    lines = tally.table("t", found, planned=22, deselected=0, surprises=[])
    assert "flaky: topics.c0[v1]: at first expected 1, got 2" in lines
    assert lines[-1] == "... and 2 more flaky cases"


def test_the_table_names_what_was_not_run():
    found = some_rows("CCI")
    lines = tally.table("t", found, planned=5, deselected=2, surprises=NEWS * 22)
    text = "\n".join(lines)
    assert "1 case because I of topics.c2[v1]" in text
    assert "not run: 2 planned cases were never started" in text
    assert "deselected: 2 cases" in text and "and 2 more surprises" in text
    assert lines[-2] == str(NEWS[0])
