"""A broker's transaction coordinator: its partitions of `__transaction_state`, its ids and alarms.

The coordinator of a transactional id is the leader of one partition of that topic; whoever is asked
and leads it not answers NOT_COORDINATOR. This file makes the sans-IO coordinator with the persona's
rules and the broker's settings, loads what a partition's log says when the broker begins to lead
it, and keeps its records there. Markers are `marker_sending`'s.

Sources: TransactionStateManager at 1.0.2, 2.8.2, trunk of 2024-10; KIP-98, KIP-890.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from touchstone.reference_impl.broker.control import features
from touchstone.reference_impl.broker.control.auto_create import TRANSACTIONS
from touchstone.reference_impl.broker.coordinators import internal_log, leadership, loader
from touchstone.reference_impl.broker.coordinators.groups import number
from touchstone.reference_impl.broker.coordinators.marker_sending import have_marked
from touchstone.reference_impl.broker.coordinators.producer_ids import next_id
from touchstone.reference_impl.group.placement import partition_for
from touchstone.reference_impl.txn import log_records
from touchstone.reference_impl.txn.coordinator import Coordinator, Rules
from touchstone.reference_impl.txn.transaction import Transaction
from touchstone.reference_impl.wire.errors import ErrorCode

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker
    from touchstone.reference_impl.cluster.replica import Replica
    from touchstone.reference_impl.txn.coordinator import Then

_STATE, _FEATURE = "transaction coordinator", "transaction.version"
_CHANGED = ("leads changed", TRANSACTIONS)
_READ_BYTES = 5 << 20  # transaction.state.log.load.buffer.size, if nobody says otherwise
# What a failed write to the coordinator's own log means to who asked for the change.
_NOT_KEPT = internal_log.NOT_KEPT | {
    ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND: ErrorCode.COORDINATOR_NOT_AVAILABLE,
}


def coordinator_of(broker: Broker, now: int) -> Coordinator:
    """The broker's coordinator, aware of every partition that the broker leads by now."""
    found = broker.kept(_STATE, partial(_make, broker))
    if found.rules.version != version_of(broker):
        found.rules = replace(found.rules, version=version_of(broker))
    if broker.state.pop(_CHANGED, None) is not None:
        _catch_up(broker, found, now)
    return found


def version_of(broker: Broker) -> int:
    """transaction.version, as it is finalized by now (KIP-890, UpdateFeatures)."""
    return features.level(broker, _FEATURE)


def partition_of(broker: Broker, transactional_id: str) -> int:
    topic = broker.cluster.topics.get(TRANSACTIONS)
    return partition_for(transactional_id, len(topic.partitions)) if topic else -1


def for_version(answer: dict[str, Any], version: int, first_fenced: int) -> dict[str, Any]:
    """The answer as a version may give it: those before KIP-588 do not know PRODUCER_FENCED."""
    if version < first_fenced and answer["error_code"] == ErrorCode.PRODUCER_FENCED:
        return {**answer, "error_code": ErrorCode.INVALID_PRODUCER_EPOCH}
    return answer


def leads_changed(broker: Broker, now: int) -> None:
    """A partition of the coordinator's topic has another leader: take it up, or let it go."""
    coordinator_of(broker, now)


def _make(broker: Broker) -> Coordinator:
    quirk = broker.persona.quirk
    rules = Rules(
        max_timeout_ms=number(broker, "transaction.max.timeout.ms"),
        expiration_ms=number(broker, "transactional.id.expiration.ms"),
        timeout_check_ms=number(
            broker, "transaction.abort.timed.out.transaction.cleanup.interval.ms"
        ),
        expiry_check_ms=number(
            broker, "transaction.remove.expired.transaction.cleanup.interval.ms"
        ),
        equal_epochs=quirk("transactions.ends-name-the-epoch"),
        fences_gently=quirk("transactions.fenced-epochs-may-go-on"),
        keeps_start=quirk("transactions.beginnings-are-remembered"),
        version=version_of(broker),
    )

    def keep(
        partition: int, epoch: int, name: str, to: Transaction | None, now: int, then: Then
    ) -> None:
        records = log_records.batch_of(name, to, version=min(version_of(broker), 1), now=now)

        def kept(code: int, at: int) -> None:
            then(_NOT_KEPT.get(ErrorCode(code), code), at)

        internal_log.append(broker, TRANSACTIONS, partition, records, now, kept)

    def alarm(name: str, at: int) -> None:
        key = ("transactions", broker.id, name)
        broker.purgatory.remind(key, at, lambda now: coordinator.tick(name, now))

    def mark(
        one: Transaction, commit: bool, epoch: int, now: int, done: Callable[[int], None]
    ) -> None:
        partition = partition_of(broker, one.id)

        def wanted() -> bool:
            led = coordinator.led.get(partition)
            return led is not None and led.epoch == epoch

        have_marked(broker, one, commit, epoch, now, done, wanted)

    coordinator = Coordinator(
        rules,
        partition_of=lambda name: partition_of(broker, name),
        new_id=lambda: next_id(broker),
        keep=keep,
        mark=mark,
        alarm=alarm,
        switches=broker.switches,
    )
    return coordinator


def _catch_up(broker: Broker, coordinator: Coordinator, now: int) -> None:
    """Compare what the coordinator leads with what the broker does; load what is new."""
    wanted = leadership.led(broker, TRANSACTIONS)
    for index, led in list(coordinator.led.items()):
        if index not in wanted or wanted[index].leader_epoch != led.epoch:
            loader.stop(broker, (TRANSACTIONS, index))
            coordinator.resign(index)
    for index, replica in wanted.items():
        if index not in coordinator.led:
            _load(broker, coordinator, index, replica, now)


def _load(broker: Broker, coordinator: Coordinator, index: int, replica: Replica, now: int) -> None:
    """What the log says of each transactional id, its last word, becomes the coordinator's."""
    known: dict[str, Transaction] = {}
    epoch = replica.leader_epoch

    def done(at: int) -> None:
        coordinator.lead(index, epoch, known, at)

    buffer = broker.number("transaction.state.log.load.buffer.size", _READ_BYTES)
    pieces = loader.LogLoader(replica.log, buffer, lambda records: log_records.read(records, known))
    coordinator.load(index, epoch)
    loader.begin(broker, (TRANSACTIONS, index), pieces, done, now)
