"""Before a batch is appended, its transaction's coordinator is asked whether it has the partition.

Without it a producer that was fenced could leave a batch that no end ever comes for (KIP-890). Up
to version 1 of transactions the coordinator is only asked; with version 2 a producer need not add
partitions itself any more, and the question adds them. Whoever leads the transactional id's
partition is asked: this broker itself, or another by AddPartitionsToTxn.

Sources: AddPartitionsToTxnManager and ReplicaManager.maybeStartTransactionVerification on trunk of
2024-10; KIP-890; observed on 3.9.2 and 4.3.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from touchstone.reference_impl.broker.control.internal_topics import TRANSACTIONS
from touchstone.reference_impl.broker.coordinators.transactions import Transactions
from touchstone.reference_impl.cluster.topology import NO_LEADER
from touchstone.reference_impl.ticket import Ticket
from touchstone.reference_impl.txn.coordinator import Producer
from touchstone.reference_impl.txn.transaction import Partitions
from touchstone.reference_impl.wire.errors import ErrorCode as E
from touchstone.reference_impl.wire.schema import Struct

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker

ADD_PARTITIONS, CHANNEL = 24, "transactions"
# The coordinator could not be asked, or cannot say yet: to try again later is right.
PASSING = frozenset(
    {
        E.CONCURRENT_TRANSACTIONS,
        E.NETWORK_EXCEPTION,
        E.COORDINATOR_LOAD_IN_PROGRESS,
        E.COORDINATOR_NOT_AVAILABLE,
        E.NOT_COORDINATOR,
    }
)


class AddPartitionsToTxn:
    """Asks the coordinators of transactions about their partitions."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker

    def ask(
        self,
        transactional_id: str,
        producer: Producer,
        partitions: Partitions,
        *,
        adds: bool,
        now: int,
    ) -> Ticket[Struct]:
        """A ticket for {"codes": {(topic, partition): what the coordinator says}}."""
        leader = self._leader(transactional_id)
        if leader == NO_LEADER:
            return _all(partitions, E.COORDINATOR_NOT_AVAILABLE)
        if leader != self._broker.id:
            return self._ask_peer(leader, transactional_id, producer, partitions, adds)
        coordinator = self._broker.room(Transactions).coordinator
        if not adds:
            code, known = coordinator.verify(transactional_id, producer)
            absent = code or E.TRANSACTION_ABORTABLE
            return Ticket(
                {"codes": {each: code if each in known else absent for each in partitions}}
            )
        added = coordinator.add(transactional_id, producer, partitions, now)
        later: Ticket[Struct] = Ticket()
        added.then(
            lambda answer: later.give({"codes": dict.fromkeys(partitions, answer["error_code"])})
        )
        return later

    def _leader(self, transactional_id: str) -> int:
        index = self._broker.room(Transactions).partition_of(transactional_id)
        partition = self._broker.metadata.partition(TRANSACTIONS, index)
        return NO_LEADER if partition is None else partition.leader

    def _ask_peer(
        self,
        leader: int,
        transactional_id: str,
        producer: Producer,
        partitions: Partitions,
        adds: bool,
    ) -> Ticket[Struct]:
        topics: dict[str, list[int]] = {}
        for topic, index in sorted(partitions):
            topics.setdefault(topic, []).append(index)
        row = {
            "transactional_id": transactional_id,
            "producer_id": producer.id,
            "producer_epoch": producer.epoch,
            "verify_only": not adds,
            "topics": [{"name": name, "partitions": rows} for name, rows in topics.items()],
        }
        _, version = self._broker.persona.listed()[ADD_PARTITIONS]
        ticket: Ticket[Struct] = Ticket()

        def then(answer: Struct | None, now: int) -> None:
            codes: dict[tuple[str, int], int] = dict.fromkeys(partitions, E.NETWORK_EXCEPTION)
            for result in answer["results_by_transaction"] if answer else ():
                for topic in result["topic_results"]:
                    for found in topic["results_by_partition"]:
                        key = (topic["name"], found["partition_index"])
                        codes[key] = found["partition_error_code"]
            ticket.give({"codes": codes})

        self._broker.ask(
            leader, ADD_PARTITIONS, version, {"transactions": [row]}, then, channel=CHANNEL
        )
        return ticket


def _all(partitions: Partitions, code: int) -> Ticket[Struct]:
    return Ticket({"codes": dict.fromkeys(partitions, code)})
