"""ListTransactions: the transactional ids that this broker coordinates (KIP-664).

Filters join: states and producer ids by name, v1 the time since the transaction began (KIP-994),
v2 a pattern in RE2's syntax for the whole transactional id (KIP-1152). A state that does not exist
is told back and matches nothing.

Sources: TransactionStateManager.listTransactionStates@4.3.1 (com.google.re2j); observed on 3.9.2
and 4.3.1.
"""

from __future__ import annotations

from collections.abc import Callable

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.broker.coordinators.transactions import Transactions
from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.group import regexes
from touchstone.reference_impl.txn.states import NAMES
from touchstone.reference_impl.txn.transaction import Transaction
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct


def handle(request: Request, transactions: Transactions, now: int) -> Struct:
    try:
        wanted = _filter(request.body, now)
    except ApiError as refused:
        return {"error_code": refused.code}
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
    """Return what a transaction must be. Raise ApiError for a pattern that RE2 does not take."""
    states, producers = body["state_filters"], body["producer_id_filters"]
    longer, pattern = body["duration_filter"], body["transactional_id_pattern"]
    if pattern:
        regexes.check(pattern)
    matches = regexes.matcher(pattern) if pattern else None

    def wanted(one: Transaction) -> bool:
        return (
            (not producers or one.producer_id in producers)
            and (not states or one.state in states)
            and (longer < 0 or now - one.started > longer)
            and (matches is None or matches(one.id))
        )

    return wanted
