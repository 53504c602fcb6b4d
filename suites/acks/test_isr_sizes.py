"""How many replicas an answer promises to a producer: acks with whole, shrunk and stalled ISRs.

A follower is stopped to leave the ISR at once, and paused to stay in it without a word. A paused
one may still find in its socket what the leader had answered before, so every case that pauses one
writes only after the leader has nothing more to answer.

Sources: ReplicaManager.appendRecords, DelayedProduce, Partition.appendRecordsToLeader and
checkEnoughReplicasReachOffset (1.0.2 to 4.3.1), KIP-966 (high watermark below the minimum);
clauses APPEND-04, APPEND-05, APPEND-21 to APPEND-23, REPL-08, REPL-09.
"""

from touchstone.harness.model.claim import claim, only
from touchstone.harness.model.expect import all_of, answer, by_release, no_answer, records
from touchstone.harness.model.scenario import Await, Quiet
from touchstone.harness.model.steps import pause_broker, resume_broker, start_broker
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.in_flight import sent
from touchstone.suites.kit.producing import produce_many
from touchstone.suites.kit.records import ONE, THREE, TWO, batch
from touchstone.suites.kit.three_brokers import (
    LONG_MS,
    MARK,
    OFFSET,
    SHORT_LAG,
    SHORT_SESSIONS,
    a_log,
    end,
    marked,
    placed,
    read,
    refused,
    stopped,
    stored,
    until_led,
    without_epochs,
    write,
)

IN_SYNC = "min.insync.replicas"


@claim(
    "acks.every-kind-counts-on",
    evidence=("APPEND-08", "APPEND-21", "APPEND-22", "REPL-08"),
    api="Produce",
    versions=only("Produce", 3),
    acks=(-1, 0, 1),
    **SHORT_LAG,
)
def test_every_kind_counts_on(case):
    """Produce with acks -1, 0 or 1 is written where three replicas are in sync, and consumers see
    it once followers have it."""
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2, 0), ONE),
        write(name, TWO, acks=case.acks),
        write(name, THREE, name="last"),
        marked(name, 3),
        expect=all_of(stored("last", 2), records("read", "[1].value").is_(TWO)),
    )


@claim(
    "acks.one-is-answered-before-followers-have-it",
    evidence=("APPEND-21", "REPL-08", "REPL-09"),
    api="Produce",
    versions=only("Produce", 3),
    acks=(0, 1),
    **SHORT_SESSIONS,
)
def test_one_is_answered_before_followers_have_it(case):
    """Produce with acks=1 is answered while a follower in the ISR does not fetch (with acks=0 none
    is); consumers see the record only when it does."""
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2), ONE),
        pause_broker(2),
        read(name, 1, name="drained", max_wait_ms=700),
        write(name, TWO, acks=case.acks),
        read(name, 1, name="unseen", max_wait_ms=300),
        end(name),
        resume_broker(2),
        marked(name, 2, name="seen"),
        expect=all_of(
            stored("write", 1) if case.acks else no_answer("write"),
            answer("unseen", MARK).is_(1),
            answer("end", OFFSET).is_(1),
            records("seen", "[1].value").is_(TWO),
        ),
    )


@claim(
    "acks.all-waits-for-a-follower-in-sync",
    evidence=("APPEND-22", "REPL-08", "REPL-09"),
    api="Produce",
    versions=only("Produce", 3),
    **SHORT_SESSIONS,
)
def test_all_waits_for_a_follower_in_sync(case):
    """Produce with acks=all is not answered while a follower in the ISR does not fetch, and is when
    it does."""
    name, asked = case.topic(), "waiting"
    return case.scenario(
        a_log(name, (1, 2), ONE),
        pause_broker(2),
        read(name, 1, name="drained", max_wait_ms=700),
        sent(write(name, TWO, name=asked, timeout_ms=LONG_MS)),
        Quiet("broker 1", name="no answer"),
        resume_broker(2),
        Await(asked),
        read(name, name="seen"),
        expect=all_of(stored(asked, 1), answer("seen", MARK).is_(2)),
    )


@claim(
    "acks.all-times-out-and-stays",
    evidence=("APPEND-22", "REPL-08"),
    api="Produce",
    versions=only("Produce", 3),
    **SHORT_SESSIONS,
)
def test_all_times_out_and_stays(case):
    """Produce with acks=all answers REQUEST_TIMED_OUT when a follower in the ISR does not fetch
    within its timeout; the record stays and becomes visible when the follower has it."""
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2), ONE),
        pause_broker(2),
        read(name, 1, name="drained", max_wait_ms=700),
        write(name, TWO, timeout_ms=300),
        end(name),
        resume_broker(2),
        marked(name, 2, name="seen"),
        expect=all_of(
            refused("write", ErrorCode.REQUEST_TIMED_OUT),
            answer("end", OFFSET).is_(1),
            records("seen", "[1].value").is_(TWO),
        ),
    )


@claim(
    "acks.all-counts-only-the-isr",
    evidence=("APPEND-22", "REPL-08", "REPL-11", "REPL-14"),
    api="Produce",
    versions=only("Produce", 3),
    **SHORT_LAG,
)
def test_all_counts_only_the_isr(case):
    """Produce with acks=all is answered when a stalled follower leaves the ISR; on 2.8 it answers
    REQUEST_TIMED_OUT, because shrinking the ISR does not move the high watermark (KAFKA-13091)."""
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2), ONE),
        pause_broker(2),
        read(name, 1, name="drained", max_wait_ms=700),
        write(name, TWO, timeout_ms=5000),
        read(name, name="seen"),
        resume_broker(2),
        expect=by_release(
            {
                "1.0-2.2,3.9+": all_of(stored("write", 1), answer("seen", MARK).is_(2)),
                "2.8": all_of(
                    refused("write", ErrorCode.REQUEST_TIMED_OUT), answer("seen", MARK).is_(1)
                ),
            }
        ),
    )


@claim(
    "acks.all-needs-the-minimum-in-sync",
    evidence=("APPEND-04",),
    api="Produce",
    versions=only("Produce", 3),
    **SHORT_SESSIONS,
)
def test_all_needs_the_minimum_in_sync(case):
    """Produce with acks=all answers NOT_ENOUGH_REPLICAS and writes nothing while the ISR is smaller
    than min.insync.replicas; with acks 1 or 0 it is written, and with acks=all again when the
    follower is back."""
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2), ONE, configs={IN_SYNC: 2}),
        stopped(2),
        until_led(case, name, 1, [1]),
        write(name, TWO, name="all"),
        write(name, TWO, name="one", acks=1),
        write(name, TWO, name="none", acks=0),
        end(name),
        read(name, name="before", **without_epochs(case)),
        start_broker(2),
        until_led(case, name, 1, [1, 2], "back"),
        write(name, THREE, name="again"),
        read(name, name="after", **without_epochs(case)),
        expect=all_of(
            refused("all", ErrorCode.NOT_ENOUGH_REPLICAS),
            stored("one", 1),
            stored("again", 3),
            answer("after", MARK).is_(4),
        ),
    )


@claim(
    "acks.all-may-fail-after-the-append",
    evidence=("APPEND-23", "KIP-966"),
    api="Produce",
    versions=only("Produce", 3),
    **SHORT_LAG,
)
def test_all_may_fail_after_the_append(case):
    """Produce with acks=all answers NOT_ENOUGH_REPLICAS_AFTER_APPEND when the ISR falls below
    min.insync.replicas while it waits; since 2.8 the high watermark stays and it answers
    REQUEST_TIMED_OUT. The record stays."""
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2), ONE, configs={IN_SYNC: 2}),
        pause_broker(2),
        read(name, 1, name="drained", max_wait_ms=700),
        write(name, TWO, timeout_ms=5000),
        read(name, name="below"),
        resume_broker(2),
        marked(name, 2, name="seen"),
        expect=all_of(
            by_release(
                {
                    "1.0-2.2": refused("write", ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND),
                    "2.8+": all_of(
                        refused("write", ErrorCode.REQUEST_TIMED_OUT), answer("below", MARK).is_(1)
                    ),
                }
            ),
            records("seen", "[1].value").is_(TWO),
        ),
    )


@claim(
    "acks.a-minimum-above-the-replicas",
    evidence=("APPEND-04", "observed on 3.9.2"),
    api="Produce",
    versions=only("Produce", 3),
    replicas=(1, 2, 3),
    **SHORT_LAG,
)
def test_a_minimum_above_the_replicas(case):
    """Produce with acks=all answers NOT_ENOUGH_REPLICAS where min.insync.replicas exceeds the
    number of replicas; since 3.9 the number of replicas counts instead."""
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2, 0)[: case.replicas], configs={IN_SYNC: 4}),
        write(name, ONE, name="all"),
        write(name, TWO, name="one", acks=1),
        expect=by_release(
            {
                "1.0-2.8": all_of(refused("all", ErrorCode.NOT_ENOUGH_REPLICAS), stored("one", 0)),
                "3.9+": all_of(stored("all", 0), stored("one", 1)),
            }
        ),
    )


@claim(
    "acks.each-partition-waits-for-its-own",
    evidence=("APPEND-01", "APPEND-22"),
    api="Produce",
    versions=only("Produce", 3),
    **SHORT_SESSIONS,
)
def test_each_partition_waits_for_its_own(case):
    """Produce with acks=all answers REQUEST_TIMED_OUT for the partition with a stalled follower and
    no error for the other partition of the request."""
    name = case.topic()
    codes = answer("write", "responses[0].partition_responses[*].error_code")
    timeout_ms = 300 if case.release in ("1.0", "2.2") else 1000  # their clients ping seldom
    return case.scenario(
        placed(name, {0: [1, 2], 1: [1, 0]}),
        pause_broker(2),
        read(name, name="drained", max_wait_ms=700),
        produce_many(
            [(name, [(0, batch(ONE)), (1, batch(TWO))])],
            version=3, timeout_ms=timeout_ms, broker=1, name="write",
        ),
        resume_broker(2),
        marked(name, 1, name="first"),
        marked(name, 1, name="second", partition=1),
        expect=all_of(codes.contains(ErrorCode.REQUEST_TIMED_OUT), codes.contains(0)),
    )  # fmt: skip
