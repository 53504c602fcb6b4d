"""Logs with gaps, as compaction leaves them, and what of transactions is read (CONS-38)."""

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, client
from touchstone.harness.model.placeholders import Ref
from touchstone.suites.kit.clients import (
    QUICK,
    C,
    Change,
    Mend,
    Watch,
    a_topic,
    assign,
    consumer,
    reads,
    stored,
)
from touchstone.suites.kit.records import compacted
from touchstone.suites.kit.transactions import (
    ABORT,
    COMMIT,
    a_producer,
    add_partitions,
    ended,
    initialised,
    record,
)
from touchstone.suites.kit.transactions import send as send_in

RECORDS = "responses[*].partitions[*].records"
NEXT = {"api": "Fetch", "path": "topics[*].partitions[*].fetch_offset"}
AGAIN = {"producer_id": Ref("again", "producer_id"), "epoch": Ref("again", "producer_epoch")}


def _compacted(topic, *batches, number):
    """Five records, of which a Fetch gives these batches."""
    return [
        a_topic(topic),
        stored(topic, "a", "b", "c", "d", "e"),
        Change("Fetch", RECORDS, b"".join(batches), times=0),
        consumer(),
        assign(topic),
        reads(number, name="what is left"),
    ]


@claim("consumer.missing-offsets-are-passed-over", evidence=("CONS-38", "KIP-71"), role="client",
       switches=("offsets-counted",))  # fmt: skip
def test_missing_offsets_are_passed_over(case):
    """Of a batch from which compaction took records the others are handed out under the offsets
    that they had.
    """
    topic = case.topic()
    return case.scenario(
        _compacted(topic, compacted(0, 2, {0: b"a", 2: b"c"}), compacted(3, 4, {4: b"e"}),
                   number=3),
        expect=all_of(
            client("consumed", client=C, field="offset").is_([0, 2, 4]),
            client("consumed", client=C, field="value").is_(["a", "c", "e"]),
        ),
    )  # fmt: skip


@claim("consumer.a-batch-ends-where-it-says", evidence=("CONS-38", "KIP-98"), role="client",
       switches=("gaps-asked-for-again",))  # fmt: skip
def test_a_batch_ends_where_it_says(case):
    """Where the last records of a batch are gone, the next Fetch begins behind the batch's last
    offset, not behind its last record.
    """
    topic = case.topic()
    return case.scenario(
        _compacted(topic, compacted(0, 4, {0: b"a", 1: b"b"}), number=2),
        Mend(),
        stored(topic, "f", name="store another"),
        reads(3, name="the next"),
        Watch("Fetch", more=2),
        expect=all_of(
            client("asked", **NEXT).lacks([[2]]),
            client("consumed", client=C, field="offset").is_([0, 1, 5]),
        ),
    )


@claim("consumer.an-empty-batch-is-passed-over", evidence=("CONS-38", "KIP-98"), role="client",
       switches=("empty-batches-dropped",))  # fmt: skip
def test_an_empty_batch_is_passed_over(case):
    """A batch of which compaction left only the header gives no record, and the consumer goes on
    behind it.
    """
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        stored(topic, "a", "b"),
        Change("Fetch", RECORDS, compacted(0, 1, {})),
        consumer(),
        assign(topic),
        Watch("Fetch", 2),
        stored(topic, "c", name="store another"),
        reads(1),
        expect=all_of(
            client("asked", **NEXT).lacks([[1]]),
            client("consumed", client=C, field="offset").is_([2]),
        ),
    )


@claim("consumer.transactions-that-overlap-are-told-apart", evidence=("CONS-38", "KIP-98"),
       role="client", switches=("isolation-ignored", "hands-out-aborted-records"))  # fmt: skip
def test_transactions_that_overlap_are_told_apart(case):
    """Of two transactions that overlap in a partition a read_committed consumer hands out the
    records of the one that was committed, and none of the one that was aborted.
    """
    topic = case.topic()
    good, bad = case.transactional_id("good"), case.transactional_id("bad")
    one, other = ({"pid": Ref(word, "producer_id"), "epoch": Ref(word, "producer_epoch")}
                  for word in ("good", "bad"))  # fmt: skip
    who = {
        word: {"producer_id": Ref(word, "producer_id"), "epoch": Ref(word, "producer_epoch")}
        for word in ("good", "bad")
    }
    return case.scenario(
        a_topic(topic),
        a_producer(good, name="good"),
        initialised(bad, name="bad"),
        add_partitions(good, topic, 0, name="good joins", **who["good"]),
        add_partitions(bad, topic, 0, name="bad joins", **who["bad"]),
        send_in(good, topic, record(b"good 1", 0, **one), name="write good 1"),
        send_in(bad, topic, record(b"bad", 0, **other), name="write bad"),
        send_in(good, topic, record(b"good 2", 1, **one), name="write good 2"),
        ended(bad, ABORT, "bad ends", **who["bad"]),
        ended(good, COMMIT, "good ends", **who["good"]),
        stored(topic, "after"),
        consumer(config={"isolation.level": "read_committed"}),
        assign(topic),
        reads(3),
        expect=client("consumed", client=C, field="value").is_(["good 1", "good 2", "after"]),
        config=QUICK,
    )


@claim("consumer.an-aborted-producer-may-commit-later", evidence=("CONS-38", "KIP-98"),
       role="client", switches=("isolation-ignored", "hands-out-aborted-records"))  # fmt: skip
def test_an_aborted_producer_may_commit_later(case):
    """A read_committed consumer hands out what a producer commits after it aborted: an abort counts
    up to its marker only.
    """
    topic, id = case.topic(), case.transactional_id()
    return case.scenario(
        a_topic(topic),
        a_producer(id),
        add_partitions(id, topic, 0, name="first joins"),
        send_in(id, topic, record(b"aborted"), name="write first"),
        ended(id, ABORT, "first ends"),
        initialised(id, name="again"),
        add_partitions(id, topic, 0, name="second joins", **AGAIN),
        send_in(id, topic, record(b"committed", 0, pid=AGAIN["producer_id"],
                                  epoch=AGAIN["epoch"]), name="write second"),
        ended(id, COMMIT, "second ends", **AGAIN),
        consumer(config={"isolation.level": "read_committed"}),
        assign(topic),
        reads(1),
        stored(topic, "after"),
        reads(2, name="the rest"),
        expect=client("consumed", client=C, field="value").is_(["committed", "after"]),
        config=QUICK,
    )  # fmt: skip
