"""A ConsumerGroupHeartbeat is a value, checked before any group is looked at.

Sources: KIP-848; GroupCoordinatorService@4.3.1; observed on 4.3.1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.group.consumer_group import (
    JOIN_EPOCH,
    LEAVE_EPOCH,
    STATIC_LEAVE_EPOCH,
    TopicIdPartition,
)
from touchstone.reference_impl.group.consumer_rules import NEWEST, ConsumerRules
from touchstone.reference_impl.wire.errors import ErrorCode as E

UNSET = -1
UPGRADES, DOWNGRADES = ("upgrade", "bidirectional"), ("downgrade", "bidirectional")
DISABLED = "disabled"


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a group, from configs; instants and durations in ms."""

    session_ms: int
    assignment_interval_ms: int
    max_size: int
    assignors: tuple[str, ...]  # the first is the default
    classic_max_size: int = 2**31 - 1
    migration: str = "bidirectional"
    regex_refresh_ms: int = 600_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Beat:
    """A ConsumerGroupHeartbeat; None stands for what did not change."""

    group_id: str
    member_id: str
    epoch: int
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout: int = UNSET
    names: frozenset[str] | None = None
    regex: str | None = None
    assignor: str | None = None
    owned: frozenset[TopicIdPartition] | None = None
    rows: int = 0  # of topics that `owned` came in; one may have no partitions
    client_id: str = ""
    client_host: str = ""
    sees: Callable[[str], bool] | None = None  # which topics its peer may see; None for all

    @property
    def full(self) -> bool:
        told = self.rebalance_timeout != UNSET and self.owned is not None
        subscribes = self.names is not None or self.regex is not None
        return self.epoch == JOIN_EPOCH or (told and subscribes)


@dataclass(frozen=True, slots=True)
class HeartbeatResult:
    member_id: str
    epoch: int
    assignment: tuple[TopicIdPartition, ...] | None = None
    resolve: frozenset[str] = frozenset()  # regular expressions to be resolved after the answer


def check(
    beat: Beat,
    assignors: tuple[str, ...],
    rules: ConsumerRules = NEWEST,
    *,
    ids_are_given: bool,
) -> None:
    """Raise ApiError for what no group would take; `ids_are_given`: version 0 lets the broker."""
    leaves = beat.epoch == LEAVE_EPOCH or (
        beat.epoch == STATIC_LEAVE_EPOCH and rules.away_names_itself
    )
    if not ids_are_given or beat.epoch > JOIN_EPOCH or leaves:
        _not_empty(beat.member_id, "MemberId")
    _not_empty(beat.group_id, "GroupId")
    _not_empty(beat.instance_id, "InstanceId")
    _not_empty(beat.rack_id, "RackId")
    if beat.epoch == JOIN_EPOCH:
        _check_join(beat, rules)
    elif beat.epoch == STATIC_LEAVE_EPOCH and beat.instance_id is None:
        raise ApiError(E.INVALID_REQUEST, "InstanceId can't be null.")
    elif beat.epoch < STATIC_LEAVE_EPOCH:
        raise ApiError(E.INVALID_REQUEST, "MemberEpoch is invalid.")
    if beat.assignor is not None and beat.assignor not in assignors:
        known = ", ".join(assignors)
        words = f"ServerAssignor {beat.assignor} is not supported. Supported assignors: {known}."
        raise ApiError(E.UNSUPPORTED_ASSIGNOR, words)


def _check_join(beat: Beat, rules: ConsumerRules) -> None:
    if beat.rebalance_timeout == UNSET:
        why = "RebalanceTimeoutMs must be provided in first request."
    elif beat.owned is None or beat.owned or beat.rows:
        why = "TopicPartitions must be empty when (re-)joining."
    elif rules.joins_name_topics and not beat.names:
        why = "SubscribedTopicNames must be set in first request."
    elif beat.names is None and beat.regex is None:
        why = (
            "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when "
            "(re-)joining."
        )
    else:
        return
    raise ApiError(E.INVALID_REQUEST, why)


def _not_empty(text: str | None, field: str) -> None:
    if text is not None and not text.strip(" \t\n\v\f\r"):
        raise ApiError(E.INVALID_REQUEST, f"{field} can't be empty.")
