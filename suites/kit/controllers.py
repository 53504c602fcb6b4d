"""Requests that controllers, brokers and admin clients send to controllers and to each other.

A claim that sends a request reserved for controllers or brokers must do no harm: it carries a past
epoch or names a broker that does not exist.

Sources: schemas LeaderAndIsr, StopReplica, UpdateMetadata, ControlledShutdown, ElectLeaders,
AlterPartition, AlterPartitionReassignments, ListPartitionReassignments, DescribeTopicPartitions.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from touchstone.harness.model.placeholders import TopicId
from touchstone.harness.model.scenario import Ask
from touchstone.suites.kit.three_brokers import FIRST

PREFERRED, UNCLEAN = 0, 1
TIMEOUT_MS = 10_000
BY_TOPIC = {"LeaderAndIsr": 2, "StopReplica": 3, "UpdateMetadata": 5}
WITH_TOPIC_ID = {"LeaderAndIsr": 5, "UpdateMetadata": 7}


def elect(
    topic: Any, *partitions: int, kind: int = PREFERRED, version: int = 0, every: bool = False,
    **how: Any,
) -> Ask:  # fmt: skip
    """ElectLeaders for these partitions (of 0 when none is named), or for `every` partition."""
    asked = None if every else [{"topic": topic, "partitions": list(partitions or (0,))}]
    body = {"election_type": kind, "topic_partitions": asked, "timeout_ms": TIMEOUT_MS}
    return Ask("ElectLeaders", version, body, **{"name": "elect", "broker": FIRST, **how})


def reassign(topic: Any, rows: Mapping[int, Sequence[int] | None], **how: Any) -> Ask:
    """AlterPartitionReassignments: the wanted row of each partition, None to cancel."""
    entries = [
        {"partition_index": index, "replicas": None if row is None else list(row)}
        for index, row in rows.items()
    ]
    body = {"timeout_ms": TIMEOUT_MS, "topics": [{"name": topic, "partitions": entries}]}
    how = {"name": "reassign", "broker": FIRST, **how}
    return Ask("AlterPartitionReassignments", 0, body, **how)


def reassignments(topic: Any, *partitions: int, **how: Any) -> Ask:
    """ListPartitionReassignments of this topic."""
    asked = [{"name": topic, "partition_indexes": list(partitions or (0,))}]
    body = {"timeout_ms": TIMEOUT_MS, "topics": asked}
    how = {"name": "reassignments", "broker": FIRST, **how}
    return Ask("ListPartitionReassignments", 0, body, **how)


def describe(topic: Any, *, name: str = "describe", at: int = 0) -> Ask:
    """DescribeTopicPartitions, which alone tells eligible leader replicas (KIP-966)."""
    return Ask("DescribeTopicPartitions", 0, {"topics": [{"name": topic}]}, name=name, broker=at)


def controlled_shutdown(who: int, *, version: int, **how: Any) -> Ask:
    """ControlledShutdown, as this broker would send it."""
    body = {"broker_id": who, "broker_epoch": -1}
    return Ask("ControlledShutdown", version, body, **{"name": "shutdown", **how})


def leader_and_isr(
    topic: Any, version: int, *, controller_epoch: int, leader: int, leader_epoch: int,
    replicas: Sequence[int], **how: Any,
) -> Ask:  # fmt: skip
    """LeaderAndIsr of partition 0, in the shape of its version."""
    state = {
        "partition_index": 0,
        "controller_epoch": controller_epoch,
        "leader": leader,
        "leader_epoch": leader_epoch,
        "isr": list(replicas),
        "partition_epoch": 0,
        "replicas": list(replicas),
        "is_new": False,
    }
    body = _from_controller(controller_epoch) | {"type": 0, "live_leaders": []}
    body |= _states("LeaderAndIsr", topic, version, state)
    return Ask("LeaderAndIsr", version, body, **{"name": "leader and isr", **how})


def update_metadata(topic: Any, version: int, *, controller_epoch: int, **how: Any) -> Ask:
    """UpdateMetadata that would give partition 0 to a broker that does not exist."""
    state = {
        "partition_index": 0,
        "controller_epoch": controller_epoch,
        "leader": 9,
        "leader_epoch": 99,
        "isr": [9],
        "zk_version": 0,
        "replicas": [9],
        "offline_replicas": [],
    }
    body = _from_controller(controller_epoch) | {"live_brokers": []}
    body |= _states("UpdateMetadata", topic, version, state)
    return Ask("UpdateMetadata", version, body, **{"name": "update", **how})


def stop_replica(topic: Any, version: int, *, controller_epoch: int, **how: Any) -> Ask:
    """StopReplica of partition 0, with deletion."""
    body = _from_controller(controller_epoch) | {"delete_partitions": True}
    if version >= BY_TOPIC["StopReplica"]:
        state = {"partition_index": 0, "leader_epoch": 99, "delete_partition": True}
        body["topic_states"] = [{"topic_name": topic, "partition_states": [state]}]
    body["topics"] = [{"name": topic, "partition_indexes": [0]}]
    body["ungrouped_partitions"] = [{"topic_name": topic, "partition_index": 0}]
    return Ask("StopReplica", version, body, **{"name": "stop replica", **how})


def alter_partition(topic: Any, *, broker_epoch: int, isr: Sequence[int], **how: Any) -> Ask:
    """AlterPartition as 2.8 has it (AlterIsr), from broker 1."""
    state = {
        "partition_index": 0,
        "leader_epoch": 0,
        "new_isr": list(isr),
        "partition_epoch": 0,
    }
    body = {
        "broker_id": 1,
        "broker_epoch": broker_epoch,
        "topics": [{"topic_name": topic, "partitions": [state]}],
    }
    return Ask("AlterPartition", 0, body, **{"name": "alter", "broker": FIRST, **how})


def _from_controller(epoch: int) -> dict[str, Any]:
    return {"controller_id": 0, "controller_epoch": epoch, "broker_epoch": -1}


def _states(api: str, topic: Any, version: int, state: Mapping[str, Any]) -> dict[str, Any]:
    if version < BY_TOPIC[api]:
        return {"ungrouped_partition_states": [{"topic_name": topic, **state}]}
    entry: dict[str, Any] = {"topic_name": topic, "partition_states": [dict(state)]}
    if version >= WITH_TOPIC_ID.get(api, version + 1):
        entry["topic_id"] = TopicId(topic)
    return {"topic_states": [entry]}
