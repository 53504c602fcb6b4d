"""When a transaction's time begins, and what the next transaction of its id has of its own.

Other transactions are the clocks: one that began earlier or later, with a timeout of its own, is
awaited, and then the one in question looked at.

Sources: TransactionCoordinator.abortTimedOutTransactions, TransactionMetadata.prepareAddPartitions
at 1.0.2, 2.8.2 and 4.3.1; KIP-98.
"""

from touchstone.harness.model.claim import claim, range_
from touchstone.harness.model.expect import all_of, answer
from touchstone.harness.model.placeholders import Ref
from touchstone.harness.model.steps import a_topic, list_offsets
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.transactions import (
    ABORT,
    ABORTS_EVERY,
    CLUSTER,
    COMMIT,
    PRODUCED,
    READ_COMMITTED,
    a_producer,
    add_partitions,
    added_code,
    ended,
    initialised,
    record,
    send,
    stable,
)

END = "topics[0].partitions[0].offset"
SOON_MS, TIMEOUT_MS, LATER_MS, NEXT_MS = 1200, 3000, 2100, 1700
ADDS = {"api": "AddPartitionsToTxn", "versions": range_("AddPartitionsToTxn", 0, 3)}
# A coordinator that looks every ten seconds, the default, ends the clock and what it times at once.
CLOCKS = {"config": CLUSTER, "subject": (ABORTS_EVERY,)}


def _open(case, topic, partition, word, timeout_ms):
    """A transaction with one record, whose producer is called `word`."""
    transaction = case.transactional_id(word)
    own = {"producer_id": Ref(word, "producer_id"), "epoch": Ref(word, "producer_epoch")}
    held = record(b"held", pid=own["producer_id"], epoch=own["epoch"])
    return [
        a_producer(transaction, timeout_ms=timeout_ms, name=word),
        add_partitions(transaction, topic, partition, **own, name=f"{word} begun"),
        send(transaction, topic, held, partition, name=f"{word} sent"),
    ]


@claim("transactions.later-partitions-do-not-put-off-the-end", evidence=("KIP-98",), **ADDS,
       releases="3.9+", **CLOCKS)  # fmt: skip
def test_later_partitions_do_not_put_off_the_end(case):
    """A transaction is aborted when its timeout is over since its first partition, although another
    was added meanwhile."""
    topic, transaction = case.topic(), case.transactional_id("asked")
    own = {"producer_id": Ref("asked", "producer_id"), "epoch": Ref("asked", "producer_epoch")}
    return case.scenario(
        a_topic(topic, 4),
        _open(case, topic, 0, "asked", TIMEOUT_MS),
        _open(case, topic, 1, "soon", SOON_MS),
        stable(topic, 2, 1),
        add_partitions(transaction, topic, 2, version=case.version, **own, name="added"),
        _open(case, topic, 3, "later", LATER_MS),
        stable(topic, 2, 3),
        list_offsets(topic, 0, version=2, isolation=READ_COMMITTED, name="after"),
        expect=all_of(
            answer("added", added_code(case.version)).is_(ErrorCode.NONE),
            answer("after", END).is_(2),
        ),
    )


@claim("transactions.the-next-one-begins-anew", evidence=("KIP-98",),
       releases="3.9+", **CLOCKS, commit=(COMMIT, ABORT))  # fmt: skip
def test_the_next_one_begins_anew(case):
    """A second transaction of the same producer has its whole timeout, whenever the first began,
    and its end writes a marker into its own partitions alone."""
    topic, transaction = case.topic(), case.transactional_id()
    return case.scenario(
        a_topic(topic, 4),
        a_producer(transaction, timeout_ms=TIMEOUT_MS),
        add_partitions(transaction, topic, 0, name="first"),
        send(transaction, topic, record(b"one"), 0, name="one"),
        _open(case, topic, 1, "soon", SOON_MS),
        stable(topic, 2, 1),
        ended(transaction, case.commit, "first over"),
        add_partitions(transaction, topic, 2, name="second"),
        send(transaction, topic, record(b"two"), 2, name="two"),
        _open(case, topic, 3, "later", NEXT_MS),
        stable(topic, 2, 3),
        ended(transaction, COMMIT, "second over"),
        list_offsets(topic, 0, version=2, isolation=READ_COMMITTED, name="zero"),
        list_offsets(topic, 2, version=2, isolation=READ_COMMITTED, name="two ends"),
        expect=all_of(
            answer("two", PRODUCED).is_(ErrorCode.NONE),
            answer("second over begins", "error_code").is_(ErrorCode.NONE),
            answer("zero", END).is_(2),
            answer("two ends", END).is_(2),
        ),
    )


@claim(
    "transactions.a-new-producer-leaves-no-sequence",
    evidence=("KIP-98",),
    releases="3.9+",
    config=CLUSTER,
)
def test_a_new_producer_leaves_no_sequence(case):
    """After InitProducerId raises the epoch, the first batch has sequence 0 again in a partition
    that knows the producer; the epoch before is refused."""
    topic, transaction = case.topic(), case.transactional_id()
    pid, epoch = Ref("again", "producer_id"), Ref("again", "producer_epoch")
    fresh = {"producer_id": pid, "epoch": epoch}
    return case.scenario(
        a_topic(topic),
        a_producer(transaction),
        add_partitions(transaction, topic, name="first"),
        send(transaction, topic, record(b"one"), name="one"),
        ended(transaction, COMMIT),
        initialised(transaction, "again"),
        add_partitions(transaction, topic, **fresh, name="second"),
        send(transaction, topic, record(b"two", 0, pid=pid, epoch=epoch), name="two"),
        send(transaction, topic, record(b"late", 1), name="late"),
        send(transaction, topic, record(b"three", 1, pid=pid, epoch=epoch), name="three"),
        ended(transaction, COMMIT, "over", **fresh),
        expect=all_of(
            answer("two", PRODUCED).is_(ErrorCode.NONE),
            answer("late", PRODUCED).is_one_of(
                ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.INVALID_TXN_STATE
            ),
            answer("three", PRODUCED).is_(ErrorCode.NONE),
        ),
    )
