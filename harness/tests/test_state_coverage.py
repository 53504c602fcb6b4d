"""Coverage of the state tables: what counts, what is out of reach, and who is caught lying."""

from __future__ import annotations

from touchstone.harness.cli import coverage
from touchstone.harness.run import state_coverage
from touchstone.harness.run.state_coverage import LATE, TABLES, Coverage, Part, report
from touchstone.reference_impl.group.states import Input, State

EMPTY_JOIN, STABLE_JOIN = (State.EMPTY, Input.JOIN_NEW), (State.STABLE, Input.JOIN_NEW)
EMPTY_SYNC = (State.EMPTY, Input.SYNC)
CELLS = (EMPTY_JOIN, EMPTY_SYNC, STABLE_JOIN)


def test_percent_is_of_what_can_be_reached():
    one = Coverage("g", {EMPTY_JOIN: 3}, {EMPTY_SYNC: "why"}, CELLS)
    assert one.percent == 50 and one.missing == [STABLE_JOIN] and not one.wrong
    assert list(report([one])) == [
        "g: 1 of 2 reachable cells (50 %)", "  not tried: STABLE x JOIN_NEW",
    ]  # fmt: skip


def test_a_cell_that_is_reached_after_all_is_told():
    one = Coverage("g", {EMPTY_SYNC: 1}, {EMPTY_SYNC: "why"}, CELLS)
    assert one.wrong == [EMPTY_SYNC]
    assert "  reached after all: EMPTY x SYNC" in list(report([one]))


def test_reasons_are_about_cells_that_are_there():
    reasons = state_coverage.unreachable()
    assert reasons.keys() == TABLES.keys()
    for name, table in TABLES.items():
        assert reasons[name].keys() < set(table)
    assert EMPTY_JOIN not in reasons[LATE]
    assert (State.EMPTY, Input.JOIN_STATIC) in reasons[LATE]  # an IMPOSSIBLE one needs no line


def test_only_conforming_cases_count(monkeypatch):
    def outcomes(judge, claim, function):
        for word, key in (("CONFORMS", EMPTY_JOIN), ("DIVERGES", STABLE_JOIN)):
            TABLES[LATE][key]
            yield "case", word, ""

    class Claims:
        suite = "rebalance"

        class shape:
            brokers = 1

    class Judge:
        def close(self):
            pass

    monkeypatch.setattr(state_coverage.detection, "functions", lambda: {"c": (Claims, None)})
    monkeypatch.setattr(state_coverage.detection, "outcomes", outcomes)
    monkeypatch.setattr(state_coverage, "judge_for", lambda *a, **k: Judge())
    walked = state_coverage.walk_part(Part("4.3", 0))
    assert walked[LATE] == {EMPTY_JOIN: 1}
    assert all(table.walked is None for table in TABLES.values())


def test_parts_walk_every_claim_once():
    numbers = list(range(100))
    parts = [numbers[number :: state_coverage.PARTS] for number in range(state_coverage.PARTS)]
    assert sorted(sum(parts, [])) == numbers


def test_parts_are_added_up_and_told(monkeypatch):
    def walked(pool, parts):
        yield from ((part, {LATE: {EMPTY_JOIN: 2}}) for part in parts)

    told = []
    monkeypatch.setattr(state_coverage, "_walked", walked)
    found = state_coverage.walk(["2.8", "4.3"], 1, told.append)
    parts = 2 * state_coverage.PARTS
    assert found[LATE] == {EMPTY_JOIN: 2 * parts}
    assert told[0] == f"1 of {parts} parts walked (release 4.3)" and len(told) == parts


def test_too_little_is_told_by_the_exit_code(monkeypatch):
    half = Coverage("g", {EMPTY_JOIN: 3}, {EMPTY_SYNC: "why"}, CELLS)
    monkeypatch.setattr(state_coverage, "coverage", lambda *how: [half])
    assert coverage.walk_states(1, 50.0) == 0
    assert coverage.walk_states(1, 50.1) == 2
