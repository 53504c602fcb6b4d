"""ShareFetch: which records a member gets, how many, and when.

Sources: KIP-932, KIP-1206; SharePartition.acquire, DelayedShareFetch@4.3.1; observed on 4.3.1.
"""

from touchstone.harness.model.claim import range_
from touchstone.harness.model.expect import all_of, answer
from touchstone.harness.model.scenario import Await, Send, Until
from touchstone.harness.model.steps import a_topic, delete_records, produce
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.records import batch
from touchstone.suites.kit.shares import (
    ACCEPT,
    ACQUIRED,
    ANNE,
    BERT,
    BRIEF_MS,
    LONG_MS,
    RECORD_LIMIT,
    ROW_CODE,
    a_group,
    acknowledge,
    beat,
    claims,
    close,
    configured,
    fetch,
    has,
    is_,
    joins,
    known,
    nothing,
    opened,
    run,
)
from touchstone.suites.kit.topics import appended
from touchstone.suites.kit.transactions import (
    ABORT,
    COMMIT,
    a_producer,
    add_partitions,
    ended,
    record,
    send,
)

API = "ShareFetch"
MODES = range_(API, 2)
ONES = [batch(b"one"), batch(b"two"), batch(b"three"), batch(b"four")]


fetches = claims(API)


@fetches("records-are-acquired")
def test_records_are_acquired(case):
    """ShareFetch acquires all available records in one batch with delivery count 1."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        a_group(group, topic, batch(b"one", b"two"), batch(b"three")),
        fetch(group, 0, topic, version=case.version, name="fetch"),
        expect=all_of(has("fetch", (0, 2, 1)), is_("fetch", 0)),
    )


@fetches("records-go-to-one-member", switches=("share-records-go-to-everybody",))
def test_records_go_to_one_member(case):
    """ShareFetch does not return records that another member has acquired; it returns newer
    ones."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        a_group(group, topic, batch(b"one", b"two")),
        joins(group, BERT, topic),
        fetch(group, 0, topic, version=case.version, name="first"),
        fetch(group, 0, topic, member=BERT, version=case.version, wait_ms=BRIEF_MS, name="second"),
        fetch(group, 1, topic, member=BERT, version=case.version, name="second again"),
        produce(topic, 0, batch(b"three"), name="more"),
        fetch(group, 2, topic, member=BERT, version=case.version, name="second at last"),
        expect=all_of(
            has("first", (0, 1, 1)),
            has("second"),
            nothing("second again"),
            has("second at last", (2, 2, 1)),
        ),
    )


def unopened(group, topic, *batches, **configs):
    """A group that nobody fetched for yet, with a member."""
    return [
        configured(group, **configs),
        a_topic(topic),
        appended(topic, *batches),
        known(group, topic),
        joins(group, ANNE, topic),
    ]


@fetches("groups-begin-at-the-end")
def test_groups_begin_at_the_end(case):
    """A group with share.auto.offset.reset=latest receives the records that follow its first
    ShareFetch."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        unopened(group, topic, batch(b"before"), reset="latest"),
        opened(group, topic),
        produce(topic, 0, batch(b"after"), name="more"),
        fetch(group, 0, topic, version=case.version, name="fetch"),
        expect=has("fetch", (1, 1, 1)),
    )


@fetches("groups-begin-at-the-beginning")
def test_groups_begin_at_the_beginning(case):
    """A group with share.auto.offset.reset=earliest receives all records of the partition."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        unopened(group, topic, *ONES, reset="earliest"),
        fetch(group, 0, topic, version=case.version, wait_ms=LONG_MS, name="fetch"),
        expect=has("fetch", (0, 3, 1)),
    )


@fetches("groups-begin-some-time-ago")
def test_groups_begin_some_time_ago(case):
    """A group with share.auto.offset.reset=by_duration receives records from the first one that is
    not older than the duration."""
    group, topic = case.topic("group"), case.topic()
    old = [batch(b"old", at=-7_200_000), batch(b"young", at=-60_000), batch(b"new")]
    return case.scenario(
        unopened(group, topic, *old, reset="by_duration:PT1H"),
        fetch(group, 0, topic, version=case.version, wait_ms=LONG_MS, name="fetch"),
        expect=has("fetch", (1, 2, 1)),
    )


@fetches("whole-batches-are-acquired")
def test_whole_batches_are_acquired(case):
    """ShareFetch in batch_optimized mode acquires the whole batch that contains the last record it
    may acquire."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        a_group(group, topic, batch(b"one", b"two", b"three"), batch(b"four", b"five")),
        fetch(group, 0, topic, version=case.version, max_records=2, name="first"),
        fetch(group, 1, topic, version=case.version, max_records=1, wait_ms=LONG_MS, name="second"),
        expect=all_of(has("first", (0, 2, 1)), has("second", (3, 4, 1))),
    )


@fetches("batches-are-put-together")
def test_batches_are_put_together(case):
    """ShareFetch acquires whole record batches and groups them into acquired batches of at least
    batch_size records."""
    group, topic = case.topic("group"), case.topic()
    batches = [batch(b"1", b"2"), batch(b"3", b"4"), batch(b"5"), batch(b"6", b"7", b"8")]
    return case.scenario(
        a_group(group, topic, *batches),
        fetch(group, 0, topic, version=case.version, batch_size=3, name="fetch"),
        expect=has("fetch", (0, 3, 1), (4, 7, 1)),
    )


@fetches("runs-of-one-batch-each")
def test_runs_of_one_batch_each(case):
    """ShareFetch with batch_size 1 returns each record batch as an acquired batch of its own."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        a_group(group, topic, batch(b"1", b"2"), batch(b"3"), batch(b"4", b"5")),
        fetch(group, 0, topic, version=case.version, batch_size=1, name="fetch"),
        expect=has("fetch", (0, 1, 1), (2, 2, 1), (3, 4, 1)),
    )


@fetches("record-limit-is-exact", versions=MODES)
def test_record_limit_is_exact(case):
    """ShareFetch in record_limit mode acquires no more than max_records, even within a record
    batch."""
    group, topic = case.topic("group"), case.topic()
    how = {"version": case.version, "mode": RECORD_LIMIT}
    return case.scenario(
        a_group(group, topic, batch(b"1", b"2", b"3", b"4", b"5")),
        fetch(group, 0, topic, max_records=2, **how, name="first"),
        fetch(group, 1, topic, max_records=2, **how, wait_ms=LONG_MS, name="second"),
        fetch(group, 2, topic, max_records=9, **how, wait_ms=LONG_MS, name="third"),
        expect=all_of(has("first", (0, 1, 1)), has("second", (2, 3, 1)), has("third", (4, 4, 1))),
    )


@fetches("record-limit-runs-over-batches", versions=MODES)
def test_record_limit_runs_over_batches(case):
    """ShareFetch in record_limit mode acquires records of several record batches as one acquired
    batch."""
    group, topic = case.topic("group"), case.topic()
    how = {"version": case.version, "mode": RECORD_LIMIT, "batch_size": 1}
    return case.scenario(
        a_group(group, topic, batch(b"1", b"2"), batch(b"3", b"4"), batch(b"5")),
        fetch(group, 0, topic, max_records=3, **how, name="first"),
        fetch(group, 1, topic, max_records=5, **how, wait_ms=LONG_MS, name="second"),
        expect=all_of(has("first", (0, 2, 1)), has("second", (3, 3, 1), (4, 4, 1))),
    )


@fetches("the-modes-mix", versions=MODES)
def test_the_modes_mix(case):
    """ShareFetch in batch_optimized mode acquires all records of a batch that record_limit mode
    left."""
    group, topic = case.topic("group"), case.topic()
    exactly = {"version": case.version, "mode": RECORD_LIMIT}
    return case.scenario(
        a_group(group, topic, batch(b"1", b"2", b"3", b"4"), batch(b"5")),
        fetch(group, 0, topic, max_records=1, **exactly, name="first"),
        fetch(group, 1, topic, max_records=1, version=case.version, wait_ms=LONG_MS, name="second"),
        expect=all_of(has("first", (0, 0, 1)), has("second", (1, 3, 1))),
    )


@fetches("no-records-are-wanted")
def test_no_records_are_wanted(case):
    """ShareFetch with max_records 0 or max_bytes 0 returns no partitions, without waiting."""
    group, topic = case.topic("group"), case.topic()
    how = {"version": case.version, "wait_ms": LONG_MS}
    return case.scenario(
        a_group(group, topic, batch(b"one")),
        fetch(group, 0, topic, max_records=0, **how, name="no records"),
        fetch(group, 1, topic, max_bytes=0, **how, name="no bytes"),
        expect=all_of(nothing("no records"), nothing("no bytes")),
    )


@fetches("a-fetch-waits-for-records")
def test_a_fetch_waits_for_records(case):
    """ShareFetch that finds fewer than min_bytes waits, and returns the records that arrive."""
    group, topic = case.topic("group"), case.topic()
    waiting = fetch(group, 0, topic, version=case.version, wait_ms=LONG_MS)
    return case.scenario(
        a_group(group, topic),
        Send(API, case.version, waiting.body, name="waits", connection="b"),
        produce(topic, 0, batch(b"one"), name="comes"),
        Await("waits"),
        expect=has("waits", (0, 0, 1)),
    )


@fetches("a-fetch-that-waited-is-answered")
def test_a_fetch_that_waited_is_answered(case):
    """ShareFetch returns what is available after max_wait_ms, even if it is less than min_bytes."""
    group, topic = case.topic("group"), case.topic()
    how = {"version": case.version, "wait_ms": 300, "min_bytes": 5000}
    return case.scenario(
        a_group(group, topic, batch(b"one")),
        fetch(group, 0, topic, **how, name="little"),
        fetch(group, 1, topic, **how, name="nothing"),
        expect=all_of(has("little", (0, 0, 1)), nothing("nothing")),
    )


@fetches("only-so-many-records-are-in-flight")
def test_only_so_many_records_are_in_flight(case):
    """ShareFetch acquires no more records of a partition while share.partition.max.record.locks are
    acquired."""
    group, topic = case.topic("group"), case.topic()
    many = [batch(*[b"%d" % i for i in range(60)]) for _ in range(3)]
    return case.scenario(
        a_group(group, topic, *many, locks=100),
        fetch(group, 0, topic, version=case.version, name="first"),
        fetch(group, 1, topic, version=case.version, name="full"),
        acknowledge(group, 2, topic, run(0, 59, ACCEPT), name="accepted"),
        fetch(group, 3, topic, version=case.version, name="room again"),
        expect=all_of(has("first", (0, 119, 1)), nothing("full"), has("room again", (120, 179, 1))),
    )


@fetches("no-such-partition")
def test_no_such_partition(case):
    """ShareFetch answers UNKNOWN_TOPIC_OR_PARTITION for a partition that its topic lacks."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        a_group(group, topic, batch(b"one")),
        fetch(group, 0, topic, partitions=(7,), version=case.version, name="fetch"),
        fetch(group, 1, topic, version=case.version, name="with another"),
        expect=all_of(
            is_("fetch", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ROW_CODE),
            answer("with another", "responses[0].partitions").has_length(2),
        ),
    )


@fetches("several-partitions-are-read")
def test_several_partitions_are_read(case):
    """ShareFetch acquires records of every partition in its session."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        a_group(group, topic, partitions=2),
        produce(topic, 0, batch(b"one"), name="to 0"),
        produce(topic, 1, batch(b"two", b"three"), name="to 1"),
        fetch(group, 0, topic, partitions=(0, 1), version=case.version, name="fetch"),
        expect=all_of(
            answer("fetch", "responses[0].partitions").has_length(2),
            answer("fetch", "responses[0].partitions[*].acquired_records[*].last_offset").is_one_of(
                [[0], [1]], [[1], [0]]
            ),
        ),
    )


@fetches("record-count-goes-over-partitions")
def test_record_count_goes_over_partitions(case):
    """ShareFetch with max_records 1 on two partitions with records returns both partitions first
    and one afterwards."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        a_group(group, topic, partitions=2),
        produce(topic, 0, batch(b"one"), name="to 0"),
        produce(topic, 1, batch(b"two"), name="to 1"),
        fetch(group, 0, topic, partitions=(0, 1), max_records=1, version=case.version, name="one"),
        fetch(group, 1, topic, partitions=(0, 1), max_records=1, version=case.version,
              wait_ms=LONG_MS, name="two"),
        expect=all_of(
            answer("one", "responses[0].partitions").has_length(2),
            answer("two", "responses[0].partitions").has_length(1),
        ),
    )  # fmt: skip


@fetches("deleted-records-are-passed-over")
def test_deleted_records_are_passed_over(case):
    """ShareFetch goes on at the log start when DeleteRecords removed the records that come next."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        a_group(group, topic, *ONES),
        fetch(group, 0, topic, version=case.version, max_records=1, name="first"),
        close(group, name="closed"),
        delete_records(topic, 0, 2, name="deleted"),
        Until(fetch(group, 0, topic, version=case.version, name="goes on"), ACQUIRED, "len >=", 1),
        expect=has("goes on", (2, 3, 1)),
    )


@fetches("uncommitted-records-are-read")
def test_uncommitted_records_are_read(case):
    """ShareFetch of a group with read_uncommitted acquires records of an open transaction, and its
    marker's offset when it is aborted."""
    group, topic, transaction = case.topic("group"), case.topic(), case.topic("txn")
    return case.scenario(
        a_group(group, topic),
        a_producer(transaction),
        add_partitions(transaction, topic, name="added"),
        send(transaction, topic, name="open"),
        fetch(group, 0, topic, version=case.version, name="open ones"),
        ended(transaction, ABORT),
        fetch(group, 1, topic, version=case.version, wait_ms=LONG_MS, name="the marker"),
        expect=all_of(has("open ones", (0, 0, 1)), has("the marker", (1, 1, 1))),
    )


@fetches("committed-readers-get-no-aborted-records")
def test_committed_readers_get_no_aborted_records(case):
    """ShareFetch of a group with share.isolation.level=read_committed acquires no records of an
    open or aborted transaction."""
    group, topic, transaction = case.topic("group"), case.topic(), case.topic("txn")
    return case.scenario(
        a_group(group, topic, isolation="read_committed"),
        a_producer(transaction),
        add_partitions(transaction, topic, name="added"),
        send(transaction, topic, record(b"bad"), name="sent"),
        fetch(group, 0, topic, version=case.version, name="while open"),
        ended(transaction, ABORT),
        produce(topic, 0, batch(b"good"), name="plain"),
        fetch(group, 1, topic, version=case.version, wait_ms=LONG_MS, min_bytes=200,
              name="afterwards"),
        expect=all_of(has("while open"), has("afterwards", (1, 2, 1))),
    )  # fmt: skip


@fetches("committed-readers-get-committed-records")
def test_committed_readers_get_committed_records(case):
    """ShareFetch of a group with share.isolation.level=read_committed acquires a transaction's
    records once it is committed."""
    group, topic, transaction = case.topic("group"), case.topic(), case.topic("txn")
    return case.scenario(
        a_group(group, topic, isolation="read_committed"),
        a_producer(transaction),
        add_partitions(transaction, topic, name="added"),
        send(transaction, topic, record(b"good"), name="sent"),
        fetch(group, 0, topic, version=case.version, name="while open"),
        ended(transaction, COMMIT),
        fetch(group, 1, topic, version=case.version, wait_ms=LONG_MS, name="afterwards"),
        expect=all_of(has("while open"), has("afterwards", (0, 1, 1))),
    )


@fetches("nobody-need-be-a-member")
def test_nobody_need_be_a_member(case):
    """ShareFetch acquires records for a member id that the group does not have."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        a_group(group, topic, batch(b"one")),
        beat(group, ANNE, -1, name="leaves"),
        fetch(group, 0, topic, member=BERT, version=case.version, name="stranger"),
        expect=has("stranger", (0, 0, 1)),
    )


@fetches("locks-are-told")
def test_locks_are_told(case):
    """ShareFetch returns the group's record lock duration in acquisition_lock_timeout_ms."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        a_group(group, topic, batch(b"one"), lock_ms=15_000),
        fetch(group, 0, topic, version=case.version, name="fetch"),
        expect=answer("fetch", "acquisition_lock_timeout_ms").is_(15_000),
    )
