"""Doctored transcripts: real Kafka's stored answers with one thing changed."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable
from typing import Any

from touchstone.harness.tests.witness import GOLDEN
from touchstone.harness.transcript import Event, Transcript, read
from touchstone.reference_impl.wire import headers
from touchstone.reference_impl.wire.apis import API, by_name


def golden(release: str) -> Transcript:
    return read(GOLDEN / f"{release}.jsonl")


def step_with(transcript: Transcript, api: str, *, records: bool = False) -> str:
    """The label of the first answered step of this API (which brought records)."""
    for label, exchange in transcript.by_label.items():
        event = exchange.received
        if event is None or event.api is None or API[event.api].name != api:
            continue
        if not records or _has_records(exchange.answer):
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
    exchange = transcript.by_label[label]
    event = exchange.received
    assert event is not None and event.api is not None and event.version is not None
    body = copy.deepcopy(exchange.answer)  # decoded once and shared
    change(body)
    raw = headers.encode_response(event.api, event.version, exchange.response.correlation_id, body)
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
