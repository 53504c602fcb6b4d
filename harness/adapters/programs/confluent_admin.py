"""The admin client's part of the adapter of confluent-kafka: operations by name, by item."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from confluent_kafka import (
    ConsumerGroupTopicPartitions,
    ElectionType,
    KafkaException,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # its __all__ lacks them
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    OffsetSpec,
    ResourcePatternType,
    ResourceType,
)
from confluent_kafka.cimpl import NewPartitions, NewTopic

from touchstone.harness.adapters.programs.adapter import Config, Lacking, Say, described

Row = dict[str, Any]
POLL_S = 0.05
WAIT_S = 20
QUIET = {"log_level": 0}
TYPES = {"topic": ConfigResource.Type.TOPIC, "broker": ConfigResource.Type.BROKER}
STAMPS: Mapping[str, Callable[[], OffsetSpec]] = {
    "latest": OffsetSpec.latest, "earliest": OffsetSpec.earliest,
}  # fmt: skip


class Admin:
    """Calls of `AdminClient`; a method gives a result, or a table of futures by item."""

    def __init__(
        self, own: Config, say: Say, code_of: Callable[[BaseException], int | None]
    ) -> None:
        self.say, self.code_of = say, code_of
        self.core = AdminClient({**own, **QUIET})

    def admin(self, operation: str, **fields: Any) -> None:
        make = getattr(self, f"_{operation}", None)
        if make is None:
            raise Lacking(f"the admin operation {operation}")
        told: Row = {"operation": operation, "result": None}
        try:
            found = make(**fields)
            if isinstance(found, dict) and all(hasattr(one, "result") for one in found.values()):
                problems = {item: _problem(one) for item, one in found.items()}
                told["items"] = [
                    {"item": _item(item), "code": self._code(problem)}
                    for item, problem in problems.items()
                ]
                for problem in filter(None, problems.values()):
                    raise problem
            else:
                told["result"] = found
        except KafkaException as problem:
            told |= described(problem, self.code_of(problem))
        self.say("admin_result", **told)

    def _code(self, problem: BaseException | None) -> int | None:
        return None if problem is None else self.code_of(problem)

    # topics and partitions

    def _create_topics(self, topics: list[Row], validate_only: bool = False) -> Any:
        wanted = [
            NewTopic(row["name"], row.get("partitions", 1), row.get("replication", 1),
                     config=row.get("configs") or {})
            for row in topics
        ]  # fmt: skip
        return self.core.create_topics(wanted, validate_only=validate_only)

    def _delete_topics(self, topics: list[str]) -> Any:
        return self.core.delete_topics(topics)

    def _create_partitions(self, topic: str, count: int) -> Any:
        return self.core.create_partitions([NewPartitions(topic, count)])

    def _list_topics(self) -> list[str]:
        return sorted(self.core.list_topics(timeout=10).topics)

    def _describe_topics(self, topics: list[str]) -> list[Row]:
        found = self.core.describe_topics(TopicCollection(topics))
        return [
            {"name": name, "partitions": [
                {"partition": one.id, "leader": one.leader.id,
                 "replicas": [node.id for node in one.replicas]}
                for one in future.result(WAIT_S).partitions]}
            for name, future in found.items()
        ]  # fmt: skip

    def _describe_cluster(self) -> Row:
        return {"brokers": sorted(one.id for one in self.core.describe_cluster().result().nodes)}

    def _delete_records(self, topic: str, partition: int, offset: int) -> Any:
        return self.core.delete_records([TopicPartition(topic, partition, offset)])

    def _list_offsets(self, topic: str, partition: int, at: str) -> int:
        (found,) = self.core.list_offsets({TopicPartition(topic, partition): STAMPS[at]()}).values()
        offset: int = found.result(WAIT_S).offset
        return offset

    def _elect_leaders(self, topic: str, partition: int) -> None:
        wanted = [TopicPartition(topic, partition)]
        found = self.core.elect_leaders(ElectionType.PREFERRED, wanted).result(WAIT_S)
        for error in filter(None, found.values()):
            raise error if isinstance(error, KafkaException) else KafkaException(error)

    # configs

    def _describe_configs(self, type: str, name: str) -> dict[str, str | None]:
        (found,) = self.core.describe_configs([ConfigResource(TYPES[type], name)]).values()
        return {key: entry.value for key, entry in found.result(WAIT_S).items()}

    def _alter_configs(
        self, type: str, name: str, set: Mapping[str, str], delete: Iterable[str] = ()
    ) -> Any:
        to_set, to_delete = AlterConfigOpType.SET, AlterConfigOpType.DELETE
        changes = [ConfigEntry(k, v, incremental_operation=to_set) for k, v in set.items()]
        changes += [ConfigEntry(k, None, incremental_operation=to_delete) for k in delete]
        wanted = ConfigResource(TYPES[type], name, incremental_configs=changes)
        return self.core.incremental_alter_configs([wanted])

    # groups

    def _list_groups(self) -> list[str]:
        found = self.core.list_consumer_groups().result(WAIT_S)
        for error in found.errors or ():
            raise error
        return sorted(one.group_id for one in found.valid)

    def _describe_group(self, group: str) -> Row:
        found = self.core.describe_consumer_groups([group])[group].result(WAIT_S)
        state = found.state.name.title().replace("_", "")
        return {"state": state, "members": len(found.members)}

    def _delete_groups(self, groups: list[str]) -> Any:
        return self.core.delete_consumer_groups(groups)

    def _alter_offsets(self, group: str, offsets: list[Row]) -> None:
        rows = [TopicPartition(row["topic"], row["partition"], row["offset"]) for row in offsets]
        wanted = [ConsumerGroupTopicPartitions(group, rows)]
        found = self.core.alter_consumer_group_offsets(wanted)[group].result(WAIT_S)
        for one in found.topic_partitions:
            if one.error is not None:
                raise KafkaException(one.error)

    def _group_offsets(self, group: str) -> list[Row]:
        wanted = [ConsumerGroupTopicPartitions(group)]
        found = self.core.list_consumer_group_offsets(wanted)[group].result(WAIT_S)
        return [
            {"topic": one.topic, "partition": one.partition, "offset": one.offset}
            for one in sorted(found.topic_partitions)
        ]

    # ACLs: of a topic by its name, for reading, allowed

    def _create_acl(self, topic: str, principal: str) -> Any:
        how = ResourcePatternType.LITERAL, principal, "*", AclOperation.READ
        binding = AclBinding(ResourceType.TOPIC, topic, *how, AclPermissionType.ALLOW)
        return self.core.create_acls([binding])

    def _describe_acls(self, topic: str) -> list[Row]:
        return _acls(self.core.describe_acls(_on(topic)).result(WAIT_S))

    def _delete_acls(self, topic: str) -> list[Row]:
        (found,) = self.core.delete_acls([_on(topic)]).values()
        return _acls(found.result(WAIT_S))

    def tick(self) -> None:
        self.core.poll(POLL_S)

    def close(self) -> None:
        """It has no end of its own."""


def _problem(future: Any) -> BaseException | None:
    problem: BaseException | None = future.exception(WAIT_S)
    return problem


def _item(key: Any) -> str:
    """A topic, a group, `topic-partition`."""
    if isinstance(key, TopicPartition):
        return f"{key.topic}-{key.partition}"
    return str(getattr(key, "name", key))


def _on(topic: str) -> AclBindingFilter:
    anyone: Any = None, None, AclOperation.ANY, AclPermissionType.ANY
    return AclBindingFilter(ResourceType.TOPIC, topic, ResourcePatternType.LITERAL, *anyone)


def _acls(found: Iterable[Any]) -> list[Row]:
    return [
        {"topic": one.name, "principal": one.principal,
         "operation": one.operation.name.lower(), "permission": one.permission_type.name.lower()}
        for one in found
    ]  # fmt: skip
