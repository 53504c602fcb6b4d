"""AddOffsetsToTxn: a group's partition of `__consumer_offsets` enters a transaction.

The group need not exist and its coordinator is not asked: only where its offsets will lie counts.

v2 answers PRODUCER_FENCED (KIP-588); v4 may answer TRANSACTION_ABORTABLE (KIP-890).

Sources: KafkaApis.handleAddOffsetsToTxnRequest at 1.0.2, 2.8.2; observed on all five releases.
"""

from __future__ import annotations

from touchstone.reference_impl.broker.control.internal_topics import OFFSETS
from touchstone.reference_impl.broker.coordinators.groups import Groups
from touchstone.reference_impl.broker.coordinators.transactions import Transactions, for_version
from touchstone.reference_impl.broker.effects import Request, Wait, waiting
from touchstone.reference_impl.txn.coordinator import Producer
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

FIRST_FENCED = 2


def handle(request: Request, groups: Groups, transactions: Transactions, now: int) -> Struct | Wait:
    body = request.body
    if not body["transactional_id"]:
        return {"error_code": ErrorCode.INVALID_REQUEST}
    producer = Producer(body["producer_id"], body["producer_epoch"])
    ticket = transactions.coordinator.add(
        body["transactional_id"],
        producer,
        frozenset({(OFFSETS, groups.partition_to_be(body["group_id"]))}),
        now,
    )

    def form(answer: Struct) -> Struct:
        return {
            "error_code": for_version(answer, request.header.version, FIRST_FENCED)["error_code"]
        }

    return waiting(ticket, form)
