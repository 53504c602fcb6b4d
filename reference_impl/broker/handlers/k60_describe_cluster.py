"""DescribeCluster: who is there, who controls, under which cluster id.

From v1 on a client says whether it wants brokers (1) or controllers (2) and must ask the right
listener; v2 can show fenced brokers, of which this cluster has none.

Sources: KIP-700 (v0), KIP-919 (v1), KIP-1073 (v2); observed on 2.8.2, 3.9.2 and 4.3.1.
"""

from __future__ import annotations

from touchstone.reference_impl.broker.authorized_operations import CLUSTER_OPERATIONS
from touchstone.reference_impl.broker.control.cluster_controller import ClusterController
from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.cluster.topology import Cluster
from touchstone.reference_impl.cluster.view import MetadataView
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

BROKERS, CONTROLLERS = 1, 2
NAMES = {BROKERS: "BROKER", CONTROLLERS: "CONTROLLER"}


def handle(
    request: Request,
    controller: ClusterController,
    metadata: MetadataView,
    cluster: Cluster,
    now: int,
) -> Struct:
    body = request.body
    if request.header.version >= 1:
        wanted = body["endpoint_type"]
        here = CONTROLLERS if request.connection.controller else BROKERS
        if wanted not in NAMES:
            return _refusal(
                ErrorCode.UNSUPPORTED_ENDPOINT_TYPE, f"Unsupported endpoint type {wanted}"
            )
        if wanted != here:
            return _refusal(
                ErrorCode.MISMATCHED_ENDPOINT_TYPE,
                f"The request was sent to an endpoint of type {NAMES[here]}, "
                f"but we wanted an endpoint of type {NAMES[wanted]}",
            )
    answer: Struct = {
        "error_code": ErrorCode.NONE,
        "error_message": None,
        "cluster_id": cluster.cluster_id,
        "controller_id": controller.named,
        "brokers": [
            {"broker_id": node.id, "host": at[0], "port": at[1], "rack": node.rack}
            for node in metadata.alive
            if (at := node.at(request.connection.listener))
        ],
    }
    if body["include_cluster_authorized_operations"]:
        answer["cluster_authorized_operations"] = CLUSTER_OPERATIONS
    return answer


def _refusal(code: int, message: str) -> Struct:
    """Return an error, which does not tell the cluster's id (AuthHelper at 3.9.2 and 4.3.1)."""
    return {
        "error_code": code,
        "error_message": message,
        "cluster_id": "",
        "controller_id": -1,
        "brokers": [],
    }
