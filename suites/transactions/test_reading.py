"""What consumers see of transactions: nothing of an open one, all of a committed one, and which
batches of an aborted one to skip.

Sources: KIP-98; Log.fetch and TransactionIndex at 1.0.2, 2.8.2; clauses LOG-28, FETCH-03, META-01;
all five releases were asked.
"""

from touchstone.harness.model.claim import claim, range_
from touchstone.harness.model.expect import all_of, answer, batches, records
from touchstone.harness.model.placeholders import Ref
from touchstone.harness.model.scenario import Await, Send, Until
from touchstone.harness.model.steps import a_topic, coordinator_ready, fetch, list_offsets, produce
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.records import ONE, THREE, TWO, batch
from touchstone.suites.kit.topics import among
from touchstone.suites.kit.transactions import (
    ABORT,
    CLUSTER,
    COMMIT,
    READ_COMMITTED,
    TRANSACTION,
    a_producer,
    add_partitions,
    end,
    ended,
    initialised,
    record,
    send,
)

ROW = "responses[0].partitions[0]"
ABORTED = f"{ROW}.aborted_transactions"
END = "topics[0].partitions[0].offset"
SHAPES = among(4, 5, 7, 11, 12, 13, 17)
OTHER = {"producer_id": Ref("other", "producer_id"), "epoch": Ref("other", "producer_epoch")}
FETCH = {"api": "Fetch", "versions": range_("Fetch", 4), "config": CLUSTER, "where": SHAPES}


def committed(topic, version, offset=0, **how):
    """A read of committed records from an offset, now."""
    return fetch(topic, 0, offset, version=version, isolation=READ_COMMITTED, max_wait_ms=0, **how)


def a_transaction(transaction, topic, values, commit, word):
    """One transaction of the producer over: a batch per value, then its end."""
    return [
        add_partitions(transaction, topic, name=f"{word} begun"),
        [
            send(transaction, topic, record(value, at), name=f"{word} {at}")
            for at, value in values.items()
        ],
        ended(transaction, commit, word),
    ]


@claim(
    "transactions.aborted-records-are-marked-for-readers",
    evidence=("LOG-28", "FETCH-03", "KIP-98"),
    switches=("aborted-visible",),
    **FETCH,
)
def test_aborted_records_are_marked_for_readers(case):
    """A read_committed Fetch returns aborted batches too, and names their producer id and first
    offset in aborted_transactions.
    """
    topic, transaction = case.topic(), case.transactional_id()
    return case.scenario(
        a_topic(topic),
        a_producer(transaction),
        produce(topic, 0, batch(ONE), name="before"),
        a_transaction(transaction, topic, {0: TWO}, ABORT, "abort"),
        a_transaction(transaction, topic, {1: THREE}, COMMIT, "commit"),
        committed(topic, case.version, name="committed"),
        fetch(topic, version=case.version, max_wait_ms=0, name="uncommitted"),
        expect=all_of(
            answer("committed", f"{ROW}.last_stable_offset").is_(5),
            answer("committed", ABORTED).has_length(1),
            answer("committed", f"{ABORTED}[0].first_offset").is_(1),
            answer("committed", f"{ABORTED}[0].producer_id").is_(Ref("producer", "producer_id")),
            records("committed", "[*].offset").is_([0, 1, 2, 3, 4]),
            answer("uncommitted", ABORTED).is_(None),
        ),
    )


@claim(
    "transactions.only-aborts-in-the-range-are-listed",
    evidence=("LOG-28", "KIP-98"),
    **FETCH,
)
def test_only_aborts_in_the_range_are_listed(case):
    """A read_committed Fetch does not list aborted transactions that ended before
    its fetch offset.
    """
    topic, transaction = case.topic(), case.transactional_id()
    return case.scenario(
        a_topic(topic),
        a_producer(transaction),
        a_transaction(transaction, topic, {0: ONE}, ABORT, "first"),
        a_transaction(transaction, topic, {1: TWO}, ABORT, "second"),
        committed(topic, case.version, 0, name="both"),
        committed(topic, case.version, 2, name="one"),
        committed(topic, case.version, 3, name="from its marker"),
        committed(topic, case.version, 4, name="none"),
        expect=all_of(
            answer("both", f"{ABORTED}[*].first_offset").is_([0, 2]),
            answer("one", f"{ABORTED}[*].first_offset").is_([2]),
            answer("from its marker", f"{ABORTED}[*].first_offset").is_([2]),
            answer("none", ABORTED).has_length(0),
        ),
    )


@claim(
    "transactions.open-ones-hold-readers-back",
    evidence=("LOG-28", "FETCH-03", "KIP-98"),
    switches=("lso-ignored",),
    **FETCH,
)
def test_open_ones_hold_readers_back(case):
    """A read_committed Fetch ends before the first open transaction, even if a later one is
    committed.
    """
    topic, first, second = case.topic(), case.transactional_id("one"), case.transactional_id("two")
    return case.scenario(
        a_topic(topic),
        a_producer(first),
        a_producer(second, name="other"),
        produce(topic, 0, batch(ONE), name="before"),
        add_partitions(first, topic, name="first begun"),
        send(first, topic, record(TWO), name="first sent"),
        add_partitions(second, topic, name="second begun", **OTHER),
        send(second, topic, record(THREE, pid=OTHER["producer_id"], epoch=OTHER["epoch"]),
             name="second sent"),
        ended(second, COMMIT, "second", **OTHER),
        committed(topic, case.version, name="held"),
        committed(topic, case.version, 1, name="at it"),
        ended(first, COMMIT, "first"),
        committed(topic, case.version, name="free"),
        expect=all_of(
            answer("held", f"{ROW}.last_stable_offset").is_(1),
            answer("held", f"{ROW}.high_watermark").is_(4),
            records("held", "[*].value").is_([ONE]),
            answer("at it", f"{ROW}.records").has_length(0),
            answer("free", f"{ROW}.last_stable_offset").is_(5),
            records("free", "[*].offset").is_([0, 1, 2, 3, 4]),
        ),
    )  # fmt: skip


@claim(
    "transactions.aborts-move-readers-on",
    evidence=("LOG-28", "KIP-98"),
    **FETCH,
)
def test_aborts_move_readers_on(case):
    """When the first of two open transactions is aborted, the last stable offset moves to the
    second, and Fetch lists the abort.
    """
    topic, first, second = case.topic(), case.transactional_id("one"), case.transactional_id("two")
    return case.scenario(
        a_topic(topic),
        a_producer(first),
        a_producer(second, name="other"),
        add_partitions(first, topic, name="first begun"),
        send(first, topic, record(ONE), name="first sent"),
        add_partitions(second, topic, name="second begun", **OTHER),
        send(second, topic, record(TWO, pid=OTHER["producer_id"], epoch=OTHER["epoch"]),
             name="second sent"),
        ended(first, ABORT, "first"),
        committed(topic, case.version, name="moved"),
        ended(second, ABORT, "second", **OTHER),
        committed(topic, case.version, name="free"),
        expect=all_of(
            answer("moved", f"{ROW}.last_stable_offset").is_(1),
            records("moved", "[*].offset").is_([0]),
            answer("moved", f"{ABORTED}[*].first_offset").is_([0]),
            answer("free", f"{ROW}.last_stable_offset").is_(4),
            answer("free", f"{ABORTED}[*].first_offset").is_([0, 1]),
        ),
    )  # fmt: skip


@claim(
    "transactions.aborts-behind-an-open-one-are-listed",
    evidence=("LOG-28", "KIP-98"),
    **FETCH,
)
def test_aborts_behind_an_open_one_are_listed(case):
    """A read_committed Fetch lists an abort behind an open transaction, although it ends before
    both.
    """
    topic, first, second = case.topic(), case.transactional_id("one"), case.transactional_id("two")
    return case.scenario(
        a_topic(topic),
        a_producer(first),
        a_producer(second, name="other"),
        produce(topic, 0, batch(ONE), name="before"),
        add_partitions(first, topic, name="first begun"),
        send(first, topic, record(TWO), name="first sent"),
        add_partitions(second, topic, name="second begun", **OTHER),
        send(second, topic, record(THREE, pid=OTHER["producer_id"], epoch=OTHER["epoch"]),
             name="second sent"),
        ended(second, ABORT, "second", **OTHER),
        committed(topic, case.version, name="held"),
        ended(first, COMMIT, "first"),
        committed(topic, case.version, name="free"),
        expect=all_of(
            answer("held", f"{ROW}.last_stable_offset").is_(1),
            records("held", "[*].value").is_([ONE]),
            answer("held", f"{ABORTED}[*].first_offset").is_([2]),
            answer("free", f"{ROW}.last_stable_offset").is_(5),
            answer("free", f"{ABORTED}[*].first_offset").is_([2]),
        ),
    )  # fmt: skip


@claim(
    "transactions.plain-batches-do-not-mix-in",
    evidence=("KIP-98",),
    api="Produce",
    versions=range_("Produce", 3),
    config=CLUSTER,
)
def test_plain_batches_do_not_mix_in(case):
    """A non-transactional batch of a producer with an open transaction in the partition answers
    INVALID_TXN_STATE.
    """
    topic, transaction = case.topic(), case.transactional_id()
    plain = record(TWO, 1, transactional=False)
    return case.scenario(
        a_topic(topic),
        a_producer(transaction),
        add_partitions(transaction, topic, name="begun"),
        send(transaction, topic, record(ONE), name="sent"),
        produce(topic, 0, plain, version=case.version, name="ask"),
        list_offsets(topic, name="end"),
        expect=all_of(
            answer("ask", "responses[0].partition_responses[0].error_code").is_(
                ErrorCode.INVALID_TXN_STATE
            ),
            answer("end", END).is_(1),
        ),
    )


@claim(
    "transactions.ends-wake-waiting-readers",
    evidence=("KIP-98",),
    api="Fetch",
    versions=range_("Fetch", 4),
    config=CLUSTER,
    where=among(4, 11, 13),
    commit=(COMMIT, ABORT),
)
def test_ends_wake_waiting_readers(case):
    """The end of a transaction completes a waiting read_committed Fetch."""
    topic, transaction = case.topic(), case.transactional_id()
    asked = fetch(topic, version=case.version, isolation=READ_COMMITTED, max_wait_ms=8000)
    return case.scenario(
        a_topic(topic),
        a_producer(transaction),
        add_partitions(transaction, topic, name="begun"),
        send(transaction, topic, record(ONE), name="sent"),
        Send("Fetch", case.version, asked.body, name="wait", connection="reader"),
        end(transaction, case.commit, name="end"),
        Await("wait"),
        expect=all_of(
            answer("wait", f"{ROW}.last_stable_offset").is_(2),
            records("wait", "[*].offset").is_([0, 1]),
            answer("wait", ABORTED).has_length(0 if case.commit else 1),
        ),
    )


@claim(
    "transactions.latest-for-committed-readers-is-the-stable-one",
    evidence=("META-01", "LOG-28", "KIP-98"),
    api="ListOffsets",
    versions=range_("ListOffsets", 2),
    config=CLUSTER,
    where=among(2, 4, 6, 7, 9, 11),
)
def test_latest_for_committed_readers_is_the_stable_one(case):
    """ListOffsets of the latest offset with read_committed answers the first offset of an open
    transaction, and the log end offset after its end.
    """
    topic, transaction = case.topic(), case.transactional_id()

    def latest(name, isolation=READ_COMMITTED):
        return list_offsets(topic, version=case.version, isolation=isolation, name=name)

    return case.scenario(
        a_topic(topic),
        a_producer(transaction),
        produce(topic, 0, batch(ONE), name="before"),
        add_partitions(transaction, topic, name="begun"),
        latest("nothing sent"),
        send(transaction, topic, record(TWO), name="sent"),
        produce(topic, 0, batch(THREE), name="behind"),
        latest("open"),
        latest("open for all", 0),
        ended(transaction),
        latest("closed"),
        expect=all_of(
            answer("nothing sent", END).is_(1),
            answer("open", END).is_(1),
            answer("open for all", END).is_(3),
            answer("closed", END).is_(4),
        ),
    )


@claim(
    "transactions.every-partition-gets-a-marker",
    evidence=("KIP-98",),
    api="EndTxn",
    versions=range_("EndTxn", 0),
    config=CLUSTER,
    switches=("torn-transaction",),
    commit=(COMMIT, ABORT),
)
def test_every_partition_gets_a_marker(case):
    """The end of a transaction writes a marker into each of its partitions, even one without
    records.
    """
    topic, transaction = case.topic(), case.transactional_id()
    marker = b"\0\0\0\1" if case.commit else b"\0\0\0\0"
    reads = [
        Until(
            list_offsets(topic, p, version=2, isolation=READ_COMMITTED, name=f"stable {p}"),
            END, "==", size,
        )
        for p, size in enumerate((2, 2, 1, 0))
    ]  # fmt: skip
    return case.scenario(
        a_topic(topic, 4),
        a_producer(transaction),
        add_partitions(transaction, topic, 0, 1, 2, name="begun"),
        send(transaction, topic, record(ONE), 0, name="to 0"),
        send(transaction, topic, record(TWO), 1, name="to 1"),
        end(transaction, case.commit, version=case.version, name="end"),
        reads,
        [fetch(topic, p, version=4, max_wait_ms=0, name=f"read {p}") for p in (0, 1, 2)],
        expect=all_of(
            answer("end", "error_code").is_(ErrorCode.NONE),
            *(records(f"read {p}", "[*].key").contains(marker) for p in (0, 1, 2)),
        ),
    )


@claim(
    "transactions.successors-abort-what-was-open",
    evidence=("MISC-06", "KIP-98"),
    api="InitProducerId",
    versions=range_("InitProducerId", 0),
    config=CLUSTER,
)
def test_successors_abort_what_was_open(case):
    """InitProducerId aborts the open transaction under a higher epoch, answers
    CONCURRENT_TRANSACTIONS meanwhile, and then an epoch higher still.
    """
    topic, transaction = case.topic(), case.transactional_id()
    return case.scenario(
        a_topic(topic),
        a_producer(transaction),
        add_partitions(transaction, topic, name="begun"),
        send(transaction, topic, record(ONE), name="sent"),
        initialised(transaction, "successor", version=case.version),
        fetch(topic, version=4, isolation=READ_COMMITTED, max_wait_ms=0, name="read"),
        expect=all_of(
            answer("successor", "producer_epoch").at_least(2),
            answer("read", ABORTED).has_length(1),
            records("read", "[1].key").is_(b"\0\0\0\0"),
            batches("read", "[1].producer_epoch").is_(Ref("producer", "producer_epoch", 1)),
        ),
    )


@claim(
    "transactions.coordinators-are-found",
    evidence=("META-12", "KIP-98"),
    api="FindCoordinator",
    versions=range_("FindCoordinator", 1),
    config=CLUSTER,
)
def test_coordinators_are_found(case):
    """FindCoordinator answers a coordinator for any transactional id once the transaction log
    exists.
    """
    transaction = case.transactional_id()
    body = {"key": transaction, "key_type": TRANSACTION, "coordinator_keys": [transaction]}
    asked = Send("FindCoordinator", case.version, body, name="ask")
    code = "coordinators[0].error_code" if case.version >= 4 else "error_code"
    return case.scenario(
        coordinator_ready(transaction, TRANSACTION),
        asked,
        Await("ask"),
        expect=answer("ask", code).is_(0),
    )
