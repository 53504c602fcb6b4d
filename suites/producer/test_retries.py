"""What a producer tries again, what it reports, and when it gives up (PROD-39 to PROD-46)."""

from touchstone.harness.model.claim import SHOULD, claim
from touchstone.harness.model.expect import all_of, client, records
from touchstone.harness.model.steps import fetch
from touchstone.suites.kit.clients import (
    Hear,
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

RETRIABLE = (
    "NOT_LEADER_OR_FOLLOWER", "NOT_ENOUGH_REPLICAS", "UNKNOWN_TOPIC_OR_PARTITION",
    "LEADER_NOT_AVAILABLE", "REQUEST_TIMED_OUT", "CORRUPT_MESSAGE", "KAFKA_STORAGE_ERROR",
)  # fmt: skip
FATAL = (
    "TOPIC_AUTHORIZATION_FAILED", "INVALID_RECORD", "INVALID_TIMESTAMP", "RECORD_LIST_TOO_LARGE",
    "UNSUPPORTED_FOR_MESSAGE_FORMAT",
)  # fmt: skip
ONCE = {"batch.size": 1, "linger.ms": 0, "enable.idempotence": "true", "acks": "all"}


@claim("producer.retriable-errors-are-tried-again", evidence=("PROD-46",), role="client",
       switches=("retries-off",), error=RETRIABLE)  # fmt: skip
def test_retriable_errors_are_tried_again(case):
    """A batch that a retriable error meets is sent again, and its record is delivered."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        fault("Produce", case.error, 2),
        producer(),
        sent(topic, ["v"]),
        fetch(topic, name="log"),
        expect=all_of(
            client("count", api="Produce").is_(3),
            client("order", names=["producer_send_success", "producer_send_error"]).is_(
                ["producer_send_success"]
            ),
            records("log", "[*].value").is_([b"v"]),
        ),
    )


@claim("producer.fatal-errors-are-reported", evidence=("PROD-46",), role="client",
       switches=("errors-swallowed",), error=FATAL)  # fmt: skip
def test_fatal_errors_are_reported(case):
    """A batch that meets an error which no repetition mends fails with it, and is sent once."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        fault("Produce", case.error, None),
        producer(),
        send(topic, ["v"]),
        Hear("producer_send_error", P),
        expect=all_of(
            client("codes", name="producer_send_error").is_([case.error]),
            client("count", api="Produce").is_(1),
        ),
    )


@claim("producer.order-is-kept-when-a-batch-is-tried-again", evidence=("PROD-39", "PROD-40"),
       role="client", switches=("first-record-last",))  # fmt: skip
def test_order_is_kept_when_a_batch_is_tried_again(case):
    """Batches of an idempotent producer stay in order and whole when one is refused for a while."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        producer(config=ONCE),
        sent(topic, ["first"]),
        fault("Produce", "NOT_ENOUGH_REPLICAS", 2),
        sent(topic, texts(12), number=2),
        fetch(topic, name="log"),
        expect=records("log", "[*].value").is_([b"first", *(one.encode() for one in texts(12))]),
    )


@claim("producer.one-request-in-flight-keeps-the-order", evidence=("PROD-39",), role="client",
       switches=("reorders-on-retry",))  # fmt: skip
def test_one_request_in_flight_keeps_the_order(case):
    """Batches of a producer without idempotence stay in order when one is refused for a while, if
    max.in.flight.requests.per.connection is 1.
    """
    topic = case.topic()
    alone = {"enable.idempotence": "false", "max.in.flight.requests.per.connection": 1}
    return case.scenario(
        a_topic(topic),
        producer(config=alone | {"batch.size": 1, "linger.ms": 0}),
        sent(topic, ["first"]),
        fault("Produce", "NOT_ENOUGH_REPLICAS", 2),
        sent(topic, texts(6), number=2),
        fetch(topic, name="log"),
        expect=records("log", "[*].value").is_([b"first", *(one.encode() for one in texts(6))]),
    )


@claim("producer.a-large-batch-is-split", evidence=("PROD-46", "KIP-126"), level=SHOULD,
       role="client", switches=("flush-says-so-early",))  # fmt: skip
def test_a_large_batch_is_split(case):
    """A batch of several records that the broker calls too large is sent again in smaller ones."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic, configs={"max.message.bytes": 600}),
        producer(config={"linger.ms": 300}),
        send(topic, [f"{at:0200d}" for at in range(6)]),
        Hear("producer_send_success", P, 6),
        fetch(topic, name="log"),
        expect=records("log").has_length(6),
    )


@claim("producer.a-single-record-too-large-fails", evidence=("PROD-46",), role="client",
       switches=("errors-swallowed",))  # fmt: skip
def test_a_single_record_too_large_fails(case):
    """A record that the broker calls too large fails with that error when it is alone."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic, configs={"max.message.bytes": 300}),
        producer(),
        send(topic, ["x" * 1000]),
        Hear("producer_send_error", P),
        expect=client("codes", name="producer_send_error").is_(["MESSAGE_TOO_LARGE"]),
    )


@claim("producer.a-stale-leader-is-looked-up", evidence=("PROD-34", "PROD-46"), role="client",
       switches=("retries-off",))  # fmt: skip
def test_a_stale_leader_is_looked_up(case):
    """A producer asks for Metadata after NOT_LEADER_OR_FOLLOWER, before it sends again."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        producer(),
        sent(topic, ["a"], number=1),
        fault("Produce", "NOT_LEADER_OR_FOLLOWER"),
        sent(topic, ["b"], number=2),
        expect=client("first and last", names=["Metadata", "Produce"]).is_(
            ["Metadata", "Produce", "Metadata", "Produce"]
        ),
    )


@claim("producer.delivery-timeout-ends-a-record", evidence=("PROD-41", "KIP-91"), role="client",
       switches=("errors-swallowed",))  # fmt: skip
def test_delivery_timeout_ends_a_record(case):
    """A record that is refused for longer than delivery.timeout.ms fails with a timeout."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        fault("Produce", "NOT_ENOUGH_REPLICAS", None),
        producer(config={"delivery.timeout.ms": 1500, "request.timeout.ms": 1000, "linger.ms": 0}),
        send(topic, ["v"]),
        Hear("producer_send_error", P),
        expect=all_of(
            client("events", name="producer_send_success").is_([]),
            client("codes", name="producer_send_error").is_(["REQUEST_TIMED_OUT"]),
        ),
    )


@claim("producer.a-lost-answer-is-waited-for-no-longer", evidence=("PROD-46",), role="client",
       switches=("retries-off",))  # fmt: skip
def test_a_lost_answer_is_waited_for_no_longer(case):
    """A Produce whose answer does not come within request.timeout.ms is sent again."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        spoil("drop", "Produce", carried_out=False),
        producer(config={"request.timeout.ms": 1000}),
        sent(topic, ["v"]),
        fetch(topic, name="log"),
        expect=all_of(
            client("count", api="Produce").is_(2),
            records("log", "[*].value").is_([b"v"]),
        ),
    )


@claim("producer.a-topic-that-never-appears-fails-the-send", evidence=("PROD-15",), role="client",
       switches=("errors-swallowed",))  # fmt: skip
def test_a_topic_that_never_appears_fails_the_send(case):
    """A record of a topic that does not exist fails when max.block.ms has passed."""
    topic = case.topic()
    return case.scenario(
        producer(config={"max.block.ms": 1000}),
        send(topic, ["v"]),
        flush(),
        expect=all_of(
            client("events", name="producer_send_error", path="value").is_(["v"]),
            client("count", api="Produce").is_(0),
        ),
        config={"auto.create.topics.enable": "false"},
    )
