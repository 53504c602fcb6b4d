"""Valid requests for every (API key, version) pair, from the schemas alone, so that mutation of one
of them begins behind every check that a random frame fails.

A schema says how bytes lie, not what they mean. What they mean is ROLES: a table from field names
to ways of drawing a value that a broker takes seriously (a topic that exists, partition 0, records
that pass the CRC). A field without a row gets a small value of its type. All randomness arrives as
`draw`. The generator never asks a target anything: which pairs it serves is the caller's to say.

A valid request can also stop a broker or lock everybody out; `harmless` leaves out the keys
that do, SAFE_VALUES keeps out values that would, and `harmful` knows a mutant that would. None of
that is proof, which is why other machines are refused (`runner`).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from touchstone.fuzz.segments import frames_in
from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.embedded.consumer_protocol import (
    encode_assignment,
    encode_subscription,
)
from touchstone.reference_impl.wire.headers import decode_request, encode_request
from touchstone.reference_impl.wire.records import build
from touchstone.reference_impl.wire.schema import Field, Struct, fields_of

CREATE_TOPICS, CREATE_PARTITIONS = 19, 37
STOPPING: dict[int, str] = {
    4: "LeaderAndIsr takes leadership away",
    5: "StopReplica deletes logs",
    6: "UpdateMetadata rewrites what the broker believes of the cluster",
    7: "ControlledShutdown moves every leader off a broker",
    45: "AlterPartitionReassignments may name brokers that do not exist",
    49: "AlterClientQuotas throttles everybody",
    52: "Vote", 53: "BeginQuorumEpoch", 54: "EndQuorumEpoch",
    56: "AlterPartition shrinks an ISR",
    57: "UpdateFeatures turns protocols off for good",
    58: "Envelope speaks for other principals",
    62: "BrokerRegistration fences the broker it imitates",
    63: "BrokerHeartbeat may ask for a shutdown",
    64: "UnregisterBroker removes it",
    70: "ControllerRegistration", 73: "AssignReplicasToDirs",
    80: "AddRaftVoter", 81: "RemoveRaftVoter", 82: "UpdateRaftVoter",
}  # fmt: skip
"""Keys whose valid requests take a cluster out of service, left out unless asked for by name."""

TOPICS = tuple(f"fuzz-{letter}" for letter in "abcd")
ABSENT = "fuzz-absent"
# Many, because a member that joins waits for the members of earlier cases who have gone.
GROUPS = tuple(f"fuzz-group-{number}" for number in range(64))
BATCH_TIME = 1_700_000_000_000
UUID = bytes(range(16))


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
    the keys of STOPPING, or a topic of hundreds of partitions. What does not decode harms nobody.
    """
    return any(_harmful(frame) for frame in frames_in(wire)[0])


def _harmful(frame: bytes) -> bool:
    key = int.from_bytes(frame[:2], "big", signed=True)
    if key not in STOPPING and key not in (CREATE_TOPICS, CREATE_PARTITIONS):
        return False
    try:
        body = decode_request(frame).body
    except ValueError:
        return False
    if key in STOPPING:
        return True
    rows = body["topics"] or ()
    return any(row.get("num_partitions", row.get("count")) > MOST_PARTITIONS for row in rows)


# --- values that mean something ------------------------------------------------------------------

Role = Callable[[random.Random, Pair], Any]


def one_of(*values: Any) -> Role:
    return lambda draw, pair: draw.choice(values)


def topic(draw: random.Random, pair: Pair) -> str:
    return ABSENT if draw.random() < 0.1 else draw.choice(TOPICS)


@cache
def record_sets(magic: int) -> tuple[bytes, ...]:
    """Well-formed records of this format: sizes, keys, tombstones, headers, codecs."""
    plain = [(b"k", b"v"), (None, b"value without key"), (b"tombstone", None)]
    codecs = (0, 1, 2, 3) if magic else (0,)
    made = [build(magic, plain, codec, timestamp=BATCH_TIME) for codec in codecs]
    made.append(build(magic, [b"x" * 200], timestamp=BATCH_TIME))
    if magic == 2:
        headed = [{"key": b"k", "value": b"v", "headers": [("h", b"1"), ("empty", None)]}]
        made.append(build(2, headed, timestamp=BATCH_TIME))
        made.append(build(2, plain, 4, timestamp=BATCH_TIME))
        made.append(
            build(2, plain, timestamp=BATCH_TIME, producer_id=7, producer_epoch=0, base_sequence=0)
        )
    return tuple(made)


def records(draw: random.Random, pair: Pair) -> bytes:
    """What a producer of this version sends; other APIs have no field of this type."""
    return draw.choice(record_sets(min(pair.version, 3) - 1 if pair.version > 1 else 0))


def subscription(draw: random.Random, pair: Pair) -> bytes:
    version = draw.randint(0, 3)
    return encode_subscription(version, {"topics": [draw.choice(TOPICS)], "user_data": None})


def assignment(draw: random.Random, pair: Pair) -> bytes:
    chosen = [{"topic": draw.choice(TOPICS), "partitions": [0]}]
    return encode_assignment(0, {"assigned_partitions": chosen, "user_data": None})


SMALL_WAIT = one_of(0, 1, 10)
MEMBER = one_of("", "fuzz-member")
PARTITION = one_of(0, 0, 0, 1)
GROUP = one_of(*GROUPS)
TRANSACTION = one_of("fuzz-transaction-1", "fuzz-transaction-2")
PRODUCER = one_of(-1, 0, 7, 1000)
TOPIC_OR_GONE = one_of(*TOPICS, ABSENT)

ROLES: dict[str, Role] = {
    # what a request is about
    "topic": topic, "topic_name": topic, "topics.name": topic, "topic_names": topic,
    "topics.topics.name": topic, "v3_and_below_topics.name": topic,
    "subscribed_topic_names": topic, "source_topics": topic, "topic_data.name": topic,
    "index": PARTITION, "partition": PARTITION, "partition_index": PARTITION,
    "partitions": PARTITION, "partition_indexes": PARTITION,
    "records": records,
    "group_id": GROUP, "group_ids": GROUP, "groups": GROUP, "groups_names": GROUP,
    "coordinator_keys": GROUP, "FindCoordinator:key": GROUP,
    "transactional_id": TRANSACTION, "transactional_ids": TRANSACTION,
    "v3_and_below_transactional_id": TRANSACTION,
    "Produce:transactional_id": one_of(None, None, None, "fuzz-transaction-1"),
    "InitProducerId:transactional_id": one_of(None, "fuzz-transaction-1"),
    "producer_id": PRODUCER, "v3_and_below_producer_id": PRODUCER,
    "producer_epoch": one_of(-1, 0, 1), "v3_and_below_producer_epoch": one_of(0, 1),
    "member_id": MEMBER, "group_instance_id": one_of(None, None, "fuzz-instance"),
    "instance_id": one_of(None, "fuzz-instance"),
    "topic_id": one_of(bytes(16), UUID),
    "replica_id": one_of(-1), "replica_state.replica_id": one_of(-1),
    "replica_epoch": one_of(-1), "cluster_id": one_of(None),
    # how it is to be done
    "acks": one_of(-1, 0, 1), "timeout_ms": one_of(100), "max_wait_ms": SMALL_WAIT,
    "min_bytes": one_of(0, 1), "max_bytes": one_of(1, 1000, 65536),
    "partition_max_bytes": one_of(0, 1000, 65536), "max_records": one_of(1, 100),
    "batch_size": one_of(1, 100), "isolation_level": one_of(0, 1),
    "session_id": one_of(0), "session_epoch": one_of(-1, 0),
    "current_leader_epoch": one_of(-1, -1, 0), "leader_epoch": one_of(-1, 0),
    "last_fetched_epoch": one_of(-1), "committed_leader_epoch": one_of(-1, 0),
    "fetch_offset": one_of(0, 0, 1), "log_start_offset": one_of(-1, 0),
    "timestamp": one_of(-1, -2, BATCH_TIME),
    "DeleteRecords:topics.partitions.offset": one_of(-1, 0),
    "committed_offset": one_of(0, 1, 42), "committed_metadata": one_of("", "note", None),
    "retention_time_ms": one_of(-1), "allow_auto_topic_creation": one_of(False),
    "validate_only": one_of(False, True),
    # groups
    "session_timeout_ms": one_of(6000), "rebalance_timeout_ms": one_of(20),
    "generation_id": one_of(-1, 0, 1), "generation_id_or_member_epoch": one_of(-1, -1, 0),
    "member_epoch": one_of(0, 0, -1, 1), "protocol_type": one_of("consumer"),
    "protocols.name": one_of("range", "roundrobin"), "protocol_name": one_of("range", None),
    "protocols.metadata": subscription, "assignments.assignment": assignment,
    "server_assignor": one_of(None, "uniform", "range"), "key_type": one_of(0, 0, 1),
    "share_session_epoch": one_of(-1, 0), "acknowledge_types": one_of(1, 2, 3),
    "states_filter": one_of("Stable", "Empty"), "types_filter": one_of("classic", "consumer"),
    # topics and configurations: small ones, and never a broker's
    "num_partitions": one_of(1, 2), "replication_factor": one_of(1, 1, -1),
    "count": one_of(1, 2, 3),
    "CreateTopics:topics.assignments": one_of([]), "CreateTopics:topics.name": TOPIC_OR_GONE,
    "CreatePartitions:topics.assignments": one_of(None),
    "CreateTopics:topics.replication_factor": one_of(1),
    "CreateTopics:topics.configs.name": one_of("cleanup.policy", "retention.ms"),
    "CreateTopics:topics.configs.value": one_of("delete", "compact", "3600000"),
    "DeleteTopics:topics.topic_id": one_of(bytes(16)),
    "resource_type": one_of(2), "resource_name": TOPIC_OR_GONE, "resource_types": one_of(2, 4),
    "configs.name": one_of("retention.ms", "cleanup.policy", "no.such.config"),
    "configs.value": one_of("3600000", "delete"), "config_operation": one_of(0, 1),
    "configuration_keys": one_of("retention.ms", "cleanup.policy"),
    "AlterReplicaLogDirs:dirs.path": one_of("/no/such/directory"),
    "election_type": one_of(0), "broker_ids": one_of(0),
    # accounts, rules, tokens: reads, and writes about nobody
    "resource_type_filter": one_of(1, 2), "pattern_type_filter": one_of(1, 3),
    "resource_pattern_type": one_of(3), "permission_type": one_of(1, 3), "operation": one_of(1, 3),
    "principal": one_of("User:nobody"), "host": one_of("*"), "mechanism": one_of(1, 2),
    "SaslHandshake:mechanism": one_of("PLAIN", "SCRAM-SHA-256"), "iterations": one_of(4096),
    "entity_type": one_of("user", "client-id"), "match_type": one_of(0, 1, 2),
    # said about oneself
    "client_software_name": one_of("touchstone"), "client_software_version": one_of("1.0"),
    "feature": one_of("metadata.version"), "coordinator_epoch": one_of(0),
    "endpoint_type": one_of(1), "copartition_groups.source_topics": one_of(0),
    "response_partition_limit": one_of(1, 2000), "topology": one_of(None),
    "duration_filter": one_of(-1), "transactional_id_pattern": one_of(None, "fuzz.*"),
    "producer_id_filters": one_of(7), "state_filters": one_of("Ongoing", "Empty"),
    "compression_type": one_of(0), "subscribed_topic_regex": one_of(None, "fuzz-.*"),
}  # fmt: skip

# Written down apart because the reason is not what Kafka would take but what a fuzzer must not do.
SAFE_VALUES: dict[str, Role] = {
    "WriteTxnMarkers:markers.topics.name": one_of(ABSENT),
    "transaction_timeout_ms": one_of(1000),
    "enable2_pc": one_of(False), "keep_prepared_txn": one_of(False),
}  # fmt: skip

TYPES: dict[str, Role] = {
    "bool": one_of(False, True), "string": one_of("fuzz", ""), "bytes": one_of(b"", b"fuzz"),
    "records": records, "uuid": one_of(bytes(16), UUID), "float64": one_of(0.0, 1024.0),
}  # fmt: skip
NUMBER = one_of(0, 1, 2)


@cache
def role_of(key: int, path: str, type_: str) -> Role | None:
    """The row for a field: with the API's name first, then its path, ever shorter; else its type's.

    None for a struct or an array that no row is about: those are made of their own fields.
    """
    name, parts = API[key].name, path.split(".")
    for table in (SAFE_VALUES, ROLES):
        if f"{name}:{path}" in table:
            return table[f"{name}:{path}"]
        for start in range(len(parts)):
            if ".".join(parts[start:]) in table:
                return table[".".join(parts[start:])]
    return None if type_ == "struct" else TYPES.get(type_, NUMBER)


class Generator:
    """Draws one pair and one valid request of it after another."""

    def __init__(self, pairs: list[Pair], draw: random.Random) -> None:
        self.pairs = pairs
        self.draw = draw

    def frame(self, correlation_id: int) -> tuple[Pair, bytes]:
        """A pair and a frame of it as it goes over the wire, size included."""
        pair = self.draw.choice(self.pairs)
        return pair, self.frame_of(pair, correlation_id)

    def frame_of(self, pair: Pair, correlation_id: int) -> bytes:
        client = self.draw.choice(("touchstone-fuzz", None))
        frame = encode_request(pair.key, pair.version, correlation_id, client, self.body(pair))
        return len(frame).to_bytes(4, "big") + frame

    def body(self, pair: Pair) -> Struct:
        return self._struct(API[pair.key].request.fields, pair, "")

    def _struct(self, fields: tuple[Field, ...] | list[Field], pair: Pair, path: str) -> Struct:
        return {
            row.name: self._value(row, pair, f"{path}.{row.name}" if path else row.name)
            for row in fields_of(fields, pair.version)
        }

    def _value(self, row: Field, pair: Pair, path: str) -> Any:
        role = role_of(pair.key, path, row.element)
        if row.is_array:
            return self._array(row, pair, path, role)
        if role is not None and row.element != "struct":
            drawn = role(self.draw, pair)
            if drawn is None and not row.is_nullable(pair.version):
                return row.default_value(pair.version)
            return drawn
        if row.is_nullable(pair.version) and self.draw.random() < 0.5:
            return None
        return self._struct(row.fields, pair, path)

    def _array(self, row: Field, pair: Pair, path: str, role: Role | None) -> list[Any] | None:
        """None or empty at times; mostly one element, sometimes two."""
        if row.is_nullable(pair.version) and self.draw.random() < 0.2:
            return None
        if role is not None and row.element == "struct":
            fixed = role(self.draw, pair)
            if isinstance(fixed, list) or (fixed is None and row.is_nullable(pair.version)):
                return fixed
        count = self.draw.choice((0, 1, 1, 1, 1, 1, 2))
        if row.element == "struct":
            return [self._struct(row.fields, pair, path) for _ in range(count)]
        return [(role or NUMBER)(self.draw, pair) for _ in range(count)]
