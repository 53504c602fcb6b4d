"""What a consumer hands out of transactions (CONS-38, KIP-98)."""

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import client
from touchstone.suites.kit.clients import (
    QUICK,
    C,
    a_topic,
    assign,
    consumer,
    reads,
    stored,
)
from touchstone.suites.kit.transactions import (
    ABORT,
    ADDED,
    COMMIT,
    a_producer,
    add_partitions,
    ended,
    record,
    settled,
)
from touchstone.suites.kit.transactions import send as send_in


def _transaction(case, topic, how, value, word="t"):
    """A transaction of one record, written past the client."""
    transaction = case.transactional_id()
    return [
        a_producer(transaction),
        add_partitions(transaction, topic, 0),
        send_in(transaction, topic, record(value)),
        ended(transaction, how),
    ]


@claim("consumer.aborted-records-are-not-handed-out", evidence=("CONS-38", "KIP-98"),
       role="client", switches=("isolation-ignored",))  # fmt: skip
def test_aborted_records_are_not_handed_out(case):
    """A read_committed consumer hands out records around an aborted transaction and none of it."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        stored(topic, "before"),
        _transaction(case, topic, ABORT, b"aborted"),
        stored(topic, "after"),
        consumer(config={"isolation.level": "read_committed"}),
        assign(topic),
        reads(2),
        expect=client("consumed", client=C, field="value").is_(["before", "after"]),
        config=QUICK,
    )


@claim("consumer.who-aborted-once-may-commit", evidence=("CONS-38", "KIP-98"), role="client",
       switches=("isolation-ignored",))  # fmt: skip
def test_who_aborted_once_may_commit(case):
    """A read_committed consumer hands out what a producer commits before and after it aborts: an
    aborted transaction begins at its first offset and ends at its marker.
    """
    topic, transaction = case.topic(), case.transactional_id()
    steps = [a_topic(topic), a_producer(transaction)]
    for at, (word, how) in enumerate([("first", COMMIT), ("aborted", ABORT), ("second", COMMIT)]):
        steps += [
            settled(add_partitions(transaction, topic, 0, name=f"add for {word}"), ADDED),
            send_in(transaction, topic, record(word.encode(), at), name=f"send {word}"),
            ended(transaction, how, f"end of {word}"),
        ]
    return case.scenario(
        *steps,
        stored(topic, "after"),
        consumer(config={"isolation.level": "read_committed"}),
        assign(topic),
        reads(3),
        expect=client("consumed", client=C, field="value").is_(["first", "second", "after"]),
        config=QUICK,
    )


@claim("consumer.committed-records-are-handed-out", evidence=("CONS-38", "KIP-98"), role="client",
       switches=("skips-a-record",))  # fmt: skip
def test_committed_records_are_handed_out(case):
    """A read_committed consumer hands out the records of a committed transaction."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        _transaction(case, topic, COMMIT, b"committed"),
        stored(topic, "after"),
        consumer(config={"isolation.level": "read_committed"}),
        assign(topic),
        reads(2),
        expect=client("consumed", client=C, field="value").is_(["committed", "after"]),
        config=QUICK,
    )


@claim("consumer.markers-are-not-records", evidence=("CONS-38", "KIP-98"), role="client",
       switches=("skips-a-record",))  # fmt: skip
def test_markers_are_not_records(case):
    """A read_uncommitted consumer hands out aborted records, and no marker: offsets have a gap."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        _transaction(case, topic, ABORT, b"aborted"),
        stored(topic, "after"),
        consumer(config={"isolation.level": "read_uncommitted"}),
        assign(topic),
        reads(2),
        expect=client("consumed", client=C, field="offset").is_([0, 2]),
        config=QUICK,
    )


@claim("consumer.an-open-transaction-is-waited-for", evidence=("KIP-98",), role="client",
       switches=("isolation-ignored",))  # fmt: skip
def test_an_open_transaction_is_waited_for(case):
    """A read_committed consumer stops before an open transaction, and reads on when it is over."""
    topic, transaction = case.topic(), case.transactional_id()
    return case.scenario(
        a_topic(topic),
        stored(topic, "before"),
        a_producer(transaction),
        add_partitions(transaction, topic, 0),
        send_in(transaction, topic, record(b"open")),
        stored(topic, "after"),
        consumer(config={"isolation.level": "read_committed"}),
        assign(topic),
        reads(1, name="the first"),
        ended(transaction, ABORT),
        reads(2, name="the others"),
        expect=client("consumed", client=C, field="value").is_(["before", "after"]),
        config=QUICK,
    )
