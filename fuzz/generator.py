"""Valid messages of every (API key, version) pair, requests and responses, from the schemas alone:
a mutant of one of them begins behind every check that a random frame fails.

A schema says how bytes lie, not what they mean; that is the overlay's (`roles.toml`), whose roles
draw values that a broker takes seriously (a topic that exists, a member of the group, records that
pass the CRC). A field without a row gets a small value of its type. All randomness arrives as
`draw`. The generator never asks a target anything: which pairs it serves is the caller's to say,
and what only the target knows arrives as a `World`.

A valid request can also stop a broker or lock everybody out; `harmless` leaves out the keys
that do, the overlay keeps out values that would, and `harmful` knows a mutant that would. None of
that is proof, which is why other machines are refused (`runner`).
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from touchstone.fuzz.overlay import Rule, rule_of
from touchstone.fuzz.roles import Subject
from touchstone.fuzz.segments import frames_in
from touchstone.fuzz.world import ABSENT, TOPICS, UUID, World
from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.headers import decode_request, encode_request, encode_response
from touchstone.reference_impl.wire.schema import Field, Struct, fields_of

__all__ = ["ABSENT", "TOPICS", "Generator", "Pair", "harmful", "harmless", "pairs_of"]

CREATE_TOPICS, CREATE_PARTITIONS = 19, 37
STOPPING: dict[int, str] = {
    4: "LeaderAndIsr takes leadership away",
    5: "StopReplica deletes logs",
    6: "UpdateMetadata rewrites what the broker believes of the cluster",
    7: "ControlledShutdown moves every leader off a broker",
    52: "Vote", 53: "BeginQuorumEpoch", 54: "EndQuorumEpoch",
    56: "AlterPartition shrinks an ISR",
    58: "Envelope speaks for other principals",
    62: "BrokerRegistration fences the broker it imitates",
    63: "BrokerHeartbeat may ask for a shutdown",
    70: "ControllerRegistration", 73: "AssignReplicasToDirs",
    82: "UpdateRaftVoter",
}  # fmt: skip
"""Keys whose valid requests take a cluster out of service, left out unless asked for by name."""
GUARDED: dict[int, str] = {
    45: "AlterPartitionReassignments may name brokers that do not exist",
    49: "AlterClientQuotas may throttle everybody",
    57: "UpdateFeatures may turn protocols off for good",
    64: "UnregisterBroker may remove the broker",
    80: "AddRaftVoter and", 81: "RemoveRaftVoter may change who elects the controller",
}  # fmt: skip
"""Keys whose requests do no harm as the overlay fills them, and may when they are mutated."""


@dataclass(frozen=True, slots=True)
class Pair:
    """An API key and one of its versions."""

    key: int
    version: int


def pairs_of(advertised: Mapping[int, tuple[int, int]]) -> list[Pair]:
    """Every pair of these ranges that there is a schema for."""
    return [
        Pair(key, version)
        for key, (low, high) in sorted(advertised.items())
        for version in range(low, high + 1)
        if key in API and API[key].request.has(version)
    ]


def harmless(pairs: Iterable[Pair]) -> list[Pair]:
    return [pair for pair in pairs if pair.key not in STOPPING]


MOST_PARTITIONS = 16


def harmful(wire: bytes) -> bool:
    """Whether mutation made a request that a broker obeys and is busy or gone for a while: one of
    the keys of STOPPING or GUARDED, or a topic of hundreds of partitions. What does not decode
    harms nobody.
    """
    return any(_harmful(frame) for frame in frames_in(wire)[0])


def _harmful(frame: bytes) -> bool:
    key = int.from_bytes(frame[:2], "big", signed=True)
    stopping = key in STOPPING or key in GUARDED
    if not stopping and key not in (CREATE_TOPICS, CREATE_PARTITIONS):
        return False
    try:
        body = decode_request(frame).body
    except ValueError:
        return False
    if stopping:
        return True
    rows = body["topics"] or ()
    return any(row.get("num_partitions", row.get("count")) > MOST_PARTITIONS for row in rows)


TYPES: dict[str, tuple[Any, ...]] = {
    "bool": (False, True), "string": ("fuzz", ""), "bytes": (b"", b"fuzz"), "records": (b"",),
    "uuid": (bytes(16), UUID), "float64": (0.0, 1024.0),
}  # fmt: skip
NUMBERS = (0, 1, 2)
OFTEN_NULL = 0.2


class Generator:
    """Draws one pair and one valid request of it after another."""

    def __init__(self, pairs: list[Pair], draw: random.Random, world: World | None = None) -> None:
        self.pairs = pairs
        self.draw = draw
        self.world = World() if world is None else world
        self._response = False
        self._through: frozenset[str] = frozenset()  # paths that are neither null nor empty

    def frame(self, correlation_id: int) -> tuple[Pair, bytes]:
        """A pair and a frame of it as it goes over the wire, size included."""
        pair = self.draw.choice(self.pairs)
        return pair, self.frame_of(pair, correlation_id)

    def frame_of(self, pair: Pair, correlation_id: int) -> bytes:
        client = self.draw.choice(("touchstone-fuzz", None))
        frame = encode_request(pair.key, pair.version, correlation_id, client, self.body(pair))
        return len(frame).to_bytes(4, "big") + frame

    def response_to(self, pair: Pair, correlation_id: int) -> bytes:
        """A response that a broker could give to a request of this pair, size included."""
        body = self.response_body(pair)
        frame = encode_response(pair.key, pair.version, correlation_id, body)
        return len(frame).to_bytes(4, "big") + frame

    def body(self, pair: Pair) -> Struct:
        self._response = False
        return self._struct(API[pair.key].request.fields, self._subject(pair), "")

    def body_through(self, pair: Pair, path: str) -> Struct:
        """Return a body in which every struct and array on the way to the end of this path is
        there, though it is null or empty in most valid requests, or in all.
        """
        names = path.split(".")
        self._through = frozenset(".".join(names[: at + 1]) for at in range(len(names)))
        try:
            return self.body(pair)
        finally:
            self._through = frozenset()

    def response_body(self, pair: Pair) -> Struct:
        self._response = True
        return self._struct(API[pair.key].response.fields, self._subject(pair), "")

    def _subject(self, pair: Pair) -> Subject:
        return Subject(self.draw, pair.key, pair.version, self.world)

    def _struct(
        self, fields: tuple[Field, ...] | list[Field], subject: Subject, path: str
    ) -> Struct:
        return {
            row.name: self._value(row, subject, f"{path}.{row.name}" if path else row.name)
            for row in fields_of(fields, subject.version)
        }

    def _value(self, row: Field, subject: Subject, path: str) -> Any:
        rule = rule_of(subject.key, path, response=self._response)
        if path in self._through:
            one = self._struct(row.fields, subject, path)
            return [one] if row.is_array else one
        nullable = row.is_nullable(subject.version)
        if nullable and rule.always_null:
            return None
        if rule.role is not None and rule.whole:
            drawn = rule.role(subject)
            return row.default_value(subject.version) if drawn is None and not nullable else drawn
        if row.is_array:
            return self._array(row, subject, path, rule)
        if row.element == "struct":
            null = nullable and not rule.never_null and self.draw.random() < OFTEN_NULL
            return None if null else self._struct(row.fields, subject, path)
        return self._scalar(row, subject, rule)

    def _scalar(self, row: Field, subject: Subject, rule: Rule) -> Any:
        """A value of the field's role, or of its type where it has none; null at times."""
        drawn = (
            self.draw.choice(TYPES.get(row.element, NUMBERS))
            if rule.role is None
            else rule.role(subject)
        )
        nullable = row.is_nullable(subject.version) and not row.is_array
        if nullable and not rule.never_null and self.draw.random() < OFTEN_NULL:
            return None
        if drawn is None and not nullable:
            return row.default_value(subject.version)
        return drawn

    def _array(self, row: Field, subject: Subject, path: str, rule: Rule) -> list[Any] | None:
        """Mostly one element, sometimes two, empty or null at times; no two of one name."""
        if rule.always_empty:
            return []
        nullable = row.is_nullable(subject.version) and not rule.never_null
        if nullable and self.draw.random() < OFTEN_NULL:
            return None
        counts = (1, 1, 1, 1, 2) if rule.never_empty else (0, 1, 1, 2)
        made: dict[Any, Any] = {}
        for _ in range(self.draw.choice(counts)):
            if row.element == "struct":
                one = self._struct(row.fields, subject, path)
                made.setdefault(_name_of(one), one)
            else:
                value = self._scalar(row, subject, rule)
                made.setdefault(value, value)
        return list(made.values())


def _name_of(struct: Struct) -> Any:
    """What tells an element from others: its first scalar, and the second behind a type."""
    scalars = [(k, v) for k, v in struct.items() if not isinstance(v, dict | list)]
    if not scalars:
        return None
    named = scalars[:2] if scalars[0][0].endswith(("_type", "topic_id")) else scalars[:1]
    return tuple(value for _, value in named)
