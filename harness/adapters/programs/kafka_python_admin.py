"""The admin client's part of the adapter of kafka-python: operations by name, by item."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from kafka import KafkaAdminClient, TopicPartition, errors
from kafka.admin import (
    ACL,
    ACLFilter,
    ACLOperation,
    ACLPermissionType,
    ACLResourcePatternType,
    AlterConfigOp,
    ConfigResource,
    ConfigResourceType,
    NewPartitions,
    NewTopic,
    OffsetSpec,
    ResourcePattern,
    ResourcePatternFilter,
    ResourceType,
)
from kafka.structs import OffsetAndMetadata

from touchstone.harness.adapters.programs.adapter import Lacking, Say, described

Row = dict[str, Any]
TYPES = {"topic": ConfigResourceType.TOPIC, "broker": ConfigResourceType.BROKER}
STAMPS = {"latest": OffsetSpec.LATEST, "earliest": OffsetSpec.EARLIEST}
PREFERRED = 0


class Items(dict[str, BaseException | None]):
    """What became of each item of an operation."""


class Admin:
    """Calls of `KafkaAdminClient`; a method gives a result, or Items."""

    def __init__(self, own: Row, say: Say, code_of: Callable[[BaseException], int | None]) -> None:
        self.say, self.code_of = say, code_of
        self.core = KafkaAdminClient(**own)

    def admin(self, operation: str, **fields: Any) -> None:
        make = getattr(self, f"_{operation}", None)
        if make is None:
            raise Lacking(f"the admin operation {operation}")
        told: Row = {"operation": operation, "result": None}
        try:
            found = make(**fields)
            if isinstance(found, Items):
                told["items"] = [
                    {"item": item, "code": None if problem is None else self.code_of(problem)}
                    for item, problem in found.items()
                ]
                for problem in filter(None, found.values()):
                    raise problem
            else:
                told["result"] = found
        except Exception as problem:
            told |= described(problem, self.code_of(problem))
        self.say("admin_result", **told)

    # topics and partitions

    def _create_topics(self, topics: list[Row], validate_only: bool = False) -> Items:
        wanted = [
            NewTopic(row["name"], row.get("partitions", 1), row.get("replication", 1),
                     topic_configs=row.get("configs") or {})
            for row in topics
        ]  # fmt: skip
        found = self.core.create_topics(wanted, validate_only=validate_only, raise_errors=False)
        return _items(found["topics"])

    def _delete_topics(self, topics: list[str]) -> Items:
        return _items(self.core.delete_topics(topics, raise_errors=False)["topics"])

    def _create_partitions(self, topic: str, count: int) -> None:
        self.core.create_partitions({topic: NewPartitions(count)})

    def _list_topics(self) -> list[str]:
        return sorted(self.core.list_topics())

    def _describe_topics(self, topics: list[str]) -> list[Row]:
        return [
            {"name": row["name"], "partitions": [
                {"partition": one["partition_index"], "leader": one["leader_id"],
                 "replicas": one["replica_nodes"]} for one in row["partitions"]]}
            for row in self.core.describe_topics(topics)
        ]  # fmt: skip

    def _describe_cluster(self) -> Row:
        found = self.core.describe_cluster()["brokers"]
        return {"brokers": sorted(one["broker_id"] for one in found)}

    def _delete_records(self, topic: str, partition: int, offset: int) -> None:
        self.core.delete_records({TopicPartition(topic, partition): offset})

    def _list_offsets(self, topic: str, partition: int, at: str) -> int:
        place = TopicPartition(topic, partition)
        offset: int = self.core.list_partition_offsets({place: STAMPS[at]})[place].offset
        return offset

    def _elect_leaders(self, topic: str, partition: int) -> None:
        self.core.elect_leaders(PREFERRED, {topic: [partition]})

    def _reassign(self, topic: str, partition: int, replicas: list[int] | None) -> None:
        wanted = {TopicPartition(topic, partition): replicas}
        _raise(self.core.alter_partition_reassignments(wanted).values())

    # configs

    def _describe_configs(self, type: str, name: str) -> dict[str, str | None]:
        wanted = ConfigResource(TYPES[type], name)
        found = self.core.describe_configs([wanted], config_filter="all")[type][name]
        return {key: one["value"] for key, one in found.items()}

    def _alter_configs(
        self, type: str, name: str, set: Mapping[str, str], delete: Iterable[str] = ()
    ) -> None:
        changes: Row = {key: (AlterConfigOp.SET, value) for key, value in set.items()}
        changes |= dict.fromkeys(delete, (AlterConfigOp.DELETE, None))
        found = self.core.alter_configs([ConfigResource(TYPES[type], name, changes)])[type][name]
        if found != "OK":
            raise _named(found)

    # groups

    def _list_groups(self) -> list[str]:
        return sorted(one["group_id"] for one in self.core.list_groups())

    def _describe_group(self, group: str) -> Row:
        found = self.core.describe_groups([group])[group]
        return {"state": found["group_state"], "members": len(found["members"])}

    def _delete_groups(self, groups: list[str]) -> Items:
        found = self.core.delete_groups(groups)
        return Items({one: None if told == "OK" else _named(told) for one, told in found.items()})

    def _alter_offsets(self, group: str, offsets: list[Row]) -> None:
        wanted = {
            TopicPartition(row["topic"], row["partition"]): OffsetAndMetadata(row["offset"], "", -1)
            for row in offsets
        }
        _raise(self.core.alter_group_offsets(group, wanted).values())

    def _group_offsets(self, group: str) -> list[Row]:
        found = self.core.list_group_offsets({group: None})[group]
        return [
            {"topic": place.topic, "partition": place.partition, "offset": one.offset}
            for place, one in sorted(found.items())
        ]

    def _delete_offsets(self, group: str, topic: str, partition: int) -> None:
        _raise(self.core.delete_group_offsets(group, [TopicPartition(topic, partition)]).values())

    # ACLs: of a topic by its name, for reading, allowed

    def _create_acl(self, topic: str, principal: str) -> None:
        where = ResourcePattern(ResourceType.TOPIC, topic)
        made = ACL(principal, "*", ACLOperation.READ, ACLPermissionType.ALLOW, where)
        for problem, _ in self.core.create_acls([made])["failed"]:
            raise problem

    def _describe_acls(self, topic: str) -> list[Row]:
        found, _ = self.core.describe_acls(_on(topic))
        return _acls(found)

    def _delete_acls(self, topic: str) -> list[Row]:
        ((_, found, problem),) = self.core.delete_acls([_on(topic)])
        _raise([problem])
        return _acls(found)

    def tick(self) -> None:
        time.sleep(0.01)

    def close(self) -> None:
        self.core.close()


def _items(rows: Iterable[Row]) -> Items:
    return Items(
        {row["name"]: errors.for_code(row["error_code"])() if row["error_code"] else None
         for row in rows}
    )  # fmt: skip


def _named(told: str) -> BaseException:
    """The error that a result says in words: by its number, or by the name of its class."""
    number = re.match(r"\[Error (-?\d+)\]", told)
    kind = errors.for_code(int(number[1])) if number else getattr(errors, told)
    made: BaseException = kind(told)
    return made


def _raise(found: Iterable[type[BaseException]]) -> None:
    """The first error of these classes, of which NoError is none."""
    for kind in found:
        if kind is not errors.NoError:
            raise kind()


def _on(topic: str) -> ACLFilter:
    where = ResourcePatternFilter(ResourceType.TOPIC, topic, ACLResourcePatternType.LITERAL)
    return ACLFilter(None, None, ACLOperation.ANY, ACLPermissionType.ANY, where)


def _acls(found: Iterable[ACL]) -> list[Row]:
    return [
        {"topic": one.resource_pattern.resource_name, "principal": one.principal,
         "operation": one.operation.name.lower(), "permission": one.permission_type.name.lower()}
        for one in found
    ]  # fmt: skip
