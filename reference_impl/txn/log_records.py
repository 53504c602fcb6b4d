"""Transactions as records of `__transaction_state`: one key per transactional id, last one counts.

The value has no partitions where the transaction has none, and no value at all (a tombstone) where
the id is forgotten. Version 1 carries what transactions of version 2 need and is written only where
that feature is on, so that older brokers can read the rest.

Sources: TransactionLog at 1.0.2, 2.8.2, trunk of 2024-10; KIP-98, KIP-915, KIP-890.
"""

from __future__ import annotations

from collections.abc import Iterable

from touchstone.reference_impl.txn.states import NUMBER_OF, NUMBERS, State
from touchstone.reference_impl.txn.transaction import Transaction
from touchstone.reference_impl.wire import embedded
from touchstone.reference_impl.wire.embedded.transaction_state import RECORDS
from touchstone.reference_impl.wire.records import batch, convert, entries
from touchstone.reference_impl.wire.schema import Struct

_KIND = 0


def key_of(transactional_id: str) -> bytes:
    return embedded.encode_key(RECORDS, _KIND, {"transactional_id": transactional_id})


def value_of(transaction: Transaction, version: int) -> bytes:
    topics: dict[str, list[int]] = {}
    for topic, index in sorted(transaction.partitions):
        topics.setdefault(topic, []).append(index)
    rows = [{"topic": topic, "partition_ids": ids} for topic, ids in topics.items()]
    nothing = transaction.state is State.EMPTY
    body = {
        "producer_id": transaction.producer_id,
        "producer_epoch": transaction.epoch,
        "transaction_timeout_ms": transaction.timeout_ms,
        "transaction_status": NUMBER_OF[transaction.state],
        "transaction_partitions": None if nothing else rows,
        "transaction_last_update_timestamp_ms": transaction.updated,
        "transaction_start_timestamp_ms": transaction.started,
    }
    if version >= 1:
        body |= {
            "previous_producer_id": transaction.previous_id,
            "next_producer_id": transaction.next_id,
            "client_transaction_version": transaction.version,
        }
    return embedded.encode_value(RECORDS, _KIND, version, body)


def batch_of(
    transactional_id: str, transaction: Transaction | None, *, version: int, now: int
) -> bytes:
    """The batch that says so; None forgets the id."""
    value = None if transaction is None else value_of(transaction, version)
    return batch.encode_pairs([(key_of(transactional_id), value)], base_timestamp=now)


def read(records: bytes, known: dict[str, Transaction]) -> int | None:
    """Bring `known` up to date with these record bytes; the offset after the last, if any."""
    after = None
    for position, _, magic in entries(records):
        after = batch.read_header(records, position).last_offset + 1
        for record in convert.records_of(records, position, magic):
            if record.key is None:
                continue
            _, key = embedded.decode_key(RECORDS, record.key)
            name = key["transactional_id"]
            if record.value is None:
                known.pop(name, None)
            else:
                known[name] = _transaction(name, record.value)
    return after


def _transaction(name: str, data: bytes) -> Transaction:
    _, value = embedded.decode_value(RECORDS, _KIND, data)
    rows: Iterable[Struct] = value["transaction_partitions"] or ()
    return Transaction(
        name,
        value["producer_id"],
        value["producer_epoch"],
        value["transaction_timeout_ms"],
        NUMBERS[value["transaction_status"]],
        frozenset((row["topic"], index) for row in rows for index in row["partition_ids"]),
        value["transaction_start_timestamp_ms"],
        value["transaction_last_update_timestamp_ms"],
        previous_id=value.get("previous_producer_id", -1),
        next_id=value.get("next_producer_id", -1),
        version=value.get("client_transaction_version", 0),
    )
