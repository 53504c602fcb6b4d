"""Defects of the transaction coordinator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from touchstone.reference_impl.broker.coordinators.transactions import Transactions
from touchstone.reference_impl.broker.defects.planting import defect, setting
from touchstone.reference_impl.txn.coordinator import Coordinator, Producer
from touchstone.reference_impl.txn.transaction import Transaction

Real = Callable[..., Any]


@defect("marker-not-written", Transactions, "_have_marked")
def marker_not_written(real: Real, _: Transactions, one: Transaction, *args: Any) -> None:
    real(replace(one, partitions=frozenset()), *args)


@defect("torn-transaction", Transactions, "_have_marked")
def torn_transaction(real: Real, _: Transactions, one: Transaction, *args: Any) -> None:
    real(replace(one, partitions=frozenset(sorted(one.partitions)[:1])), *args)


@setting("half-done-ends-forgotten", Coordinator)
def remembers_so_far(coordinator: Any) -> None:
    coordinator.loads = False


@defect("half-done-ends-forgotten", Coordinator, "lead")
def loads_and_forgets(real: Real, coordinator: Any, *args: Any) -> None:
    coordinator.loads = True
    real(*args)
    coordinator.loads = False


@defect("half-done-ends-forgotten", Coordinator, "_have_marked")
def half_done_ends_forgotten(real: Real, coordinator: Any, *args: Any) -> None:
    if not coordinator.loads:
        real(*args)


@defect("transaction-timeout-not-validated", Coordinator, "_may_last")
def transaction_timeout_not_validated(real: Real, _: Coordinator, timeout_ms: int) -> bool:
    return True


@defect("transactions-never-time-out", Coordinator, "_is_late")
def transactions_never_time_out(real: Real, *_: Any) -> bool:
    return False


@defect("fencing-skipped", Coordinator, "add", "verify", "end")
def whoever_it_is(
    real: Real, coordinator: Coordinator, name: str, producer: Producer, *args: Any, **named: Any
) -> Any:
    """Its epoch is taken for the present one."""
    entry = coordinator.find(name)[1]
    if entry is not None:
        producer = producer._replace(epoch=entry.transaction.epoch)
    return real(name, producer, *args, **named)


@defect("fencing-skipped", Coordinator, "begin")
def whoever_begins(
    real: Real, coordinator: Coordinator, name: str, timeout_ms: int, expected: Producer | None,
    now: int,
) -> Any:  # fmt: skip
    entry = coordinator.find(name)[1]
    if entry is not None and expected is not None:
        expected = Producer(entry.transaction.producer_id, entry.transaction.epoch)
    return real(name, timeout_ms, expected, now)
