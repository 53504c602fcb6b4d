"""A broker hosts share partitions of the partitions it leads, for groups that fetch there.

Each is begun by the first fetch: its state is read from the share coordinator, and where nothing
was ever read the group's reset strategy says where to begin. Until that is there it is not active
and fetches wait; one that will not wait has nothing. One that the coordinator has fenced, whose
partition is led by another, or whose group has nobody left that fetches here, is forgotten, and
with it which records are acquired: those are not written down. Locks end by an alarm.

Sources: SharePartitionManager, SharePartition, ShareFetchUtils@4.3.1; KIP-932.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from touchstone.reference_impl.broker.configs import group_settings
from touchstone.reference_impl.broker.configs.config_values import is_true
from touchstone.reference_impl.broker.coordinators import share_persister
from touchstone.reference_impl.broker.coordinators.share_persister import Answer, Update
from touchstone.reference_impl.cluster.replica import Replica
from touchstone.reference_impl.share.checks import AcknowledgementBatch
from touchstone.reference_impl.share.coordinator import ShareState
from touchstone.reference_impl.share.partition import Change, Limits, SharePartition
from touchstone.reference_impl.share.state_batches import NO_OFFSET, StateBatch
from touchstone.reference_impl.wire.errors import ErrorCode as E

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker

SharePartitionKey = tuple[str, bytes, int]  # group, topic id, partition
Fault = tuple[int, str | None]
Acknowledged = Callable[[int, str | None, int], None]  # (code, message, now)
NO_FAULT: Fault = (E.NONE, None)
UNHOSTED = "This server does not host this topic-partition."
# What a share coordinator's refusal means to a client; all others are UNKNOWN_SERVER_ERROR.
_TO_CLIENTS = {
    E.NOT_COORDINATOR: E.COORDINATOR_NOT_AVAILABLE,
    E.COORDINATOR_NOT_AVAILABLE: E.COORDINATOR_NOT_AVAILABLE,
    E.COORDINATOR_LOAD_IN_PROGRESS: E.COORDINATOR_NOT_AVAILABLE,
    E.GROUP_ID_NOT_FOUND: E.GROUP_ID_NOT_FOUND,
    E.UNKNOWN_TOPIC_OR_PARTITION: E.UNKNOWN_TOPIC_OR_PARTITION,
    E.FENCED_LEADER_EPOCH: E.NOT_LEADER_OR_FOLLOWER,
    E.FENCED_STATE_EPOCH: E.NOT_LEADER_OR_FOLLOWER,
}
_FENCES = (E.NOT_LEADER_OR_FOLLOWER, E.GROUP_ID_NOT_FOUND, E.UNKNOWN_TOPIC_OR_PARTITION)


@dataclass(slots=True, eq=False)
class HostedPartition:
    """A share partition, or the wait for it."""

    key: SharePartitionKey
    topic: str
    replica: Replica
    leader_epoch: int
    term: int  # in which this broker leads
    state_epoch: int = 0
    share: SharePartition | None = None
    fault: Fault | None = None  # why it could not be begun; told to those who wait, once

    @property
    def active(self) -> SharePartition:
        """The share partition of one that `there` gave, which is active."""
        if self.share is None:
            raise AssertionError(f"the share partition {self.key} is not active")
        return self.share

    def stands(self, replica: Replica) -> bool:
        """Whether this is still the replica, and nobody else has led it in between."""
        return self.replica is replica and self.term == replica.term


def key_of(group: str, place: tuple[bytes, int]) -> tuple[str, str, bytes, int]:
    """The purgatory's key of everything that waits for this share partition."""
    return ("share", group, *place)


# ---------------------------------------------------------------------------------- beginning


# ------------------------------------------------------------------------------- what changes


class SharePartitions:
    """The share partitions of one broker, by their keys."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self.all: dict[SharePartitionKey, HostedPartition] = {}

    def host(self, key: SharePartitionKey, topic: str, now: int) -> HostedPartition | Fault:
        """The share partition, begun if it was not; a fault where this broker cannot serve it."""
        replica, error = self._broker.replicas.locate(topic, key[2])
        known = self.all
        found = known.get(key)
        if replica is None or (found is not None and not found.stands(replica)):
            self.forget(key)
            found = None
        if replica is None:
            return error, None
        if found is None:
            found = known[key] = HostedPartition(
                key, topic, replica, replica.leader_epoch, replica.term
            )
            self._begin(found, now)
        return found

    def there(self, key: SharePartitionKey) -> HostedPartition | None:
        """The share partition, if it was begun, is active and this broker's to serve."""
        found = self.all.get(key)
        if found is None or found.share is None:
            return None
        replica, _ = self._broker.replicas.locate(found.topic, key[2])
        return found if replica is not None and found.stands(replica) else None

    def forget(self, key: SharePartitionKey) -> None:
        if self.all.pop(key, None) is not None:
            self._broker.purgatory.remind(("share locks", self._broker.id, key), None, _nothing)
            self._broker.purgatory.touch(key_of(key[0], key[1:]))

    def forget_group(self, group: str) -> None:
        for key in [key for key in self.all if key[0] == group]:
            self.forget(key)

    def acknowledge(
        self,
        one: HostedPartition,
        member: str,
        batches: Sequence[AcknowledgementBatch],
        now: int,
        then: Acknowledged,
    ) -> None:
        self._keep(one, one.active.acknowledge(member, batches, now), now, then)

    def release(self, key: SharePartitionKey, member: str, now: int) -> None:
        """Give back the records that this member has, so that others may have them."""
        one = self.there(key)
        if one is not None:
            self._keep(one, one.active.release(member), now, lambda code, message, at: None)

    def watch(self, one: HostedPartition) -> None:
        """Have an alarm for the next lock that ends."""

        def due(now: int) -> None:
            if self.all.get(one.key) is one:
                self._expire(one, now)

        deadline = one.active.deadline()
        self._broker.purgatory.remind(("share locks", self._broker.id, one.key), deadline, due)

    def lock_ms(self, group: str) -> int:
        return group_settings.number(self._broker, group, "share.record.lock.duration.ms")

    def _begin(self, one: HostedPartition, now: int) -> None:
        def told(answer: Answer, at: int) -> None:
            if self.all.get(one.key) is not one:
                return
            kept = answer.kept
            if answer.code or kept is None:
                code = _TO_CLIENTS.get(E(answer.code), E.UNKNOWN_SERVER_ERROR)
                one.fault = code, answer.message
                del self.all[one.key]
            else:
                one.share = self._taken_up(one, kept, at)
            self._broker.purgatory.touch(key_of(one.key[0], one.key[1:]))

        def ask(at: int) -> None:
            share_persister.read(self._broker, one.key, one.leader_epoch, at, told)

        self._broker.soon(("share partition", one.key), ask)

    def _taken_up(self, one: HostedPartition, kept: ShareState, now: int) -> SharePartition:
        """The share partition as its coordinator has it, or as its group wants it begun."""
        one.state_epoch = kept.state_epoch
        start = self._start(one, now) if kept.start == NO_OFFSET else kept.start
        return SharePartition(start, lambda: self._limits(one.key[0]), batches=kept.batches)

    def _start(self, one: HostedPartition, now: int) -> int:
        log = one.replica.log
        strategy = group_settings.setting(self._broker, one.key[0], group_settings.RESET)
        if strategy == "earliest":
            return log.log_start_offset
        back = group_settings.reset_duration_ms(strategy or "")
        if back is not None:
            found = log.first_offset_at(now - back).offset
            if 0 <= found < log.high_watermark:
                return found
        return log.high_watermark

    def _limits(self, group: str) -> Limits:
        own = group_settings.setting(self._broker, group, "share.renew.acknowledge.enable")
        return Limits(
            group_settings.number(self._broker, group, "share.partition.max.record.locks"),
            group_settings.number(self._broker, group, "share.delivery.count.limit"),
            self.lock_ms(group),
            is_true(own),
        )

    def _keep(self, one: HostedPartition, change: Change, now: int, then: Acknowledged) -> None:
        """Write what was begun, then make it good, or take it back."""
        share = one.active
        if change.refusal is not None:
            self.watch(one)
            self._broker.purgatory.touch(key_of(one.key[0], one.key[1:]))
            then(change.refusal.code, change.refusal.message, now)
            return
        if not change.pairs:
            self.watch(one)
            then(E.NONE, None, now)
            return

        def written(answer: Answer, at: int) -> None:
            share.settle(change, not answer.code, at)
            code = (
                _TO_CLIENTS.get(E(answer.code), E.UNKNOWN_SERVER_ERROR) if answer.code else E.NONE
            )
            if code in _FENCES:
                self.forget(one.key)
            elif self.all.get(one.key) is one:
                self.watch(one)
                self._broker.purgatory.touch(key_of(one.key[0], one.key[1:]))
            then(code, answer.message, at)

        self._write(one, change.rows, now, written)

    def _expire(self, one: HostedPartition, now: int) -> None:
        share = one.active
        rows = share.expire(now)
        self.watch(one)
        if rows:

            def written(answer: Answer, at: int) -> None:
                share.advance()

            self._write(one, rows, now, written)
            self._broker.purgatory.touch(key_of(one.key[0], one.key[1:]))

    def _write(
        self,
        one: HostedPartition,
        rows: list[StateBatch],
        now: int,
        then: Callable[[Answer, int], None],
    ) -> None:
        share = one.active
        update = Update(one.state_epoch, one.leader_epoch, share.start, share.done, rows)
        share_persister.write(self._broker, one.key, update, now, then)


def _nothing(now: int) -> None:
    """An alarm that was taken back."""
