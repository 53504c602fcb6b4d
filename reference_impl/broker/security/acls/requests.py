"""ACLs as the requests of DescribeAcls, CreateAcls and DeleteAcls say them, and as they are kept.

Sources: AclApis@3.9; KafkaApis.handleCreateAcls and SecurityUtils@1.0.2, 2.2.1;
AclAuthorizer.createAcls@2.8.2, AclControlManager.validateNewAcl@3.9.
"""

from __future__ import annotations

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.broker.personas.persona import Persona
from touchstone.reference_impl.cluster.acls import (
    CLUSTER_NAME,
    AclFilter,
    Entry,
    Operation,
    Pattern,
    PatternType,
    Permission,
    ResourceType,
)
from touchstone.reference_impl.wire.errors import ErrorCode as E
from touchstone.reference_impl.wire.schema import Struct

LITERAL = PatternType.LITERAL  # of versions that have no patterns


def filter_of(row: Struct) -> AclFilter:
    """What a DescribeAcls asks for, or one filter of a DeleteAcls."""
    return AclFilter(
        row["resource_type_filter"],
        row["resource_name_filter"],
        row["pattern_type_filter"],
        row["principal_filter"],
        row["host_filter"],
        row["operation"],
        row["permission_type"],
    )


def binding_of(row: Struct) -> tuple[Pattern, Entry]:
    """What an entry of a CreateAcls makes."""
    pattern = Pattern(row["resource_type"], row["resource_pattern_type"], row["resource_name"])
    entry = Entry(row["principal"], row["host"], row["operation"], row["permission_type"])
    return pattern, entry


def told(pattern: Pattern, entry: Entry) -> Struct:
    return {"resource_type": pattern.resource_type, "resource_name": pattern.name,
            "pattern_type": pattern.type, **told_entry(entry)}  # fmt: skip


def told_entry(entry: Entry) -> Struct:
    return {"principal": entry.principal, "host": entry.host, "operation": entry.operation,
            "permission_type": entry.permission}  # fmt: skip


def check(persona: Persona, pattern: Pattern, entry: Entry) -> None:
    """Raise ApiError for an ACL that cannot be."""
    if pattern.resource_type == ResourceType.CLUSTER and pattern.name != CLUSTER_NAME:
        raise _invalid(f"The only valid name for the CLUSTER resource is {CLUSTER_NAME}")
    if not pattern.name:
        raise _invalid("Invalid empty resource name")
    typed, _, name = entry.principal.partition(":")
    if not (typed and name):
        raise _invalid(f"Could not parse principal from `{entry.principal}` (no colon is present)")
    for value, known in (
        (pattern.resource_type, ResourceType),
        (pattern.type, PatternType),
        (entry.operation, Operation),
        (entry.permission, Permission),
    ):
        if value not in set(known) or value <= 1:
            raise _invalid("an element of an ACL that means nothing")
    if pattern.type == PatternType.MATCH:
        raise _invalid("Invalid patternType MATCH")


def _invalid(message: str) -> ApiError:
    return ApiError(E.INVALID_REQUEST, message)
