"""Every cell of both tables against the clause that lists the legal moves (CTL-14, CTL-15)."""

import itertools

from touchstone.reference_impl.cluster.state_machines import (
    PARTITION_MOVES,
    REPLICA_MOVES,
    PartitionState,
    ReplicaState,
)

LEGAL_FOR_PARTITIONS = {
    "NonExistentPartition": "NewPartition",
    "NewPartition": "OnlinePartition OfflinePartition",
    "OnlinePartition": "OnlinePartition OfflinePartition",
    "OfflinePartition": "OnlinePartition OfflinePartition NonExistentPartition",
}
LEGAL_FOR_REPLICAS = {
    "NonExistentReplica": "NewReplica",
    "NewReplica": "OnlineReplica OfflineReplica",
    "OnlineReplica": "OnlineReplica OfflineReplica",
    "OfflineReplica": (
        "OnlineReplica OfflineReplica ReplicaDeletionStarted ReplicaDeletionIneligible"
    ),
    "ReplicaDeletionStarted": "ReplicaDeletionSuccessful ReplicaDeletionIneligible",
    "ReplicaDeletionSuccessful": "NonExistentReplica",
    "ReplicaDeletionIneligible": "OnlineReplica OfflineReplica",
}


def test_every_pair_of_partition_states_has_its_move():
    for state, wanted in itertools.product(PartitionState, repeat=2):
        legal = wanted.value in LEGAL_FOR_PARTITIONS[state.value].split()
        assert PARTITION_MOVES[state, wanted] is (wanted if legal else state), (state, wanted)


def test_every_pair_of_replica_states_has_its_move():
    for state, wanted in itertools.product(ReplicaState, repeat=2):
        legal = wanted.value in LEGAL_FOR_REPLICAS[state.value].split()
        assert REPLICA_MOVES[state, wanted] is (wanted if legal else state), (state, wanted)
