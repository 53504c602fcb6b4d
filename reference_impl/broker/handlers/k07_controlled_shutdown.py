"""ControlledShutdown: a broker asks the ZooKeeper controller to move its leaders away.

The answer lists what it still leads although it has other replicas (CTL-24); a partition with one
replica neither blocks nor shows (CTL-25). Anybody but the controller answers
STALE_CONTROLLER_EPOCH, for that is what "the controller moved" is called here.

Sources: CTL-24, CTL-25; KIP-380; KafkaController.doControlledShutdown@1.0.2, 2.2.1, 2.8.2; observed
on three nodes of the three.
"""

from __future__ import annotations

from touchstone.reference_impl.broker.control.cluster_controller import ClusterController
from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.cluster.topology import Cluster
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

UNSAID = -1


def handle(request: Request, controller: ClusterController, cluster: Cluster, now: int) -> Struct:
    body = request.body
    if not controller.here:
        return _answer(ErrorCode.STALE_CONTROLLER_EPOCH)
    node = cluster.brokers.get(body["broker_id"])
    if node is None or not node.alive:
        return _answer(ErrorCode.BROKER_NOT_AVAILABLE)
    epoch = body["broker_epoch"]
    if epoch != UNSAID and epoch < node.epoch:
        return _answer(ErrorCode.STALE_BROKER_EPOCH)
    return _answer(ErrorCode.NONE, controller.active.shutdown(node.id))


def _answer(code: int, remaining: list[tuple[str, int]] | None = None) -> Struct:
    return {
        "error_code": code,
        "remaining_partitions": [
            {"topic_name": topic, "partition_index": index} for topic, index in remaining or ()
        ],
    }
