"""UpdateMetadata: a ZooKeeper controller tells a broker what to tell clients (META-11).

Brokers of one process read the registry itself, so there is nothing to keep: the request is checked
like any of a controller's and says whether it would have been believed. What a request of somebody
else's making claims about the cluster is therefore not seen in Metadata, which real brokers show.

Sources: CTL-10, META-11; KIP-380; KafkaApis.handleUpdateMetadataRequest@1.0.2, 2.2.1, 2.8.2;
observed on three nodes of the three, with requests of our own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reference_impl.broker.controller_requests import check_broker_epoch, check_controller_epoch
from reference_impl.broker.refused import Refused
from reference_impl.wire.errors import ErrorCode

if TYPE_CHECKING:
    from reference_impl.broker.broker import Broker
    from reference_impl.broker.effects import Request


def handle(request: Request, broker: Broker, now: int) -> dict[str, Any]:
    try:
        check_broker_epoch(broker, request.body["broker_epoch"])
        check_controller_epoch(broker, request.body["controller_epoch"])
    except Refused as refused:
        return {"error_code": refused.code}
    return {"error_code": ErrorCode.NONE}
