"""What a line of a result file holds, as types: a header, one row per case, a footer.

`results/rows.py` makes them and says of each field what it is; whatever judges, counts or shows a
run reads them. Files of earlier days lack fields that came later, so that no field is required of a
reader: `row.get(...)` where one may be missing.
"""

from __future__ import annotations

from typing import Any, TypedDict


class Sign(TypedDict, total=False):
    """One thing that a verdict rests on; `at` is its step's place in the scenario."""

    step: str
    path: str
    at: int
    api: str | None
    version: int | None
    kind: str  # judgement/grades.py
    stands: str  # whether it decides, ditto


class FailureSign(Sign, total=False):
    """An expectation that did not hold."""

    wanted: str
    got: str


class DifferenceSign(Sign, total=False):
    """Both sides as JSON has them."""

    oracle: Any
    target: Any
    entity: str  # what the nearest element around it is called


class FindingSign(Sign, total=False):
    """What a checker found."""

    checker: str
    sentence: str


class NoteSign(DifferenceSign, FindingSign, total=False):
    """A difference or a finding that decides nothing; a finding names its checker."""


class CaseRow(TypedDict, total=False):
    """One judged case."""

    row: str
    claim: str
    case: str
    suite: str
    sentence: str
    where: str
    level: str
    evidence: list[str]
    api: str | None
    version: int | None
    params: dict[str, str]
    harms: bool
    verdict: str
    connection: str
    reason: str
    failures: list[FailureSign]
    differences: list[DifferenceSign]
    findings: list[FindingSign]
    notes: list[NoteSign]
    known: str | None
    duration_ms: float
    transcript: str | None
    target: str
    release: str | None
    signature: str
    at_first: str | None


class StepSign(TypedDict):
    """One step of a case as it went on the target."""

    step: str
    api: str | None
    version: int | None
    at_ms: float | None  # since the case began; None of a step that was not attempted
    ms: float
    ended: str  # "answered", "sent", a direction of events, or "" where nothing is awaited


class PartRow(CaseRow, total=False):
    """A row of a part, which keeps what becomes of it when parts are joined."""

    steps: list[StepSign]


class PartMark(TypedDict):
    """Which part of a target's cases a process judged; `total` counts those of all parts."""

    index: int
    of: int
    total: int


class Header(TypedDict, total=False):
    """Who was judged, by whom, and what was in scope."""

    row: str
    schema: int
    run: str
    started: str
    target: str
    release: str | None
    kind: str
    oracle: str
    oracle_kind: str
    commit: str
    seed: int
    host: dict[str, str]
    planned: int
    part: PartMark
    arguments: list[str]
    deselected: int
    suites: int | None
    profiles: list[str]
    configured: bool | None
    build: str | None
    release_reason: str
    addresses: list[str]


class Footer(TypedDict, total=False):
    """Without it a file is incomplete."""

    row: str
    cases: int
    by_verdict: dict[str, int]
    finished: str
    exit: int
