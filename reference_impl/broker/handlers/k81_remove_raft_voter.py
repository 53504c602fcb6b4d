"""RemoveRaftVoter: a voter on the metadata log is given up; never where settings name the voters.

Sources: KIP-853; KafkaRaftClient.handleRemoveVoterRequest@3.9.2, 4.3.1; observed on both.
"""

from __future__ import annotations

from touchstone.reference_impl.broker.control import raft_voters
from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.cluster.topology import Cluster
from touchstone.reference_impl.wire.schema import Struct


def handle(request: Request, cluster: Cluster, now: int) -> Struct:
    return raft_voters.refused(cluster, request.body, raft_voters.REMOVE)
