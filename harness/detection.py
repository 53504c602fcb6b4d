"""Do the suites notice? Every planted defect of the reference broker against its claim.

A switch names the claim that must catch it, and a claim names switches it must catch. Both lists
are held to the truth: a switch is *killed* when a case of one of its claims diverges with the
switch on and conforms with it off. A claim that survives what it says it catches is vacuous.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness import ledger
from harness.case import Case
from harness.claim import Claim, claim_of
from harness.court import Court, convene
from harness.verdict import DIVERGES
from reference_impl.broker.switches import SWITCHES

RELEASES = ("4.3", "2.8", "1.0")  # a switch need not exist in every persona


@dataclass(frozen=True, slots=True)
class Detection:
    """One switch under one claim: the release and case that killed it, or none."""

    switch: str
    claim: str
    killed_by: str | None
    reason: str = ""


def functions() -> dict[str, tuple[Claim, object]]:
    """Every claim of the suites by its id, with its function."""
    found = {}
    for name in sorted(ledger.test_modules()):
        for thing in vars(importlib.import_module(name)).values():
            claim = claim_of(thing)
            if claim is not None and claim.where.startswith(f"{name}."):
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


def detect(
    switch: str, claim: Claim, function: object, releases: Sequence[str] = RELEASES
) -> Detection:
    """Run a claim's cases on a reference broker with this defect until one diverges."""
    last = "no case on these releases"
    for release in releases:
        court = convene(f"reference@{release}+{switch}", nonce="detection", deadline_s=3.0)
        try:
            for case, kind, reason in outcomes(court, claim, function):
                last = f"{case} on {release}: {kind}: {reason}"
                if kind == DIVERGES:
                    return Detection(switch, claim.id, f"{case} on {release}", reason)
        finally:
            court.close()
    return Detection(switch, claim.id, None, last)


def outcomes(court: Court, claim: Claim, function: object) -> Iterator[tuple[str, str, str]]:
    """(case, verdict, reason) of every case of one claim."""
    for one in court.cases(claim):
        case = Case(one, court)
        with contextlib.suppress(AssertionError):  # the claim's own; its verdict says more
            function(case)  # type: ignore[operator]
        if case.judgement is not None:
            yield case.id, case.judgement.verdict.kind, case.judgement.verdict.reason


def score(found: Sequence[Detection]) -> Mapping[str, bool]:
    """Switch -> whether any of its claims killed it."""
    killed: dict[str, bool] = {}
    for one in found:
        killed[one.switch] = killed.get(one.switch, False) or one.killed_by is not None
    return killed
