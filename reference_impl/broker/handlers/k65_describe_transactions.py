"""DescribeTransactions: where transactional ids stand, as their coordinator has it.

v0 the first version (KIP-664).

Sources: TransactionCoordinator.handleDescribeTransactions on trunk of 2024-10; observed on 3.9.2
and 4.3.1.
"""

from __future__ import annotations

from functools import cache

from touchstone.reference_impl.broker.coordinators.transactions import Transactions
from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.txn.transaction import Transaction
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct


def handle(request: Request, transactions: Transactions, now: int) -> Struct:
    once = cache(lambda name: _state(transactions, name, now))
    return {"transaction_states": [once(name) for name in request.body["transactional_ids"]]}


def fail(request: Request, code: int) -> Struct:
    rows = [_error(name, code) for name in request.body["transactional_ids"]]
    return {"transaction_states": rows}


def _state(transactions: Transactions, name: str, now: int) -> Struct:
    if not name:
        return _error(name, ErrorCode.INVALID_REQUEST)
    _, held, code = transactions.coordinator.find(name)
    if code or held is None:
        return _error(name, code or ErrorCode.TRANSACTIONAL_ID_NOT_FOUND)
    one = held.transaction
    return {
        "error_code": ErrorCode.NONE,
        "transactional_id": name,
        "transaction_state": str(one.state),
        "transaction_timeout_ms": one.timeout_ms,
        "transaction_start_time_ms": one.started,
        "producer_id": one.producer_id,
        "producer_epoch": one.epoch,
        "topics": _topics(one),
    }


def _topics(one: Transaction) -> list[Struct]:
    topics: dict[str, list[int]] = {}
    for topic, index in sorted(one.partitions):
        topics.setdefault(topic, []).append(index)
    return [{"topic": topic, "partitions": rows} for topic, rows in topics.items()]


def _error(name: str, code: int) -> Struct:
    return {
        "error_code": code,
        "transactional_id": name,
        "transaction_state": "",
        "transaction_timeout_ms": 0,
        "transaction_start_time_ms": 0,
        "producer_id": 0,
        "producer_epoch": 0,
        "topics": [],
    }
