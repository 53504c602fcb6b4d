"""What a record becomes on the wire: its partition, key, value, headers, time and codec."""

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, client, records
from touchstone.harness.model.steps import fetch
from touchstone.suites.kit.clients import (
    Hear,
    P,
    a_topic,
    close,
    producer,
    record,
    send,
    sent,
    texts,
)

# (murmur2(key) & 0x7fffffff) mod 4, as Kafka's own client at 4.3.1 divides them.
MURMUR2 = {
    "k0": 1, "k1": 1, "k2": 1, "k3": 0, "k4": 0, "k5": 0, "k6": 1, "k7": 0, "k8": 2, "k9": 0,
    "k10": 2, "k11": 2, "a": 0, "four": 2, "five5": 0, "sixsix": 0, "seven77": 3, "eight888": 1,
    "nine99999": 2, "a key of twenty-three b": 1, "\u00e9": 3, "\u00fc\u00df": 1, "\u4e2d\u6587": 1,
    "\U0001f600k": 0,
}  # fmt: skip


@claim("producer.keys-are-divided-by-murmur2", evidence=("PROD-21",), role="client",
       switches=("keys-to-partition-0",))  # fmt: skip
def test_keys_are_divided_by_murmur2(case):
    """A record with a key goes to the partition that murmur2 of the key gives, as Java's does."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic, 4),
        producer(),
        sent(topic, [record("v", key) for key in MURMUR2]),
        expect=client("partitions", topic=topic).is_(MURMUR2),
    )


@claim("producer.a-given-partition-is-kept", evidence=("PROD-20",), role="client",
       switches=("keys-to-partition-0",))  # fmt: skip
def test_a_given_partition_is_kept(case):
    """A record that names its partition goes there, whatever its key would say."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic, 4),
        producer(),
        sent(topic, [record("v", f"k{at}", partition=3 - at) for at in range(4)]),
        expect=client("partitions", topic=topic).is_({"k0": 3, "k1": 2, "k2": 1, "k3": 0}),
    )


def _compressed(case, codec):
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        producer(config={"compression.type": codec, "linger.ms": 200}),
        sent(topic, ["z" * 500, "y" * 500]),
        expect=all_of(
            client("batches", field="codec", topic=topic).each_is(codec),
            client("values", topic=topic).is_(["z" * 500, "y" * 500]),
        ),
    )


@claim("producer.records-are-compressed-as-configured", evidence=("KIP-98",), role="client",
       switches=("compression-ignored",), codec=("gzip", "snappy", "lz4"))  # fmt: skip
def test_records_are_compressed_as_configured(case):
    """A batch says the codec of compression.type, and decodes to the records that were sent."""
    return _compressed(case, case.codec)


@claim("producer.zstd-is-written", evidence=("KIP-110",), role="client", releases="2.2+",
       switches=("compression-ignored",))  # fmt: skip
def test_zstd_is_written(case):
    """With compression.type zstd a batch says so, and decodes to the records that were sent."""
    return _compressed(case, "zstd")


@claim("producer.headers-and-time-are-kept", evidence=("PROD-24",), role="client",
       switches=("headers-dropped",))  # fmt: skip
def test_headers_and_time_are_kept(case):
    """A record's headers and its timestamp are on the wire as the application gave them."""
    topic, when = case.topic(), 1_700_000_000_123
    given = record("v", headers=[["a", "1"], ["a", "2"]], timestamp=when)
    return case.scenario(
        a_topic(topic, configs={"retention.ms": -1}),
        producer(),
        sent(topic, [given]),
        expect=all_of(
            client("batches", field="headers", topic=topic).is_([[[["a", "1"], ["a", "2"]]]]),
            client("batches", field="timestamps", topic=topic).is_([[when]]),
        ),
    )


@claim("producer.null-is-not-empty", evidence=("observed on 4.3.1",), role="client",
       switches=("null-becomes-empty",))  # fmt: skip
def test_null_is_not_empty(case):
    """A null value and an empty one stay apart on the wire."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        producer(config={"linger.ms": 200}),
        sent(topic, [record(None, "gone"), record("", "empty")]),
        expect=client("batches", field="values", topic=topic).is_([[None, ""]]),
    )


@claim("producer.records-of-a-partition-stay-in-order", evidence=("PROD-51",), role="client",
       switches=("first-record-last",))  # fmt: skip
def test_records_of_a_partition_stay_in_order(case):
    """Forty records of one partition, in batches of one, are in the log in the order of sending."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        producer(config={"batch.size": 1, "linger.ms": 0}),
        sent(topic, texts(40)),
        fetch(topic, name="log"),
        expect=records("log", "[*].value").is_([one.encode() for one in texts(40)]),
    )


@claim("producer.a-record-above-max-request-size-is-refused", evidence=("PROD-23",), role="client",
       switches=("errors-swallowed",))  # fmt: skip
def test_a_record_above_max_request_size_is_refused(case):
    """A record larger than max.request.size fails with an error and is never sent."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        producer(config={"max.request.size": 2000}),
        sent(topic, ["a"]),
        send(topic, ["x" * 5000], name="too large"),
        Hear("producer_send_error", P),
        close(P),
        expect=all_of(
            client("events", name="producer_send_error", path="topic").has_length(1),
            client("batches", field="values", topic=topic).is_([["a"]]),
        ),
    )
