"""What a case comes to: one of five kinds, how the connection stood, and why. Pure.

Five kinds, because "failed" hides four different truths. CONFORMS: the target did what the oracle
did. DIVERGES: it did not. INCONCLUSIVE: nobody knows (it could not be reached, it has not enough
brokers). UNSUPPORTED: it says so and proves it. BROKEN: we are at fault; an exception in a checker,
an expectation that Kafka itself does not meet. BROKEN is worst, since it makes every other verdict
doubtful, and it is never the target's fault (quic-interop-runner and h2 both launder theirs).

A case is decided by its expectation and by what it asked. What differs in its setup, and text that
is written for people, becomes a note (`grades`): kept, shown, counted, and no reason to diverge,
because a target with one odd field in a common step would else fail hundreds of claims that are
not about it. A strict judge has no notes; our own personas are judged strictly.

Nothing rewrites a verdict: `known` is a note beside it. The road is fixed: the oracle is asked
first whether it agrees with the claim, then the target's answers are held against the expectation,
against the oracle field by field, and against every passive checker.
"""

from __future__ import annotations

import struct
import traceback
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from touchstone.harness import checkers
from touchstone.harness.judgement import grades
from touchstone.harness.judgement.compare import Difference, compare
from touchstone.harness.model.expect import Expectation, Failure
from touchstone.harness.model.finding import Finding
from touchstone.harness.model.transcript import RoundTrip, Transcript

CONFORMS = "CONFORMS"
UNSUPPORTED = "UNSUPPORTED"
INCONCLUSIVE = "INCONCLUSIVE"
DIVERGES = "DIVERGES"
BROKEN = "BROKEN"
KINDS = (CONFORMS, UNSUPPORTED, INCONCLUSIVE, DIVERGES, BROKEN)  # from best to worst

OUTCOMES = ("kept", "closed", "reset", "hung")  # of a connection, from best to worst
UNSUPPORTED_VERSION = 35
OUT_OF_SCOPE = "out of scope"  # how the reason of a case begins that asks for another target
UNREACHABLE = "refused"
SHOWN_NOTES = 4
GIVEN_UP = frozenset({"refused", "garbled", "timeout", "unresolved", "unmet", "gone"})


@dataclass(frozen=True)
class Verdict:
    """The judgement of one case. It is no truth by itself: ask `verdict.conforms`."""

    kind: str
    connection: str = "kept"
    reason: str = ""
    differences: tuple[Difference, ...] = ()
    findings: tuple[Finding, ...] = ()
    failures: tuple[Failure, ...] = ()
    notes: tuple[Difference | Finding, ...] = ()  # what is odd and decides nothing
    known: str | None = None
    stack: str = ""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"no such verdict: {self.kind!r}")
        if self.connection not in OUTCOMES:
            raise ValueError(f"no such end of a connection: {self.connection!r}")

    def __bool__(self) -> bool:
        raise TypeError("a verdict is no truth by itself: ask verdict.conforms")

    @property
    def conforms(self) -> bool:
        return self.kind == CONFORMS

    @property
    def signature(self) -> str:
        """What a pin names: the kind and the first place, without values that change by the run."""
        if self.kind in (CONFORMS, UNSUPPORTED, INCONCLUSIVE):
            return self.kind
        return f"{self.kind} {self.connection} {self._place()}".rstrip()

    def _place(self) -> str:
        places: tuple[Difference | Failure, ...] = (*self.differences, *self.failures)
        for place in places:
            return f"{place.step}: {place.path}"
        for finding in self.findings:
            return f"{finding.step}: {finding.checker}"
        return self.reason.partition(":")[0]

    def __str__(self) -> str:
        lines = [f"{self.kind} (connection {self.connection}): {self.reason}".removesuffix(": ")]
        lines += [f"  expected  {failure}" for failure in self.failures]
        lines += [f"  differs   {difference}" for difference in self.differences[:12]]
        if len(self.differences) > 12:
            lines.append(f"  ... and {len(self.differences) - 12} more differences")
        lines += [f"  found     {finding}" for finding in self.findings]
        lines += [f"  note      {note}" for note in self.notes[:SHOWN_NOTES]]
        if len(self.notes) > SHOWN_NOTES:
            lines.append(f"  ... and {len(self.notes) - SHOWN_NOTES} more notes")
        lines += [self.stack] if self.stack else []
        return "\n".join(lines)


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The worst of several, with the worst end of a connection; of none, INCONCLUSIVE."""
    found = list(verdicts)
    if not found:
        return Verdict(INCONCLUSIVE, reason="nothing was judged")
    bad = max(found, key=lambda verdict: KINDS.index(verdict.kind))
    end = max((verdict.connection for verdict in found), key=OUTCOMES.index)
    return replace(bad, connection=end)


def broken(error: BaseException, connection: str = "kept") -> Verdict:
    """The verdict of an exception inside the harness, with its stack."""
    stack = "".join(traceback.format_exception(error)).rstrip()
    return Verdict(BROKEN, connection, f"{type(error).__name__}: {error}", stack=stack)


def inconclusive(reason: str) -> Verdict:
    return Verdict(INCONCLUSIVE, reason=reason)


def judge(
    expectation: Expectation | None,
    target: Transcript,
    oracle: Transcript | None,
    *,
    release: str | None = None,
    watch_oracle: bool = False,
    api: str | None = None,
    version: int | None = None,
    strict: bool = False,
) -> Verdict:
    """The verdict on two transcripts of one scenario; without an oracle, on one.

    `release` is the oracle's, which decides between the branches of an expectation. The oracle's
    transcript is checked too when the target's has findings, or always by `watch_oracle`: a checker
    that fires on Kafka is wrong. `api` and `version` are the claim's and the case's, which say what
    was asked; `strict` lets setup and texts decide as well.
    """
    try:
        sides = [one for one in (oracle, target) if one is not None]
        graded = grades.grading(expectation, sides, api=api, version=version, release=release)
        return _judge(expectation, target, oracle, release, watch_oracle, graded, strict)
    except Exception as error:  # a mistake of ours, whatever it is, must not colour the target
        return broken(error)


def _judge(
    expectation: Expectation | None,
    target: Transcript,
    oracle: Transcript | None,
    release: str | None,
    watch_oracle: bool,
    graded: grades.Grading,
    strict: bool,
) -> Verdict:
    wrong = None if oracle is None else oracle_at_fault(expectation, oracle, release)
    if wrong is not None:
        return wrong
    if not reached(target):
        return Verdict(INCONCLUSIVE, target.connection, "no connection to the target")
    found = checkers.check_all(target)
    if oracle is not None and (found or watch_oracle):
        fired = checkers.check_all(oracle)
        if fired:
            text = f"oracle disagrees: a checker fires on it: {fired[0]}"
            return Verdict(BROKEN, target.connection, text, findings=tuple(fired))
    unmet = [] if expectation is None else expectation.failures(target, release)
    failures = tuple(_graded_failure(failure, graded) for failure in unmet)
    differences, notes = _split(() if oracle is None else compare(oracle, target), graded, strict)
    findings, more = _split([_graded_finding(one, graded) for one in found], graded, strict)
    notes += more
    if oracle is None and not failures and not target.complete:
        reason = f"nothing to compare with, and the case was not finished: {given_up(target)}"
        return Verdict(INCONCLUSIVE, target.connection, reason, findings=findings, notes=notes)
    parts = (*failures, *differences, *findings)
    if not parts:
        return Verdict(CONFORMS, target.connection, notes=notes)
    return Verdict(
        DIVERGES, target.connection, str(parts[0]),
        differences=differences, findings=findings, failures=failures, notes=notes,
    )  # fmt: skip


def _split(
    found: Iterable[Any], graded: grades.Grading, strict: bool
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """(what decides, what is only noted), each with where it stands."""
    placed = [replace(one, stands=graded.stands(one.step, one.path)) for one in found]
    deciding = [grades.decides(one.stands, one.kind, strict) for one in placed]
    return (
        tuple(one for one, decides in zip(placed, deciding, strict=True) if decides),
        tuple(one for one, decides in zip(placed, deciding, strict=True) if not decides),
    )


def _graded_failure(failure: Failure, graded: grades.Grading) -> Failure:
    facts = graded.facts(failure.step)
    return replace(
        failure, kind=grades.kind_of_failure(failure.path), api=facts.api, version=facts.version,
        at=facts.at,
    )  # fmt: skip


def _graded_finding(finding: Finding, graded: grades.Grading) -> Finding:
    facts = graded.facts(finding.step)
    return replace(
        finding, kind=grades.kind_of_finding(finding.checker), api=facts.api,
        version=facts.version, at=facts.at,
    )  # fmt: skip


def oracle_at_fault(
    expectation: Expectation | None, oracle: Transcript, release: str | None
) -> Verdict | None:
    """BROKEN when Kafka itself does not do what the claim says; None when it does."""
    if expectation is not None:
        failures = tuple(expectation.failures(oracle, release))
        if failures:
            reason = f"oracle disagrees: {failures[0]}"
            return Verdict(BROKEN, oracle.connection, reason, failures=failures)
    unfinished = given_up(oracle, allowed=("timeout",) if expectation is not None else ())
    if unfinished:
        return Verdict(BROKEN, oracle.connection, f"oracle disagrees: {unfinished}")
    return None


def reached(transcript: Transcript) -> bool:
    """Whether any connection to the target came about, if any was wanted."""
    directions = {event.direction for event in transcript.events}
    return "opened" in directions or UNREACHABLE not in directions


def given_up(transcript: Transcript, allowed: tuple[str, ...] = ()) -> str | None:
    """The first thing the driver gave up, in words; None when every step was seen through."""
    for event in transcript.events:
        if event.direction in GIVEN_UP and event.direction not in allowed:
            return f"{transcript.label(event.step)}: {event.direction}: {event.note}".rstrip(": ")
    return None


def is_refusal(trip: RoundTrip) -> bool:
    """Whether the target says "not this version": it closes the connection, as Kafka does, or
    answers error 35, in an answer of the API or alone behind the correlation id.
    """
    if trip.received is None:
        return trip.ending is not None and trip.ending.direction in ("closed", "reset")
    alone = trip.received.raw[4:] == struct.pack(">h", UNSUPPORTED_VERSION)
    return alone or any(code == UNSUPPORTED_VERSION for code in _error_codes(trip.answer))


def _error_codes(value: object) -> Iterable[int]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if name == "error_code" and isinstance(inner, int):
                yield inner
            yield from _error_codes(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _error_codes(inner)


def unsupported(
    api: int, version: int, advertised: Mapping[int, tuple[int, int]], probe: Transcript
) -> Verdict | None:
    """The verdict on a version that ApiVersions omits, by the first request of it in a transcript:
    UNSUPPORTED if that is refused. Else DIVERGES, whatever it was answered: who answers what it
    does not offer is not held against Kafka field by field, since no client asks it.

    None where nothing is to be said: of a version that is advertised (advertised and refused is not
    unsupported: the case goes on and DIVERGES), and where nobody asked for an answer.
    """
    low, high = advertised.get(api, (0, -1))
    trips = [
        one for one in probe.round_trips
        if (one.event.api, one.event.version) == (api, version) and not one.event.silent
    ]  # fmt: skip
    if low <= version <= high or not trips:
        return None
    offered = f"{low} to {high}" if high >= 0 else "not at all"
    told = f"version {version} is advertised {offered}"
    if is_refusal(trips[0]):
        return Verdict(UNSUPPORTED, probe.connection, f"{told} and refused")
    answered = trips[0].received is not None
    return Verdict(
        DIVERGES, probe.connection, f"{told} and {'answered' if answered else 'not refused'}",
        differences=(_unoffered(trips[0], answered),),
    )  # fmt: skip


def _unoffered(trip: RoundTrip, answered: bool) -> Difference:
    name = trip.event.api_name
    return Difference(
        trip.label, grades.UNOFFERED, "refused", "answered" if answered else "not refused",
        kind=grades.CHECK, api=name, version=trip.event.version, at=trip.at, entity=name or "",
    )  # fmt: skip
