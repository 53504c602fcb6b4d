"""A broker appends records of its own where it leads: a coordinator's, and markers.

They count when the high watermark has passed them, as with acks=-1; then, or when that cannot come
any more or took longer than request.timeout.ms, `then(code, now)` is called, once. That may be
before `append` returns.

Sources: ReplicaManager.appendRecords with AppendOrigin.COORDINATOR at 2.8.2, 3.9; APPEND-22;
CoordinatorOperationExceptionHelper@4.3.1, GroupMetadataManager.storeOffsets@2.8.2 (NOT_KEPT).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from touchstone.reference_impl.broker.replication.partitions import log_key
from touchstone.reference_impl.broker.replication.replicas import ALL
from touchstone.reference_impl.log.rules import COORDINATOR, LogError
from touchstone.reference_impl.wire.errors import ErrorCode as E

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker

Written = Callable[[int, int], None]
# What a failed append to a coordinator's own log means to whoever asked the coordinator.
NOT_KEPT = {
    E.UNKNOWN_TOPIC_OR_PARTITION: E.COORDINATOR_NOT_AVAILABLE,
    E.NOT_ENOUGH_REPLICAS: E.COORDINATOR_NOT_AVAILABLE,
    E.REQUEST_TIMED_OUT: E.COORDINATOR_NOT_AVAILABLE,
    E.NOT_LEADER_OR_FOLLOWER: E.NOT_COORDINATOR,
    E.KAFKA_STORAGE_ERROR: E.NOT_COORDINATOR,
}
PATIENCE_MS = 30_000  # request.timeout.ms by default


def append(broker: Broker, topic: str, index: int, records: bytes, now: int, then: Written) -> None:
    replica, error = broker.replicas.locate(topic, index)
    if replica is None:
        then(error, now)
        return
    epoch = replica.leader_epoch
    try:
        result = broker.replicas.append(replica, records, now, acks=ALL, origin=COORDINATOR)
    except LogError as refusal:
        then(refusal.code, now)
        return
    wanted = result.last_offset + 1

    def replicated(at: int) -> bool:
        still, error = broker.replicas.locate(topic, index)
        if still is None or still.leader_epoch != epoch:
            then(error or E.NOT_LEADER_OR_FOLLOWER, at)
            return True
        if still.log.high_watermark < wanted:
            return False
        then(E.NONE, at)
        return True

    def give_up(at: int) -> bool:
        then(E.REQUEST_TIMED_OUT, at)
        return True

    if not replicated(now):
        until = now + broker.number("request.timeout.ms", PATIENCE_MS)
        keys = [log_key(topic, index)]
        broker.purgatory.follow(keys, replicated, until=until, give_up=give_up)
