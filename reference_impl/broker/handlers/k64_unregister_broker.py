"""UnregisterBroker: a broker that will not come back is forgotten (KIP-631).

Its replicas stay assigned and are offline. One that is still alive is out with it, the one that
answers too, until it is started again: where it was the only one, nothing has a leader until then.

Observed on 3.9.2 and 4.3.1 for brokers nobody knows, on 4.3.1 for live ones.
"""

from __future__ import annotations

from touchstone.reference_impl.broker.control.cluster_controller import ClusterController
from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.broker.personas.persona import Persona
from touchstone.reference_impl.cluster.topology import Cluster
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct


def handle(
    request: Request,
    controller: ClusterController,
    cluster: Cluster,
    persona: Persona,
    now: int,
) -> Struct:
    number = request.body["broker_id"]
    if number not in cluster.brokers:
        message = persona.quirk("registrations.unknown-broker").format(number)
        return {"error_code": ErrorCode.BROKER_ID_NOT_REGISTERED, "error_message": message}
    controller.active.left(number)
    cluster.forget(number)
    return {"error_code": ErrorCode.NONE, "error_message": ""}
