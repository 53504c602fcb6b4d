"""What the user of a run may not do, asked of somebody else's cluster before the first case.

A cluster tells in bits what its user may do (KIP-430: DescribeCluster, Metadata, DescribeGroups);
transactional ids have none, so two requests that change nothing are tried. Nothing is made but the
internal topics that the first case would have made, and no name is used that does not begin with
the user's prefix.

Bits alone are not believed: a broker that has no authorizer and answers 0 would be excused from
all its claims. They count where something was in fact refused for want of a right, and of no right
that was asked for by its own request: who may not describe the cluster is answered 0 for all of it.
Nor is it believed that topics of one replica are refused, unless one of three is granted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from touchstone.harness.model.rights import (
    CLUSTER,
    GROUPS,
    KNOWN,
    ONE_REPLICA,
    OPERATIONS,
    TOPICS,
    TRANSACTIONS,
    UNNAMED,
    Right,
)
from touchstone.harness.model.target import Address, Versions
from touchstone.harness.targets import facts

NAME = "touchstone-rights"  # behind the prefix; nothing is made of this name
REFUSED = frozenset({29, 30, 31, 53})  # TOPIC_, GROUP_, CLUSTER_, TRANSACTIONAL_ID_AUTH... FAILED
POLICIES = frozenset({38, 44})  # INVALID_REPLICATION_FACTOR, POLICY_VIOLATION
TOPIC, BROKER = 2, 4  # of a config resource's kinds
ALL_BROKERS = ""
SET = 0  # an operation of IncrementalAlterConfigs
NO_ID = bytes(16)
_CREATE = Right("CREATE", TOPICS)


def missing(
    address: Address, offered: Versions, prefix: str, seconds: float, *, guarded: bool = False
) -> frozenset[Right]:
    """Return the rights that the user of this connection does not have; none if nobody says.

    `guarded`: its settings name an authorizer.
    """
    name = f"{prefix}{NAME}"

    def ask(api: str, version: int, body: Mapping[str, Any]) -> Any:
        return facts.asked(address, api, version, dict(body), offered, seconds)

    answers = {right: ask(api, version, body) for right, api, version, body in _probes(name)}
    lacks = {right for right, answer in answers.items() if _is_refused(answer)}
    proved = {right for right, answer in answers.items() if answer is not None}
    if lacks:
        lacks |= {
            right
            for resource, bits in _bits(ask, name)
            for right in (Right(operation, resource) for operation in KNOWN[resource])
            if bits is not None and not bits >> OPERATIONS[right.operation] & 1
            if right not in proved
        }
    if lacks or guarded:
        lacks.add(Right(UNNAMED, TOPICS))
    refused = _code(answers[_CREATE]) in POLICIES
    if refused and _code(ask("CreateTopics", 4, _a_topic(name, 3))) == 0:
        lacks.add(Right(ONE_REPLICA, TOPICS))
    return frozenset(lacks)


def _code(answer: Any) -> int | None:
    """The error code of a topic that is asked for, and not made; None without an answer."""
    code = (_first(answer, "topics") or {}).get("error_code")
    return code if isinstance(code, int) else None


def _a_topic(name: str, replicas: int) -> Mapping[str, Any]:
    topic = {"name": name, "num_partitions": 1, "replication_factor": replicas, "assignments": [],
             "configs": []}  # fmt: skip
    return {"topics": [topic], "timeout_ms": 1000, "validate_only": True}


def _probes(name: str) -> Iterator[tuple[Right, str, int, Mapping[str, Any]]]:
    """Yield requests that change nothing, each with the right that it needs."""
    end = {"transactional_id": name, "producer_id": -1, "producer_epoch": -1, "committed": False}
    yield _CREATE, "CreateTopics", 4, _a_topic(name, 1)
    setting = {"name": "retention.ms", "config_operation": SET, "value": "604800000"}
    # None of the brokers: even who ignores `validate_only` has nothing to change.
    for resource, kind, of, configs in (
        (TOPICS, TOPIC, name, [setting]), (CLUSTER, BROKER, ALL_BROKERS, []),
    ):  # fmt: skip
        row = {"resource_type": kind, "resource_name": of, "configs": configs}
        yield (Right("ALTER_CONFIGS", resource), "IncrementalAlterConfigs", 1,
               {"resources": [row], "validate_only": True})  # fmt: skip
    row = {"resource_type": BROKER, "resource_name": ALL_BROKERS, "configuration_keys": []}
    yield (Right("DESCRIBE_CONFIGS", CLUSTER), "DescribeConfigs", 1,
           {"resources": [row], "include_synonyms": False})  # fmt: skip
    yield (Right("ALTER", CLUSTER), "ElectLeaders", 1,
           {"election_type": 0, "topic_partitions": [], "timeout_ms": 1000})  # fmt: skip
    yield Right("WRITE", TRANSACTIONS), "EndTxn", 1, end
    yield (Right("DESCRIBE", TRANSACTIONS), "DescribeTransactions", 0,
           {"transactional_ids": [name]})  # fmt: skip
    yield (Right("DESCRIBE", CLUSTER), "ListPartitionReassignments", 0,
           {"timeout_ms": 1000, "topics": []})  # fmt: skip


def _bits(ask: Any, name: str) -> Iterator[tuple[str, int | None]]:
    """Yield what may be done by kind of resource; None where nobody tells."""
    told = ask("DescribeCluster", 0, {"include_cluster_authorized_operations": True})
    yield CLUSTER, _told(told, "cluster_authorized_operations")
    topics = {"topics": [{"name": name, "topic_id": NO_ID}], "allow_auto_topic_creation": False,
              "include_topic_authorized_operations": True,
              "include_cluster_authorized_operations": False}  # fmt: skip
    yield TOPICS, _told(_first(ask("Metadata", 9, topics), "topics"), "topic_authorized_operations")
    groups = {"groups": [name], "include_authorized_operations": True}
    row = _first(ask("DescribeGroups", 5, groups), "groups")
    yield GROUPS, _told(row, "authorized_operations")


def _first(answer: Any, rows: str) -> Any:
    return next(iter((answer or {}).get(rows) or ()), None)


def _told(row: Any, field: str) -> int | None:
    """The bits of a row; nothing where it has none, which is the least number (KIP-430)."""
    bits = (row or {}).get(field)
    if (row or {}).get("error_code") in REFUSED:
        return 0
    return bits if isinstance(bits, int) and bits >= 0 else None


def _is_refused(value: Any) -> bool:
    """Whether an answer says anywhere that a right is missing."""
    if isinstance(value, Mapping):
        return value.get("error_code") in REFUSED or any(map(_is_refused, value.values()))
    return isinstance(value, list | tuple) and any(map(_is_refused, value))
