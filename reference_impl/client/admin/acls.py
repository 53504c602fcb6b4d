"""Access control: who may do what with which resource (KIP-140, KIP-290)."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import NamedTuple

from touchstone.reference_impl.wire.schema import Struct

from ..flow import ClientError, Flow, KafkaError
from .driver import AdminCore, Call
from .results import Results, error_in, picked

ANY_HOST = "*"


class ResourceType(IntEnum):
    ANY = 1
    TOPIC = 2
    GROUP = 3
    CLUSTER = 4
    TRANSACTIONAL_ID = 5
    DELEGATION_TOKEN = 6
    USER = 7


class PatternType(IntEnum):
    ANY = 1
    MATCH = 2
    LITERAL = 3
    PREFIXED = 4


class AclOperation(IntEnum):
    ANY = 1
    ALL = 2
    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12
    CREATE_TOKENS = 13
    DESCRIBE_TOKENS = 14
    TWO_PHASE_COMMIT = 15


class AclPermission(IntEnum):
    ANY = 1
    DENY = 2
    ALLOW = 3


class AclBinding(NamedTuple):
    """A principal is `User:alice`; the cluster's resource name is `kafka-cluster`."""

    resource_type: int
    resource_name: str
    principal: str
    operation: int
    permission_type: int = AclPermission.ALLOW
    host: str = ANY_HOST
    pattern_type: int = PatternType.LITERAL


class AclFilter(NamedTuple):
    """None and ANY match everything."""

    resource_type: int = ResourceType.ANY
    resource_name: str | None = None
    principal: str | None = None
    operation: int = AclOperation.ANY
    permission_type: int = AclPermission.ANY
    host: str | None = None
    pattern_type: int = PatternType.ANY


EVERY_ACL = AclFilter()


class AclAdmin(AdminCore):
    def describe_acls(self, wanted: AclFilter = EVERY_ACL) -> Flow[list[AclBinding]]:
        def read(answer: Struct, keys: list[str]) -> dict[str, list[AclBinding] | KafkaError]:
            found = [
                picked(AclBinding, row | acl) for row in answer["resources"] for acl in row["acls"]
            ]
            return dict.fromkeys(keys, error_in(answer) or found)

        return (yield from self._once(Call("DescribeAcls", lambda _: _filter_row(wanted), read)))

    def create_acls(self, bindings: Iterable[AclBinding]) -> Flow[Results[AclBinding, None]]:
        def body(keys: list[AclBinding]) -> Struct:
            return {"creations": [_creation(key) for key in keys]}

        def read(answer: Struct, keys: list[AclBinding]) -> dict[AclBinding, None | KafkaError]:
            rows = zip(keys, answer["results"], strict=True)  # one for each, in order
            return {key: error_in(row) for key, row in rows}

        return (yield from self._carry_out(Call("CreateAcls", body, read), bindings))

    def delete_acls(
        self, filters: Iterable[AclFilter]
    ) -> Flow[Results[AclFilter, Results[AclBinding, None]]]:
        """What each filter matched, and what became of it."""

        def read(
            answer: Struct, keys: list[AclFilter]
        ) -> dict[AclFilter, Results[AclBinding, None] | KafkaError]:
            rows = zip(keys, answer["filter_results"], strict=True)
            return {key: error_in(row) or _deleted(row["matching_acls"]) for key, row in rows}

        def body(keys: list[AclFilter]) -> Struct:
            return {"filters": [_filter_row(key) for key in keys]}

        return (yield from self._carry_out(Call("DeleteAcls", body, read), filters))


def _creation(key: AclBinding) -> Struct:
    row = key._asdict()
    row["resource_pattern_type"] = row.pop("pattern_type")
    return row


def _filter_row(wanted: AclFilter) -> Struct:
    return {
        "resource_type_filter": wanted.resource_type,
        "resource_name_filter": wanted.resource_name,
        "pattern_type_filter": wanted.pattern_type,
        "principal_filter": wanted.principal,
        "host_filter": wanted.host,
        "operation": wanted.operation,
        "permission_type": wanted.permission_type,
    }


def _deleted(rows: list[Struct]) -> Results[AclBinding, None]:
    found: dict[AclBinding, None | ClientError] = {
        picked(AclBinding, row): error_in(row) for row in rows
    }
    return Results(found)
