"""A broker hosts share partitions of the partitions it leads, for groups that fetch there.

Each is begun by the first fetch: its state is read from the share coordinator, and where nothing
was ever read the group's reset strategy says where to begin. Until that is there it is not active
and fetches wait; one that will not wait has nothing. One that the coordinator has fenced, whose
partition is led by another, or whose group has nobody left that fetches here, is forgotten, and
with it which records are acquired: those are not written down. Locks end by an alarm.

Sources: SharePartitionManager, SharePartition, ShareFetchUtils@4.3.1 (facts); KIP-932.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from touchstone.reference_impl.broker.configs import group_settings
from touchstone.reference_impl.broker.coordinators import share_persister
from touchstone.reference_impl.broker.coordinators.share_persister import Answer, Update
from touchstone.reference_impl.cluster.replica import Replica
from touchstone.reference_impl.share.checks import AcknowledgementBatch
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

    def stands(self, replica: Replica) -> bool:
        """Whether this is still the replica, and nobody else has led it in between."""
        return self.replica is replica and self.term == replica.term


def key_of(group: str, place: tuple[bytes, int]) -> tuple[str, str, bytes, int]:
    """The purgatory's key of everything that waits for this share partition."""
    return ("share", group, *place)


def host(broker: Broker, key: SharePartitionKey, topic: str, now: int) -> HostedPartition | Fault:
    """The share partition, begun if it was not; a fault where this broker cannot serve it."""
    replica, error = broker.replicas.locate(topic, key[2])
    known = _all(broker)
    found = known.get(key)
    if replica is None or (found is not None and not found.stands(replica)):
        forget(broker, key)
        found = None
    if replica is None:
        return error, None
    if found is None:
        found = known[key] = HostedPartition(
            key, topic, replica, replica.leader_epoch, replica.term
        )
        _begin(broker, found, now)
    return found


def there(broker: Broker, key: SharePartitionKey) -> HostedPartition | None:
    """The share partition, if it was begun, is active and this broker's to serve."""
    found = _all(broker).get(key)
    if found is None or found.share is None:
        return None
    replica, _ = broker.replicas.locate(found.topic, key[2])
    return found if replica is not None and found.stands(replica) else None


def forget(broker: Broker, key: SharePartitionKey) -> None:
    if _all(broker).pop(key, None) is not None:
        broker.purgatory.remind(("share locks", broker.id, key), None, _nothing)
        broker.purgatory.touch(key_of(key[0], key[1:]))


def forget_group(broker: Broker, group: str) -> None:
    for key in [key for key in _all(broker) if key[0] == group]:
        forget(broker, key)


def acknowledge(
    broker: Broker,
    one: HostedPartition,
    member: str,
    batches: Sequence[AcknowledgementBatch],
    now: int,
    then: Acknowledged,
) -> None:
    _keep(broker, one, one.share.acknowledge(member, batches, now), now, then)


def release(broker: Broker, key: SharePartitionKey, member: str, now: int) -> None:
    """Give back the records that this member has, so that others may have them."""
    one = there(broker, key)
    if one is not None:
        _keep(broker, one, one.share.release(member), now, lambda code, message, at: None)


def watch(broker: Broker, one: HostedPartition) -> None:
    """Have an alarm for the next lock that ends."""

    def due(now: int) -> None:
        if _all(broker).get(one.key) is one:
            _expire(broker, one, now)

    deadline = one.share.deadline()
    broker.purgatory.remind(("share locks", broker.id, one.key), deadline, due)


def lock_ms(broker: Broker, group: str) -> int:
    return group_settings.number(broker, group, "share.record.lock.duration.ms")


# ---------------------------------------------------------------------------------- beginning


def _begin(broker: Broker, one: HostedPartition, now: int) -> None:
    def told(answer: Answer, at: int) -> None:
        if _all(broker).get(one.key) is not one:
            return
        if answer.code:
            code = _TO_CLIENTS.get(E(answer.code), E.UNKNOWN_SERVER_ERROR)
            one.fault = code, answer.message
            del _all(broker)[one.key]
        else:
            kept = answer.kept
            if "share-next-leader-begins-anew" in broker.switches:
                kept = replace(kept, start=NO_OFFSET, batches=())
            start = _start(broker, one, at) if kept.start == NO_OFFSET else kept.start
            one.state_epoch = kept.state_epoch
            one.share = SharePartition(
                start,
                lambda: _limits(broker, one.key[0]),
                batches=kept.batches,
                switches=broker.switches,
            )
        broker.purgatory.touch(key_of(one.key[0], one.key[1:]))

    def ask(at: int) -> None:
        share_persister.read(broker, one.key, one.leader_epoch, at, told)

    broker.soon(("share partition", one.key), ask)


def _start(broker: Broker, one: HostedPartition, now: int) -> int:
    log = one.replica.log
    strategy = group_settings.setting(broker, one.key[0], group_settings.RESET)
    if strategy == "earliest":
        return log.log_start_offset
    back = group_settings.reset_duration_ms(strategy or "")
    if back is not None:
        found = log.first_offset_at(now - back).offset
        if 0 <= found < log.high_watermark:
            return found
    return log.high_watermark


def _limits(broker: Broker, group: str) -> Limits:
    own = group_settings.setting(broker, group, "share.renew.acknowledge.enable")
    return Limits(
        group_settings.number(broker, group, "share.partition.max.record.locks"),
        group_settings.number(broker, group, "share.delivery.count.limit"),
        lock_ms(broker, group),
        own == "true",
    )


# ------------------------------------------------------------------------------- what changes


def _keep(
    broker: Broker, one: HostedPartition, change: Change, now: int, then: Acknowledged
) -> None:
    """Write what was begun, then make it good, or take it back."""
    share = one.share
    if change.refusal is not None:
        watch(broker, one)
        broker.purgatory.touch(key_of(one.key[0], one.key[1:]))
        then(change.refusal.code, change.refusal.message, now)
        return
    if not change.pairs:
        watch(broker, one)
        then(E.NONE, None, now)
        return

    def written(answer: Answer, at: int) -> None:
        share.settle(change, not answer.code, at)
        code = _TO_CLIENTS.get(E(answer.code), E.UNKNOWN_SERVER_ERROR) if answer.code else E.NONE
        if code in _FENCES:
            forget(broker, one.key)
        elif _all(broker).get(one.key) is one:
            watch(broker, one)
            broker.purgatory.touch(key_of(one.key[0], one.key[1:]))
        then(code, answer.message, at)

    _write(broker, one, change.rows, now, written)


def _expire(broker: Broker, one: HostedPartition, now: int) -> None:
    rows = one.share.expire(now)
    watch(broker, one)
    if rows:

        def written(answer: Answer, at: int) -> None:
            one.share.advance()

        _write(broker, one, rows, now, written)
        broker.purgatory.touch(key_of(one.key[0], one.key[1:]))


def _write(
    broker: Broker,
    one: HostedPartition,
    rows: list[StateBatch],
    now: int,
    then: Callable[[Answer, int], None],
) -> None:
    update = Update(one.state_epoch, one.leader_epoch, one.share.start, one.share.done, rows)
    share_persister.write(broker, one.key, update, now, then)


class SharePartitions:
    """The share partitions of one broker, by their keys."""

    def __init__(self, broker: Broker) -> None:
        self.all: dict[SharePartitionKey, HostedPartition] = {}


def _all(broker: Broker) -> dict[SharePartitionKey, HostedPartition]:
    return broker.room(SharePartitions).all


def _nothing(now: int) -> None:
    """An alarm that was taken back."""
