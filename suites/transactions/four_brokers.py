"""A cluster whose transactions can be held in PrepareCommit or PrepareAbort while the coordinator
moves.

The first step creates the transaction log by hand: one partition, on brokers 1 and 2, so that each
coordinator has one successor. Broker 0 is never harmed: it answers FindCoordinator, and it leads
the topics that are written. Their other replica is on broker 3, and min.insync.replicas is 2: while
broker 3 is down no marker can be written (`held_back`), on any release, so a decided end stays
incomplete for as long as a case likes, and another coordinator finds it so.

A marker carries the epoch of its coordinator, which counts what earlier cases did, so no case reads
one. The last stable offset and the log end offset tell where it is.

Nothing here judges.

Sources: TransactionMarkerChannelManager at 1.0.2, 2.8.2, 4.3; KIP-98.
"""

from typing import Any

from touchstone.harness.model.placeholders import Coordinator
from touchstone.harness.model.scenario import Inflict, Until
from touchstone.harness.model.steps import (
    alter_configs,
    fetch,
    find_coordinator,
    init_producer_id,
    list_offsets,
    metadata,
    stop_broker,
)
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit import coordinators, three_brokers
from touchstone.suites.kit.controllers import elect, reassign
from touchstone.suites.kit.coordinators import coordinator_known, log_placed, next_coordinator_known
from touchstone.suites.kit.transactions import (
    CODE,
    READ_COMMITTED,
    TRANSACTION,
    add_partitions,
    end,
    record,
    send,
)

LOG = "__transaction_state"
LEADER, WITNESS = 0, 3  # of what is sent
ROWS = {"log": [1, 2], "sent": [LEADER, WITNESS]}
WITHOUT_EPOCHS = 5  # of Metadata: how often earlier cases moved the log does not show
ELECTED = "replica_election_results[0].partition_result[0].error_code"
END, ISR = "topics[0].partitions[0].offset", three_brokers.ISR
ROW = "responses[0].partitions[0]"
CONFIG = three_brokers.SHORT_SESSIONS["config"] | {"transaction.state.log.num.partitions": "1"}
HARMED: dict[str, Any] = three_brokers.SHORT_SESSIONS | {"config": CONFIG, "brokers": 4}
WHOLE: dict[str, Any] = three_brokers.SHORT_SESSIONS_UNHARMED | {"config": CONFIG, "brokers": 4}


def at(transaction, connection):
    """Spread into a builder: ask the id's coordinator, looked up for this connection."""
    return coordinators.at(transaction, connection, key_type=TRANSACTION)


def log_ready():
    """The log of transactions stands where it should."""
    compacted = {"cleanup.policy": "compact"}
    return log_placed(LOG, ROWS["log"], name="the log", configs=compacted)


def opened(topic, transaction):
    """A transaction with one record, at offset 0."""
    begun = init_producer_id(transaction, name="producer", **at(transaction, "before"))
    return [
        Until(begun, CODE, "==", 0),
        add_partitions(transaction, topic, 0, name="begun", **at(transaction, "before")),
        send(transaction, topic, record(b"sent"), name="sent", broker=LEADER),
    ]


def a_case(case):
    topic, transaction = case.topic(), case.transactional_id()
    made = three_brokers.placed(topic, {0: ROWS["sent"]}, configs={"min.insync.replicas": 2})
    known = coordinator_known(transaction, key_type=TRANSACTION)
    return topic, transaction, [made, log_ready(), known, opened(topic, transaction)]


def held_back(topic):
    """From here on no marker gets into this topic."""
    alone = metadata(topic, version=WITHOUT_EPOCHS, broker=LEADER, name="held back")
    return [stop_broker(WITNESS), Until(alone, ISR, "len ==", 1)]


def let_go(topic):
    return alter_configs(topic, {"min.insync.replicas": 1}, name="let go")


def moved(transaction, fault="kill"):
    """The coordinator is gone or silent, and broker 0 knows another."""
    return [
        Inflict(fault, Coordinator(transaction, TRANSACTION)),
        next_coordinator_known(transaction, key_type=TRANSACTION),
    ]


def half_done(topic, transaction, commit, fault="kill"):
    """An end that is decided while its marker is held back; then its coordinator moves."""
    return [
        held_back(topic),
        end(transaction, commit, name="decided", **at(transaction, "before")),
        moved(transaction, fault),
    ]


def preferred(broker):
    """From here on this one of its two replicas leads the log of transactions, whoever led it,
    which no answer may show.
    """
    row = [broker, sum(ROWS["log"]) - broker]
    asked = find_coordinator("any", key_type=TRANSACTION, name=f"coordinator is {broker}")
    return [
        reassign(LOG, {0: row}, name=f"row {broker}"),
        Until(elect(LOG, name=f"elect {broker}"), ELECTED, "==", ErrorCode.ELECTION_NOT_NEEDED),
        Until(asked, "node_id", "==", broker),
    ]


def stable(topic, name="stable"):
    """The end for readers of committed records."""
    asked = {"version": 2, "isolation": READ_COMMITTED, "broker": LEADER}
    return list_offsets(topic, name=name, **asked)


def last(topic, name="end"):
    return list_offsets(topic, version=2, broker=LEADER, name=name)


def seen(topic):
    """Read committed records, no more than the first batch."""
    return fetch(
        topic, version=4, isolation=READ_COMMITTED, max_wait_ms=0, partition_max_bytes=1,
        broker=LEADER, name="read",
    )  # fmt: skip


def over(topic):
    return Until(stable(topic, "over"), END, "==", 2)
