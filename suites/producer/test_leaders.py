"""A producer finds leaders, and finds them again (PROD-04 to PROD-18, PROD-34)."""

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, client, records
from touchstone.harness.model.steps import create_partitions, fetch, kill_broker, topic_ready
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.clients import (
    Change,
    Hear,
    P,
    Watch,
    a_topic,
    fault,
    flush,
    producer,
    record,
    send,
    sent,
)
from touchstone.suites.kit.moving import MOVES, moved
from touchstone.suites.kit.three_brokers import SHORT_SESSIONS, on, placed

DELIVERED = {"name": "producer_send_success", "path": "value"}
OLD, NEW = 1, 2  # who leads first, and then
NO_LEADER = int(ErrorCode.LEADER_NOT_AVAILABLE)


@claim("producer.a-moved-leader-is-followed", evidence=("PROD-34", "PROD-46"), role="client",
       switches=("leaders-hidden",), **MOVES)  # fmt: skip
def test_a_moved_leader_is_followed(case):
    """A producer whose partition gets another leader sends there what follows, once.

    One record at a time: without idempotence, the default before 3.0, a record that is refused and
    sent again may come behind the next (PROD-39).
    """
    topic = case.topic()
    return case.scenario(
        placed(topic, {0: [OLD, NEW]}),
        producer(),
        sent(topic, ["a"], number=1),
        moved(case, topic, (NEW, OLD)),
        sent(topic, ["b"], number=2),
        sent(topic, ["c"], number=3),
        fetch(topic, broker=NEW, name="log"),
        expect=all_of(
            client("brokers", api="Produce").contains(OLD),
            client("brokers", api="Produce").contains(NEW),
            records("log", "[*].value").is_([b"a", b"b", b"c"]),
        ),
    )


@claim("producer.a-dead-leader-is-left", evidence=("PROD-34", "PROD-46"), role="client",
       switches=("leaders-hidden",), **on("2.8+", SHORT_SESSIONS))  # fmt: skip
def test_a_dead_leader_is_left(case):
    """A producer whose leader dies sends to the replica that is elected, and loses nothing."""
    topic = case.topic()
    return case.scenario(
        placed(topic, {0: [OLD, NEW]}),
        producer(config={"request.timeout.ms": 2000}),
        sent(topic, ["a"], number=1),
        kill_broker(OLD),
        sent(topic, ["b"], number=2),
        fetch(topic, broker=NEW, name="log"),
        expect=all_of(
            client("brokers", api="Produce").contains(NEW),
            client("events", **DELIVERED).is_(["a", "b"]),
            records("log", "[*].value").is_([b"a", b"b"]),
        ),
    )


@claim("producer.a-partition-without-a-leader-is-waited-for", evidence=("PROD-34",),
       role="client", switches=("metadata-asked-once",))  # fmt: skip
def test_a_partition_without_a_leader_is_waited_for(case):
    """A producer asks for Metadata again while a partition has no leader, and then sends."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        Change("Metadata", "topics[*].partitions[*].leader_id", -1, times=2),
        Change("Metadata", "topics[*].partitions[*].error_code", NO_LEADER, times=2),
        producer(),
        sent(topic, [record("v", partition=0)]),
        expect=all_of(
            client("count", api="Metadata").at_least(3),
            client("events", **DELIVERED).is_(["v"]),
        ),
    )


@claim("producer.a-topic-that-is-being-made-is-waited-for", evidence=("PROD-16", "PROD-34"),
       role="client", switches=("metadata-asked-once",),
       error=("LEADER_NOT_AVAILABLE", "UNKNOWN_TOPIC_OR_PARTITION"))  # fmt: skip
def test_a_topic_that_is_being_made_is_waited_for(case):
    """A producer asks for Metadata again while the answer has a passing error for its topic."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        fault("Metadata", case.error, 2, client_id=P, topic=topic),
        producer(),
        sent(topic, ["v"]),
        expect=all_of(
            client("count", api="Metadata").at_least(3),
            client("events", **DELIVERED).is_(["v"]),
        ),
    )


@claim("producer.an-answer-without-brokers-is-ignored", evidence=("PROD-17",), role="client",
       switches=("metadata-asked-once",))  # fmt: skip
def test_an_answer_without_brokers_is_ignored(case):
    """A producer takes nothing from a Metadata answer that names no broker, and asks again."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        Change("Metadata", "brokers", [], times=2),
        producer(),
        sent(topic, ["v"]),
        expect=all_of(
            client("count", api="Metadata").at_least(3),
            client("events", **DELIVERED).is_(["v"]),
        ),
    )


@claim("producer.metadata-is-renewed-by-its-age", evidence=("PROD-18",), role="client",
       switches=("metadata-kept",))  # fmt: skip
def test_metadata_is_renewed_by_its_age(case):
    """A producer asks for Metadata whenever metadata.max.age.ms has passed."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        producer(config={"metadata.max.age.ms": 500}),
        sent(topic, ["a"], number=1),
        Watch("Metadata", more=3),
        sent(topic, ["b"], number=2),
        expect=client("events", **DELIVERED).is_(["a", "b"]),
    )


@claim("producer.a-partition-out-of-range-fails", evidence=("PROD-15",), role="client",
       switches=("errors-swallowed",))  # fmt: skip
def test_a_partition_out_of_range_fails(case):
    """A record for a partition that the topic does not get fails when max.block.ms has passed."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        producer(config={"max.block.ms": 1000}),
        send(topic, [record("v", partition=7)]),
        Hear("producer_send_error", P),
        expect=all_of(
            client("count", api="Produce").is_(0),
            client("events", **DELIVERED).is_([]),
        ),
    )


@claim("producer.a-new-partition-is-found", evidence=("PROD-15", "KIP-195"), role="client",
       switches=("metadata-asked-once",))  # fmt: skip
def test_a_new_partition_is_found(case):
    """A record for a partition that was made after the producer looked is sent there."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        producer(),
        sent(topic, [record("old", partition=0)], number=1),
        create_partitions(topic, 2, name="more"),
        topic_ready(topic, 2, again=" again"),
        send(topic, [record("new", partition=1)], name="the new one"),
        flush(P, 2),
        expect=client("partitions", topic=topic).is_({"old": 0, "new": 1}),
    )
