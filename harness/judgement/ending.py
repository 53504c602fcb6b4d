"""The verdict of a case that ends its target: a target that is asked anything goes on.

Asked alone, a case under which the target ends has done it. It diverges at the step that was asked
last, whatever else it saw: what comes behind that step follows from the end.

Pure.
"""

from __future__ import annotations

from dataclasses import replace

from touchstone.harness.judgement.compare import Difference
from touchstone.harness.judgement.grades import CONNECTION
from touchstone.harness.judgement.normalize import Reading, normalise
from touchstone.harness.judgement.verdict import BROKEN, DIVERGES, Verdict
from touchstone.harness.model.target import Death
from touchstone.harness.model.transcript import Transcript

ENDED = "ended"
ANSWERED = "answered"  # what is said of an oracle that is not there: it would go on
_LOST = frozenset({"closed", "reset", "refused", "timeout", "gone", "garbled"})


def ended(verdict: Verdict, seen: Transcript, kafkas: Transcript | None, death: Death) -> Verdict:
    """The verdict of a case that the target did not survive."""
    if verdict.kind == BROKEN:
        return verdict
    step = _last_asked(seen)
    label = seen.label(step)
    there = _reading(seen, step)
    oracle = None if kafkas is None else _reading(kafkas, step)
    at = step if there is None else there.at
    difference = Difference(
        label, "connection", ANSWERED if oracle is None else oracle.outcome, ENDED, kind=CONNECTION,
        api=there.api if there else None, version=there.version if there else None, at=at,
    )  # fmt: skip
    said = f": {death.said}" if death.said else ""
    before = tuple(one for one in verdict.differences if one.at < at)
    return replace(
        verdict, kind=DIVERGES, reason=f"the target {death.how} while {label} was asked{said}",
        differences=(*before, difference),
        failures=tuple(one for one in verdict.failures if one.at < at),
        findings=tuple(one for one in verdict.findings if one.at < at),
    )  # fmt: skip


def is_one(verdict: Verdict) -> bool:
    """Whether this is the verdict of a case that its target did not survive."""
    return any((one.path, one.target) == ("connection", ENDED) for one in verdict.differences)


def _last_asked(seen: Transcript) -> int:
    """The step that was under way when the target ended: whoever answers later is alive."""
    sent, lost = 0, None
    for event in seen.events:
        if event.direction == "received":
            lost = None
        elif event.direction == "sent":
            sent = event.step
        elif event.direction in _LOST and lost is None:
            lost = event.step
    return sent if lost is None else lost


def _reading(transcript: Transcript, step: int) -> Reading | None:
    return next((one for one in normalise(transcript) if one.step == step), None)
