"""Transcripts made by hand: what a target could have answered, without a target.

`conversation` takes lines of (label, api, version, request, answer) and gives the transcript that
the driver would have written; an answer may be bytes, or an ending such as "closed".
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from touchstone.harness.model.transcript import Event, Header, Transcript
from touchstone.reference_impl.wire import headers
from touchstone.reference_impl.wire.apis import by_name

CLOCK = 1_750_000_000_000

Line = tuple[str, str, int, dict[str, Any], Any]


def conversation(*lines: Line, **header: Any) -> Transcript:
    events = []
    for step, (_, api, version, request, answer) in enumerate(lines):
        key = by_name(api).key
        how: dict[str, Any] = {"api": key, "version": version, "correlation_id": step + 1}
        raw = headers.encode_request(key, version, step + 1, "touchstone", request)
        events.append(Event(step * 1000, "a", "sent", step, raw=raw, **how))
        if isinstance(answer, str):
            events.append(Event(step * 1000 + 1, "a", answer, step))
        elif answer is not None:
            if isinstance(answer, dict):
                answer = headers.encode_response(key, version, step + 1, answer)
            events.append(Event(step * 1000 + 1, "a", "received", step, raw=answer, **how))
    opened = Event(0, "a", "opened", 0)
    labels = tuple(line[0] for line in lines)
    given = {"target": "made", "kind": "live", "clock_ms": CLOCK} | header
    return Transcript(Header(labels=labels, **given), (opened, *events))


def doctored(honest: Transcript, label: str, change: Callable[[dict[str, Any]], Any]) -> Transcript:
    """The transcript with one answer's decoded body changed in place."""
    trip = honest.by_label[label]
    body = headers.decode_response(trip.received.api, trip.received.version, trip.received.raw).body
    change(body)
    raw = headers.encode_response(
        trip.received.api, trip.received.version, trip.received.correlation_id, body
    )
    events = tuple(
        dataclasses.replace(event, raw=raw) if event is trip.received else event
        for event in honest.events
    )
    return dataclasses.replace(honest, events=events)
