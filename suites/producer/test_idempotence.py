"""An idempotent producer: identity, sequences, no duplicate after a lost answer (KIP-98)."""

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, client, records
from touchstone.harness.model.steps import fetch
from touchstone.suites.kit.clients import a_topic, fault, producer, sent, spoil, texts

IDEMPOTENT = {"enable.idempotence": "true", "acks": "all"}


@claim("producer.an-id-comes-before-the-first-batch", evidence=("PROD-42", "KIP-98"),
       role="client", switches=("idempotence-off",))  # fmt: skip
def test_an_id_comes_before_the_first_batch(case):
    """An idempotent producer takes a producer id before it sends, and its batches carry it."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        producer(config=IDEMPOTENT),
        sent(topic, ["v"]),
        expect=all_of(
            client("order", names=["InitProducerId answered", "Produce"]).is_(
                ["InitProducerId answered", "Produce"]
            ),
            client("batches", field="sequence", topic=topic).is_([[0, 0, 1]]),
        ),
    )


@claim("producer.sequences-count-records", evidence=("PROD-40", "KIP-98"), role="client",
       switches=("sequence-skipped",))  # fmt: skip
def test_sequences_count_records(case):
    """The first sequence of each batch is that of the one before plus its number of records."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        producer(config=IDEMPOTENT | {"linger.ms": 100}),
        sent(topic, texts(3), number=1),
        sent(topic, texts(2), number=2),
        sent(topic, texts(1), number=3),
        expect=all_of(
            client("sequences grow", topic=topic).is_("yes"),
            client("batches", field="sequence", topic=topic).contains([0, 5, 1]),
        ),
    )


@claim("producer.a-lost-answer-makes-no-duplicate", evidence=("PROD-40", "KIP-98"), role="client",
       switches=("idempotence-off",), lost=("close", "drop"))  # fmt: skip
def test_a_lost_answer_makes_no_duplicate(case):
    """A batch whose answer was lost is sent again under its sequence, and is in the log once."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        producer(config=IDEMPOTENT | {"request.timeout.ms": 1000}),
        sent(topic, ["a"], number=1),
        spoil(case.lost, "Produce", carried_out=True),
        sent(topic, ["b"], number=2),
        sent(topic, ["c"], number=3),
        fetch(topic, name="log"),
        expect=all_of(
            client("repeats", topic=topic).is_([["b", 2, 1]]),
            records("log", "[*].value").is_([b"a", b"b", b"c"]),
            client("events", name="producer_send_success", path="value").is_(["a", "b", "c"]),
        ),
    )


@claim("producer.a-retry-keeps-its-sequence", evidence=("PROD-40", "KIP-98"), role="client",
       switches=("retries-off",))  # fmt: skip
def test_a_retry_keeps_its_sequence(case):
    """A batch that is sent again keeps its producer id, epoch and sequence."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        fault("Produce", "NOT_ENOUGH_REPLICAS", 1),
        producer(config=IDEMPOTENT),
        sent(topic, ["v"]),
        expect=client("repeats", topic=topic).is_([["v", 2, 1]]),
    )


@claim("producer.init-producer-id-is-tried-again", evidence=("KIP-98",), role="client",
       switches=("idempotence-off",),
       error=("COORDINATOR_LOAD_IN_PROGRESS", "COORDINATOR_NOT_AVAILABLE"))  # fmt: skip
def test_init_producer_id_is_tried_again(case):
    """An idempotent producer asks for its id again when a retriable error meets it."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        fault("InitProducerId", case.error, 2),
        producer(config=IDEMPOTENT),
        sent(topic, ["v"]),
        expect=all_of(
            client("count", api="InitProducerId").is_(3),
            client("events", name="producer_send_success", path="value").is_(["v"]),
        ),
    )
