"""A StreamsGroupHeartbeat is a value, checked before any group is looked at.

What KIP-1071 describes and 4.3.1 refuses as not yet supported is refused first: static members,
offsets of tasks, warm-up tasks, patterns of source topics.

Sources: KIP-1071; GroupCoordinatorService.throwIfStreamsGroupHeartbeatRequestIsInvalid@4.3.1;
observed on 4.3.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.group.streams.group import (
    JOIN_EPOCH,
    STATIC_LEAVE_EPOCH,
    Endpoint,
)
from touchstone.reference_impl.group.streams.status import Status
from touchstone.reference_impl.group.streams.tasks import KINDS, HeldTasks, Tasks, of_rows
from touchstone.reference_impl.group.streams.topology import InternalTopic, Topology
from touchstone.reference_impl.wire.errors import ErrorCode as E
from touchstone.reference_impl.wire.schema import Struct

UNSET = -1
_BLANKS = " \t\n\v\f\r"


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a group, from configs; durations in ms."""

    session_ms: int
    assignment_interval_ms: int
    initial_delay_ms: int
    max_size: int
    standby_replicas: int

    @property
    def configs(self) -> dict[str, str]:
        """What the assignor is told, and what is written down beside the epoch."""
        return {"num.standby.replicas": str(self.standby_replicas)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Beat:
    """A StreamsGroupHeartbeat; None stands for what did not change."""

    group_id: str
    member_id: str
    epoch: int
    endpoint_epoch: int = 0
    rack_id: str | None = None
    rebalance_timeout: int = UNSET
    topology: Topology | None = None
    owned: Tasks | None = None
    process_id: str | None = None
    endpoint: Endpoint | None = None
    tags: dict[str, str] | None = None
    shutdown: bool = False
    client_id: str = ""
    client_host: str = ""

    @classmethod
    def of(cls, body: Struct, client_id: str, client_host: str) -> Beat:
        """Raises ApiError for a topology that Java could not hold."""
        topology, endpoint, tags = body["topology"], body["user_endpoint"], body["client_tags"]
        told = body["active_tasks"] is not None
        return cls(
            group_id=body["group_id"],
            member_id=body["member_id"],
            epoch=body["member_epoch"],
            endpoint_epoch=body["endpoint_information_epoch"],
            rack_id=body["rack_id"],
            rebalance_timeout=body["rebalance_timeout_ms"],
            topology=None if topology is None else Topology.of(topology),
            owned=Tasks(*(of_rows(body[kind]) for kind in KINDS)) if told else None,
            process_id=body["process_id"],
            endpoint=None if endpoint is None else Endpoint(endpoint["host"], endpoint["port"]),
            tags=None if tags is None else {row["key"]: row["value"] for row in tags},
            shutdown=body["shutdown_application"],
            client_id=client_id,
            client_host=client_host,
        )


class EndpointTasks(NamedTuple):
    """The partitions behind an endpoint: (topic, partitions) of active and of standby tasks."""

    endpoint: Endpoint
    active: tuple[tuple[str, tuple[int, ...]], ...]
    standby: tuple[tuple[str, tuple[int, ...]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeartbeatResult:
    """What the member is told; `assigned` is None where it knows that."""

    member_id: str
    epoch: int
    statuses: tuple[Status, ...] = ()
    assigned: HeldTasks | None = None
    endpoint_epoch: int = 0
    endpoints: tuple[EndpointTasks, ...] | None = None
    missing: tuple[InternalTopic, ...] = ()  # to be made


def check(body: Struct) -> None:
    """Raise ApiError for what no group would take."""
    _check_supported(body)
    for name, field in (
        ("member_id", "MemberId"),
        ("group_id", "GroupId"),
        ("rack_id", "RackId"),
    ):
        if body[name] is not None and not body[name].strip(_BLANKS):
            _refuse(f"{field} can't be empty.")
    epoch, topology = body["member_epoch"], body["topology"]
    if epoch == JOIN_EPOCH:
        _check_join(body)
    elif epoch == STATIC_LEAVE_EPOCH:
        _refuse("InstanceId can't be null.")
    elif epoch < STATIC_LEAVE_EPOCH:
        _refuse(f"MemberEpoch is {epoch}, but must be greater than or equal to -2.")
    if len({body[kind] is None for kind in KINDS}) > 1:
        _refuse("If one task-type is non-null, all must be non-null.")
    if epoch != JOIN_EPOCH and topology is not None:
        _refuse("Topology can only be provided when (re-)joining.")


def _check_supported(body: Struct) -> None:
    for name, words in (
        ("instance_id", "Static membership is not yet supported."),
        ("task_offsets", "TaskOffsets are not supported yet."),
        ("task_end_offsets", "TaskEndOffsets are not supported yet."),
    ):
        if body[name] is not None:
            _refuse(words)
    if body["warmup_tasks"]:
        _refuse("WarmupTasks are not supported yet.")
    topology = body["topology"]
    if topology is not None and any(row["source_topic_regex"] for row in topology["subtopologies"]):
        _refuse("Regular expressions for source topics are not supported yet.")


def _check_join(body: Struct) -> None:
    if body["rebalance_timeout_ms"] == UNSET:
        _refuse("RebalanceTimeoutMs must be provided in first request.")
    for kind, field in zip(KINDS, ("ActiveTasks", "StandbyTasks", "WarmupTasks"), strict=True):
        if body[kind] is None or body[kind]:
            _refuse(f"{field} must be empty when (re-)joining.")
    if body["topology"] is None:
        _refuse("Topology must be non-null when (re-)joining.")
    for row in body["topology"]["subtopologies"]:
        for topic in row["state_changelog_topics"]:
            if topic["partitions"]:
                words = f"Changelog topic {topic['name']} must have an undefined partition count"
                words = f"{words}, but it is set to {topic['partitions']}."
                raise ApiError(E.STREAMS_INVALID_TOPOLOGY, words)


def _refuse(words: str) -> None:
    raise ApiError(E.INVALID_REQUEST, words)
