"""Ways through a transcript that several checkers take: answers, partitions, batches.

Each walk yields only what decodes; that it should decode is a checker of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from touchstone.harness.model import record_view
from touchstone.harness.model.transcript import RoundTrip, Transcript
from touchstone.reference_impl.wire.apis import API, by_name
from touchstone.reference_impl.wire.schema import Struct


def decoded(transcript: Transcript, *apis: str) -> Iterator[tuple[RoundTrip, Struct]]:
    """(round trip, answer) for every answer that decodes, of these APIs or of all."""
    keys = {by_name(api).key for api in apis}
    for trip in transcript.round_trips:
        received = trip.received
        if received is None or trip.answer is None:
            continue
        if not keys or received.api in keys:
            yield trip, trip.answer


def harmed(transcript: Transcript) -> bool:
    """Whether the case killed or froze brokers: what they had not promised may then be gone."""
    return any(event.direction == "inflicted" for event in transcript.events)


def request_of(trip: RoundTrip) -> Struct:
    """The decoded body of the request; empty when there is none that decodes."""
    return {} if trip.request is None else trip.request.body


def api_of(trip: RoundTrip) -> str:
    """The name of the API that was asked; empty when nobody knows it."""
    key = trip.event.api
    return API[key].name if key is not None and key in API else ""


_HOLDS = frozenset({dict, list})  # what a message holds things in; asked of every field there is


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, str, Any]]:
    """(path, field name, value) of every field in a decoded message, containers included.

    Bytes of tagged fields that the codec keeps by their number ("_tags") are no field.
    """
    if isinstance(value, dict):
        for name, inner in value.items():
            if name == "_tags":
                continue
            here = f"{path}.{name}" if path else name
            yield here, name, inner
            if type(inner) in _HOLDS:
                yield from leaves(inner, here)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            if type(inner) in _HOLDS:
                yield from leaves(inner, f"{path}[{index}]")


@dataclass(frozen=True, slots=True)
class Partition:
    """One partition of one answer, with what was asked for it."""

    trip: RoundTrip
    path: str
    topic: Any  # name or id, whichever the version has
    index: int
    answer: Struct
    asked: Struct

    @property
    def key(self) -> tuple[Any, int]:
        return self.topic, self.index


# API -> (topics in request, partitions in request, topics in answer, partitions in answer, index)
SHAPES = {
    "Produce": ("topic_data", "partition_data", "responses", "partition_responses", "index"),
    "Fetch": ("topics", "partitions", "responses", "partitions", "partition"),
    "ListOffsets": ("topics", "partitions", "topics", "partitions", "partition_index"),
    "DeleteRecords": ("topics", "partitions", "topics", "partitions", "partition_index"),
    "OffsetForLeaderEpoch": ("topics", "partitions", "topics", "partitions", "partition"),
}


def partitions(transcript: Transcript, api: str) -> Iterator[Partition]:
    """Every partition in the answers of an API that answers by topic and partition."""
    asked_topics, asked_parts, topics, parts, index = SHAPES[api]
    for trip, answer in decoded(transcript, api):
        asked = {
            (topic_key(topic), part[index]): part
            for topic in request_of(trip).get(asked_topics) or ()
            for part in topic[asked_parts] or ()
        }
        for t, topic in enumerate(answer.get(topics) or ()):
            for p, part in enumerate(topic[parts] or ()):
                number = part.get(index, part.get("partition_index"))
                key = topic_key(topic), number
                where = f"{topics}[{t}].{parts}[{p}]"
                yield Partition(trip, where, *key, part, asked.get(key, {}))


def topic_key(topic: Struct) -> Any:
    """How a message names a topic: by id where the version has one, else by name."""
    for word in ("topic_id", "name", "topic"):
        if topic.get(word):
            return topic[word]
    return topic.get("topic_id", topic.get("name"))


def fetched(transcript: Transcript) -> Iterator[tuple[Partition, list[Struct]]]:
    """Every fetched partition without an error, with its batches (see record_view)."""
    for partition in partitions(transcript, "Fetch"):
        if partition.answer["error_code"] == 0:
            yield partition, _opened(partition.answer.get("records")) or []


LIMITS = ("high_watermark", "last_stable_offset")


def limits_may_fall(transcript: Transcript) -> bool:
    """Whether a log may begin anew in this case: from an older checkpoint, or as another topic."""
    return harmed(transcript) or any(True for _ in decoded(transcript, "DeleteTopics"))


def bounded(transcript: Transcript) -> Iterator[tuple[Partition, list[Struct], dict[str, int]]]:
    """Every fetched partition, its batches, and the most that each limit of its log then was.

    In the answer itself a limit may be too low: Kafka notes its limits one by one, then reads up to
    those that hold by then (Partition.readRecords at 3.9). Limits only rise, so the most is the
    lowest that a later answer on this connection tells; without one it is unknown, and absent.
    Nothing is known where limits may fall.
    """
    if limits_may_fall(transcript):
        return
    lowest: dict[tuple[Any, ...], dict[str, int]] = {}
    for partition, batches in reversed([*fetched(transcript)]):
        key = (partition.trip.event.connection, *partition.key)
        later = lowest.get(key, {})
        yield partition, batches, later
        told = {word: partition.answer.get(word, -1) for word in LIMITS}
        known = {word: limit for word, limit in told.items() if limit >= 0}
        lowest[key] = later | {w: min(limit, later.get(w, limit)) for w, limit in known.items()}


_opened = lru_cache(maxsize=8)(record_view.view)  # every checker of batches looks at the same few


def whole(batches: list[Struct]) -> Iterator[tuple[int, Struct]]:
    """The batches that are complete and decode, with their place."""
    for index, entry in enumerate(batches):
        if "records" in entry and "fault" not in entry:
            yield index, entry


def offsets(entry: Struct) -> tuple[int, int]:
    """The first and the last offset that a batch or message covers."""
    if entry["magic"] == 2:
        return entry["base_offset"], entry["base_offset"] + entry["last_offset_delta"]
    known = [record["offset"] for record in entry["records"]] or [entry["offset"]]
    return min(known), max(known)
