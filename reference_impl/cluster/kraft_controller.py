"""The KRaft controller makes one record about one partition of every change (`kraft_change`).

A broker that is fenced, shuts down or comes back is a reason to look at the partitions it stands in
or that have no leader; nothing else is swept. In controlled shutdown a broker gives up everything
it leads, also what nobody else can lead (CTL-25 is ZooKeeper's).

Sources: ReplicationControlManager@3.9.2, 4.3.1 (handleBrokerFenced, handleBrokerUnfenced,
handleBrokerInControlledShutdown, handleBrokerUncleanShutdown, alterPartition, electLeader,
alterPartitionReassignment, maybeBalancePartitionLeaders); observed on three nodes of both.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypedDict, Unpack

from touchstone.reference_impl.cluster.controller import (
    PREFERRED,
    Controller,
    ElectionResult,
    TopicPartition,
)
from touchstone.reference_impl.cluster.kraft_change import Election, PartitionChange, changed
from touchstone.reference_impl.cluster.topology import NO_LEADER, Partition, PartitionFields

MOST_BALANCED_AT_ONCE = 1000


class ChangeFields(TypedDict, total=False):
    """The fields of a `PartitionChange` that one cause asks for."""

    isr: Sequence[int]
    replicas: Sequence[int]
    adding: Sequence[int]
    removing: Sequence[int]
    recovering: bool
    lost: frozenset[int]


class KRaftController(Controller):
    # --- brokers ----------------------------------------------------------------------------

    def joined(self, broker: int, *, clean: bool = True) -> None:
        node = self.cluster.node(broker)
        if not clean and self.rules.elr:
            self._forget_unclean(broker)
        node.alive = True
        node.stopping = False
        for partition in list(self.cluster.all_partitions()):
            if partition.leader == NO_LEADER:
                self._change(partition)
        self.cluster.broker_changed(broker)

    def left(self, broker: int) -> None:
        node = self.cluster.node(broker)
        node.alive = False
        self._leave_isrs(broker)
        self.cluster.broker_changed(broker)

    def shutdown(self, broker: int) -> list[TopicPartition]:
        self.cluster.node(broker).stopping = True
        self.cluster.broker_changed(broker)
        self._leave_isrs(broker)
        return []

    def replicas_lost(self, broker: int, places: Iterable[TopicPartition]) -> None:
        places = list(places)
        self.cluster.announce(places)
        for place in places:
            partition = self.cluster.partition(*place)
            if partition and (broker in partition.isr or partition.leader == broker):
                self._change(partition, isr=[r for r in partition.isr if r != broker])

    def _leave_isrs(self, broker: int) -> None:
        for partition in list(self.cluster.all_partitions()):
            if broker in partition.isr or partition.leader == broker:
                self._change(partition, isr=[r for r in partition.isr if r != broker])

    def _forget_unclean(self, broker: int) -> None:
        """Take a broker that may have lost records out of ISR and ELR (KIP-966)."""
        for partition in list(self.cluster.all_partitions()):
            if broker in partition.isr or broker in partition.elr:
                isr = [r for r in partition.isr if r != broker]
                self._change(partition, isr=isr, lost=frozenset({broker}))

    # --- partitions -------------------------------------------------------------------------

    def isr_changed(self, partition: Partition, isr: Sequence[int]) -> None:
        ordered = sorted(isr) if self.rules.isr_is_sorted else isr
        self._change(partition, isr=ordered, recovering=False)

    def elect(self, kind: int, places: Iterable[TopicPartition] | None) -> list[ElectionResult]:
        everything = places is None
        if places is None:
            places = [(p.topic, p.index) for p in self.cluster.all_partitions()]
        results = [self._elected(kind, *place) for place in places]
        return [r for r in results if not everything or r.outcome != "needless"]

    def _elected(self, kind: int, topic: str, index: int) -> ElectionResult:
        if self.cluster.topic(topic) is None:
            return ElectionResult(topic, index, "unknown-topic")
        partition = self.cluster.partition(topic, index)
        if partition is None:
            return ElectionResult(topic, index, "unknown-partition")
        if kind == PREFERRED:
            needless = partition.leader == partition.replicas[0]
        else:
            needless = partition.leader != NO_LEADER
        if needless:
            return ElectionResult(topic, index, "needless")
        election = Election.PREFERRED if kind == PREFERRED else Election.UNCLEAN
        done = self._change(partition, election=election)
        return ElectionResult(topic, index, "done" if done else "unavailable")

    def reassign(self, partition: Partition, replicas: Sequence[int]) -> None:
        self.reassign_together([(partition, replicas)])

    def reassign_together(self, rows: Iterable[tuple[Partition, Sequence[int]]]) -> None:
        """The moves of one request: each is worked out before any of them is written.

        So a move that is named again comes to the same, and is worked out once.
        """
        known: dict[tuple[str, int, tuple[int, ...]], PartitionFields] = {}
        plans = []
        for partition, replicas in rows:
            move = partition.topic, partition.index, tuple(replicas)
            if move not in known:
                known[move] = self._fields(partition, **_move(partition, replicas))
            plans.append((partition, known[move]))
        for partition, fields in plans:
            self._apply(partition, fields)

    def cancel(self, partition: Partition) -> bool:
        if not partition.adding and not partition.removing:
            return False
        replicas = [r for r in partition.replicas if r not in partition.adding]
        isr = [r for r in partition.isr if r not in partition.adding]
        self._change(partition, replicas=replicas, isr=isr, adding=(), removing=())
        return True

    def balance(self) -> None:
        rows = [p for others, _ in self.imbalanced().values() for p in others]
        for partition in rows[:MOST_BALANCED_AT_ONCE]:
            if self.may_lead(partition.replicas[0]):
                self._change(partition, election=Election.PREFERRED)

    # --- the one way ------------------------------------------------------------------------

    def _change(
        self,
        partition: Partition,
        *,
        election: Election | None = None,
        **wanted: Unpack[ChangeFields],
    ) -> bool:
        """Make the change; whether it is one."""
        return self._apply(partition, self._fields(partition, election=election, **wanted))

    def _fields(
        self,
        partition: Partition,
        *,
        election: Election | None = None,
        **wanted: Unpack[ChangeFields],
    ) -> PartitionFields:
        config = self.cluster.config_of(partition.topic)
        if election is None:
            election = Election.UNCLEAN if self.unclean(partition) else Election.CLEAN
        lost = self.cluster.lost_replicas(partition)
        change = PartitionChange(
            may_lead=lambda broker: broker not in lost and self.may_lead(broker),
            election=election,
            elr_enabled=self.rules.elr,
            min_isr=config.min_insync_replicas,
            **wanted,
        )
        return changed(partition, change)

    def _apply(self, partition: Partition, fields: PartitionFields) -> bool:
        """A leader that may lack records recovers at once."""
        if not fields:
            return False
        self.cluster.write(partition, **fields)
        if partition.recovering:
            self.cluster.write(partition, recovering=False)
        return True


def _move(partition: Partition, replicas: Sequence[int]) -> ChangeFields:
    """What an unfinished move had added is removed like any other replica, in its own time."""
    settled = set(partition.replicas) - set(partition.adding)
    removing = sorted(set(partition.replicas) - set(replicas))
    adding = sorted(set(replicas) - settled)
    return {"replicas": [*replicas, *removing], "adding": adding, "removing": removing}
