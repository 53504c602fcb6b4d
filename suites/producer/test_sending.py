"""What a producer says of itself and its records, and in which order (PROD-22 to PROD-48)."""

from touchstone.harness.model.claim import SHOULD, claim
from touchstone.harness.model.expect import all_of, client
from touchstone.harness.model.placeholders import Now
from touchstone.suites.kit.clients import a_topic, producer, record, sent, texts

A_MINUTE_MS = 60_000


@claim("producer.records-without-a-key-share-a-batch", evidence=("PROD-22", "KIP-480"),
       level=SHOULD, role="client", switches=("batch-of-one",))  # fmt: skip
def test_records_without_a_key_share_a_batch(case):
    """Ten records without a key that are sent at once go to one partition, in one batch, although
    the topic has four partitions.
    """
    topic = case.topic()
    return case.scenario(
        a_topic(topic, 4),
        producer(config={"linger.ms": 500}),
        sent(topic, texts(10)),
        expect=client("batches", field="records", topic=topic).is_([10]),
    )


@claim("producer.a-record-has-the-time-of-its-sending", evidence=("PROD-24", "KIP-32"),
       role="client", switches=("times-dropped",))  # fmt: skip
def test_a_record_has_the_time_of_its_sending(case):
    """A record that the application gives no timestamp has that of its sending, in ms."""
    topic = case.topic()
    times = client("batches", field="timestamps", topic=topic)
    return case.scenario(
        a_topic(topic),
        producer(),
        sent(topic, ["v"]),
        expect=all_of(times.at_least([[Now(-A_MINUTE_MS)]]), times.at_most([[Now(A_MINUTE_MS)]])),
    )


@claim("producer.deliveries-are-told-in-order", evidence=("PROD-48",), role="client",
       switches=("first-record-last",))  # fmt: skip
def test_deliveries_are_told_in_order(case):
    """The application learns of deliveries to a partition in the order of sending, also across
    batches.
    """
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        producer(config={"batch.size": 1, "linger.ms": 0}),
        sent(topic, texts(12)),
        expect=all_of(
            client("events", name="producer_send_success", path="value").is_(texts(12)),
            client("events", name="producer_send_success", path="offset").is_(list(range(12))),
        ),
    )


@claim("producer.a-request-says-how-long-it-may-take", evidence=("schema Produce.timeout_ms",),
       role="client", switches=("timeout-not-said",))  # fmt: skip
def test_a_request_says_how_long_it_may_take(case):
    """Each Produce names request.timeout.ms as the time that replicas have to acknowledge it."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        producer(config={"request.timeout.ms": 7000}),
        sent(topic, texts(2)),
        expect=client("asked", api="Produce", path="timeout_ms").each_is(7000),
    )


@claim("producer.the-client-is-named", evidence=("KIP-511",), role="client", releases="2.8+",
       switches=("nameless",))  # fmt: skip
def test_the_client_is_named(case):
    """ApiVersions names the client's software and its version."""
    topic = case.topic()
    named = {"api": "ApiVersions", "path": "client_software_name"}
    return case.scenario(
        a_topic(topic),
        producer(),
        sent(topic, ["v"]),
        expect=all_of(
            client("versions", api="ApiVersions").is_not([0]),
            client("asked", **named).lacks(""),
        ),
    )


@claim("producer.equal-keys-stay-together", evidence=("PROD-21", "PROD-51"), role="client",
       switches=("first-record-last",))  # fmt: skip
def test_equal_keys_stay_together(case):
    """Records of one key go to one partition of several in the order of sending."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic, 4),
        producer(),
        sent(topic, [record(one, "same") for one in texts(6)]),
        expect=all_of(
            client("partitions", topic=topic).has_length(1),
            client("values", topic=topic).is_(texts(6)),
        ),
    )
