"""What a case of a client comes to. Pure.

There is no oracle to ask at the time: a claim of a client says in `expect` what must hold, and it
has been seen to hold of Kafka's own client. So the expectation and the checks that hold of every
case decide, and how the adapter ended: one that dies or does not answer is a difference of the
client's, as a broker's end is; whether the adapter itself is to blame is for `touchstone smoke`.
"""

from __future__ import annotations

from touchstone.harness.judgement import client_checks
from touchstone.harness.judgement.verdict import (
    CONFORMS,
    DIVERGES,
    INCONCLUSIVE,
    UNSUPPORTED,
    Verdict,
    broken,
    given_up,
)
from touchstone.harness.model.expect import Expectation, Failure
from touchstone.harness.model.transcript import Transcript

ADAPTER = "adapter"


def judge(expectation: Expectation | None, seen: Transcript, release: str | None = None) -> Verdict:
    """The verdict; BROKEN where judging itself fails, or the broker did not let a step be done."""
    try:
        return _judge(expectation, seen, release)
    except Exception as error:  # a mistake of ours, whatever it is, must not colour the client
        return broken(error)


def _judge(expectation: Expectation | None, seen: Transcript, release: str | None) -> Verdict:
    lacks = next((event.note for event in seen.events if event.direction == "lacking"), None)
    if lacks is not None:
        return Verdict(UNSUPPORTED, reason=f"the adapter says that its client has not {lacks}")
    stopped = given_up(seen)
    if stopped is not None:
        return Verdict(INCONCLUSIVE, "kept", f"a step that prepares was not done: {stopped}")
    failures = (*_endings(seen), *_unmet(expectation, seen, release))
    findings = tuple(client_checks.check_all(seen))
    parts = (*failures, *findings)
    if not parts:
        return Verdict(CONFORMS, "kept")
    connection = "closed" if any(e.direction == "died" for e in seen.events) else "kept"
    return Verdict(DIVERGES, connection, str(parts[0]), failures=failures, findings=findings)


def _unmet(expectation: Expectation | None, seen: Transcript, release: str | None) -> list[Failure]:
    return [] if expectation is None else expectation.failures(seen, release)


def _endings(seen: Transcript) -> list[Failure]:
    """How the case ended before its time."""
    found = []
    for event in seen.events:
        step = seen.label(event.step)
        if event.direction == "died":
            found.append(Failure(step, ADAPTER, "runs on", f"it ended: {event.note}"))
        elif event.direction == "unheard":
            wanted, _, came = event.note.rpartition(", ")
            found.append(Failure(step, ADAPTER, wanted, came, at=event.step))
    return found
