"""InitProducerId: a producer id and an epoch (KIP-98).

Without a transactional id it is a fresh id at epoch 0, and any broker gives it. With one, the
coordinator raises the epoch of the id's producer, which fences whoever had it, after it has put an
end to what that one left open.

v3 lets a producer name its id and epoch (KIP-360), both or neither. v4 answers PRODUCER_FENCED
where older versions say INVALID_PRODUCER_EPOCH (KIP-588). v6 asks for two-phase commit (KIP-939);
it is unstable, and `transaction.two.phase.commit.enable` is always false here.

Source: KafkaApis.handleInitProducerIdRequest, TransactionCoordinator at 1.0.2,
2.2.1, 2.8.2, 3.9, 4.3.1; observed on all five releases, v6 on a 4.3.1 that lists unstable versions.
"""

from __future__ import annotations

from touchstone.reference_impl.broker.coordinators.producer_ids import ProducerIds
from touchstone.reference_impl.broker.coordinators.transactions import Transactions, for_version
from touchstone.reference_impl.broker.effects import Request, Wait, waiting
from touchstone.reference_impl.txn.coordinator import Producer
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

FIRST_FENCED = 4


def handle(
    request: Request, transactions: Transactions, producer_ids: ProducerIds, now: int
) -> Struct | Wait:
    body = request.body
    if body["transactional_id"] == "":
        return _error(ErrorCode.INVALID_REQUEST)
    if (body["producer_id"] == -1) != (body["producer_epoch"] == -1):
        return _error(ErrorCode.INVALID_REQUEST)
    if body["transactional_id"] is None:
        return {"producer_id": producer_ids.next(), "producer_epoch": 0}
    if body.get("enable2_pc"):
        return _error(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    if body.get("keep_prepared_txn"):
        return _error(ErrorCode.UNSUPPORTED_VERSION)
    known = None
    if body["producer_id"] != -1:
        known = Producer(body["producer_id"], body["producer_epoch"])
    ticket = transactions.coordinator.begin(
        body["transactional_id"], body["transaction_timeout_ms"], known, now
    )
    return waiting(ticket, lambda answer: for_version(answer, request.header.version, FIRST_FENCED))


def _error(code: int) -> Struct:
    return {"error_code": code, "producer_id": -1, "producer_epoch": -1}
