"""State that the next leader inherits (records, producers, log start), and what a former leader
must truncate.

Sources: ReplicaFetcherThread and AbstractFetcherThread (truncation), ReplicaManager.deleteRecords,
ProducerStateManager (1.0.2 to 4.3.1), KIP-101, KIP-107; clauses REPL-05, REPL-21 to REPL-23,
APPEND-17, APPEND-18.
"""

from touchstone.harness.model.claim import claim, only
from touchstone.harness.model.expect import all_of, answer, records
from touchstone.harness.model.scenario import Ref, Until
from touchstone.harness.model.steps import (
    EARLIEST,
    delete_records,
    init_producer_id,
    kill_broker,
    pause_broker,
    producer_ready,
    resume_broker,
    start_broker,
    stop_broker,
)
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.records import ONE, THREE, TWO, batch
from touchstone.suites.kit.three_brokers import (
    OFFSET,
    PART,
    READ,
    SHORT_SESSIONS,
    EpochsVary,
    a_log,
    end,
    follow,
    marked,
    read,
    refused,
    stopped,
    stored,
    until_led,
    without_epochs,
    write,
)

MARKED_LOW = f"{PART}.low_watermark"


@claim("replication.a-follower-catches-up", evidence=("REPL-05", "REPL-16"), **SHORT_SESSIONS)
def test_a_follower_catches_up(case):
    """A follower that was down replicates the records written meanwhile before it can lead."""
    case = EpochsVary(case)
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2), ONE),
        stopped(2),
        until_led(case, name, 1, [1], "alone"),
        write(name, TWO, THREE, name="two"),
        write(name, ONE, name="three"),
        start_broker(2),
        until_led(case, name, 1, [1, 2], "joined"),
        stop_broker(1),
        until_led(case, name, 2, [2], "led"),
        marked(name, 4, at=2, **without_epochs(case)),
        expect=all_of(records("read", "[1].value").is_(TWO), records("read", "[3].value").is_(ONE)),
    )


@claim(
    "replication.an-old-leader-truncates",
    evidence=("REPL-21", "REPL-22", "KIP-101"),
    **SHORT_SESSIONS,
)
def test_an_old_leader_truncates(case):
    """Records acknowledged with acks=1 that only a dead leader has are lost: it truncates them when
    it returns and replicates its successor's.
    """
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2), ONE),
        pause_broker(2),
        read(name, 1, name="drained", max_wait_ms=700),
        write(name, TWO, TWO, acks=1, name="lost"),
        kill_broker(1),
        resume_broker(2),
        until_led(case, name, 2, [2], "led"),
        marked(name, 1, at=2, name="short"),
        write(name, THREE, to=2, name="instead"),
        start_broker(1),
        until_led(case, name, 2, [2, 1], "joined"),
        stop_broker(2),
        until_led(case, name, 1, [1], "led again"),
        marked(name, 2),
        end(name),
        expect=all_of(
            stored("lost", 1),
            stored("instead", 1),
            records("read", "[1].value").is_(THREE),
            answer("end", OFFSET).is_(2),
        ),
    )


@claim("replication.producers-are-known-to-the-next-leader",
       evidence=("APPEND-17", "APPEND-18"), dies=(False, True), **SHORT_SESSIONS)  # fmt: skip
def test_producers_are_known_to_the_next_leader(case):
    """A new leader knows producer state: it answers a repeated batch with its first offset, appends
    the next sequence, and answers a gap with OUT_OF_ORDER_SEQUENCE_NUMBER.
    """
    name, ids = case.topic(), Ref("id", "producer_id")
    own = {"producer_id": ids, "producer_epoch": 0}
    first, second = batch(ONE, base_sequence=0, **own), batch(TWO, base_sequence=1, **own)
    return case.scenario(
        producer_ready(),
        init_producer_id(name="id", broker=0),
        a_log(name, (1, 2)),
        write(name, first, name="first"),
        write(name, second, name="second"),
        kill_broker(1) if case.dies else stop_broker(1),
        until_led(case, name, 2, [2]),
        write(name, second, to=2, name="repeated"),
        write(name, batch(THREE, base_sequence=2, **own), to=2, name="next"),
        write(name, batch(THREE, base_sequence=9, **own), to=2, name="gap"),
        expect=all_of(
            stored("repeated", 1),
            stored("next", 2),
            refused("gap", ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER),
        ),
    )


@claim("replication.a-retried-send-is-written-once",
       evidence=("APPEND-17", "REPL-22"), **SHORT_SESSIONS)  # fmt: skip
def test_a_retried_send_is_written_once(case):
    """An idempotent producer's retry after its leader died is in the new leader's
    log exactly once.
    """
    name, ids = case.topic(), Ref("id", "producer_id")
    own = {"producer_id": ids, "producer_epoch": 0}
    first, second = batch(ONE, base_sequence=0, **own), batch(TWO, base_sequence=1, **own)
    return case.scenario(
        producer_ready(),
        init_producer_id(name="id", broker=0),
        a_log(name, (1, 2)),
        write(name, first, name="first"),
        pause_broker(2),
        read(name, 1, name="drained", max_wait_ms=700),
        write(name, second, name="unsure", timeout_ms=300),
        kill_broker(1),
        resume_broker(2),
        until_led(case, name, 2, [2]),
        write(name, second, to=2, name="retry"),
        write(name, second, to=2, name="retry again"),
        marked(name, 2, at=2),
        expect=all_of(
            refused("unsure", ErrorCode.REQUEST_TIMED_OUT),
            stored("retry", 1),
            stored("retry again", 1),
            records("read", "[*].value").is_([ONE, TWO]),
        ),
    )


@claim("replication.deleted-records-stay-deleted", evidence=("REPL-05", "KIP-107"),
       api="DeleteRecords", versions=only("DeleteRecords", 0), **SHORT_SESSIONS)  # fmt: skip
def test_deleted_records_stay_deleted(case):
    """Followers replicate the log start offset: after DeleteRecords the next leader's log starts at
    the same offset, and reads below it answer OFFSET_OUT_OF_RANGE.
    """
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2), ONE, TWO, THREE),
        delete_records(name, 0, 2, broker=1, name="delete"),
        stop_broker(1),
        until_led(case, name, 2, [2]),
        end(name, at=2, name="start", timestamp=EARLIEST),
        read(name, 1, at=2, name="below"),
        read(name, 2, at=2, name="read"),
        expect=all_of(
            answer("delete", MARKED_LOW).is_(2),
            answer("start", OFFSET).is_(2),
            answer("below", f"{READ}.error_code").is_(ErrorCode.OFFSET_OUT_OF_RANGE),
            records("read", "[0].value").is_(THREE),
        ),
    )


@claim("replication.deletion-waits-for-followers", evidence=("KIP-107", "FETCH-23"),
       api="DeleteRecords", versions=only("DeleteRecords", 0), **SHORT_SESSIONS)  # fmt: skip
def test_deletion_waits_for_followers(case):
    """DeleteRecords answers REQUEST_TIMED_OUT while a live follower has not moved its log start
    offset, though the leader has moved its own.
    """
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2), ONE, TWO),
        pause_broker(2),
        read(name, 2, name="drained", max_wait_ms=700),
        delete_records(name, 0, 1, broker=1, name="delete", timeout_ms=300),
        end(name, name="start", timestamp=EARLIEST),
        resume_broker(2),
        Until(
            delete_records(name, 0, 1, broker=1, name="repeated"),
            f"{PART}.error_code", "==", 0,
        ),
        expect=all_of(
            answer("delete", f"{PART}.error_code").is_(ErrorCode.REQUEST_TIMED_OUT),
            answer("start", OFFSET).is_(1),
            answer("repeated", MARKED_LOW).is_(1),
        ),
    )  # fmt: skip


@claim("replication.a-stopped-replica-is-not-waited-for", evidence=("KIP-107",),
       api="DeleteRecords", versions=only("DeleteRecords", 0), **SHORT_SESSIONS)  # fmt: skip
def test_a_stopped_replica_is_not_waited_for(case):
    """DeleteRecords does not wait for a stopped replica, which moves its log start offset when it
    returns.
    """
    case = EpochsVary(case)
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2), ONE, TWO),
        stop_broker(2),
        until_led(case, name, 1, [1], "alone"),
        delete_records(name, 0, 1, broker=1, name="delete"),
        start_broker(2),
        until_led(case, name, 1, [1, 2], "joined"),
        read(name, 2, name="answered", max_wait_ms=700),
        stop_broker(1),
        until_led(case, name, 2, [2], "led"),
        end(name, at=2, name="start", timestamp=EARLIEST),
        expect=all_of(
            answer("delete", f"{PART}.error_code").is_(ErrorCode.NONE),
            answer("delete", MARKED_LOW).is_(1),
            answer("start", OFFSET).is_(1),
        ),
    )


@claim("replication.a-follower-tells-where-it-starts", evidence=("REPL-04", "KIP-107"),
       api="DeleteRecords", versions=only("DeleteRecords", 0), **SHORT_SESSIONS)  # fmt: skip
def test_a_follower_tells_where_it_starts(case):
    """The low watermark of DeleteRecords is the lowest log start offset that followers report in
    their fetches.
    """
    name = case.topic()
    told = follow(name, 2, name="told")
    told.body["topics"][0]["partitions"][0]["log_start_offset"] = 1
    return case.scenario(
        a_log(name, (1, 2), ONE, TWO),
        pause_broker(2),
        read(name, 2, name="drained", max_wait_ms=700),
        delete_records(name, 0, 1, broker=1, name="waits", timeout_ms=200),
        told,
        delete_records(name, 0, 1, broker=1, name="delete", timeout_ms=200),
        resume_broker(2),
        expect=all_of(
            answer("waits", f"{PART}.error_code").is_(ErrorCode.REQUEST_TIMED_OUT),
            answer("delete", f"{PART}.error_code").is_(ErrorCode.NONE),
            answer("delete", MARKED_LOW).is_(1),
        ),
    )
