"""Finds what a step refers to: a partition's leader, the controller, a coordinator, a topic's id.

These exchanges are the harness's own questions; they use connections of their own and are no part
of a transcript. An answer that is not there yet is asked for again until the deadline, one that
cannot be read is not.
"""

from __future__ import annotations

import contextlib
import struct
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

from touchstone.harness.driver.line import Line
from touchstone.harness.model.placeholders import (
    Bindings,
    Controller,
    Coordinator,
    Leader,
    Unresolved,
)
from touchstone.harness.model.served_versions import nearest
from touchstone.harness.model.target import Address
from touchstone.harness.model.transcript import Event
from touchstone.harness.targets import reach
from touchstone.reference_impl.wire import headers
from touchstone.reference_impl.wire.apis import by_name
from touchstone.reference_impl.wire.schema import Struct

# The first pause, its growth, the longest pause: one waits a sixth longer than was needed, and less
# than 25 questions are asked before the longest is reached.
BACKOFF_S = (0.01, 1.17, 0.25)
WITHOUT_AUTO_CREATION = 4  # the first Metadata version that can forbid it; all releases serve it
WITH_TOPIC_IDS = 10
TELL_IDS = (3, 19)  # Metadata, CreateTopics
NO_ID = bytes(16)
C = TypeVar("C")  # a choice
T = TypeVar("T")


class Unreadable(LookupError):
    """Bytes came that are no answer to what was asked: to ask again would be no better."""


def resolved(choice: Any, bindings: Bindings) -> Any:
    """A choice of broker with its topic or key in this run's words. Raises Unresolved."""
    word = {Leader: "topic", Coordinator: "key"}.get(type(choice))
    if word is None:
        return choice
    return replace(choice, **{word: bindings.resolve(getattr(choice, word))})


def lookup(
    address: Address, choice: Leader | Controller | Coordinator, deadline_s: float
) -> tuple[int, Address]:
    """The id and address of the broker that is chosen. Raises Unresolved."""
    if isinstance(choice, Coordinator):
        found = _until_found(address, deadline_s, str(choice), _coordinator, choice)
    else:
        found = _until_found(address, deadline_s, str(choice), _by_metadata, choice)
    reach.same_login(address, [found[1]])
    return found


def topic_id(address: Address, topic: str, deadline_s: float) -> bytes:
    """The topic's id by Metadata. Raises Unresolved."""
    return _until_found(address, deadline_s, f"id of {topic}", _topic_id, topic)


def auto_created(address: Address, topic: str, deadline_s: float) -> tuple[int, int]:
    """The partitions, and the replicas of each, of a topic that is made by asking for its Metadata,
    when each has a leader. Raises Unresolved.
    """
    return _until_found(address, deadline_s, f"topic {topic}", _auto_created, topic)


def whole(address: Address, brokers: Iterable[int], deadline_s: float) -> bool:
    """Whether this broker comes to see all of these alive and every internal topic in sync.

    Topics of cases are left out: no two cases share one, and nobody waits for a replica that only
    a case before was interested in.
    """
    with contextlib.suppress(Unresolved):
        return _until_found(address, deadline_s, "the whole cluster", _whole, frozenset(brokers))
    return False


def told_ids(events: list[Event]) -> dict[str, bytes]:
    """The ids that answers of this run have given, by topic name; the newest counts."""
    told: dict[str, bytes] = {}
    for event in events:
        if event.direction != "received" or event.api is None or event.version is None:
            continue
        if event.api not in TELL_IDS:
            continue
        with contextlib.suppress(ValueError):
            body = headers.decode_response(event.api, event.version, event.raw).body
            told |= {topic["name"]: topic.get("topic_id", NO_ID) for topic in body["topics"] or ()}
    return {name: found for name, found in told.items() if found != NO_ID}


def _until_found(
    address: Address, deadline_s: float, what: str, look: Callable[[Line, C, float], T], choice: C
) -> T:
    deadline = time.perf_counter() + deadline_s
    why = ""
    for pause in pauses():
        try:
            line = Line(address, deadline_s)
        except OSError as error:
            raise Unresolved(f"{what}: {reach.why(error)}") from error
        try:
            return look(line, choice, deadline)
        except Unreadable as error:
            raise Unresolved(f"{what}: {error}") from error
        except LookupError as error:
            why = str(error)
        finally:
            line.end()
        if time.perf_counter() + pause > deadline:
            raise Unresolved(f"{what}: {why}")
        time.sleep(pause)
    raise AssertionError("pauses do not end")


def _coordinator(line: Line, choice: Coordinator, deadline: float) -> tuple[int, Address]:
    body = {"key": choice.key, "key_type": choice.key_type}
    answer = _helper(line, "FindCoordinator", 1, body, deadline)
    if answer["error_code"]:
        raise LookupError(f"FindCoordinator says {answer['error_code']}")
    return answer["node_id"], (answer["host"], answer["port"])


def _by_metadata(line: Line, choice: Leader | Controller, deadline: float) -> tuple[int, Address]:
    topics = [{"name": choice.topic}] if isinstance(choice, Leader) else []
    answer = _metadata(line, topics, WITHOUT_AUTO_CREATION, deadline)
    node = answer["controller_id"]
    if isinstance(choice, Leader):
        partitions = answer["topics"][0]["partitions"] if answer["topics"] else []
        leaders = {p["partition_index"]: p["leader_id"] for p in partitions}
        node = leaders.get(choice.partition, -1)
    addresses = {b["node_id"]: (b["host"], b["port"]) for b in answer["brokers"]}
    if isinstance(choice, Controller) and choice.other:
        node = min(addresses.keys() - {node}, default=-1)
    if node not in addresses:
        raise LookupError(f"broker {node} is not among {sorted(addresses)}")
    return node, addresses[node]


def _whole(line: Line, brokers: frozenset[int], deadline: float) -> bool:
    answer = _metadata(line, None, WITHOUT_AUTO_CREATION, deadline)
    seen = {broker["node_id"] for broker in answer["brokers"]}
    if seen != brokers:
        raise LookupError(f"it sees {sorted(seen)} of {sorted(brokers)}")
    lagging = [
        f"{topic['name']}/{part['partition_index']}"
        for topic in answer["topics"]
        if topic["is_internal"]
        for part in topic["partitions"]
        if len(part["isr_nodes"]) < len(part["replica_nodes"])
    ]
    if lagging:
        raise LookupError(f"not in sync: {', '.join(lagging[:3])}")
    return True


def _topic_id(line: Line, topic: str, deadline: float) -> bytes:
    topics = _metadata(line, [{"name": topic}], WITH_TOPIC_IDS, deadline)["topics"]
    found = topics[0]["topic_id"] if topics else NO_ID
    if found == NO_ID:
        raise LookupError("Metadata has none")
    return found


def _auto_created(line: Line, topic: str, deadline: float) -> tuple[int, int]:
    body = _metadata(line, [{"name": topic}], WITHOUT_AUTO_CREATION, deadline, create=True)
    found: Struct = next(iter(body["topics"]), {"error_code": None, "partitions": []})
    rows = found["partitions"]
    if found["error_code"] or not rows or any(row["leader_id"] < 0 for row in rows):
        raise LookupError(f"Metadata makes none, error code {found['error_code']}")
    return len(rows), len(rows[0]["replica_nodes"])


def _metadata(
    line: Line, topics: list[Any] | None, version: int, deadline: float, *, create: bool = False
) -> Struct:
    body = {"topics": topics, "allow_auto_topic_creation": create}
    try:
        return _helper(line, "Metadata", version, body, deadline)
    except Unreadable:  # as when a broker has one version only, and answers in that
        rows = _helper(line, "ApiVersions", 0, {}, deadline)["api_keys"]
        served = [(one["min_version"], one["max_version"]) for one in rows if one["api_key"] == 3]
        other = nearest("Metadata", version, served[0]) if served else None
        if other is None:
            raise
        return _helper(line, "Metadata", other, body, deadline)


def _helper(line: Line, api: str, version: int, body: Struct, deadline: float) -> Struct:
    """The decoded answer. LookupError when there is none, whatever the reason."""
    key = by_name(api).key
    data = headers.encode_request(key, version, 0, "touchstone-helper", body)
    how = line.write(struct.pack(">i", len(data)) + data, deadline)
    if how is None:
        how, raw = line.read(deadline)
    if how == "garbled":
        raise Unreadable(f"{api}: these bytes begin no frame")
    if how != "received":
        raise LookupError(f"{api}: {how}")
    try:
        return headers.decode_response(key, version, raw).body
    except ValueError as error:
        raise Unreadable(f"{api}: its answer does not decode: {error}") from error


class Question:
    """A connection of the harness's own, for questions that are no part of a transcript."""

    def __init__(self, address: Address, seconds: float) -> None:
        self.seconds = seconds
        self.line = Line(address, seconds)

    def ask(self, api: str, version: int, body: Struct) -> Struct:
        """The decoded answer. Raises LookupError when there is none, whatever the reason."""
        return _helper(self.line, api, version, body, time.perf_counter() + self.seconds)

    def __enter__(self) -> Question:
        return self

    def __exit__(self, *_: object) -> None:
        self.line.end()


def pauses() -> Iterator[float]:
    """How long to wait between tries, for ever."""
    pause, growth, longest = BACKOFF_S
    while True:
        yield pause
        pause = min(pause * growth, longest)
