"""What a ShareFetch waits for and how much it takes: sizes, partitions in turn, limits met exactly.

Sources: KIP-932, KIP-1222; DelayedShareFetch, PartitionMaxBytesStrategy, PartitionRotateStrategy,
SharePartition at 4.3.1; observed there.
"""

from touchstone.harness.model.claim import range_
from touchstone.harness.model.expect import all_of, answer
from touchstone.harness.model.scenario import Await, Quiet, Send
from touchstone.harness.model.steps import delete_records, produce
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.records import batch
from touchstone.suites.kit.shares import (
    ACCEPT,
    BERT,
    CODE,
    LONG_MS,
    RELEASE_IT,
    RENEW,
    a_group,
    acknowledge,
    acquired,
    claims,
    fetch,
    has,
    is_,
    run,
    wrong,
)

API, FETCHES = "ShareAcknowledge", "ShareFetch"
THREE = (batch(b"one", b"two", b"three"),)
LOCK_MS, WAIT_MS = 4000, 2500  # two waits are longer than a lock, one is not
windows = claims(FETCHES)


@windows("a-renewed-lock-is-longer-than-it-was", api=API, versions=range_(API, 2))
def test_a_renewed_lock_is_longer_than_it_was(case):
    """A lock that is renewed before its end lasts share.record.lock.duration.ms from then on: its
    member accepts the records after the first lock would have ended."""
    group, topic = case.topic("group"), case.topic()
    how = {"version": case.version}
    return case.scenario(
        acquired(group, topic, *THREE, lock_ms=LOCK_MS),
        fetch(group, 0, topic, member=BERT, wait_ms=WAIT_MS, name="locked"),
        acknowledge(group, 1, topic, run(0, 2, RENEW), renews=True, **how, name="renew"),
        fetch(group, 1, topic, member=BERT, wait_ms=WAIT_MS, name="still locked"),
        acknowledge(group, 2, topic, run(0, 2, ACCEPT), **how, name="accept"),
        expect=all_of(
            has("locked"),
            answer("still locked", "responses").has_length(0),
            wrong("renew", 0),
            wrong("accept", 0),
        ),
    )


@windows("what-is-done-may-be-acknowledged-again", api=API)
def test_what_is_done_may_be_acknowledged_again(case):
    """ShareAcknowledge of records before the share partition's start offset, which are done, is no
    error."""
    group, topic = case.topic("group"), case.topic()
    how = {"version": case.version}
    return case.scenario(
        acquired(group, topic, *THREE),
        acknowledge(group, 1, topic, run(0, 1, ACCEPT), **how, name="done"),
        acknowledge(group, 2, topic, run(0, 1, ACCEPT), **how, name="again"),
        expect=all_of(wrong("done", 0), wrong("again", 0)),
    )


@windows("no-more-locks-than-the-limit")
def test_no_more_locks_than_the_limit(case):
    """ShareFetch acquires batches until share.partition.max.record.locks records are in flight:
    of batches of ten exactly the hundredth record is the last."""
    group, topic = case.topic("group"), case.topic()
    many = [batch(*[b"%d" % at for at in range(10)]) for _ in range(12)]
    return case.scenario(
        a_group(group, topic, *many, locks=100),
        fetch(group, 0, topic, version=case.version, name="first"),
        expect=has("first", (0, 99, 1)),
    )


@windows("deleted-records-leave-the-window")
def test_deleted_records_leave_the_window(case):
    """ShareFetch after DeleteRecords delivers what was released from the new start of the log on,
    and nothing before it."""
    group, topic = case.topic("group"), case.topic()
    how = {"version": case.version}
    return case.scenario(
        acquired(group, topic, *THREE),
        acknowledge(group, 1, topic, run(0, 2, RELEASE_IT), name="released"),
        delete_records(topic, 0, 2, name="deleted"),
        fetch(group, 2, topic, wait_ms=LONG_MS, **how, name="moves"),
        fetch(group, 3, topic, wait_ms=1000, **how, name="left"),
        expect=all_of(wrong("released", 0), is_("moves", 0), is_("left", 0)),
    )


@windows("few-bytes-are-waited-with")
def test_few_bytes_are_waited_with(case):
    """ShareFetch that asks for more bytes than there are waits until there are as many."""
    group, topic = case.topic("group"), case.topic()
    asked = fetch(
        group, 0, topic, version=case.version, wait_ms=LONG_MS, min_bytes=3000, name="asked"
    )
    sent = Send(asked.api, asked.version, asked.body, "asked", connection="w")
    return case.scenario(
        a_group(group, topic, batch(b"few")),
        sent,
        Quiet("w", name="silence", least_ms=700),
        produce(topic, 0, batch(b"m" * 3000), name="more"),
        Await("asked"),
        expect=has("asked", (0, 1, 1)),
    )


@windows("bytes-are-dealt-evenly")
def test_bytes_are_dealt_evenly(case):
    """ShareFetch of two partitions with records deals its max_bytes evenly to both."""
    group, topic = case.topic("group"), case.topic()
    large = batch(b"x" * 1000)
    rest = [produce(topic, 1, large, name=f"one {at}") for at in range(3)]
    return case.scenario(
        a_group(group, topic, large, large, large, partitions=2),
        rest,
        fetch(group, 0, topic, version=case.version, partitions=(0, 1), max_bytes=2300,
              name="asked"),
        expect=all_of(
            answer("asked", "responses[0].partitions").has_length(2),
            answer("asked", "responses[0].partitions[*].acquired_records[0].last_offset")
            .each_is(0),
        ),
    )  # fmt: skip


@windows("partitions-come-first-in-turn")
def test_partitions_come_first_in_turn(case):
    """ShareFetch of one record at a time from two partitions begins with the second in the epoch
    after the session's first, and with the first in the next."""
    group, topic = case.topic("group"), case.topic()
    how = {"version": case.version, "max_records": 1}
    one = "responses[0].partitions[0].partition_index"
    return case.scenario(
        a_group(group, topic, batch(b"a"), batch(b"b"), batch(b"c"), partitions=2),
        [produce(topic, 1, batch(b"x"), name=f"one {at}") for at in range(3)],
        fetch(group, 0, topic, partitions=(0, 1), max_records=1, name="begins"),
        fetch(group, 1, topic, partitions=(), **how, name="first"),
        fetch(group, 2, topic, partitions=(), **how, name="second"),
        expect=all_of(answer("first", one).is_(1), answer("second", one).is_(0)),
    )


@windows("member-ids-have-36-characters-at-most")
def test_member_ids_have_36_characters_at_most(case):
    """ShareFetch with a member id of 36 characters is answered, with one of 37, or an empty one,
    INVALID_REQUEST."""
    group, topic = case.topic("group"), case.topic()
    how = {"version": case.version}
    return case.scenario(
        a_group(group, topic, *THREE),
        fetch(group, 0, topic, member="m" * 36, **how, name="36"),
        fetch(group, 0, topic, member="m" * 37, **how, name="37"),
        fetch(group, 0, topic, member="", **how, name="empty"),
        expect=all_of(
            answer("36", CODE).is_(ErrorCode.NONE),
            has("36", (0, 2, 1)),
            answer("37", CODE).is_(ErrorCode.INVALID_REQUEST),
            answer("empty", CODE).is_(ErrorCode.INVALID_REQUEST),
        ),
    )
