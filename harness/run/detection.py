"""Do the suites notice? Every planted defect of the reference broker against its claim.

A switch names the claim that must catch it, and a claim names switches it must catch. Both lists
are held to the truth: a switch is *killed* when a case of one of its claims diverges with the
switch on and conforms with it off. A claim that survives what it says it catches is vacuous.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from touchstone.harness.judgement.verdict import DIVERGES, Verdict
from touchstone.harness.model import ledger
from touchstone.harness.model.case import Case, run_case
from touchstone.harness.model.case_row import CaseRow
from touchstone.harness.model.claim import BROKER_ROLE, CaseId, Claim, claim_of, module_of
from touchstone.harness.model.shard import HARM
from touchstone.harness.results import rows
from touchstone.harness.run.judge import Judge, judge_for
from touchstone.reference_impl.broker.faults.switches import SWITCHES

DEADLINE_S = 10.0  # a broker of ours needs less, also on a machine that is busy with all of CI
ENOUGH = 6  # cases of one claim that differ: what a defect looks like in old and new versions
JOBS = 8  # judges at a time
RELEASES = ("4.3", "2.8", "1.0")  # a switch need not exist in every persona
_JUDGED: dict[tuple[str, str, str, bool], Future[tuple[CaseRow, ...]]] = {}


@dataclass(frozen=True, slots=True)
class Detection:
    """One switch under one claim: the release and case that killed it, or none."""

    switch: str
    claim: str
    killed_by: str | None
    reason: str = ""


@functools.cache
def functions(role: str = BROKER_ROLE) -> dict[str, tuple[Claim, Any]]:
    """Every claim about brokers, or clients, by its id, with its function."""
    found = {}
    for name in sorted(ledger.test_modules()):
        for thing in vars(importlib.import_module(module_of(name))).values():
            claim = claim_of(thing)
            if claim is None or claim.role != role:
                continue
            if claim.where.startswith(f"{name}."):
                found[claim.id] = claim, thing
    return found


def catchers(claims: Sequence[Claim]) -> dict[str, list[str]]:
    """Switch -> ids of the claims that must catch it: those it names and those that name it."""
    found = {name: [switch.caught_by] for name, switch in SWITCHES.items()}
    for claim in claims:
        for name in claim.switches:
            if claim.id not in found.setdefault(name, []):
                found[name].append(claim.id)
    return found


def judged(switch: str, id: str, release: str, strict: bool = False) -> tuple[CaseRow, ...]:
    """The rows of one claim's cases on a reference broker with this defect, until ENOUGH differ.

    They are judged once: who asks while another thread judges them waits for that.
    """
    key = switch, id, release, strict
    mine: Future[tuple[CaseRow, ...]] = Future()
    found = _JUDGED.setdefault(key, mine)
    if found is mine:
        try:
            found.set_result(_judged(*key))
        except BaseException as error:
            found.set_exception(error)
    return found.result()


def _judged(switch: str, id: str, release: str, strict: bool) -> tuple[CaseRow, ...]:
    claim, function = functions()[id]
    judge = judge_for(
        f"reference@{release}+{switch}", nonce="detection", deadline_s=DEADLINE_S, strict=strict
    )
    try:
        return tuple(_until_enough(_rows(judge, claim, function, release)))
    finally:
        judge.close()


@contextlib.contextmanager
def ahead(pairs: Iterable[tuple[str, str]]) -> Iterator[None]:
    """Meanwhile JOBS pairs of switch and claim are judged at a time, each on a broker of its own:
    most of a case is waiting. Those that harm brokers wait longest and come first.
    """
    known = functions()
    waiting = [pair for pair in pairs if pair[1] in known and pair[0] in SWITCHES]
    waiting.sort(key=lambda pair: HARM not in known[pair[1]][0].capabilities)
    pool = ThreadPoolExecutor(JOBS, thread_name_prefix="detection")
    try:
        for pair in waiting:
            pool.submit(detect, *pair)
        yield
    finally:
        pool.shutdown(cancel_futures=True)


def _until_enough(found: Iterator[CaseRow]) -> Iterator[CaseRow]:
    differing = 0
    for row in found:
        yield row
        differing += row["verdict"] == DIVERGES
        if differing == ENOUGH:
            return


def _spread(cases: list[CaseId]) -> list[CaseId]:
    """The first, the last, some between, then the rest: far versions differ most."""
    count = len(cases)
    early = dict.fromkeys(part * (count - 1) // 4 for part in (0, 4, 2, 1, 3)) if cases else {}
    return [cases[i] for i in [*early, *(i for i in range(count) if i not in early)]]


def _rows(judge: Judge, claim: Claim, function: Any, release: str) -> Iterator[CaseRow]:
    for one, verdict in _verdicts(judge, claim, function):
        yield rows.case(one, verdict, target=judge.name, release=release, duration_ms=0)


def outcomes(judge: Judge, claim: Claim, function: Any) -> Iterator[tuple[str, str, str]]:
    """(case, verdict, reason) of every case of one claim."""
    for one, verdict in _verdicts(judge, claim, function):
        yield one.id, verdict.kind, verdict.reason


def _verdicts(judge: Judge, claim: Claim, function: Any) -> Iterator[tuple[CaseId, Verdict]]:
    for one in _spread(judge.cases(claim)):
        case = Case(one, judge)
        yield one, run_case(function, case).verdict


def detect(switch: str, id: str, releases: Sequence[str] = RELEASES) -> Detection:
    """Run a claim's cases on reference brokers with this defect until a release shows it."""
    last = "no case on these releases"
    for release in releases:
        for row in judged(switch, id, release):
            last = f"{row['case']} on {release}: {row['verdict']}: {row['reason']}"
            if row["verdict"] == DIVERGES:
                return Detection(switch, id, f"{row['case']} on {release}", row["reason"])
    return Detection(switch, id, None, last)


def rows_of(switch: str, ids: Sequence[str], releases: Sequence[str] = RELEASES) -> list[CaseRow]:
    """What each of these claims shows of a defect, on the first release that shows it."""
    found: list[CaseRow] = []
    for id in ids:
        every = (judged(switch, id, release) for release in releases)
        found += next((some for some in every if _differs(some)), ())
    return found


def _differs(some: Sequence[CaseRow]) -> bool:
    return any(row["verdict"] == DIVERGES for row in some)


def score(found: Sequence[Detection]) -> Mapping[str, bool]:
    """Switch -> whether any of its claims killed it."""
    killed: dict[str, bool] = {}
    for one in found:
        killed[one.switch] = killed.get(one.switch, False) or one.killed_by is not None
    return killed
