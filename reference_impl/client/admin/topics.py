"""Topics, their partitions and their records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from touchstone.reference_impl.wire.errors import ErrorCode as E
from touchstone.reference_impl.wire.schema import Struct

from ..flow import LATEST_VERSION, Flow, KafkaError, TopicPartition, named
from ..metadata import NO_ID, know
from .driver import AdminCore, Call
from .results import Results, by_topic, error_in, partition_rows, picked

_UNKNOWN_OPERATIONS = -(2**31)  # authorized operations that nobody asked for
_THROTTLED = frozenset({E.THROTTLING_QUOTA_EXCEEDED})


class NewTopic(NamedTuple):
    """-1 partitions or replicas are the broker's default (from 2.4); `assignments` replaces both:
    the brokers of each partition, the preferred leader first.
    """

    name: str
    partitions: int = 1
    replication: int = 1
    configs: Mapping[str, str | None] = {}
    assignments: Mapping[int, Sequence[int]] = {}


class CreatedTopic(NamedTuple):
    """-1 and zeros before CreateTopics v5 and v7."""

    name: str
    topic_id: bytes = NO_ID
    num_partitions: int = -1
    replication_factor: int = -1


class NewPartitions(NamedTuple):
    """How many there are to be in all, and which brokers have each new one."""

    total: int
    assignments: Sequence[Sequence[int]] | None = None


class PartitionDescription(NamedTuple):
    partition_index: int
    error_code: int
    leader_id: int
    replica_nodes: tuple[int, ...]
    isr_nodes: tuple[int, ...]
    leader_epoch: int = -1
    offline_replicas: tuple[int, ...] = ()
    eligible_leader_replicas: tuple[int, ...] | None = None
    last_known_elr: tuple[int, ...] | None = None


class TopicDescription(NamedTuple):
    name: str
    partitions: tuple[PartitionDescription, ...]
    topic_id: bytes = NO_ID
    is_internal: bool = False
    topic_authorized_operations: int = _UNKNOWN_OPERATIONS


class TopicAdmin(AdminCore):
    def create_topics(
        self, topics: Iterable[NewTopic], *, validate_only: bool = False
    ) -> Flow[Results[str, CreatedTopic]]:
        wanted = {topic.name: topic for topic in topics}

        def body(names: list[str]) -> Struct:
            return {
                "topics": [_new_topic(wanted[name]) for name in names],
                "timeout_ms": self.timeout_ms,
                "validate_only": validate_only,
            }

        def read(answer: Struct, names: list[str]) -> dict[str, CreatedTopic | KafkaError]:
            return {
                row["name"]: error_in(row, row["name"]) or picked(CreatedTopic, row)
                for row in answer["topics"]
            }

        versions = (1 if validate_only else 0, LATEST_VERSION)
        call = Call("CreateTopics", body, read, again=_THROTTLED, versions=versions)
        return (yield from self._carry_out(call, wanted))

    def create_topic(
        self,
        name: str,
        partitions: int = 1,
        replication: int = 1,
        *,
        configs: Mapping[str, str | None] | None = None,
        assignments: Mapping[int, Sequence[int]] | None = None,
        validate_only: bool = False,
    ) -> Flow[CreatedTopic]:
        """One topic; waits until each partition has a leader, unless it is only validated.

        Raises KafkaError or Unreachable.
        """
        topic = NewTopic(name, partitions, replication, configs or {}, assignments or {})
        results = yield from self.create_topics([topic], validate_only=validate_only)
        created = results.all()[name]
        if not validate_only:
            yield from know(self.view, [name], timeout_ms=self.timeout_ms)
        return created

    def delete_topics(self, names: Iterable[str]) -> Flow[Results[str, None]]:
        def body(names: list[str]) -> Struct:
            return {
                "topic_names": names,
                "topics": [{"name": name, "topic_id": NO_ID} for name in names],
                "timeout_ms": self.timeout_ms,
            }

        def read(answer: Struct, names: list[str]) -> dict[str, None | KafkaError]:
            return {row["name"]: error_in(row, row["name"]) for row in answer["responses"]}

        call = Call("DeleteTopics", body, read, again=_THROTTLED)
        results = yield from self._carry_out(call, names)
        for name in results.succeeded():
            self.view.topics.pop(name, None)
        return results

    def delete_topics_by_id(self, ids: Iterable[bytes]) -> Flow[Results[bytes, None]]:
        """As `delete_topics`, from DeleteTopics v6 on."""

        def body(ids: list[bytes]) -> Struct:
            rows = [{"name": None, "topic_id": topic_id} for topic_id in ids]
            return {"topics": rows, "timeout_ms": self.timeout_ms}

        def read(answer: Struct, ids: list[bytes]) -> dict[bytes, None | KafkaError]:
            return {bytes(row["topic_id"]): error_in(row) for row in answer["responses"]}

        call = Call("DeleteTopics", body, read, again=_THROTTLED, versions=(6, LATEST_VERSION))
        return (yield from self._carry_out(call, ids))

    def create_partitions(
        self, counts: Mapping[str, int | NewPartitions], *, validate_only: bool = False
    ) -> Flow[Results[str, None]]:
        def row(name: str) -> Struct:
            wanted = counts[name]
            new = wanted if isinstance(wanted, NewPartitions) else NewPartitions(wanted)
            given = new.assignments
            rows = None if given is None else [{"broker_ids": list(ids)} for ids in given]
            return {"name": name, "count": new.total, "assignments": rows}

        def body(names: list[str]) -> Struct:
            rows = [row(name) for name in names]
            return {"topics": rows, "timeout_ms": self.timeout_ms, "validate_only": validate_only}

        def read(answer: Struct, names: list[str]) -> dict[str, None | KafkaError]:
            return {row["name"]: error_in(row, row["name"]) for row in answer["results"]}

        call = Call("CreatePartitions", body, read, again=_THROTTLED)
        return (yield from self._carry_out(call, counts))

    def list_topics(self, *, internal: bool = False) -> Flow[list[str]]:
        """Their names, sorted."""

        def read(answer: Struct, keys: list[str]) -> Mapping[str, list[Struct]]:
            rows: list[Struct] = answer["topics"]
            return dict.fromkeys(keys, rows)

        versions = (1, LATEST_VERSION)
        call = Call("Metadata", lambda _: {"topics": None}, read, versions=versions)
        rows = yield from self._once(call)
        return sorted(row["name"] for row in rows if internal or not row.get("is_internal"))

    def describe_topics(self, names: Iterable[str]) -> Flow[Results[str, TopicDescription]]:
        """From Metadata, which every broker answers; the eligible leader replicas (KIP-966) are
        None: `describe_topic_partitions` has them.
        """

        def body(names: list[str]) -> Struct:
            rows = [{"name": name} for name in names]
            return {"topics": rows, "allow_auto_topic_creation": False}

        call = Call("Metadata", body, _described, versions=(1, LATEST_VERSION))
        return (yield from self._carry_out(call, names))

    def describe_topic_partitions(
        self, names: Iterable[str], *, page: int = 2000
    ) -> Flow[Results[str, TopicDescription]]:
        """With eligible leader replicas, in pages of at most so many partitions (from 3.7)."""
        wanted, found = sorted(set(names)), Results[str, TopicDescription]()
        cursor: Struct | None = None
        while True:

            def body(keys: list[str], at: Struct | None = cursor) -> Struct:
                rows = [{"name": each} for each in wanted if not at or each >= at["topic_name"]]
                return {"topics": rows, "response_partition_limit": page, "cursor": at}

            def read(answer: Struct, keys: list[str]) -> dict[str, Struct | KafkaError]:
                return dict.fromkeys(keys, answer)

            answer = yield from self._once(Call("DescribeTopicPartitions", body, read))
            for name, each in _described(answer, wanted).items():
                before = found.get(name)
                if isinstance(before, TopicDescription) and isinstance(each, TopicDescription):
                    each = each._replace(partitions=before.partitions + each.partitions)
                found[name] = each
            cursor = answer["next_cursor"]
            if cursor is None:
                return found

    def delete_records(
        self, before: Mapping[TopicPartition, int]
    ) -> Flow[Results[TopicPartition, int]]:
        """Delete what lies before these offsets (-1: everything); the new low watermarks."""

        def body(places: list[TopicPartition]) -> Struct:
            rows = [
                {
                    "name": name,
                    "partitions": [
                        {"partition_index": index, "offset": before[name, index]}
                        for index in indexes
                    ],
                }
                for name, indexes in by_topic(places).items()
            ]
            return {"topics": rows, "timeout_ms": self.timeout_ms}

        def read(
            answer: Struct, places: list[TopicPartition]
        ) -> dict[TopicPartition, int | KafkaError]:
            return {
                place: error_in(row, named(place)) or row["low_watermark"]
                for place, row in partition_rows(answer["topics"])
            }

        return (yield from self._carry_out(Call("DeleteRecords", body, read), before))


def _new_topic(topic: NewTopic) -> Struct:
    given = topic.assignments
    return {
        "name": topic.name,
        "num_partitions": -1 if given else topic.partitions,
        "replication_factor": -1 if given else topic.replication,
        "assignments": [
            {"partition_index": index, "broker_ids": list(ids)} for index, ids in given.items()
        ],
        "configs": [{"name": name, "value": value} for name, value in topic.configs.items()],
    }


def _described(answer: Struct, names: list[str]) -> dict[str, TopicDescription | KafkaError]:
    found: dict[str, TopicDescription | KafkaError] = {}
    for row in answer["topics"]:
        parts = sorted(row["partitions"], key=lambda part: part["partition_index"])
        made = tuple(
            picked(PartitionDescription, {name: _fixed(each) for name, each in part.items()})
            for part in parts
        )
        error = error_in(row, row["name"])
        found[row["name"]] = error or picked(TopicDescription, row, partitions=made)
    return found


def _fixed(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value
