"""RemoveRaftVoter: a voter on the metadata log is given up; never where settings name the voters.

Sources: KIP-853; KafkaRaftClient.handleRemoveVoterRequest@3.9.2, 4.3.1; observed on both.
"""

from __future__ import annotations

from typing import Any

from touchstone.reference_impl.broker.control import raft_voters
from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.cluster.topology import Cluster


def handle(request: Request, cluster: Cluster, now: int) -> dict[str, Any]:
    return raft_voters.refused(cluster, request.body, raft_voters.REMOVE)
