"""ACLs as the requests of DescribeAcls, CreateAcls and DeleteAcls say them, and as they are kept.

Sources: AclApis@3.9; KafkaApis.handleCreateAcls and SecurityUtils@1.0.2, 2.2.1;
AclAuthorizer.createAcls@2.8.2, AclControlManager.validateNewAcl@3.9.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

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

# As old releases list them to who names another.
_TYPES = ("Topic", "Group", "Cluster", "TransactionalId", "DelegationToken")
_OPERATIONS = (
    "Read", "Write", "Create", "Delete", "Alter", "Describe", "ClusterAction", "AlterConfigs",
    "DescribeConfigs", "IdempotentWrite", "All",
)  # fmt: skip


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


def binding_row(pattern: Pattern, entry: Entry) -> Struct:
    return {"resource_type": pattern.resource_type, "resource_name": pattern.name,
            "pattern_type": pattern.type, **entry_row(entry)}  # fmt: skip


def entry_row(entry: Entry) -> Struct:
    return {"principal": entry.principal, "host": entry.host, "operation": entry.operation,
            "permission_type": entry.permission}  # fmt: skip


def fails_all(row: Struct) -> bool:
    """Whether an entry has ANY or MATCH, which only filters have."""
    kinds = (row["resource_type"], row["operation"], row["permission_type"])
    return 1 in kinds or row["resource_pattern_type"] in (PatternType.ANY, PatternType.MATCH)


def check(persona: Persona, pattern: Pattern, entry: Entry) -> None:
    """Raise ApiError for an ACL that cannot be."""
    checks = [_check_name, _check_elements]
    for each in reversed(checks) if persona.quirk("acls.elements-come-first") else checks:
        each(persona, pattern, entry)
    if "/" in pattern.name and not persona.quirk("acls.names-may-have-slashes"):
        raise ApiError(E.UNKNOWN_SERVER_ERROR)


def _check_name(persona: Persona, pattern: Pattern, entry: Entry) -> None:
    if pattern.resource_type == ResourceType.CLUSTER and pattern.name != CLUSTER_NAME:
        raise _invalid(f"The only valid name for the CLUSTER resource is {CLUSTER_NAME}")
    if not pattern.name:
        raise _invalid("Invalid empty resource name")


def _check_elements(persona: Persona, pattern: Pattern, entry: Entry) -> None:
    types = persona.quirk("acls.resource-types")
    operations = range(Operation.ALL, persona.quirk("acls.newest-operation") + 1)
    _check_element(persona, "resourceType", pattern.resource_type, types, _TYPES[: len(types)])
    if ":" not in entry.principal:
        code, words = persona.quirk("acls.bad-principal")
        raise ApiError(code, words and words.format(entry.principal))
    if pattern.type not in (PatternType.LITERAL, PatternType.PREFIXED):
        old = persona.quirk("acls.elements-come-first")
        words = "patternType must not be UNKNOWN"
        raise _invalid(words if old else _unknown(persona, "patternType", "UNKNOWN", ()))
    _check_element(persona, "operation", entry.operation, operations, _OPERATIONS)
    permissions = (Permission.DENY, Permission.ALLOW)
    _check_element(persona, "permissionType", entry.permission, permissions, ("Allow", "Deny"))


def _check_element(
    persona: Persona, field: str, value: int, known: Collection[int], names: Sequence[str]
) -> None:
    if value not in known:
        raise _invalid(_unknown(persona, field, "ANY" if value == 1 else "UNKNOWN", names))


def _unknown(persona: Persona, field: str, value: str, names: Sequence[str]) -> str:
    words: str = persona.quirk("acls.unknown-element")
    return words.format(field=field, value=value, names=",".join(names))


def means_one(persona: Persona, row: Struct) -> bool:
    """Whether a filter can only mean one ACL of each kind of pattern."""
    texts = (row["resource_name_filter"], row["principal_filter"], row["host_filter"])
    definite = (PatternType.ANY, PatternType.LITERAL, PatternType.PREFIXED)
    return (
        None not in texts
        and row["pattern_type_filter"] in definite
        and row["resource_type_filter"] in persona.quirk("acls.resource-types")
        and Operation.ALL <= row["operation"] <= persona.quirk("acls.newest-operation")
        and row["permission_type"] in (Permission.DENY, Permission.ALLOW)
    )


def unfit(persona: Persona, row: Struct) -> str | None:
    """What is said of a filter that is no ACL; None of all others."""
    if row["pattern_type_filter"] == PatternType.ANY:
        return "patternType must not be ANY"
    wanted = filter_of(row)
    pattern = Pattern(wanted.resource_type, wanted.pattern_type, wanted.name or "")
    entry = Entry(wanted.principal or "", wanted.host or "", wanted.operation, wanted.permission)
    try:
        _check_elements(persona, pattern, entry)
    except ApiError as refused:
        return refused.message
    return None


def unknown_filter(persona: Persona, row: Struct) -> str | None:
    """What is said of a filter with an element that means nothing; None of all others."""
    if not persona.quirk("acls.unknown-filters-are-refused"):
        return None
    if row["resource_type_filter"] > max(ResourceType) or (
        row["pattern_type_filter"] > max(PatternType)
    ):
        return "Unknown patternFilter."
    if row["operation"] > max(Operation) or row["permission_type"] > max(Permission):
        return "Unknown entryFilter."
    return None


def _invalid(message: str) -> ApiError:
    return ApiError(E.INVALID_REQUEST, message)
