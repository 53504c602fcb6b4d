"""Who ends its target diverges, at the step that was asked last."""

from __future__ import annotations

import pytest

from touchstone.harness.judgement import ending
from touchstone.harness.judgement.compare import Difference
from touchstone.harness.judgement.verdict import BROKEN, CONFORMS, DIVERGES, Verdict
from touchstone.harness.model.target import Death
from touchstone.harness.model.transcript import Event, Header, Transcript
from touchstone.reference_impl.wire import headers

ASKED = headers.encode_request(18, 0, 1, "c", {})
ANSWER = headers.encode_response(18, 0, 1, {"error_code": 0, "api_keys": []})
LABELS = ("first", "second", "third")


def seen(*told):
    """A transcript of (step, direction)."""
    raw = {"sent": ASKED, "received": ANSWER}
    return Transcript(
        Header("t", "live", LABELS),
        tuple(
            Event(0, "a", direction, step, raw=raw.get(direction, b""), api=18, version=0)
            for step, direction in told
        ),
    )


KAFKA = seen((0, "sent"), (0, "received"), (1, "sent"), (1, "closed"), (2, "sent"), (2, "received"))


@pytest.mark.parametrize(
    ("told", "step"),
    [
        ([(0, "sent"), (0, "closed")], "first"),
        ([(0, "sent"), (0, "received"), (1, "sent"), (1, "reset")], "second"),
        # the close was nothing new, for the target answered behind it
        ([(1, "sent"), (1, "closed"), (2, "sent"), (2, "received"), (2, "closed")], "third"),
        # it took what came behind the end
        ([(0, "sent"), (0, "closed"), (1, "sent"), (1, "reset")], "first"),
        ([(0, "sent"), (0, "received"), (1, "sent")], "second"),
        ([(0, "refused")], "first"),
        ([], "first"),
    ],
)
def test_the_step_that_was_under_way(told, step):
    found = ending.ended(Verdict(CONFORMS), seen(*told), KAFKA, Death("ended"))
    assert found.kind == DIVERGES and ending.is_one(found)
    assert found.reason == f"the target ended while {step} was asked"
    assert found.differences[-1].step == step


def test_both_sides_are_told():
    found = ending.ended(Verdict(CONFORMS), seen((1, "sent"), (1, "closed")), KAFKA, Death("ended"))
    (difference,) = found.differences
    assert (difference.path, difference.kind) == ("connection", "connection")
    assert (difference.oracle, difference.target) == ("closed", "ended")
    assert (difference.api, difference.version, difference.at) == ("ApiVersions", 0, 1)


def test_what_follows_from_the_end_is_not_told():
    early, late = (Difference(LABELS[at], "x", 1, 2, at=at) for at in (0, 2))
    verdict = Verdict(DIVERGES, differences=(early, late))
    found = ending.ended(verdict, seen((1, "sent"), (1, "closed")), None, Death("ended"))
    assert found.differences[0] == early and len(found.differences) == 2


def test_our_own_mistake_stays_ours():
    verdict = Verdict(BROKEN, reason="ours")
    assert ending.ended(verdict, seen(), None, Death("ended")) is verdict
    assert not ending.is_one(verdict)
