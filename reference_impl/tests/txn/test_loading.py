"""A transaction coordinator that is still reading its log says so, and goes on when it has.

The buffer is one byte, so that each turn reads one batch. Sources:
TransactionStateManager.loadTransactionsForTxnTopicPartition@2.8.2.
"""

from __future__ import annotations

import pytest

from touchstone.reference_impl.broker.control.internal_topics import TRANSACTIONS
from touchstone.reference_impl.broker.coordinators.loader import LogLoader
from touchstone.reference_impl.log.partition_log import PartitionLog
from touchstone.reference_impl.log.rules import COORDINATOR
from touchstone.reference_impl.log.topic_config import TopicConfig
from touchstone.reference_impl.tests.txn.test_cluster import NAME, Town
from touchstone.reference_impl.txn import log_records
from touchstone.reference_impl.txn.states import State
from touchstone.reference_impl.txn.transaction import Transaction
from touchstone.reference_impl.wire.codec import DecodeError
from touchstone.reference_impl.wire.errors import ErrorCode as E
from touchstone.reference_impl.wire.records import batch

NEXT = 2
LOADING = E.COORDINATOR_LOAD_IN_PROGRESS


class LoadingTown(Town):
    """A transaction is open when its coordinator's partition moves to another broker."""

    def __init__(self, release="4.3"):
        super().__init__(release, transaction_state_log_load_buffer_size="1")
        for _ in range(3):
            self.begin()
        self.add()
        self.write()
        self.elect(NEXT, (0, 1, 2), TRANSACTIONS)

    def at_once(self, api, version, body, broker=NEXT):
        client = self.send(broker, api, version, body)
        self.run()
        return self.answer(client, api, version)

    def ask_to_end(self, broker=NEXT):
        own = {"producer_id": self.own["producer_id"], "producer_epoch": self.own["epoch"]}
        body = {"transactional_id": NAME, "committed": True, **own}
        return self.at_once("EndTxn", 0, body, broker)["error_code"]


@pytest.mark.parametrize("release", ["1.0", "2.8", "4.3"])
def test_transactions_go_on_when_all_is_read(release):
    town = LoadingTown(release)
    assert town.ask_to_end() == LOADING
    assert town.stable() == 0
    town.run(100)
    assert town.end(broker=NEXT) == E.NONE
    assert town.stable() == 2


def test_ids_and_lists_wait_as_well():
    town = LoadingTown()
    asked = {"transactional_id": NAME, "transaction_timeout_ms": 900_000}
    assert town.at_once("InitProducerId", 0, asked)["error_code"] == LOADING
    assert town.at_once("ListTransactions", 0, {})["error_code"] == LOADING
    described = town.at_once("DescribeTransactions", 0, {"transactional_ids": [NAME]})
    assert described["transaction_states"][0]["error_code"] == LOADING
    town.run(100)
    (listed,) = town.at_once("ListTransactions", 0, {})["transaction_states"]
    assert listed["transaction_state"] == "Ongoing"


def test_one_that_loses_its_partition_meanwhile_stops_reading():
    town = LoadingTown()
    town.elect(0, (0, 1, 2), TRANSACTIONS)
    town.run(100)
    assert town.ask_to_end() == E.NOT_COORDINATOR
    assert town.end(broker=0) == E.NONE


def test_a_record_that_cannot_be_read_ends_the_log():
    """3.9.2 and 4.3.1 say so, and serve the ids as they stood before it."""
    log = PartitionLog(TRANSACTIONS, 0, TopicConfig)
    early, late = (Transaction(name, 7, 0, 60_000, State.EMPTY) for name in "ab")
    unknown = batch.encode_pairs([(log_records.key_of("c"), b"\x7f\0")], base_timestamp=0)
    kept = [log_records.batch_of(each.id, each, version=0, now=0) for each in (early, late)]
    for records in (kept[0], unknown, kept[1]):
        log.append(records, now=0, origin=COORDINATOR)
    known: dict[str, Transaction] = {}

    def load(**how: bool) -> None:
        LogLoader(log, 1, lambda records: log_records.read(records, known), **how).whole()

    load(to_the_damage=True)
    assert list(known) == ["a"]
    with pytest.raises(DecodeError):
        load()
