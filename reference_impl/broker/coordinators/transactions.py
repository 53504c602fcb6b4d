"""A broker coordinates the transactions whose partition of `__transaction_state` it leads.

The coordinator of a transactional id is the leader of one partition of that topic; whoever is asked
and leads it not answers NOT_COORDINATOR. This file makes the sans-IO coordinator with the persona's
rules and the broker's settings, makes transactions of what a partition's log says, and keeps its
records there. Markers are `marker_sending`'s.

Sources: TransactionStateManager at 1.0.2, 2.8.2, trunk of 2024-10; KIP-98, KIP-890.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import TYPE_CHECKING

from touchstone.reference_impl.broker.control.features import Features
from touchstone.reference_impl.broker.control.internal_topics import TRANSACTIONS
from touchstone.reference_impl.broker.coordinators import internal_log
from touchstone.reference_impl.broker.coordinators.groups import Groups
from touchstone.reference_impl.broker.coordinators.marker_sending import have_marked
from touchstone.reference_impl.broker.coordinators.producer_ids import ProducerIds
from touchstone.reference_impl.broker.coordinators.runtime import CoordinatorRuntime, Load
from touchstone.reference_impl.txn import log_records
from touchstone.reference_impl.txn.coordinator import Coordinator, Rules
from touchstone.reference_impl.txn.transaction import Transaction
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker
    from touchstone.reference_impl.cluster.replica import Replica
    from touchstone.reference_impl.txn.coordinator import Written

_FEATURE = "transaction.version"
# What a failed write to the coordinator's own log means to who asked for the change.
_NOT_KEPT = internal_log.NOT_KEPT | {
    ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND: ErrorCode.COORDINATOR_NOT_AVAILABLE,
}


class Transactions:
    """The transaction coordinator of one broker, and the partitions it leads."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self.runtime = CoordinatorRuntime(
            broker,
            "transactions",
            TRANSACTIONS,
            load=self._load,
            unload=self._unload,
            buffer="transaction.state.log.load.buffer.size",
            by_epoch=True,
        )
        self._coordinator = self._make()

    def _unload(self, kept: Collection[int], lost: Collection[int]) -> None:
        for index in lost:
            self._coordinator.resign(index)

    def _load(self, index: int, replica: Replica, now: int) -> Load:
        """Read the last record of each transactional id, which is its transaction.

        One that cannot be read ends the log: 3.9.2 and 4.3.1 say so and serve what stood before it.
        """
        known: dict[str, Transaction] = {}
        epoch = replica.leader_epoch

        def done(at: int) -> None:
            self._coordinator.lead(index, epoch, known, at)

        self._coordinator.load(index, epoch)
        return Load(lambda records: log_records.read(records, known), done, to_the_damage=True)

    @property
    def coordinator(self) -> Coordinator:
        """The broker's coordinator, with the rules of the transaction.version that is finalized."""
        found, version = self._coordinator, self.version
        if found.rules.version != version:
            found.rules = replace(found.rules, version=version)
        return found

    @property
    def version(self) -> int:
        """transaction.version, as it is finalized by now (KIP-890, UpdateFeatures)."""
        return self._broker.room(Features).level(_FEATURE)

    def partition_of(self, transactional_id: str) -> int:
        return self.runtime.partition_of(transactional_id)

    def _have_marked(
        self,
        one: Transaction,
        commit: bool,
        epoch: int,
        now: int,
        done: Callable[[int], None],
        wanted: Callable[[], bool],
    ) -> None:
        have_marked(self._broker, one, commit, epoch, now, done, wanted)

    def _make(self) -> Coordinator:
        quirk, setting = self._broker.persona.quirk, self._broker.room(Groups).number
        rules = Rules(
            max_timeout_ms=setting("transaction.max.timeout.ms"),
            expiration_ms=setting("transactional.id.expiration.ms"),
            timeout_check_ms=setting("transaction.abort.timed.out.transaction.cleanup.interval.ms"),
            expiry_check_ms=setting("transaction.remove.expired.transaction.cleanup.interval.ms"),
            equal_epochs=quirk("transactions.ends-name-the-epoch"),
            fences_gently=quirk("transactions.fenced-epochs-may-go-on"),
            keeps_start=quirk("transactions.beginnings-are-remembered"),
            version=self.version,
        )

        def keep(
            partition: int, epoch: int, name: str, to: Transaction | None, now: int, then: Written
        ) -> None:
            records = log_records.batch_of(name, to, version=min(self.version, 1), now=now)
            self.runtime.append(partition, records, now, then, errors=_NOT_KEPT)

        def alarm(name: str, at: int) -> None:
            self.runtime.remind(name, at, lambda now: coordinator.tick(name, now))

        def mark(
            one: Transaction, commit: bool, epoch: int, now: int, done: Callable[[int], None]
        ) -> None:
            partition = self.runtime.partition_of(one.id)

            def wanted() -> bool:
                led = coordinator.led.get(partition)
                return led is not None and led.epoch == epoch

            self._have_marked(one, commit, epoch, now, done, wanted)

        coordinator = Coordinator(
            rules,
            partition_of=self.runtime.partition_of,
            new_id=self._broker.room(ProducerIds).next,
            keep=keep,
            mark=mark,
            alarm=alarm,
        )
        return coordinator


def for_version(answer: Struct, version: int, first_fenced: int) -> Struct:
    """The answer as a version may give it: those before KIP-588 do not know PRODUCER_FENCED."""
    if version < first_fenced and answer["error_code"] == ErrorCode.PRODUCER_FENCED:
        return {**answer, "error_code": ErrorCode.INVALID_PRODUCER_EPOCH}
    return answer


def leadership_changed(broker: Broker, now: int) -> None:
    """A partition of the coordinator's topic has another leader: take it up, or let it go."""
    transactions = broker.room(Transactions)
    _ = transactions.coordinator  # its rules first
    transactions.runtime.leadership_changed(now)
