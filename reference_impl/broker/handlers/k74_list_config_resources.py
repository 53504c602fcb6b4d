"""ListConfigResources: what has configs; v0 lists client metrics only (KIP-714, KIP-1142).

Observed on 3.9.2 and 4.3.1: no types asks for all, a type nobody has is refused.
"""

from __future__ import annotations

from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.cluster.topology import Cluster
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

TOPIC, BROKER, LOGGER, METRICS, GROUP = 2, 4, 8, 16, 32
TYPES = (METRICS, LOGGER, BROKER, TOPIC, GROUP)


def handle(request: Request, cluster: Cluster, now: int) -> Struct:
    wanted = set(request.body["resource_types"]) or set(TYPES)
    if request.header.version == 0:
        wanted = {METRICS}
    if not wanted <= set(TYPES):
        return {"error_code": ErrorCode.UNSUPPORTED_VERSION, "config_resources": []}
    brokers = [str(node.id) for node in cluster.alive]
    names = {
        METRICS: list(cluster.metrics_configs),
        LOGGER: brokers,
        BROKER: brokers,
        TOPIC: list(cluster.topics),
        GROUP: list(cluster.group_configs),
    }
    return {
        "error_code": ErrorCode.NONE,
        "config_resources": [
            {"resource_name": name, "resource_type": kind}
            for kind in TYPES
            if kind in wanted
            for name in names.get(kind, ())
        ],
    }
