"""AddRaftVoter: somebody else may vote on the metadata log; never where settings name the voters.

A broker passes it on, and the controller looks at the cluster first, then at the voter, and last at
kraft.version, which is 0 in a cluster whose voters stand in `controller.quorum.voters`, as here.

Sources: KIP-853; KafkaRaftClient.handleAddVoterRequest@3.9.2, 4.3.1; observed on both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from touchstone.reference_impl.broker.control import raft_voters

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker
    from touchstone.reference_impl.broker.effects import Request


def handle(request: Request, broker: Broker, now: int) -> dict[str, Any]:
    return raft_voters.refused(broker, request.body, raft_voters.ADD)
