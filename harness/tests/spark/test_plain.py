"""The table without Spark, and when a target may be called conforming."""

from __future__ import annotations

from pathlib import Path

import pytest

from touchstone.harness.spark import inputs, plain
from touchstone.harness.tests.spark import made

COUNTS = dict.fromkeys(plain.COLUMNS, 0)


@pytest.mark.parametrize(
    ("counts", "planned", "incomplete", "status"),
    [
        ({"cases": 3, "conforms": 3}, 3, None, "conforms"),
        ({"cases": 3, "conforms": 2, "unsupported": 1}, 3, None, "conforms"),
        ({"cases": 3, "conforms": 2, "known": 1}, 3, None, "conforms"),
        ({"cases": 3, "conforms": 2, "inconclusive": 1}, 3, None, "inconclusive"),
        ({"cases": 3, "conforms": 2, "diverges": 1}, 3, None, "diverges"),
        ({"cases": 3, "diverges": 1, "broken": 1}, 3, None, "broken"),
        ({"cases": 3, "conforms": 3}, 4, None, "incomplete"),
        ({"cases": 3, "conforms": 3}, 3, "no footer", "incomplete"),
        ({"cases": 0}, 0, None, "incomplete"),
    ],
)
def test_the_word_for_a_target(counts: dict, planned: int, incomplete: str, status: str) -> None:
    assert plain.status_of(COUNTS | counts, planned, incomplete) == status


def test_the_table_has_the_newest_run_of_each_target(tmp_path: Path) -> None:
    made.results(tmp_path, "n-01", "reference@4.3", {"topics.refused[v0]": "D"})
    made.results(tmp_path, "n-02", "reference@4.3", {"topics.refused[v0]": "C"})
    made.results(tmp_path, "n-01", "reference@2.8", {"topics.refused[v0]": "D"})
    files = [inputs.edges(path) for path in inputs.find([str(tmp_path)])]
    table = plain.table(plain.from_footers(files)).splitlines()
    assert [line.split()[0] for line in table] == ["target", "reference@2.8", "reference@4.3"]
    assert table[1].endswith("DIVERGES")
    assert table[2].endswith("CONFORMS")


def test_a_run_whose_differences_are_all_known_is_shown_as_known(tmp_path: Path) -> None:
    lines = made.result_lines("n-01", "reference@4.3", {"topics.refused[v0]": "K"})
    lines[-1]["exit"] = 0
    [target] = plain.from_footers([inputs.edges(made.write(tmp_path, lines))])
    assert (target["known"], target["diverges"], target["status"]) == (1, 0, "conforms")


def test_a_recorded_oracle_never_reads_as_live() -> None:
    assert plain.oracle_of({"oracle": "recorded@4.3", "oracle_kind": "recorded"}) == "recorded@4.3"
    assert plain.oracle_of({"oracle": "kafka@4.3", "oracle_kind": "process"}) == "live kafka@4.3"
    assert plain.oracle_of({"oracle": None, "oracle_kind": None}) == "none"


def test_markdown_survives_a_bar_in_a_reason(tmp_path: Path) -> None:
    path = made.results(tmp_path, "n-01", "reference@4.3", {"topics.refused[v0]": "C"})
    [target] = plain.from_footers([inputs.edges(path)])
    text = plain.markdown([target | {"incomplete": "a|b\nc"}])
    assert r"a\|b\\nc" in text, "a line break is nobody's but ours"
    assert len(text.splitlines()) == 3
