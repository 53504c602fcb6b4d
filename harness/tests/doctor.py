"""Doctored transcripts: real Kafka's stored answers with one thing changed."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from touchstone.harness.model import path as paths
from touchstone.harness.model.expect import All, Any_, ByRelease, Expectation, Holds, _wanted, fits
from touchstone.harness.model.transcript import Event, Transcript, read
from touchstone.harness.tests import witness
from touchstone.harness.tests.witness import GOLDEN
from touchstone.reference_impl.wire import headers
from touchstone.reference_impl.wire.apis import API, by_name


def golden(release: str) -> Transcript:
    return read(GOLDEN / f"{release}.jsonl")


def step_with(transcript: Transcript, api: str, *, records: bool = False) -> str:
    """The label of the first answered step of this API (which brought records)."""
    for label, trip in transcript.by_label.items():
        event = trip.received
        if event is None or event.api is None or API[event.api].name != api:
            continue
        if not records or _has_records(trip.answer):
            return label
    raise LookupError(f"no answered {api} in this transcript")


def _has_records(value: Any) -> bool:
    if isinstance(value, dict):
        return bool(value.get("records")) or any(_has_records(v) for v in value.values())
    return isinstance(value, list) and any(_has_records(v) for v in value)


def with_answer(
    transcript: Transcript, label: str, change: Callable[[dict[str, Any]], None]
) -> Transcript:
    """The transcript with this step's answer changed, encoded anew."""
    trip = transcript.by_label[label]
    event = trip.received
    assert event is not None and event.api is not None and event.version is not None
    body = copy.deepcopy(trip.answer)  # decoded once and shared
    change(body)
    raw = headers.encode_response(event.api, event.version, trip.response.correlation_id, body)
    return _replaced(transcript, event, dataclasses.replace(event, raw=raw))


def without_step(transcript: Transcript, label: str) -> Transcript:
    """The transcript in which this step's connection is closed instead of answered."""
    event = transcript.by_label[label].received
    assert event is not None
    lost = dataclasses.replace(event, direction="closed", raw=b"", api=None, version=None)
    return _replaced(transcript, event, lost)


def ended(transcript: Transcript, label: str, direction: str) -> Transcript:
    """The transcript that stops at this step with an event of this direction."""
    event = transcript.by_label[label].received
    assert event is not None
    at = transcript.events.index(event)
    last = dataclasses.replace(event, direction=direction, raw=b"")
    return dataclasses.replace(transcript, events=(*transcript.events[:at], last))


def never_reached(transcript: Transcript) -> Transcript:
    event = Event(0, "a", "refused", 0, note="ConnectionRefusedError")
    return dataclasses.replace(transcript, events=(event,))


def key_of(api: str) -> int:
    return by_name(api).key


def _replaced(transcript: Transcript, old: Event, new: Event) -> Transcript:
    events = tuple(new if event is old else event for event in transcript.events)
    return dataclasses.replace(transcript, events=events)


# expectations: what each looks at, changed until it fails

OTHER_RECORDS = witness.batch(3)


def unbitten(expectation: Expectation, transcript: Transcript, release: str) -> list[Expectation]:
    """The parts of an expectation that hold however the place they look at is changed."""
    return [
        part
        for part in parts(expectation, release)
        if not any(part.failures(one, release) for one in changed(part, transcript))
    ]


def parts(expectation: Expectation, release: str) -> list[Expectation]:
    """What is expected of this release, one by one."""
    if isinstance(expectation, All):
        return [one for part in expectation.parts for one in parts(part, release)]
    if isinstance(expectation, ByRelease):
        fitting = [one for words, one in expectation.branches.items() if fits(release, words)]
        return parts(fitting[0], release)
    return [expectation]


def changed(part: Expectation, transcript: Transcript) -> Iterator[Transcript]:
    """Transcripts in which what this part looks at is something else."""
    if isinstance(part, Any_):
        looked = [one for inner in part.parts for one in parts(inner, transcript.header.release)]
        for one in looked:
            yield from changed(one, transcript)
        return
    assert isinstance(part, Holds)
    place, source = part.place, part.place.source
    if source == "connection":
        yield _other_end(transcript, place.step)
    elif source == "outcome":
        trip = transcript.by_label[place.step]
        last = trip.received or trip.ending or trip.sent
        for direction in ("closed", "garbled", "silent"):
            other = dataclasses.replace(last, direction=direction, raw=b"", api=None, version=None)
            yield _replaced(transcript, last, other)
    elif source == "size":
        event = transcript.by_label[place.step].received
        yield _replaced(transcript, event, dataclasses.replace(event, raw=event.raw + b"\0"))
    elif source in ("records", "batches", "own batches"):
        for data in (b"", None, OTHER_RECORDS):
            yield from _with(transcript, place.step, _records_are(place.at, data))
    else:
        steps = paths.parse(place.path)
        wanted = _wanted(part.wanted, transcript)
        for new in (*_choices(), partial(_instead, new=wanted)):
            yield from _with(transcript, place.step, partial(_put, steps=steps, new=new))
        for at, added in itertools.product(_lists(steps), (wanted, {}, 7, "x")):
            grown = partial(_grow, steps=steps, at=at, added=added)
            yield from _with(transcript, place.step, grown)


def _with(
    transcript: Transcript, step: str, change: Callable[[dict[str, Any]], None]
) -> Iterator[Transcript]:
    """The doctored transcript; nothing where the protocol has no bytes for such an answer."""
    with contextlib.suppress(Exception):
        yield with_answer(transcript, step, change)


def _choices() -> Iterator[Callable[[Any], Any]]:
    """Other values: each is a function of what stands there."""
    for by in (1, -1, 40, 1 << 30, -(1 << 30)):
        yield partial(_other, by=by)
    for new in (None, b"x", "x", 0, 1):
        yield partial(_instead, new=new)
    yield lambda _: []
    yield lambda _: {}


def _instead(_: Any, new: Any) -> Any:
    return new


def _other(value: Any, by: int) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + by
    if isinstance(value, str):
        return f"{value}{by}"
    if isinstance(value, bytes | memoryview):
        return bytes(value[:-1]) + bytes((value[-1] ^ 1,)) if value else b"\1"
    if isinstance(value, list):
        return [_other(one, by) for one in value] if by > 0 else value[:-1]
    if isinstance(value, dict):
        return {name: _other(inner, by) for name, inner in value.items()}
    return value


def _put(value: Any, steps: Sequence[paths.Step], new: Callable[[Any], Any]) -> None:
    """Change what stands at the path, at all places where it leads to several."""
    step, *rest = steps
    if step == paths.EVERY:
        for index in range(len(value)):
            _put(value, [index, *rest], new)
    elif rest:
        _put(value[step], rest, new)
    else:
        value[step] = new(value[step])


def _grow(value: Any, steps: Sequence[paths.Step], at: int, added: Any) -> None:
    """One more element in a list of the path, the one at this step of it (or its end)."""
    for step in reversed(steps[at + 1 :]):
        added = [added] if step == paths.EVERY else {step: added}
    for step in steps[:at]:
        value = value[0] if step == paths.EVERY else value[step]
    value.append(added)


def _lists(steps: Sequence[paths.Step]) -> list[int]:
    return [*(at for at, step in enumerate(steps) if step == paths.EVERY), len(steps)]


def _records_are(at: str, data: bytes | None) -> Callable[[dict[str, Any]], None]:
    def change(body: dict[str, Any]) -> None:
        _put(body, paths.parse(at or _records_path(body, "")), lambda _: data)

    return change


def _records_path(value: Any, path: str) -> str:
    """Where the first record bytes of an answer stand; empty where there are none."""
    fields = value.items() if isinstance(value, dict) else enumerate(value)
    for name, inner in fields:
        here = f"{path}[{name}]" if isinstance(name, int) else f"{path}.{name}".strip(".")
        if name == "records" and not isinstance(inner, list):
            return here
        found = _records_path(inner, here) if isinstance(inner, dict | list) else ""
        if found:
            return found
    return ""


def _other_end(transcript: Transcript, name: str) -> Transcript:
    """The transcript in which this connection ended otherwise: kept if it was lost, else closed."""
    if transcript.connections.get(name) == "kept":
        lost = Event(len(transcript.header.labels), name, "closed", 0)
        return dataclasses.replace(transcript, events=(*transcript.events, lost))
    rest = tuple(
        event
        for event in transcript.events
        if event.connection != name or event.direction in ("opened", "sent", "received")
    )
    return dataclasses.replace(transcript, events=rest)
