"""A KRaft broker applies the metadata log: to its view of the cluster, then to its replicas.

A KRaft broker follows the metadata log, so it receives changes one by one and in order, and all
there is when it begins or was cut off for a while; what no longer exists then goes.

Sources: BrokerMetadataPublisher and ReplicaManager.applyDelta@3.9.2, 4.3.1.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

from touchstone.reference_impl.broker.control.forwarding import QUORUM
from touchstone.reference_impl.cluster.replica import LeaderState
from touchstone.reference_impl.cluster.topology import Change, ClusterSnapshot, PartitionDeletion

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker

LOG = logging.getLogger("touchstone.broker")
_AT_ONCE, _SHARE_NS = 16, 10_000_000  # changes; of the one thread, before others have a turn


class PendingChanges:
    """What this broker knows of and has not acted on yet, oldest first."""

    def __init__(self, broker: Broker) -> None:
        self.queue: deque[Change] = deque()


def publish(broker: Broker, changes: Iterable[Change], now: int) -> None:
    """All of it is known before anything is done: who has left an ISR may be fenced by what comes
    behind, and then the leader waits for it no longer (Partition.isReplicaIsrEligible).

    Thousands of new partitions are opened a few at a time, since everybody would wait for them.
    """
    changes = list(changes)
    for change in changes:
        broker.metadata.apply(change)
    queue = broker.room(PendingChanges).queue
    idle = not queue
    queue.extend(changes)
    if idle:
        _go_on(broker, now)


def _go_on(broker: Broker, now: int) -> None:
    """Act on a few changes, and on more until so much time is used; the rest follows."""
    queue, until = broker.room(PendingChanges).queue, broker.thread_time() + _SHARE_NS
    done = 0
    while queue:
        change = queue.popleft()
        try:
            _act(broker, change, now)
        except Exception:
            LOG.exception("cannot act on %s", change)
        done += 1
        if queue and done >= _AT_ONCE and broker.thread_time() > until:
            broker.purgatory.remind(("metadata", broker.id), now + 1, partial(_go_on, broker))
            return


def _act(broker: Broker, change: Change, now: int) -> None:
    replicas = broker.replicas
    if type(change) is LeaderState:
        replicas.apply(change, now)
    elif type(change) is PartitionDeletion:
        replicas.stop(change.topic, change.index, delete=True, now=now)
        broker.topics_deleted()
    elif type(change) is ClusterSnapshot:
        for replica in list(replicas):
            if broker.metadata.partition(replica.topic, replica.index) is None:
                replicas.stop(replica.topic, replica.index, delete=True, now=now)
        for state in change.partitions:
            replicas.apply(state, now)
        broker.purgatory.touch(QUORUM)
