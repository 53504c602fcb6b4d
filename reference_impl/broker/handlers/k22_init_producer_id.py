"""InitProducerId (key 22): a producer id for an idempotent producer (KIP-98).

Ids come in blocks of 1000 per broker, as the controller or ZooKeeper hands them out, so that no
two brokers of a cluster give the same one. Transactional ids need a transaction coordinator, which
is not here yet: they are answered COORDINATOR_NOT_AVAILABLE, which every client retries, and stand
in the unsupported list.

v3 lets a producer name its id and epoch (KIP-360); without a transactional id both must be unset or
are not looked at, as the release has it. v6 is two-phase commit (KIP-939), not stable.

Source: KafkaApis.handleInitProducerIdRequest, TransactionCoordinator.handleInitProducerId,
ProducerIdManager at 1.0.2, 2.2.1, 2.8.2, 3.9; observed on all five releases.
"""

from __future__ import annotations

from typing import Any

from reference_impl.broker.broker import Broker
from reference_impl.broker.effects import Request
from reference_impl.wire.errors import ErrorCode

BLOCK = 1000


def handle(request: Request, broker: Broker, now: int) -> dict[str, Any]:
    body = request.body
    if body["transactional_id"] == "":
        return _error(ErrorCode.INVALID_REQUEST)
    if (body["producer_id"] == -1) != (body["producer_epoch"] == -1):
        return _error(ErrorCode.INVALID_REQUEST)
    if body["transactional_id"] is not None:
        return _error(ErrorCode.COORDINATOR_NOT_AVAILABLE)
    return {"producer_id": _next_id(broker), "producer_epoch": 0}


def _error(code: int) -> dict[str, Any]:
    return {"error_code": code, "producer_id": -1, "producer_epoch": -1}


def _next_id(broker: Broker) -> int:
    left = broker.state.setdefault("producer ids", iter(()))
    fresh = next(left, None)
    if fresh is None:
        start = broker.cluster.allocate_producer_ids(BLOCK)
        left = broker.state["producer ids"] = iter(range(start, start + BLOCK))
        fresh = next(left)
    return fresh
