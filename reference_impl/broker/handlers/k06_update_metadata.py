"""UpdateMetadata: a ZooKeeper controller tells a broker what to tell clients (META-11).

It names every live broker, and the partitions of which something is new; the leader -2 takes one
away. What it says is all that this broker knows of the cluster.

Sources: CTL-10, META-11; KIP-380; KafkaApis.handleUpdateMetadataRequest@1.0.2, 2.2.1, 2.8.2;
observed on three nodes of the three, with requests of our own.
"""

from __future__ import annotations

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.broker.control.controller_frames import told_brokers, told_partitions
from touchstone.reference_impl.broker.control.controller_requests import ControllerRequests
from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.cluster.view import MetadataView
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct


def handle(
    request: Request, orders: ControllerRequests, metadata: MetadataView, now: int
) -> Struct:
    body = request.body
    try:
        orders.check_broker_epoch(body["broker_epoch"])
        orders.check_controller_epoch(body["controller_epoch"])
    except ApiError as refused:
        return {"error_code": refused.code}
    brokers, partitions = told_brokers(body), told_partitions(body)
    metadata.updated(body["controller_id"], brokers, partitions)
    return {"error_code": ErrorCode.NONE}
