"""Other ends for a step: closed for open, silence for an answer, frames too many and cut."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from touchstone.harness.model.transcript import Event, RoundTrip, Transcript
from touchstone.reference_impl.wire import headers
from touchstone.reference_impl.wire.apis import API

Events = tuple[Event, ...]
ENDS = ("closed", "reset", "timeout", "silent")
NO_ERROR = b"\0\0"


def changes(transcript: Transcript, trip: RoundTrip) -> Iterator[tuple[str, str, Events]]:
    """(how it ended, the change, all events) of each change of how this step ended."""
    events = transcript.events
    if trip.received is not None:
        how = "answered" if trip.ending is None else f"answered, {trip.ending.direction}"
        for kind, new in _of_answer(trip.received):
            yield how, kind, _instead(events, trip.received, new)
        both = [one for one in events if one is not trip.received and one is not trip.sent]
        yield how, "never asked", tuple(both)
    if trip.ending is not None and trip.ending.direction in ENDS:
        end = trip.ending
        how = end.direction if trip.received is None else f"answered, {end.direction}"
        for other in ENDS:
            if other != end.direction:
                new = replace(end, direction=other, raw=b"")
                yield how, f"{other} instead", _instead(events, end, (new,))
        yield how, "no end", _instead(events, end, ())
        if trip.received is None:
            yield how, "answered instead", _instead(events, end, _answers(trip, end))
            yield how, "answered before", _instead(events, end, (*_answers(trip, end), end))
        if end.direction != "silent":
            yield how, "half a frame before", _instead(events, end, (replace(end, raw=b"\0\0\0"),))
    if trip.received is None and trip.ending is None and trip.sent is not None:
        yield (
            "none",
            "answered",
            _instead(events, trip.sent, (trip.sent, *_answers(trip, trip.sent))),
        )
        lost = replace(trip.sent, direction="closed", raw=b"")
        yield "none", "closed", _instead(events, trip.sent, (trip.sent, lost))


def of_case(transcript: Transcript) -> Iterator[tuple[str, str, Events]]:
    """Changes of how connections ended, and of the order in which answers came."""
    events, beyond = transcript.events, len(transcript.header.labels)
    for name, end in transcript.connections.items():
        if end == "kept":
            for how in ("closed", "reset"):
                yield "kept", f"{how} at the end", (*events, Event(0, name, how, beyond))
            yield "kept", "a frame at the end", (
                *events, Event(0, name, "received", beyond, raw=b"\0\0\0\1\0\0"),
            )  # fmt: skip
    came = [index for index, event in enumerate(events) if event.direction == "received"]
    for first, second in zip(came, came[1:], strict=False):
        one, other = events[first], events[second]
        if other.step > one.step and any(
            event.direction == "sent" and event.step == other.step for event in events[:first]
        ):
            swapped = list(events)
            swapped[first], swapped[second] = other, one
            same = "one connection" if one.connection == other.connection else "two connections"
            yield same, "answers swapped", tuple(swapped)


def _of_answer(event: Event) -> Iterator[tuple[str, Events]]:
    for end in ENDS:
        lost = replace(event, direction=end, raw=b"", api=None, version=None)
        yield f"{end} instead", (lost,)
        if end != "silent":
            yield f"{end} too", (event, lost)
    yield "no end", ()
    yield "twice", (event, event)
    yield "byte more", (replace(event, raw=event.raw + b"\0"),)
    if len(event.raw) < 4:
        return
    yield "last byte gone", (replace(event, raw=event.raw[:-1]),)
    yield "empty frame", (replace(event, raw=b""),)
    yield "correlation id", (replace(event, raw=event.raw[:3] + bytes((event.raw[3] ^ 1,))
                                     + event.raw[4:]),)  # fmt: skip
    known = event.api in API and event.version is not None
    if known and headers.response_header_version(event.api, event.version):  # no tags: b"\0"
        tagged = event.raw[:4] + b"\1\x63\1x" + event.raw[5:]
        yield "header tag", (replace(event, raw=tagged),)


def _answers(trip: RoundTrip, at: Event) -> Events:
    """An answer to this request that says nothing but its correlation id and no error."""
    sent = trip.sent
    if sent is None:
        return (replace(at, direction="received", raw=b"\0\0\0\1" + NO_ERROR),)
    number = (sent.correlation_id or 0).to_bytes(4, "big", signed=True)
    return (replace(sent, direction="received", raw=number + NO_ERROR),)


def _instead(events: Events, old: Event, new: Events) -> Events:
    return tuple(one for event in events for one in (new if event is old else (event,)))
