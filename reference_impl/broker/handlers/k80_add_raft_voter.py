"""AddRaftVoter: somebody else may vote on the metadata log; never where settings name the voters.

A broker passes it on, and the controller looks at the cluster first, then at the voter, and last at
kraft.version, which is 0 in a cluster whose voters stand in `controller.quorum.voters`, as here.

Sources: KIP-853; KafkaRaftClient.handleAddVoterRequest@3.9.2, 4.3.1; observed on both.
"""

from __future__ import annotations

from touchstone.reference_impl.broker.control import raft_voters
from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.cluster.topology import Cluster
from touchstone.reference_impl.wire.schema import Struct


def handle(request: Request, cluster: Cluster, now: int) -> Struct:
    return raft_voters.refused(cluster, request.body, raft_voters.ADD)
