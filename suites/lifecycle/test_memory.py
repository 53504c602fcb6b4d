"""State that survives a broker's restart: producers, leader epochs, log start offsets.

The topics here have one replica, so all state comes from the broker's own disk; most claims run
with a shutdown and with a kill.

Sources: LogManager.loadLogs, LogLoader, ProducerStateManager, LeaderEpochFileCache (1.0.2 to
4.3.1); clauses LOG-09, LOG-10, APPEND-17, APPEND-18.
"""

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, answer, batches
from touchstone.harness.model.placeholders import Ref
from touchstone.harness.model.steps import (
    EARLIEST,
    delete_records,
    init_producer_id,
    kill_broker,
    producer_ready,
    start_broker,
    stop_broker,
)
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.records import ONE, THREE, TWO, batch
from touchstone.suites.kit.three_brokers import (
    OFFSET,
    PART,
    SHORT_SESSIONS,
    a_log,
    end,
    marked,
    refused,
    stored,
    until_leaderless,
    until_led,
    write,
)
from touchstone.suites.replication.test_epochs import epoch_end

ENDS = {**SHORT_SESSIONS, "dies": (False, True)}


def gone_and_back(case, topic):
    return [
        kill_broker(1) if case.dies else stop_broker(1),
        until_leaderless(case, topic),
        start_broker(1),
        until_led(case, topic, 1, [1]),
    ]


@claim("lifecycle.producers-are-remembered", evidence=("APPEND-17", "APPEND-18"), **ENDS)
def test_producers_are_remembered(case):
    """After a restart a repeated batch answers its first offset and a sequence gap answers
    OUT_OF_ORDER_SEQUENCE_NUMBER.
    """
    name, ids = case.topic(), Ref("id", "producer_id")
    own = {"producer_id": ids, "producer_epoch": 0}
    second = batch(TWO, base_sequence=1, **own)
    return case.scenario(
        producer_ready(),
        init_producer_id(name="id", broker=0),
        a_log(name, (1,)),
        write(name, batch(ONE, base_sequence=0, **own), name="first"),
        write(name, second, name="second"),
        gone_and_back(case, name),
        write(name, second, name="repeated"),
        write(name, batch(THREE, base_sequence=9, **own), name="gap"),
        write(name, batch(THREE, base_sequence=2, **own), name="next"),
        expect=all_of(
            stored("repeated", 1),
            refused("gap", ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER),
            stored("next", 2),
        ),
    )


@claim("lifecycle.epochs-are-remembered", evidence=("APPEND-16", "LOG-09"), **ENDS)
def test_epochs_are_remembered(case):
    """A restarted leader leads in a later leader epoch and still knows the end offset of the
    earlier one.
    """
    name = case.topic()
    return case.scenario(
        a_log(name, (1,), ONE, TWO),
        gone_and_back(case, name),
        write(name, THREE),
        epoch_end(case, name, 0, at=1),
        marked(name, 3),
        expect=all_of(
            answer("epoch 0", f"{PART}.end_offset").is_(2),
            batches("read", "[0].partition_leader_epoch").is_(0),
            batches("read", "[2].partition_leader_epoch").is_(2),
        ),
    )


@claim("lifecycle.a-deletion-is-remembered", evidence=("LOG-09", "KIP-107"), **SHORT_SESSIONS)
def test_a_deletion_is_remembered(case):
    """The log start offset that DeleteRecords set survives a restart."""
    name = case.topic()
    return case.scenario(
        a_log(name, (1,), ONE, TWO, THREE),
        delete_records(name, 0, 2, broker=1, name="delete"),
        stop_broker(1),
        until_leaderless(case, name),
        start_broker(1),
        until_led(case, name, 1, [1]),
        end(name, name="start", timestamp=EARLIEST),
        expect=answer("start", OFFSET).is_(2),
    )


@claim("lifecycle.an-empty-log-returns-empty", evidence=("LOG-09",), **ENDS)
def test_an_empty_log_returns_empty(case):
    """An empty log is empty after a restart and takes its first record at offset 0."""
    name = case.topic()
    return case.scenario(
        a_log(name, (1,)),
        gone_and_back(case, name),
        end(name),
        write(name, ONE),
        expect=all_of(answer("end", OFFSET).is_(0), stored("write", 0)),
    )
