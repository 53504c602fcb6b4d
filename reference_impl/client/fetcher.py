"""Fetches under way: one a broker, sent ahead of their need, and what came of each.

A consumer has its next fetches sent before it hands records out (CONS-15), so there is a Fetch in
flight while the application works. A broker has one at a time (CONS-30), on a lane of its own: it
may wait there for `max_wait_ms`, and commits and heartbeats must not wait behind it. What comes
lies in the inbox until a poll takes it, one answer after another: an error of one loses no other.

Sources: AbstractFetch, FetchSessionHandler at 4.3.1; clauses CONS-15, CONS-30, CONS-31.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from touchstone.reference_impl.wire.errors import is_retriable
from touchstone.reference_impl.wire.schema import Struct

from .fetch_session import SESSION_ERRORS, FetchSession, WantedPartition
from .flow import (
    LATEST_VERSION,
    Answer,
    Ask,
    Inbox,
    KafkaError,
    Outcome,
    TopicPartition,
    Unreachable,
)
from .metadata import STALE, View

_V_TOPIC_IDS = 13
_V_SESSIONS = (7, LATEST_VERSION)


@dataclass(frozen=True, slots=True)
class FetchOptions:
    """Times in ms, sizes in bytes; a `rack` of "" is none."""

    isolation: int
    max_wait_ms: int
    min_bytes: int
    max_bytes: int
    partition_max_bytes: int
    request_timeout_ms: int
    rack: str


class FetchPosition(NamedTuple):
    """What a partition is asked for, and the epoch in which its leader is believed to lead."""

    offset: int
    leader_epoch: int


class FetchPart(NamedTuple):
    """What one partition's row of an answer says of what was asked."""

    place: TopicPartition
    asked: FetchPosition
    row: Struct


FetchPositions = Mapping[TopicPartition, FetchPosition]


class Misdirected(NamedTuple):
    """These were asked of somebody who did not answer, or is not the one to ask."""

    places: tuple[TopicPartition, ...]


class Fetcher:
    def __init__(self, view: View, options: FetchOptions):
        self.view = view
        self.options = options
        self.inbox: Inbox = deque()
        self.under_way: dict[int, FetchPositions] = {}  # by node
        self.disbelieved = 0  # answers that named partitions nobody had asked for
        self.sessions: dict[int, FetchSession] = {}
        self._lane = view.lane()

    def due_requests(self, nodes: Mapping[int, FetchPositions]) -> list[Ask]:
        """A Fetch for each node that has none under way, of these partitions."""
        found = []
        for node, positions in nodes.items():
            if positions and node not in self.under_way:
                self.under_way[node] = positions
                found.append(self._ask(node, positions))
        return found

    def _ask(self, node: int, positions: FetchPositions) -> Ask:
        wanted = {place: self._wanted(place, one) for place, one in positions.items()}
        session = self.sessions.setdefault(node, FetchSession())
        by_ids = all(any(one.topic_id) for one in wanted.values())
        body = session.request(wanted, by_ids=by_ids) | self._limits(self.options.max_wait_ms)
        versions = (4, LATEST_VERSION if by_ids else _V_TOPIC_IDS - 1)
        timeout = self.options.request_timeout_ms + self.options.max_wait_ms
        return Ask(node, "Fetch", body, timeout, versions, lane=self._lane)

    def _wanted(self, place: TopicPartition, position: FetchPosition) -> WantedPartition:
        topic, partition = place
        row = {
            "partition": partition,
            "current_leader_epoch": position.leader_epoch,
            "fetch_offset": position.offset,
            "partition_max_bytes": self.options.partition_max_bytes,
        }
        return WantedPartition(self.view.id_of(topic), row)

    def _limits(self, max_wait_ms: int) -> Struct:
        return {
            "replica_id": -1,
            "max_wait_ms": max_wait_ms,
            "min_bytes": self.options.min_bytes,
            "max_bytes": self.options.max_bytes,
            "isolation_level": self.options.isolation,
            "rack_id": self.options.rack,
        }

    def collect(self) -> Iterator[FetchPart | Misdirected]:
        """What came since, and is believed. KafkaError or Unreachable for what no try can mend."""
        while self.inbox:
            yield from self._taken(self.inbox.popleft())

    def _taken(self, outcome: Outcome) -> Iterator[FetchPart | Misdirected]:
        node = outcome.ask.node
        assert isinstance(node, int), "only brokers by id are fetched from"
        asked, session = self.under_way.pop(node), self.sessions[node]
        if not isinstance(outcome, Answer):
            session.fail()
            if outcome.kind == "unsupported":
                raise Unreachable(outcome)
            yield Misdirected(tuple(asked))
            return
        code = outcome.body.get("error_code", 0)
        rows = self._rows(outcome)
        believed = session.take(outcome.body, rows)
        if code and code not in SESSION_ERRORS:
            if not is_retriable(code) and code not in STALE:
                raise KafkaError(code, about="Fetch")
            yield Misdirected(tuple(asked))
        elif not believed:
            self.disbelieved += not code
        else:
            for place, row in rows.items():
                yield FetchPart(place, asked[place], row)

    def _rows(self, answer: Answer) -> dict[TopicPartition, Struct]:
        """By partition; a topic whose id is unknown has the name "", which nobody asks for."""
        return {
            (
                topic.get("topic") or self.view.name_of(topic["topic_id"]) or "",
                part["partition_index"],
            ): part
            for topic in answer.body["responses"]
            for part in topic["partitions"]
        }

    def closing_requests(self, timeout_ms: int) -> list[Ask]:
        """Requests that end the sessions that brokers keep for us, as far as there is time."""
        patience = min(timeout_ms, self.options.request_timeout_ms)
        fields = {node: session.farewell() for node, session in self.sessions.items()}
        self.sessions = {node: FetchSession() for node in self.under_way}
        return [
            Ask(node, "Fetch", each | self._limits(0), patience, _V_SESSIONS)
            for node, each in fields.items()
            if patience and each is not None and self.view.resolve(node) is not None
        ]
