"""UnregisterBroker: a broker that will not come back is forgotten (KIP-631).

Its replicas stay assigned and are offline. One that is still alive is fenced with it.

Observed on 3.9.2 and 4.3.1 for brokers nobody knows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from touchstone.reference_impl.broker.control.cluster_controller import controller_of
from touchstone.reference_impl.wire.errors import ErrorCode

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker
    from touchstone.reference_impl.broker.effects import Request


def handle(request: Request, broker: Broker, now: int) -> dict[str, Any]:
    number, cluster = request.body["broker_id"], broker.cluster
    if number not in cluster.brokers:
        message = broker.persona.quirk("registrations.unknown-broker").format(number)
        return {"error_code": ErrorCode.BROKER_ID_NOT_REGISTERED, "error_message": message}
    controller_of(broker).left(number)
    if number != broker.id:  # who answers this has to know itself
        cluster.forget(number)
    return {"error_code": ErrorCode.NONE, "error_message": ""}
