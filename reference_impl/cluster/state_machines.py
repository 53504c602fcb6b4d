"""The controller has two state machines, of partitions and of replicas, as total tables.

A cell says what the state becomes; where a move is illegal Kafka logs it and leaves the state as it
was, so the cell says the old state again. Nothing else is kept here: what a move does (an election,
a StopReplica, a smaller ISR) is the controller's business. KRaft has no such machines; its
controller looks at the partition record and at who is fenced.

Sources: CTL-14, CTL-15; PartitionStateMachine and ReplicaStateMachine@1.0.2, 2.2.1, 2.8.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum


class PartitionState(Enum):
    NON_EXISTENT = "NonExistentPartition"  # never created, or created and deleted
    NEW = "NewPartition"  # created, with replicas, without leader and ISR
    ONLINE = "OnlinePartition"  # it has a leader
    OFFLINE = "OfflinePartition"  # its leader died and nobody took over


class ReplicaState(Enum):
    NON_EXISTENT = "NonExistentReplica"
    NEW = "NewReplica"  # may become a follower, was never told to
    ONLINE = "OnlineReplica"
    OFFLINE = "OfflineReplica"  # its broker is gone or it is to stop
    DELETION_STARTED = "ReplicaDeletionStarted"
    DELETION_SUCCESSFUL = "ReplicaDeletionSuccessful"
    DELETION_INELIGIBLE = "ReplicaDeletionIneligible"  # its broker is gone: deletion waits


_P, _R = PartitionState, ReplicaState

# wanted -> the states it may be entered from
PARTITION_SOURCES: Mapping[PartitionState, frozenset[PartitionState]] = {
    _P.NON_EXISTENT: frozenset({_P.OFFLINE}),
    _P.NEW: frozenset({_P.NON_EXISTENT}),
    _P.ONLINE: frozenset({_P.NEW, _P.ONLINE, _P.OFFLINE}),
    _P.OFFLINE: frozenset({_P.NEW, _P.ONLINE, _P.OFFLINE}),
}
REPLICA_SOURCES: Mapping[ReplicaState, frozenset[ReplicaState]] = {
    _R.NON_EXISTENT: frozenset({_R.DELETION_SUCCESSFUL}),
    _R.NEW: frozenset({_R.NON_EXISTENT}),
    _R.ONLINE: frozenset({_R.NEW, _R.ONLINE, _R.OFFLINE, _R.DELETION_INELIGIBLE}),
    _R.OFFLINE: frozenset({_R.NEW, _R.ONLINE, _R.OFFLINE, _R.DELETION_INELIGIBLE}),
    _R.DELETION_STARTED: frozenset({_R.OFFLINE}),
    _R.DELETION_SUCCESSFUL: frozenset({_R.DELETION_STARTED}),
    _R.DELETION_INELIGIBLE: frozenset({_R.OFFLINE, _R.DELETION_STARTED}),
}

# (state, wanted) -> what it becomes; every pair is here
PARTITION_MOVES: Mapping[tuple[PartitionState, PartitionState], PartitionState] = {
    (state, wanted): wanted if state in PARTITION_SOURCES[wanted] else state
    for state in PartitionState
    for wanted in PartitionState
}
REPLICA_MOVES: Mapping[tuple[ReplicaState, ReplicaState], ReplicaState] = {
    (state, wanted): wanted if state in REPLICA_SOURCES[wanted] else state
    for state in ReplicaState
    for wanted in ReplicaState
}
