"""An idempotent producer when a batch fails, and its requests in flight (PROD-08 to PROD-42)."""

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, client, records
from touchstone.harness.model.steps import fetch
from touchstone.suites.kit.clients import (
    Hear,
    Mend,
    P,
    a_topic,
    fault,
    flush,
    producer,
    send,
    sent,
    spoil,
    texts,
)

IDEMPOTENT = {"enable.idempotence": "true", "acks": "all"}
SHORT = {"delivery.timeout.ms": 1500, "request.timeout.ms": 1000, "linger.ms": 0}
DELIVERED = {"name": "producer_send_success", "path": "value"}


@claim("producer.delivery-timeout-ends-a-batch-in-flight", evidence=("PROD-41", "KIP-91"),
       role="client", switches=("errors-swallowed",))  # fmt: skip
def test_delivery_timeout_ends_a_batch_in_flight(case):
    """A record whose Produce is never answered fails when delivery.timeout.ms has passed."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        spoil("drop", "Produce", None, carried_out=False),
        producer(config=SHORT),
        send(topic, ["v"]),
        Hear("producer_send_error", P),
        expect=all_of(
            client("events", **DELIVERED).is_([]),
            client("codes", name="producer_send_error").is_(["REQUEST_TIMED_OUT"]),
        ),
    )


@claim("producer.a-gap-in-sequences-begins-a-new-epoch", evidence=("PROD-42", "KIP-360"),
       role="client", releases="2.8+", switches=("epoch-kept",))  # fmt: skip
def test_a_gap_in_sequences_begins_a_new_epoch(case):
    """An idempotent producer sends what follows a batch that expired from sequence 0 of the next
    epoch on, since nobody knows whether that batch was stored.
    """
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        producer(config=IDEMPOTENT | SHORT),
        sent(topic, ["a"], number=1),
        spoil("drop", "Produce", None, carried_out=False),
        send(topic, ["lost"], name="send the lost one"),
        Hear("producer_send_error", P),
        Mend(),
        sent(topic, ["c"], number=2),
        fetch(topic, name="log"),
        expect=all_of(
            client("batches", field="sequence", topic=topic).contains([1, 0, 1]),
            records("log", "[*].value").is_([b"a", b"c"]),
        ),
    )


@claim("producer.a-lost-sequence-is-sent-under-a-new-epoch", evidence=("PROD-40", "KIP-360"),
       role="client", releases="2.8+", switches=("epoch-kept",))  # fmt: skip
def test_a_lost_sequence_is_sent_under_a_new_epoch(case):
    """A batch that is answered OUT_OF_ORDER_SEQUENCE_NUMBER while it is the next one is sent again
    with sequence 0 of the next epoch, and its record is delivered.
    """
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        producer(config=IDEMPOTENT),
        sent(topic, ["a"], number=1),
        fault("Produce", "OUT_OF_ORDER_SEQUENCE_NUMBER"),
        sent(topic, ["b"], number=2),
        fetch(topic, name="log"),
        expect=all_of(
            client("batches", field="sequence", topic=topic).contains([1, 0, 1]),
            records("log", "[*].value").is_([b"a", b"b"]),
            client("events", **DELIVERED).is_(["a", "b"]),
        ),
    )


@claim("producer.a-duplicate-sequence-is-a-delivery", evidence=("PROD-40", "KIP-98"),
       role="client", switches=("deliveries-told-as-failures",))  # fmt: skip
def test_a_duplicate_sequence_is_a_delivery(case):
    """A batch that is answered DUPLICATE_SEQUENCE_NUMBER is delivered, and is not sent again."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        producer(config=IDEMPOTENT),
        sent(topic, ["a"], number=1),
        fault("Produce", "DUPLICATE_SEQUENCE_NUMBER", carried_out=True),
        sent(topic, ["b"], number=2),
        expect=all_of(
            client("events", **DELIVERED).is_(["a", "b"]),
            client("repeats", topic=topic).is_([]),
        ),
    )


@claim("producer.requests-in-flight-are-bounded", evidence=("PROD-08", "PROD-30", "PROD-39"),
       role="client", switches=("too-many-in-flight",), bound=(1, 2))  # fmt: skip
def test_requests_in_flight_are_bounded(case):
    """No more Produce requests wait for their answers on a connection than
    max.in.flight.requests.per.connection says.
    """
    topic = case.topic()
    bound = {"max.in.flight.requests.per.connection": case.bound}
    return case.scenario(
        a_topic(topic),
        spoil("delay", "Produce", 4, ms=200),
        producer(config=IDEMPOTENT | bound | {"batch.size": 1, "linger.ms": 0}),
        send(topic, texts(8)),
        flush(),
        fetch(topic, name="log"),
        expect=all_of(
            client("outstanding", api="Produce").at_most(case.bound),
            records("log", "[*].value").is_([one.encode() for one in texts(8)]),
        ),
    )


@claim("producer.an-idempotent-producer-has-five-requests-in-flight", evidence=("PROD-08",),
       role="client", switches=("too-many-in-flight",))  # fmt: skip
def test_an_idempotent_producer_has_five_requests_in_flight(case):
    """An idempotent producer has at most five requests under way on a connection by default, for a
    broker remembers no more batches of a partition.
    """
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        spoil("delay", "Produce", 2, ms=400),
        producer(config=IDEMPOTENT | {"batch.size": 1, "linger.ms": 0}),
        send(topic, texts(20)),
        flush(),
        fetch(topic, name="log"),
        expect=all_of(
            client("outstanding", api="Produce").at_most(5),
            records("log", "[*].value").is_([one.encode() for one in texts(20)]),
        ),
    )


@claim("producer.batches-of-a-partition-do-not-wait-for-each-other", evidence=("PROD-09",),
       role="client", switches=("one-in-flight",))  # fmt: skip
def test_batches_of_a_partition_do_not_wait_for_each_other(case):
    """A producer that may have several requests in flight sends the next batch of a partition
    before the one ahead of it is answered.
    """
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        spoil("delay", "Produce", 1, ms=500),
        producer(config=IDEMPOTENT | {"batch.size": 1, "linger.ms": 0}),
        send(topic, texts(3)),
        flush(),
        expect=client("outstanding", api="Produce").at_least(2),
    )


@claim("producer.order-survives-a-lost-answer-in-flight", evidence=("PROD-40", "PROD-51"),
       role="client", switches=("first-record-last", "too-many-in-flight"))  # fmt: skip
def test_order_survives_a_lost_answer_in_flight(case):
    """When the connection ends while several batches are under way, an idempotent producer has each
    record in the log once and in order.
    """
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        producer(config=IDEMPOTENT | {"batch.size": 1, "linger.ms": 0}),
        sent(topic, ["first"], number=1),
        spoil("close", "Produce", 1, carried_out=True),
        sent(topic, texts(12), number=2),
        fetch(topic, name="log"),
        expect=records("log", "[*].value").is_([b"first", *(one.encode() for one in texts(12))]),
    )
