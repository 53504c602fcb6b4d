"""The row: everything a report may know about one judged case, flat and versioned.

Reports, JUnit, Allure and Spark all read these rows and nothing else, so their totals cannot
disagree. A file is a header, one row per case, and a footer that counts them. Adding a field is a
compatible change; renaming one or changing its meaning raises SCHEMA.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from touchstone.harness.judgement.compare import Difference
from touchstone.harness.judgement.verdict import KINDS, Verdict
from touchstone.harness.model.case_row import (
    CaseRow,
    DifferenceSign,
    FailureSign,
    FindingSign,
    Footer,
    Header,
    NoteSign,
    PartMark,
)
from touchstone.harness.model.claim import CaseId
from touchstone.harness.model.expect import Failure
from touchstone.harness.model.finding import Finding
from touchstone.harness.model.shard import HARM

SCHEMA = 1
VERDICTS = KINDS
REQUIRED = ("claim", "case", "suite", "verdict", "target")
LISTED = ("differences", "findings")  # lists of every case row
HEADED = ("run", "started", "target", "oracle", "planned")  # of every header

# Every field of a case row and what kind of value it holds.
CASE: dict[str, str] = {
    "row": "text",  # "case"
    "claim": "text",  # the claim's id
    "case": "text",  # the claim's id with version and parameters
    "suite": "text",
    "sentence": "text",
    "where": "text",  # module and function of the claim
    "level": "text",
    "evidence": "texts",
    "api": "text",
    "version": "whole",
    "params": "map",
    "harms": "flag",  # whether the claim kills, stops or pauses brokers
    "verdict": "text",
    "connection": "text",
    "reason": "text",
    "failures": "failures",  # of the claim's expectation
    "differences": "differences",  # that decide, in the order of the steps
    "findings": "findings",  # of checkers, that decide
    "notes": "notes",  # differences and findings that decide nothing, each with its grade
    "known": "text",  # the id of the accepted divergence that explains it, or null
    "duration_ms": "number",
    "transcript": "text",  # the bundle beside the result file, or null
    "target": "text",
    "release": "text",
    "signature": "text",  # what a pin would name
    "at_first": "text",  # how it differed before it was asked again and conformed, or null
}


def header(
    *, run: str, started: str, target: str, release: str | None, kind: str, oracle: str,
    oracle_kind: str, commit: str, seed: int, host: Mapping[str, str], planned: int,
    part: PartMark | None = None, arguments: Sequence[str] = (), deselected: int = 0,
    suites: int | None = None, profiles: Sequence[str] = (), configured: bool | None = None,
    build: str | None = None, release_reason: str = "",
    addresses: Sequence[str] = (),
) -> Header:  # fmt: skip
    """The first line of a file: who was judged, by whom, from which commit; which part of it.

    `arguments` are pytest's that ask this target again; `deselected` counts cases that were
    collected and not chosen, `suites` all suites that there are, so that a row file says by itself
    what was in scope. `profiles` are those that the target is said to have; `configured` says
    whether each claim got the settings that it wants instead. `build` names the target's build;
    None where nobody knows it. `release_reason` says why it is that release,
    `addresses` where clients of the target are sent and whether they find it there.
    """
    found: Header = {} if part is None else {"part": part}
    return found | {
        "row": "header", "schema": SCHEMA, "run": run, "started": started, "target": target,
        "release": release, "kind": kind, "oracle": oracle, "oracle_kind": oracle_kind,
        "commit": commit, "seed": seed, "host": dict(host), "planned": planned,
        "arguments": list(arguments), "deselected": deselected, "suites": suites,
        "profiles": list(profiles), "configured": configured, "build": build,
        "release_reason": release_reason, "addresses": list(addresses),
    }  # fmt: skip


def unjoined(header: Header) -> str | None:
    """Why a file with this header is no target's results, if it is only a part of them."""
    part = header.get("part")
    if not isinstance(part, Mapping):
        return None if part is None else "a part of nobody knows what"
    index, count = (part.get(key) for key in ("index", "of"))
    return f"incomplete: part {index} of {count}, not joined with the others (touchstone join)"


def case(
    one: CaseId, verdict: Verdict, *, target: str, release: str | None, duration_ms: float,
    transcript: str | None = None, at_first: str | None = None,
) -> CaseRow:  # fmt: skip
    """The row of one judged case."""
    claim = one.claim
    return {
        "row": "case",
        "claim": claim.id,
        "case": one.id,
        "suite": claim.suite,
        "sentence": claim.sentence,
        "where": claim.where,
        "level": claim.level,
        "evidence": list(claim.evidence),
        "api": claim.api,
        "version": one.version,
        "params": {name: str(value) for name, value in one.params.items()},
        "harms": HARM in claim.capabilities,
        "verdict": verdict.kind,
        "connection": verdict.connection,
        "reason": verdict.reason,
        "failures": [failure(one) for one in verdict.failures],
        "differences": [difference(one) for one in verdict.differences],
        "findings": [finding(one) for one in verdict.findings],
        "notes": [note(one) for one in verdict.notes],
        "known": verdict.known,
        "duration_ms": round(duration_ms, 3),
        "transcript": transcript,
        "target": target,
        "release": release,
        "signature": verdict.signature,
        "at_first": at_first,
    }


def failure(one: Failure) -> FailureSign:
    return {
        "step": one.step, "path": one.path, "wanted": one.wanted, "got": one.got,
        "kind": one.kind, "api": one.api, "version": one.version, "at": one.at,
    }  # fmt: skip


def difference(one: Difference) -> DifferenceSign:
    return {
        "step": one.step, "path": one.path, "oracle": plain(one.oracle),
        "target": plain(one.target), "stands": one.stands, "kind": one.kind, "api": one.api,
        "version": one.version, "at": one.at, "entity": one.entity,
    }  # fmt: skip


def finding(one: Finding) -> FindingSign:
    return {
        "checker": one.checker, "step": one.step, "path": one.path, "sentence": one.sentence,
        "stands": one.stands, "kind": one.kind, "api": one.api, "version": one.version,
        "at": one.at,
    }  # fmt: skip


def note(one: Difference | Finding) -> NoteSign:
    found = finding(one) if isinstance(one, Finding) else difference(one)
    return cast(NoteSign, found)  # which requires no key, and has those of both


def footer(rows: Iterable[CaseRow], *, finished: str, exit_code: int) -> Footer:
    """The last line: without it a file is incomplete."""
    counted = totals(rows)
    return {
        "row": "footer",
        "cases": sum(counted.values()),
        "by_verdict": counted,
        "finished": finished,
        "exit": exit_code,
    }


def totals(rows: Iterable[CaseRow]) -> dict[str, int]:
    """Verdict -> number of cases; every verdict is there, in order from best to worst."""
    counted = Counter(row["verdict"] for row in rows)
    return {kind: counted.get(kind, 0) for kind in KINDS}


def plain(value: Any) -> Any:
    """Any decoded value as JSON: bytes as hex with 0x in front, what JSON lacks as text."""
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if isinstance(value, bytes | bytearray | memoryview):
        return f"0x{bytes(value).hex()}"
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, int | float) else str(value)
