"""EndTxn: a transaction commits or aborts.

Answered when the outcome is written down; the markers follow. v5 is version 2 of transactions
(KIP-890): each end raises the epoch and the answer tells the producer with what to go on.

v2 answers PRODUCER_FENCED (KIP-588); v4 may answer TRANSACTION_ABORTABLE.

Sources: KafkaApis.handleEndTxnRequest at 1.0.2, 2.8.2, trunk of 2024-10; observed on all five
releases.
"""

from __future__ import annotations

from touchstone.reference_impl.broker.coordinators.transactions import Transactions, for_version
from touchstone.reference_impl.broker.effects import Request, Wait, waiting
from touchstone.reference_impl.txn.coordinator import Producer
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

FIRST_FENCED, FIRST_BUMPING = 2, 5


def handle(request: Request, transactions: Transactions, now: int) -> Struct | Wait:
    body = request.body
    if not body["transactional_id"]:
        return {"error_code": ErrorCode.INVALID_REQUEST, "producer_id": -1, "producer_epoch": -1}
    bumps = request.header.version >= FIRST_BUMPING
    if bumps and not transactions.version:
        return {
            "error_code": ErrorCode.UNSUPPORTED_VERSION, "producer_id": -1, "producer_epoch": -1
        }  # fmt: skip
    ticket = transactions.coordinator.end(
        body["transactional_id"],
        Producer(body["producer_id"], body["producer_epoch"]),
        bool(body["committed"]),
        bumps=bumps,
        now=now,
    )
    return waiting(ticket, lambda answer: for_version(answer, request.header.version, FIRST_FENCED))
