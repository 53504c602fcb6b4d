"""A producer gathers records into batches, in bounded memory (PROD-25, PROD-31, PROD-33)."""

from touchstone.harness.model.claim import SHOULD, claim
from touchstone.harness.model.expect import all_of, client, records
from touchstone.harness.model.steps import fetch
from touchstone.suites.kit.clients import (
    Hear,
    P,
    a_topic,
    close,
    flush,
    producer,
    record,
    send,
    sent,
    spoil,
    texts,
)

FOR_LONG = {"linger.ms": 60000}
SHORT = {"batch.size": 16384, "buffer.memory": 32768}  # room for two batches
THREE = [record("x" * 10000, partition=at) for at in range(3)]


@claim("producer.linger-gathers-records", evidence=("PROD-31", "PROD-32"), role="client",
       switches=("batch-of-one",))  # fmt: skip
def test_linger_gathers_records(case):
    """Ten records that a producer with linger.ms 500 is given at once leave in one batch."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        producer(config={"linger.ms": 500}),
        send(topic, texts(10)),
        Hear("producer_send_success", P, 10),
        expect=client("batches", field="values", topic=topic).is_([texts(10)]),
    )


@claim("producer.batch-size-bounds-a-batch", evidence=("PROD-25",), role="client",
       switches=("batch-size-ignored",))  # fmt: skip
def test_batch_size_bounds_a_batch(case):
    """A batch of several records is not larger than batch.size, however long it may linger."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        producer(config={"linger.ms": 300, "batch.size": 400}),
        sent(topic, [f"{at:099d}" for at in range(9)]),
        fetch(topic, name="log"),
        expect=all_of(
            client("overfull", topic=topic, size=400).is_([]),
            client("batches", field="records", topic=topic).is_not([]),
            records("log").has_length(9),
        ),
    )


@claim("producer.a-record-above-batch-size-travels-alone", evidence=("PROD-25",), role="client",
       switches=("batch-size-ignored",))  # fmt: skip
def test_a_record_above_batch_size_travels_alone(case):
    """A record that is larger than batch.size is sent, in a batch of its own."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        producer(config={"linger.ms": 300, "batch.size": 200}),
        sent(topic, ["a", "x" * 1000, "b" * 100]),
        expect=client("batches", field="values", topic=topic).contains(["x" * 1000]),
    )


@claim("producer.a-flush-does-not-linger", evidence=("PROD-31", "PROD-50"), role="client",
       switches=("flush-says-so-early",))  # fmt: skip
def test_a_flush_does_not_linger(case):
    """A flush sends records that could linger for 60 s, and ends when they are delivered."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        producer(config={"linger.ms": 60000}),
        sent(topic, texts(3)),
        expect=client("order", names=["producer_send_success", "flush_complete"]).is_(
            ["producer_send_success"] * 3 + ["flush_complete"]
        ),
    )


@claim("producer.closing-delivers-what-is-queued", evidence=("PROD-50",), role="client",
       switches=("close-drops-what-is-queued",))  # fmt: skip
def test_closing_delivers_what_is_queued(case):
    """A producer that is closed delivers the records that lingered, and then is closed."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        producer(config={"linger.ms": 60000}),
        send(topic, texts(3)),
        close(P),
        fetch(topic, name="log"),
        expect=all_of(
            client("order", names=["producer_send_success", "shutdown_complete"]).is_(
                ["producer_send_success"] * 3 + ["shutdown_complete"]
            ),
            records("log", "[*].value").is_([one.encode() for one in texts(3)]),
        ),
    )


@claim("producer.one-request-carries-all-partitions-of-a-leader", evidence=("PROD-36", "PROD-44"),
       level=SHOULD, role="client", switches=("one-partition-a-request",))  # fmt: skip
def test_one_request_carries_all_partitions_of_a_leader(case):
    """Batches of two partitions of one leader that are due together leave in one Produce."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic, 2),
        producer(config={"linger.ms": 500}),
        sent(topic, [record("warm", partition=0), record("warm", partition=1)]),
        send(topic, [record("a", partition=0), record("b", partition=1)], name="both"),
        *flush(P, 2),
        expect=client("batches per request", topic=topic).contains([0, 1]),
    )


@claim("producer.a-flushed-batch-takes-no-more-records", evidence=("PROD-38",), role="client",
       switches=("records-again",))  # fmt: skip
def test_a_flushed_batch_takes_no_more_records(case):
    """Records that are sent after a flush are in another batch than those before it."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        producer(config={"linger.ms": 300}),
        sent(topic, ["a", "b"], number=1),
        sent(topic, ["c"], number=2),
        expect=client("batches", field="values", topic=topic).is_([["a", "b"], ["c"]]),
    )


@claim("producer.a-batch-leaves-when-it-has-lingered", evidence=("PROD-35", "PROD-43"),
       role="client", switches=("lingers-for-long",))  # fmt: skip
def test_a_batch_leaves_when_it_has_lingered(case):
    """A record leaves when linger.ms have passed, though nobody sends or flushes meanwhile."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        producer(config={"linger.ms": 200}),
        send(topic, ["a"]),
        Hear("producer_send_success", P),
        expect=client("values", topic=topic).is_(["a"]),
    )


@claim("producer.a-full-batch-does-not-linger", evidence=("PROD-26", "PROD-31"), role="client",
       switches=("batch-size-ignored",))  # fmt: skip
def test_a_full_batch_does_not_linger(case):
    """A batch that has no room for the next record leaves at once, though it could linger for 60 s;
    that record lingers in the next batch.
    """
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        producer(config=FOR_LONG | {"batch.size": 1000}),
        send(topic, [f"{at:0400d}" for at in range(3)]),
        Hear("producer_send_success", P, 2),
        expect=client("batches", field="records", topic=topic).is_([2]),
    )


@claim("producer.short-memory-makes-batches-due", evidence=("PROD-33", "PROD-27", "PROD-49"),
       role="client", switches=("memory-not-counted",))  # fmt: skip
def test_short_memory_makes_batches_due(case):
    """When a record finds no room in buffer.memory, batches that could linger for 60 s leave, and
    the record gets their room and is delivered with a flush.
    """
    topic = case.topic()
    return case.scenario(
        a_topic(topic, 3),
        producer(config=FOR_LONG | SHORT),
        send(topic, THREE),
        Hear("producer_send_success", P, 2),
        flush(),
        expect=all_of(
            client("events", name="producer_send_success", path="partition").has_length(3),
            client("events", name="producer_send_error", path="message").is_([]),
        ),
    )


@claim("producer.memory-that-does-not-come-fails-the-send", evidence=("PROD-27", "PROD-14"),
       role="client", switches=("memory-not-counted",))  # fmt: skip
def test_memory_that_does_not_come_fails_the_send(case):
    """A record that finds no room in buffer.memory for max.block.ms fails with a timeout; the
    records before it hold the memory until their Produce is answered.
    """
    topic = case.topic()
    return case.scenario(
        a_topic(topic, 3),
        spoil("drop", "Produce", None),
        producer(config=SHORT | {"max.block.ms": 1000, "enable.idempotence": "false"}),
        send(topic, THREE),
        Hear("producer_send_error", P),
        expect=client("codes", name="producer_send_error").is_(["REQUEST_TIMED_OUT"]),
    )
