"""A Produce in a transaction is verified first; each version has its own codes for the result.

Only partitions that this broker leads and where the producer has nothing open yet are asked about:
once a transaction has begun in a log, its own batches prove it. Where the question adds partitions
to the transaction (v12), a batch of a producer that the log does not know must have the base
sequence 0. A log that knows
a newer epoch of the producer ends the matter (4.3): a coordinator that is stuck would have it retry
until its records expire.

Sources: ReplicaManager.handleProduceAppend, maybeStartTransactionVerificationForPartition on trunk
of 2024-10; KIP-890; ProducerAppendInfo.checkSequence, UnifiedLog.maybeStartTransactionVerification
@4.3.1; observed on 3.9.2 and 4.3.1.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from touchstone.reference_impl.broker.coordinators import add_partitions_to_txn
from touchstone.reference_impl.broker.coordinators.add_partitions_to_txn import AddPartitionsToTxn
from touchstone.reference_impl.ticket import Ticket
from touchstone.reference_impl.txn.coordinator import Producer
from touchstone.reference_impl.wire.errors import ErrorCode, name_of
from touchstone.reference_impl.wire.records.batch import (
    HEADER,
    HEADER_SIZE,
    LOG_OVERHEAD,
    BatchHeader,
)
from touchstone.reference_impl.wire.schema import Struct

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker
    from touchstone.reference_impl.broker.effects import Request

FIRST_ABORTABLE, FIRST_ADDING = 11, 12
SIZE_AT, MAGIC_AT, ATTRIBUTES_AT, TRANSACTIONAL = 8, 16, 22, 0x10
NOT_ADDED = "Partition was not added to the transaction"
UNVERIFIED = (
    "Unable to verify the partition has been added to the transaction. Underlying error: {}"
)
TopicPartition = tuple[str, int]


class Refusal(NamedTuple):
    code: int
    message: str | None = None
    by_log: bool = False  # not by the coordinator: where the log begins is told


Refusals = dict[TopicPartition, Refusal]
_FENCED = Refusal(ErrorCode.INVALID_PRODUCER_EPOCH)
_FIRST_BATCH_MISSING = Refusal(ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, by_log=True)


def transactional(records: bytes | None) -> bool:
    """Whether the first batch is of a transaction; anything else, also one that is cut short, is
    somebody else's to refuse (RequestUtils.getFlag@4.3.1 looks at whole batches).
    """
    if records is None or len(records) <= ATTRIBUTES_AT or records[MAGIC_AT] != 2:
        return False
    size = int.from_bytes(records[SIZE_AT:LOG_OVERHEAD], "big", signed=True)
    return LOG_OVERHEAD + size <= len(records) and bool(records[ATTRIBUTES_AT] & TRANSACTIONAL)


class TransactionVerification:
    """Has a producer's transactions verified before its batches are appended."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker

    def _is_over(self, epoch: int, known: int) -> bool:
        """Whether the log knows a newer epoch of the producer, which ends the matter."""
        quirk = self._broker.persona.quirk
        return epoch < known and quirk("produce.old-epochs-are-not-verified")

    def verify(
        self, request: Request, rows: Iterable[tuple[str | None, Struct]], now: int
    ) -> Ticket[Struct] | None:
        """A ticket for {"refusals": by partition}, or None where nothing is to be asked."""
        name = request.body["transactional_id"]
        if name is None or not self._broker.persona.quirk("produce.verifies-transactions"):
            return None
        producer, wanted, headless, fenced = None, set(), set(), {}
        for topic, row in rows:
            header = _header(row["records"])
            if topic is None or header is None or not transactional(row["records"]):
                continue
            replica, _ = self._broker.replicas.locate(topic, row["index"])
            if replica is None:
                continue
            known = replica.log.producers.producers.get(header.producer_id)
            if known is not None and self._is_over(header.producer_epoch, known.epoch):
                fenced[topic, row["index"]] = _FENCED
                continue
            begun = known is not None and known.transaction_start is not None
            if known is None or not begun or known.epoch != header.producer_epoch:
                producer = Producer(header.producer_id, header.producer_epoch)
                wanted.add((topic, row["index"]))
                if header.base_sequence and not (known and known.batches):
                    headless.add((topic, row["index"]))
        if producer is None:
            return Ticket({"refusals": fenced}) if fenced else None
        version = request.header.version
        adds = version >= FIRST_ADDING
        asked = self._broker.room(AddPartitionsToTxn).ask(
            name, producer, frozenset(wanted), adds=adds, now=now
        )
        told: Ticket[Struct] = Ticket()

        def then(answer: Struct) -> None:
            found = {key: _refusal(version, code) for key, code in answer["codes"].items()}
            if adds:
                found |= {key: _FIRST_BATCH_MISSING for key in headless if found[key] is None}
            refused = {key: one for key, one in found.items() if one is not None}
            told.give({"refusals": fenced | refused})

        asked.then(then)
        return told


def _header(records: bytes | None) -> BatchHeader | None:
    if records is None or len(records) < HEADER_SIZE or records[MAGIC_AT] != 2:
        return None
    return BatchHeader._make(HEADER.unpack_from(records))


def _refusal(version: int, code: int) -> Refusal | None:
    """The coordinator's refusal in words that a producer of this version knows."""
    if not code:
        return None
    if code == ErrorCode.PRODUCER_FENCED:
        return Refusal(ErrorCode.INVALID_PRODUCER_EPOCH)
    if code == ErrorCode.TRANSACTION_ABORTABLE and version < FIRST_ABORTABLE:
        return Refusal(ErrorCode.INVALID_TXN_STATE, NOT_ADDED)
    if code in add_partitions_to_txn.PASSING:
        return Refusal(ErrorCode.NOT_ENOUGH_REPLICAS, UNVERIFIED.format(name_of(code)))
    return Refusal(code)
