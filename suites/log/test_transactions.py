"""Compaction and transactions: whose records go, when markers go, and where the cleaner must stop.

A marker bears the broker's clock, so segments here are minutes long and end by batches from the
future (KIP-937 allows an hour).

Sources: CleanedTransactionMetadata and Cleaner.shouldDiscardBatch at 1.0.2, 2.8.2, 3.9.2; KIP-98,
KIP-534; clauses LOG-25, LOG-28.
"""

from touchstone.harness.model.claim import claim, only
from touchstone.harness.model.expect import all_of, batches, records
from touchstone.harness.model.scenario import Until
from touchstone.harness.model.steps import alter_configs, fetch, produce
from touchstone.suites.kit.records import ONE, THREE, TWO, keyed
from touchstone.suites.kit.segments import BYTES, COMPACT, FAST_LOG_MANAGER, MINUTE, cleaned
from touchstone.suites.kit.topics import a_log
from touchstone.suites.kit.transactions import (
    ABORT,
    CLUSTER,
    COMMIT,
    a_producer,
    add_partitions,
    ended,
    record,
    send,
    stable,
)

A, B, END = b"a", b"b", b"z"
RECORD, MARKER = 79, 78  # bytes of a batch
LONG = {"segment.ms": 10 * MINUTE}


READ = {"api": "Fetch", "versions": only("Fetch", 4), "config": FAST_LOG_MANAGER | CLUSTER}


def closing(topic, number):
    """Ends a segment and begins the next one, further and further into the future."""
    later = keyed(END, THREE, at=11 * MINUTE * number)
    return produce(topic, 0, later, name=f"close {number}")


def transaction(word, topic, key, value, sequence, how, until):
    """One record in a transaction, and its end, as far as readers of committed records see it."""
    batch = record({"key": key, "value": value}, sequence)
    return [
        add_partitions(word, topic, name=f"add {sequence}"),
        send(word, topic, batch, name=f"send {sequence}"),
        ended(word, how, word=f"end {sequence}"),
        stable(topic, until),
    ]


def aborted_and_committed(case, topic, configs):
    """A plain record, an aborted one of the same key with its marker, and a committed one."""
    word = case.topic("transaction")
    return [
        a_log(topic, keyed(A, ONE), configs=configs),
        a_producer(word),
        transaction(word, topic, A, TWO, 0, ABORT, 3),
        transaction(word, topic, B, ONE, 1, COMMIT, 5),
        closing(topic, 1),
        alter_configs(topic, configs | COMPACT, name="compact"),
    ]


@claim(
    "log.aborted-records-are-compacted-away",
    evidence=(
        "LOG-25",
        "KIP-98",
    ),
    **READ,
)
def test_aborted_records_are_compacted_away(case):
    """The first cleaning removes records of an aborted transaction, which replace no other record,
    and keeps its marker, the committed record and that record's marker."""
    topic = case.topic()
    return case.scenario(
        aborted_and_committed(case, topic, LONG),
        cleaned(topic, 2 * RECORD + 2 * MARKER),
        expect=all_of(
            batches("cleaned", "[*].base_offset").is_([0, 2, 3, 4]),
            records("cleaned", "[0].value").is_(ONE),
        ),
    )


@claim(
    "log.markers-of-nothing-go-in-the-end",
    evidence=(
        "LOG-25",
        "LOG-24",
        "KIP-534",
    ),
    **READ,
)
def test_markers_of_nothing_go_in_the_end(case):
    """A cleaning after delete.retention.ms has passed removes the marker of a transaction without
    records left and keeps that of a transaction with records."""
    topic, configs = case.topic(), LONG | {"delete.retention.ms": 0}
    # A horizon is another base timestamp: how many bytes the record's own takes is the clock's.
    waited = fetch(topic, max_wait_ms=0, name="given a horizon")
    given_a_horizon = [] if case.release in ("1.0", "2.2", "2.8") else [
        Until(waited, BYTES, "len >=", 3 * RECORD + 2 * MARKER),
        closing(topic, 3),
    ]  # fmt: skip
    return case.scenario(
        aborted_and_committed(case, topic, configs),
        cleaned(topic, 2 * RECORD + 2 * MARKER),
        closing(topic, 2),
        given_a_horizon,
        cleaned(topic, 3 * RECORD + MARKER, name="cleaned again"),
        expect=batches("cleaned again", "[*].base_offset").is_(
            [0, 3, 4, 6 if given_a_horizon else 5]
        ),
    )


@claim(
    "log.an-open-transaction-stops-the-cleaner",
    evidence=(
        "LOG-25",
        "LOG-28",
    ),
    **READ,
)
def test_an_open_transaction_stops_the_cleaner(case):
    """The cleaner leaves everything uncleaned from the segment on in which the earliest open
    transaction began."""
    topic, word = case.topic(), case.topic("transaction")
    open_one = record({"key": A, "value": THREE}, 0)
    return case.scenario(
        a_log(topic, keyed(A, ONE), keyed(A, TWO), configs=LONG),
        closing(topic, 1),
        a_producer(word),
        add_partitions(word, topic, name="add"),
        send(word, topic, open_one, name="send"),
        produce(topic, 0, keyed(A, ONE), name="after"),
        closing(topic, 2),
        alter_configs(topic, LONG | COMPACT, name="compact"),
        cleaned(topic, RECORD),
        fetch(topic, 0, 2, max_wait_ms=0, name="uncleaned"),
        ended(word, COMMIT),
        expect=all_of(
            records("cleaned", "[*].value").is_([TWO]),
            batches("uncleaned", "[*].base_offset").is_([2, 3, 4]),
        ),
    )
