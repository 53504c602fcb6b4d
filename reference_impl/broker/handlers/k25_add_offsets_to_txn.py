"""AddOffsetsToTxn: a group's partition of `__consumer_offsets` enters a transaction.

The group need not exist and its coordinator is not asked: only where its offsets will lie counts.

v2 answers PRODUCER_FENCED (KIP-588); v4 may answer TRANSACTION_ABORTABLE (KIP-890).

Sources: KafkaApis.handleAddOffsetsToTxnRequest at 1.0.2, 2.8.2; observed on all five releases.
"""

from __future__ import annotations

from typing import Any

from touchstone.reference_impl.broker.broker import Broker
from touchstone.reference_impl.broker.control.auto_create import OFFSETS
from touchstone.reference_impl.broker.coordinators.groups import number, waiting
from touchstone.reference_impl.broker.coordinators.transactions import coordinator_of
from touchstone.reference_impl.broker.effects import Request, Wait
from touchstone.reference_impl.broker.handlers.k22_init_producer_id import in_words_of
from touchstone.reference_impl.group.placement import partition_for
from touchstone.reference_impl.txn.coordinator import Producer
from touchstone.reference_impl.wire.errors import ErrorCode

FIRST_FENCED = 2


def handle(request: Request, broker: Broker, now: int) -> dict[str, Any] | Wait:
    body = request.body
    if not body["transactional_id"]:
        return {"error_code": ErrorCode.INVALID_REQUEST}
    producer = Producer(body["producer_id"], body["producer_epoch"])
    ticket = coordinator_of(broker, now).add(
        body["transactional_id"],
        producer,
        frozenset({(OFFSETS, offsets_partition(broker, body["group_id"]))}),
        now,
    )

    def form(answer: dict[str, Any]) -> dict[str, Any]:
        return {"error_code": in_words_of(request, answer, FIRST_FENCED)["error_code"]}

    return waiting(broker, ticket, form)


def offsets_partition(broker: Broker, group_id: str) -> int:
    """Where a group's offsets lie, or will once the topic is there."""
    topic = broker.cluster.topics.get(OFFSETS)
    count = len(topic.partitions) if topic else number(broker, "offsets.topic.num.partitions")
    return partition_for(group_id, count)
