"""The admin client's part of our adapter: operations by name, and what they give."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from touchstone.harness.adapters.programs.adapter import Config, Lacking, Say, described
from touchstone.reference_impl.client.admin.acls import (
    AclBinding,
    AclFilter,
    AclOperation,
    AclPermission,
    PatternType,
    ResourceType,
)
from touchstone.reference_impl.client.admin.configs import AlterConfigOp, ConfigOp, ConfigResource
from touchstone.reference_impl.client.admin.partitions import ElectionType
from touchstone.reference_impl.client.admin.results import Results
from touchstone.reference_impl.client.admin.topics import NewTopic
from touchstone.reference_impl.io.client import Client

Row = dict[str, Any]
TYPES = {"topic": 2, "broker": 4}
STAMPS = {"latest": -1, "earliest": -2}


class Admin:
    """Calls of `client.admin`; each method gives a result, or `Results` by item."""

    def __init__(
        self, client: Client, rest: Config, say: Say, code_of: Callable[[BaseException], int | None]
    ) -> None:
        self.say, self.client, self.code_of = say, client, code_of
        for key in rest.keys() - {"request.timeout.ms", "default.api.timeout.ms"}:
            raise Lacking(f"the setting {key}")
        self.core = client.admin
        if "default.api.timeout.ms" in rest:
            self.core.core.timeout_ms = int(rest["default.api.timeout.ms"])

    def admin(self, operation: str, **fields: Any) -> None:
        make = getattr(self, f"_{operation}", None)
        if make is None:
            raise Lacking(f"the admin operation {operation}")
        told: Row = {"operation": operation, "result": None}
        try:
            found = make(**fields)
            if isinstance(found, Results):
                told["items"] = [
                    {"item": _item(key), "code": self._code(value)} for key, value in found.items()
                ]
                found.all()
            else:
                told["result"] = found
        except Lacking:
            raise
        except Exception as problem:
            told |= described(problem, self.code_of(problem))
        self.say("admin_result", **told)

    def _code(self, value: Any) -> int | None:
        return self.code_of(value) if isinstance(value, Exception) else None

    # topics and partitions

    def _create_topics(self, topics: list[Row], validate_only: bool = False) -> Any:
        wanted = [
            NewTopic(row["name"], row.get("partitions", 1), row.get("replication", 1),
                     row.get("configs") or {})
            for row in topics
        ]  # fmt: skip
        return self.core.create_topics(wanted, validate_only=validate_only)

    def _delete_topics(self, topics: list[str]) -> Any:
        return self.core.delete_topics(topics)

    def _create_partitions(self, topic: str, count: int) -> Any:
        return self.core.create_partitions({topic: count})

    def _list_topics(self) -> list[str]:
        return sorted(self.core.list_topics())

    def _describe_topics(self, topics: list[str]) -> list[Row]:
        found = self.core.describe_topics(topics).all()
        return [
            {"name": name, "partitions": [
                {"partition": one.partition_index, "leader": one.leader_id,
                 "replicas": list(one.replica_nodes)} for one in about.partitions]}
            for name, about in found.items()
        ]  # fmt: skip

    def _describe_cluster(self) -> Row:
        found = self.core.describe_cluster()
        return {"brokers": sorted(one.broker_id for one in found.brokers)}

    def _delete_records(self, topic: str, partition: int, offset: int) -> Any:
        return self.core.delete_records({(topic, partition): offset})

    def _list_offsets(self, topic: str, partition: int, at: str) -> int:
        place = topic, partition
        found: int = self.core.list_offsets({place: STAMPS[at]}).all()[place].offset
        return found

    def _elect_leaders(self, topic: str, partition: int) -> Any:
        return self.core.elect_leaders([(topic, partition)], ElectionType.PREFERRED)

    def _reassign(self, topic: str, partition: int, replicas: list[int] | None) -> Any:
        return self.core.alter_partition_reassignments({(topic, partition): replicas})

    # configs

    def _describe_configs(self, type: str, name: str) -> dict[str, str | None]:
        resource = ConfigResource(TYPES[type], name)
        found = self.core.describe_configs([resource]).all()[resource]
        return {key: entry.value for key, entry in found.items()}

    def _alter_configs(
        self, type: str, name: str, set: Mapping[str, str], delete: Iterable[str] = ()
    ) -> Any:
        changes = [AlterConfigOp(key, value) for key, value in set.items()]
        changes += [AlterConfigOp(key, None, ConfigOp.DELETE) for key in delete]
        return self.core.incremental_alter_configs({ConfigResource(TYPES[type], name): changes})

    # groups

    def _list_groups(self) -> list[str]:
        found = self.core.list_groups().all().values()
        return sorted(one.group_id for rows in found for one in rows)

    def _describe_group(self, group: str) -> Row:
        found = self.core.describe_consumer_groups([group]).all()[group]
        return {"state": found.group_state, "members": len(found.members)}

    def _delete_groups(self, groups: list[str]) -> Any:
        return self.core.delete_groups(groups)

    def _alter_offsets(self, group: str, offsets: list[Row]) -> Any:
        wanted = {(row["topic"], row["partition"]): row["offset"] for row in offsets}
        return self.core.alter_group_offsets(group, wanted)

    def _group_offsets(self, group: str) -> list[Row]:
        found = self.core.list_group_offsets({group: None}).all()[group].all()
        return [
            {"topic": topic, "partition": partition, "offset": one.offset}
            for (topic, partition), one in sorted(found.items())
        ]

    def _delete_offsets(self, group: str, topic: str, partition: int) -> Any:
        return self.core.delete_group_offsets(group, [(topic, partition)])

    # ACLs: of a topic by its name, for reading, allowed

    def _create_acl(self, topic: str, principal: str) -> Any:
        binding = AclBinding(ResourceType.TOPIC, topic, principal, AclOperation.READ)
        return self.core.create_acls([binding])

    def _describe_acls(self, topic: str) -> list[Row]:
        return _acls(self.core.describe_acls(_on(topic)))

    def _delete_acls(self, topic: str) -> list[Row]:
        (found,) = self.core.delete_acls([_on(topic)]).all().values()
        return _acls(found.all())

    def tick(self) -> None:
        time.sleep(0.01)

    def close(self) -> None:
        self.client.close()


def _item(key: Any) -> str:
    """A topic, a group, `topic-partition`."""
    if isinstance(key, ConfigResource):
        return key.name
    return f"{key[0]}-{key[1]}" if isinstance(key, tuple) else str(key)


def _on(topic: str) -> AclFilter:
    return AclFilter(ResourceType.TOPIC, topic, pattern_type=PatternType.LITERAL)


def _acls(found: Iterable[AclBinding]) -> list[Row]:
    return [
        {"topic": one.resource_name, "principal": one.principal,
         "operation": AclOperation(one.operation).name.lower(),
         "permission": AclPermission(one.permission_type).name.lower()}
        for one in found
    ]  # fmt: skip
