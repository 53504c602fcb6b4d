"""ListTransactions: the transactional ids that this broker coordinates (KIP-664).

Filters join: states and producer ids by name, v1 the time since the transaction began (KIP-994),
v2 a pattern for the whole transactional id (KIP-1152). A state that does not exist is told back and
matches nothing.

Sources: TransactionStateManager.listTransactionStates on trunk of 2024-10; observed on 3.9.2 and
4.3.1.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from touchstone.reference_impl.broker.coordinators.transactions import Transactions
from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.txn.states import NAMES
from touchstone.reference_impl.txn.transaction import Transaction
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct


def handle(request: Request, transactions: Transactions, now: int) -> Struct:
    try:
        wanted = _filter(request.body, now)
    except re.error:
        return {"error_code": ErrorCode.INVALID_REGULAR_EXPRESSION}
    coordinator = transactions.coordinator
    if any(led.loading for led in coordinator.led.values()):
        return {"error_code": ErrorCode.COORDINATOR_LOAD_IN_PROGRESS}
    unknown = [name for name in request.body["state_filters"] if name not in NAMES]
    return {
        "error_code": ErrorCode.NONE,
        "unknown_state_filters": unknown,
        "transaction_states": [
            {
                "transactional_id": one.id,
                "producer_id": one.producer_id,
                "transaction_state": str(one.state),
            }
            for one in coordinator.listed()
            if wanted(one)
        ],
    }


def _filter(body: Struct, now: int) -> Callable[[Transaction], bool]:
    states, producers = body["state_filters"], body["producer_id_filters"]
    longer, pattern = body["duration_filter"], body["transactional_id_pattern"]
    matches = re.compile(pattern).fullmatch if pattern else None

    def wanted(one: Transaction) -> bool:
        return (
            (not producers or one.producer_id in producers)
            and (not states or one.state in states)
            and (longer < 0 or now - one.started > longer)
            and (matches is None or matches(one.id) is not None)
        )

    return wanted
