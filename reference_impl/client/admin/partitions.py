"""Partitions: their offsets, who leads and keeps them, and in which log directories."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple

from touchstone.reference_impl.wire.schema import Struct

from ..flow import LATEST_VERSION, ClientError, Flow, KafkaError, TopicPartition, named
from ..offsets import READ_UNCOMMITTED, OffsetAndTimestamp
from .driver import AdminCore, Call
from .results import Results, by_topic, done_or_error, error_in, everywhere, partition_rows, picked

_V_MAX_TIMESTAMP = {-3: 7, -4: 8, -5: 9, -6: 11}  # ListOffsets' special timestamps by version


class ElectionType(IntEnum):
    PREFERRED = 0
    UNCLEAN = 1


class Reassignment(NamedTuple):
    """Broker ids."""

    replicas: tuple[int, ...]
    adding_replicas: tuple[int, ...]
    removing_replicas: tuple[int, ...]


class ReplicaInfo(NamedTuple):
    """Size in bytes, lag in records; a future one is being copied to another directory."""

    partition_size: int
    offset_lag: int
    is_future_key: bool


class LogDirDescription(NamedTuple):
    """Bytes of the volume are -1 before DescribeLogDirs v4."""

    replicas: dict[TopicPartition, ReplicaInfo]
    total_bytes: int = -1
    usable_bytes: int = -1
    is_cordoned: bool = False


class Replica(NamedTuple):
    topic: str
    partition: int
    broker: int


class PartitionAdmin(AdminCore):
    def list_offsets(
        self, wanted: Mapping[TopicPartition, int], *, isolation: int = READ_UNCOMMITTED
    ) -> Flow[Results[TopicPartition, OffsetAndTimestamp]]:
        """The first record at or after each timestamp (ms), or by Kafka's special timestamps: -2
        earliest, -1 latest, -3 of the largest timestamp, -4 earliest local, -5 latest tiered.
        """

        def body(places: list[TopicPartition]) -> Struct:
            topics = [
                {
                    "name": name,
                    "partitions": [
                        {"partition_index": index, "timestamp": wanted[name, index]}
                        for index in indexes
                    ],
                }
                for name, indexes in by_topic(places).items()
            ]
            return {"replica_id": -1, "isolation_level": isolation, "topics": topics}

        def read(
            answer: Struct, places: list[TopicPartition]
        ) -> dict[TopicPartition, OffsetAndTimestamp | KafkaError]:
            return {
                place: error_in(row, named(place))
                or OffsetAndTimestamp(row["offset"], row["timestamp"])
                for place, row in partition_rows(answer["topics"])
            }

        lowest = max([1, *(_V_MAX_TIMESTAMP.get(stamp, 1) for stamp in wanted.values())])
        call = Call("ListOffsets", body, read, versions=(lowest, LATEST_VERSION))
        return (yield from self._carry_out(call, wanted))

    def elect_leaders(
        self,
        places: Iterable[TopicPartition] | None = None,
        kind: ElectionType = ElectionType.PREFERRED,
    ) -> Flow[Results[TopicPartition, None]]:
        """Of these partitions, or (None) of all that need it (KIP-460; preferred from 2.2)."""
        wanted = None if places is None else list(places)

        def read(
            answer: Struct, keys: list[str]
        ) -> dict[str, Results[TopicPartition, None] | KafkaError]:
            rows = partition_rows(
                answer["replica_election_results"],
                name="topic",
                parts="partition_result",
                index="partition_id",
            )
            found = Results[TopicPartition, None](done_or_error(rows))
            return dict.fromkeys(keys, error_in(answer) or found)

        body = {
            "election_type": int(kind),
            "topic_partitions": _topic_rows(wanted, "topic", "partitions"),
            "timeout_ms": self.timeout_ms,
        }
        versions = (1 if kind else 0, LATEST_VERSION)
        return (
            yield from self._once(Call("ElectLeaders", lambda _: body, read, versions=versions))
        )

    def alter_partition_reassignments(
        self,
        replicas: Mapping[TopicPartition, Sequence[int] | None],
        *,
        allow_replication_factor_change: bool = True,
    ) -> Flow[Results[TopicPartition, None]]:
        """Move each partition to these brokers; None cancels what is under way (KIP-455)."""

        def body(places: list[TopicPartition]) -> Struct:
            topics = [
                {
                    "name": name,
                    "partitions": [
                        {"partition_index": index, "replicas": _listed(replicas[name, index])}
                        for index in indexes
                    ],
                }
                for name, indexes in by_topic(places).items()
            ]
            return {
                "topics": topics,
                "timeout_ms": self.timeout_ms,
                "allow_replication_factor_change": allow_replication_factor_change,
            }

        def read(
            answer: Struct, places: list[TopicPartition]
        ) -> Mapping[TopicPartition, KafkaError | None]:
            error = error_in(answer)
            rows = partition_rows(answer["responses"])
            return everywhere(error, places) if error else done_or_error(rows)

        lowest = 0 if allow_replication_factor_change else 1
        call = Call("AlterPartitionReassignments", body, read, versions=(lowest, LATEST_VERSION))
        return (yield from self._carry_out(call, replicas))

    def list_partition_reassignments(
        self, places: Iterable[TopicPartition] | None = None
    ) -> Flow[dict[TopicPartition, Reassignment]]:
        """What is under way, of these partitions or (None) of all."""
        wanted = None if places is None else list(places)

        def read(
            answer: Struct, keys: list[str]
        ) -> dict[str, dict[TopicPartition, Reassignment] | KafkaError]:
            found = {
                place: Reassignment(
                    tuple(row["replicas"]),
                    tuple(row["adding_replicas"]),
                    tuple(row["removing_replicas"]),
                )
                for place, row in partition_rows(answer["topics"])
            }
            return dict.fromkeys(keys, error_in(answer) or found)

        topics = _topic_rows(wanted, "name", "partition_indexes")
        body = {"timeout_ms": self.timeout_ms, "topics": topics}
        return (yield from self._once(Call("ListPartitionReassignments", lambda _: body, read)))

    def describe_log_dirs(
        self, brokers: Iterable[int] | None = None
    ) -> Flow[Results[int, Results[str, LogDirDescription]]]:
        """By broker (None: all) and path."""
        nodes = (yield from self._brokers()) if brokers is None else list(brokers)

        def read(
            answer: Struct, keys: list[int]
        ) -> dict[int, Results[str, LogDirDescription] | KafkaError]:
            found: dict[str, LogDirDescription | ClientError] = {
                row["log_dir"]: error_in(row, row["log_dir"]) or _log_dir(row)
                for row in answer["results"]
            }
            return dict.fromkeys(keys, error_in(answer) or Results(found))

        call = Call("DescribeLogDirs", lambda _: {"topics": None}, read)
        return (yield from self._carry_out(call, nodes))

    def alter_replica_log_dirs(self, moves: Mapping[Replica, str]) -> Flow[Results[Replica, None]]:
        """Have each replica kept under this path of its broker."""

        def body(keys: list[Replica]) -> Struct:
            paths: dict[str, list[TopicPartition]] = {}
            for key in keys:
                paths.setdefault(moves[key], []).append((key.topic, key.partition))
            return {
                "dirs": [
                    {"path": path, "topics": _topic_rows(places, "name", "partitions")}
                    for path, places in paths.items()
                ]
            }

        def read(answer: Struct, keys: list[Replica]) -> dict[Replica, None | KafkaError]:
            rows = dict(partition_rows(answer["results"], name="topic_name"))
            return {key: error_in(rows[key[:2]], named(key[:2])) for key in keys if key[:2] in rows}

        call = Call("AlterReplicaLogDirs", body, read, target=lambda key: key.broker)
        return (yield from self._carry_out(call, moves))


def _topic_rows(
    places: Iterable[TopicPartition] | None, name: str, indexes: str
) -> list[Struct] | None:
    if places is None:
        return None
    return [{name: topic, indexes: rows} for topic, rows in by_topic(places).items()]


def _listed(replicas: Sequence[int] | None) -> list[int] | None:
    return None if replicas is None else list(replicas)


def _log_dir(row: Struct) -> LogDirDescription:
    replicas = {place: picked(ReplicaInfo, part) for place, part in partition_rows(row["topics"])}
    return picked(LogDirDescription, row, replicas=replicas)
