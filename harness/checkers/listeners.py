"""What is said on a listener that asks who somebody is, before it knows; no checker by itself.

There a broker may hang up on whatever it advertises, and a token that is a frame of its own (after
SaslHandshake v0) has no correlation id.
"""

from __future__ import annotations

import contextlib

from touchstone.harness.model.transcript import Event, Transcript
from touchstone.reference_impl.wire import headers

SASL_AUTHENTICATE = 36


def unauthenticated(transcript: Transcript) -> frozenset[int]:
    """The steps on connections of named listeners to which the broker had not yet said, or had
    taken back, that it knows the client.
    """
    known: dict[str, bool] = {}
    found = set()
    for event in transcript.events:
        if event.direction == "opened" and event.note:
            known[event.connection] = False
        elif event.direction == "received" and event.connection in known:
            known[event.connection] = _lets_in(event, before=known[event.connection])
        elif not known.get(event.connection, True):
            found.add(event.step)
    return frozenset(found)


def is_token(event: Event, unknown: frozenset[int]) -> bool:
    """Whether this frame answers bytes of no API, where tokens are frames."""
    return event.api is None and event.step in unknown


def _lets_in(event: Event, *, before: bool) -> bool:
    if event.api is None:
        return True
    if event.api == SASL_AUTHENTICATE and event.version is not None:
        with contextlib.suppress(ValueError):
            answer = headers.decode_response(event.api, event.version, event.raw).body
            return before or answer["error_code"] == 0
    return before
