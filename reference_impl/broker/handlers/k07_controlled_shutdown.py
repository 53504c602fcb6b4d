"""ControlledShutdown: a broker asks the ZooKeeper controller to move its leaders away.

The answer lists what it still leads although it has other replicas (CTL-24); a partition with one
replica neither blocks nor shows (CTL-25). Anybody but the controller answers
STALE_CONTROLLER_EPOCH, for that is what "the controller moved" is called here.

Sources: CTL-24, CTL-25; KIP-380; KafkaController.doControlledShutdown@1.0.2, 2.2.1, 2.8.2; observed
on three nodes of the three.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from touchstone.reference_impl.broker.control.cluster_controller import controller_of, is_controller
from touchstone.reference_impl.wire.errors import ErrorCode

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker
    from touchstone.reference_impl.broker.effects import Request

UNSAID = -1


def handle(request: Request, broker: Broker, now: int) -> dict[str, Any]:
    body, cluster = request.body, broker.cluster
    if not is_controller(broker):
        return _answer(ErrorCode.STALE_CONTROLLER_EPOCH)
    node = cluster.brokers.get(body["broker_id"])
    if node is None or not node.alive:
        return _answer(ErrorCode.BROKER_NOT_AVAILABLE)
    epoch = body["broker_epoch"]
    if epoch != UNSAID and epoch < node.epoch:
        return _answer(ErrorCode.STALE_BROKER_EPOCH)
    return _answer(ErrorCode.NONE, controller_of(broker).shutdown(node.id))


def _answer(code: int, remaining: list[tuple[str, int]] | None = None) -> dict[str, Any]:
    return {
        "error_code": code,
        "remaining_partitions": [
            {"topic_name": topic, "partition_index": index} for topic, index in remaining or ()
        ],
    }
