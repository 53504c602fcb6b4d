"""Broker settings that change while it runs: what they reach, what is above what, what is refused.

A change holds for every topic of the broker that has no override, so each claim takes its own back
at the end, and all of them have a broker of their own (SHAPE).

Sources: KIP-226 (dynamic broker configs), KIP-339 (increments); DynamicBrokerConfig and
DynamicLogConfig at 2.2.1, 2.8.2, 3.9.2; clauses DYN-10, DYN-14, LOG-30.
"""

from touchstone.harness.model.claim import claim, only
from touchstone.harness.model.expect import all_of, answer, batches, by_release
from touchstone.harness.model.placeholders import Ref
from touchstone.harness.model.scenario import Until
from touchstone.harness.model.steps import (
    BROKER,
    DELETE,
    SET,
    a_topic,
    alter_configs,
    describe_configs,
    fetch,
    incremental_alter_configs,
    init_producer_id,
    produce,
    producer_ready,
)
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.producing import stored_at
from touchstone.suites.kit.records import ONE, TWO, batch, from_producer
from touchstone.suites.kit.segments import (
    FAST_LOG_MANAGER,
    HOUR,
    MINUTE,
    earliest,
    segmented,
    starts_at,
)

INTERVAL = "log.index.interval.bytes"
SHAPE = FAST_LOG_MANAGER | {
    INTERVAL: 5000,
    "log.cleaner.dedupe.buffer.size": 20_000_000,  # a change makes another cleaner, in a small heap
}
ALL, THIS = "", "0"
OF_ALL_BROKERS = 3  # the source of a value that was set for all of them
CODE = "responses[0].error_code"
STORED = "responses[0].partition_responses[0].error_code"
ROW = "topics[0].partitions[0]"
ENTRY = "results[0].configs[0]"
TEN_MINUTES = str(10 * MINUTE)


CHANGE = {
    "api": "IncrementalAlterConfigs",
    "versions": only("IncrementalAlterConfigs", 0),
    "releases": "2.8+",
    "config": SHAPE,
}


def change(name, value, *, of=ALL, step="set", **how):
    """Set one broker setting, or take it back with None."""
    row = (name, DELETE if value is None else SET, value)
    return incremental_alter_configs(of, [row], version=0, kind=BROKER, name=step, **how)


def shown(name, value, step, *, path=f"{ENTRY}.value"):
    """Wait until the broker shows this setting so."""
    asked = describe_configs(THIS, name, kind=BROKER, version=1, synonyms=True, name=step)
    return Until(asked, path, "==", value)


@claim(
    "dynamic.one-broker-is-above-all-brokers",
    evidence=(
        "DYN-10",
        "KIP-226",
    ),
    **CHANGE,
)
def test_one_broker_is_above_all_brokers(case):
    """A setting of one broker takes precedence over the cluster-wide default, which takes
    precedence over the broker's file and Kafka's default; DescribeConfigs lists them as synonyms in
    that order."""
    name = INTERVAL
    return case.scenario(
        change(name, "7000", step="all"),
        shown(name, "7000", "of all"),
        change(name, "8000", of=THIS, step="one"),
        shown(name, "8000", "of one"),
        change(name, None, of=THIS, step="one back"),
        shown(name, "7000", "of all again"),
        change(name, None, step="all back"),
        shown(name, "5000", "of the file"),
        expect=all_of(
            answer("of one", f"{ENTRY}.synonyms[*].value").is_(["8000", "7000", "5000", "4096"]),
            answer("of one", f"{ENTRY}.synonyms[*].source").is_([2, 3, 4, 5]),
            answer("of all", f"{ENTRY}.config_source").is_(3),
        ),
    )


@claim(
    "dynamic.topics-show-what-stands-behind-them",
    evidence=(
        "DYN-10",
        "KIP-226",
    ),
    **CHANGE,
)
def test_topics_show_what_stands_behind_them(case):
    """DescribeConfigs of a topic without an override returns the cluster-wide dynamic value and its
    source."""
    topic = case.topic()
    asked = describe_configs(topic, "retention.ms", version=1, synonyms=True, name="topic")
    return case.scenario(
        a_topic(topic),
        change("log.retention.ms", TEN_MINUTES),
        Until(asked, f"{ENTRY}.value", "==", TEN_MINUTES),
        change("log.retention.ms", None, step="back"),
        shown("log.retention.ms", None, "as before"),
        expect=all_of(
            answer("topic", f"{ENTRY}.value").is_(TEN_MINUTES),
            answer("topic", f"{ENTRY}.config_source").is_(3),
        ),
    )


@claim(
    "dynamic.a-smaller-message-limit-holds-at-once",
    evidence=(
        "DYN-10",
        "KIP-226",
    ),
    **CHANGE,
)
def test_a_smaller_message_limit_holds_at_once(case):
    """A batch larger than a message.max.bytes that is lowered for all brokers at run time is
    refused with MESSAGE_TOO_LARGE, and accepted again when the setting is removed."""
    topic, producer = case.topic(), Ref("init", "producer_id")

    def send(name):
        return produce(topic, 0, from_producer(producer, 0, 0, b"x" * 300), name=name)

    return case.scenario(
        a_topic(topic),
        producer_ready(),
        init_producer_id(name="init"),
        send("before"),
        change("message.max.bytes", "200"),
        Until(send("after"), STORED, "==", ErrorCode.MESSAGE_TOO_LARGE),
        change("message.max.bytes", None, step="back"),
        Until(send("again"), STORED, "==", ErrorCode.NONE),
        expect=all_of(
            stored_at("before", 0),
            answer("after", STORED).is_(ErrorCode.MESSAGE_TOO_LARGE),
            stored_at("again", 0),
        ),
    )


@claim(
    "dynamic.a-brokers-codec-is-its-topics",
    evidence=(
        "DYN-10",
        "KIP-226",
    ),
    **CHANGE,
)
def test_a_brokers_codec_is_its_topics(case):
    """A cluster-wide compression.type that is set at run time compresses what is produced to topics
    without an override."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        change("compression.type", "gzip"),
        Until(
            describe_configs(topic, "compression.type", version=1, name="topic"),
            f"{ENTRY}.value", "==", "gzip",
        ),
        change(INTERVAL, "7000", step="next"),
        shown(INTERVAL, "7000", "logs have heard"),
        produce(topic, 0, batch(ONE), name="write"),
        fetch(topic, max_wait_ms=0, name="read"),
        change(INTERVAL, None, step="next back"),
        change("compression.type", None, step="back"),
        shown("compression.type", "producer", "as before"),
        expect=batches("read", "[0].attributes").is_(1),
    )  # fmt: skip


@claim(
    "dynamic.some-settings-cannot-change",
    evidence=("KIP-226",),
    setting=("log.dirs", "broker.id", "num.partitions"),
    **CHANGE,
)
def test_some_settings_cannot_change(case):
    """IncrementalAlterConfigs of a setting that a broker reads only at start, such as log.dirs,
    answers INVALID_REQUEST."""
    return case.scenario(
        change(case.setting, "7", of=THIS),
        expect=answer("set", CODE).is_(ErrorCode.INVALID_REQUEST),
    )


@claim("dynamic.some-settings-are-of-one-broker", evidence=("KIP-226",), **CHANGE)
def test_some_settings_are_of_one_broker(case):
    """IncrementalAlterConfigs of all brokers answers INVALID_REQUEST for a setting that is per
    broker, such as ssl.keystore.location.
    """
    return case.scenario(
        change("ssl.keystore.location", "/tmp/keys", of=ALL),
        expect=answer("set", CODE).is_(ErrorCode.INVALID_REQUEST),
    )


@claim(
    "dynamic.impossible-values-are-refused",
    evidence=("KIP-226",),
    entry=(
        "log.retention.ms=soon",
        "num.io.threads=0",
        "num.io.threads=3",
        "num.io.threads=17",
        "num.network.threads=7",
        "num.replica.fetchers=0",
        "background.threads=4",
        "log.cleaner.threads=3",
        "log.cleaner.threads=50",
        "log.cleaner.dedupe.buffer.size=1048576",
        "compression.type=zip",
        "log.retention.ms=0",
        "log.roll.ms=0",
        "log.roll.jitter.ms=-1",
        "max.connections=0",
        "max.connections.per.ip=0",
        "max.connections.per.ip.overrides=localhost",
        "max.connection.creation.rate=0",
        "metric.reporters=org.example.Nobody",
    ),
    **CHANGE,
)
def test_impossible_values_are_refused(case):
    """IncrementalAlterConfigs answers INVALID_REQUEST for a value that does not parse, is out of
    range, contradicts another setting, or would more than double or halve a thread pool; the
    setting stays.
    """
    name, value = case.entry.split("=")
    return case.scenario(
        change(name, value),
        describe_configs(THIS, name, kind=BROKER, version=1, synonyms=True, name="after"),
        expect=all_of(
            answer("set", CODE).is_(ErrorCode.INVALID_REQUEST),
            answer("after", f"{ENTRY}.value").is_not(value),
            answer("after", f"{ENTRY}.config_source").is_not(OF_ALL_BROKERS),
        ),
    )


@claim(
    "dynamic.values-at-their-ends-are-accepted",
    evidence=("KIP-226",),
    entry=(
        "num.io.threads=4",
        "num.io.threads=16",
        "num.network.threads=1",
        "num.network.threads=6",
        "num.replica.fetchers=2",
        "background.threads=5",
        "log.cleaner.threads=2",
        "log.cleaner.dedupe.buffer.size=1048577",
        "log.retention.ms=1",
        "log.retention.ms=-2",
        "log.roll.ms=1",
        "log.roll.jitter.ms=0",
        "log.flush.interval.ms=-1",
        "max.connections=1",
        "max.connections.per.ip.overrides=localhost:1",
        "metric.reporters=",
    ),
    **CHANGE,
)
def test_values_at_their_ends_are_accepted(case):
    """IncrementalAlterConfigs with validate_only answers no error for the last value that each
    check of a broker's settings lets through.
    """
    name, _, value = case.entry.partition("=")
    return case.scenario(
        change(name, value, validate_only=True),
        expect=answer("set", CODE).is_(ErrorCode.NONE),
    )


@claim("dynamic.a-broker-can-be-tried", evidence=("KIP-226",), **CHANGE)
def test_a_broker_can_be_tried(case):
    """IncrementalAlterConfigs of a broker with validate_only answers no error and leaves the
    setting as it was."""
    name = INTERVAL
    return case.scenario(
        change(name, "9000", of=THIS, validate_only=True),
        describe_configs(THIS, name, kind=BROKER, version=1, synonyms=True, name="after"),
        expect=all_of(
            answer("set", CODE).is_(ErrorCode.NONE), answer("after", f"{ENTRY}.value").is_("5000")
        ),
    )


@claim(
    "dynamic.altering-replaces-a-brokers-settings",
    evidence=(
        "DYN-17",
        "KIP-226",
    ),
    api="AlterConfigs",
    versions=only("AlterConfigs", 0),
    releases="2.8+",
    config=SHAPE,
)
def test_altering_replaces_a_brokers_settings(case):
    """AlterConfigs of a broker sets the settings that it names and removes every other dynamic
    setting of that broker."""
    first, second = INTERVAL, "log.retention.ms"
    return case.scenario(
        alter_configs(THIS, {first: 7000}, kind=BROKER, name="one"),
        shown(first, "7000", "one shown"),
        alter_configs(THIS, {second: TEN_MINUTES}, kind=BROKER, name="other"),
        shown(second, TEN_MINUTES, "other shown"),
        shown(first, "5000", "one gone"),
        alter_configs(THIS, {}, kind=BROKER, name="none"),
        shown(second, None, "other gone"),
        expect=all_of(
            answer("one", CODE).is_(ErrorCode.NONE),
            answer("none", CODE).is_(ErrorCode.NONE),
            answer("other shown", "results[0].configs[0].value").is_(TEN_MINUTES),
            answer("one gone", "results[0].configs[0].value").is_("5000"),
            answer("other gone", "results[0].configs[0].value").is_(None),
        ),
    )


@claim(
    "dynamic.all-brokers-have-an-empty-name",
    evidence=(
        "DYN-01",
        "KIP-226",
    ),
    api="AlterConfigs",
    versions=only("AlterConfigs", 0),
    releases="2.2-3.9",
    config=SHAPE,
)
def test_all_brokers_have_an_empty_name(case):
    """AlterConfigs of the broker resource with the empty name sets a cluster-wide default, and
    DescribeConfigs of that resource returns it."""
    name = INTERVAL
    asked = describe_configs(ALL, kind=BROKER, version=1, synonyms=True, name="all")
    return case.scenario(
        alter_configs(ALL, {name: 7000}, kind=BROKER, name="set"),
        Until(asked, "results[0].configs[*].name", "contains", name),
        alter_configs(ALL, {}, kind=BROKER, name="back"),
        shown(name, "5000", "as before"),
        expect=all_of(
            answer("set", CODE).is_(ErrorCode.NONE),
            answer("all", "results[0].configs[*].value").contains("7000"),
        ),
    )


@claim(
    "dynamic.throttles-are-dynamic-only",
    evidence=(
        "DYN-13",
        "DYN-14",
        "KIP-73",
    ),
    **CHANGE,
)
def test_throttles_are_dynamic_only(case):
    """IncrementalAlterConfigs sets leader.replication.throttled.rate for one broker, and
    leader.replication.throttled.replicas is a config of the topic."""
    rate, topic = "leader.replication.throttled.rate", case.topic()
    replicas = {"leader.replication.throttled.replicas": "0:0"}
    return case.scenario(
        a_topic(topic, configs=replicas),
        change(rate, "100000", of=THIS),
        describe_configs(topic, *replicas, version=1, synonyms=True, name="topic"),
        change(rate, None, of=THIS, step="back"),
        expect=all_of(
            answer("set", CODE).is_(ErrorCode.NONE),
            answer("topic", f"{ENTRY}.value").is_("0:0"),
        ),
    )


@claim(
    "dynamic.bad-throttles-are-refused",
    evidence=(
        "DYN-13",
        "KIP-73",
    ),
    replicas=("0", "a:b", "0:0,*"),
    **CHANGE,
)
def test_bad_throttles_are_refused(case):
    """IncrementalAlterConfigs answers INVALID_CONFIG (2.8: INVALID_REQUEST) for throttled replicas
    that are neither partition:broker pairs nor a single "*".
    """
    topic = case.topic()
    row = ("follower.replication.throttled.replicas", SET, case.replicas)
    return case.scenario(
        a_topic(topic),
        incremental_alter_configs(topic, [row], version=0, name="set"),
        expect=by_release(
            {
                "2.8": answer("set", CODE).is_(ErrorCode.INVALID_REQUEST),
                "3.9+": answer("set", CODE).is_(ErrorCode.INVALID_CONFIG),
            }
        ),
    )


@claim(
    "dynamic.all-brokers-keep-a-min-isr",
    evidence=("KIP-966",),
    api="IncrementalAlterConfigs",
    versions=only("IncrementalAlterConfigs", 0),
    releases="4.3",
    config=SHAPE,
    of=(ALL, THIS),
)
def test_all_brokers_keep_a_min_isr(case):
    """Where eligible leader replicas are enabled, min.insync.replicas can neither be removed from
    the cluster-wide default nor set for one broker: INVALID_CONFIG.
    """
    return case.scenario(
        change("min.insync.replicas", "1" if case.of == THIS else None, of=case.of),
        expect=answer("set", CODE).is_(ErrorCode.INVALID_CONFIG),
    )


@claim(
    "dynamic.a-brokers-retention-reaches-its-topics",
    evidence=(
        "DYN-10",
        "LOG-30",
        "KIP-226",
    ),
    api="IncrementalAlterConfigs",
    versions=only("IncrementalAlterConfigs", 0),
    releases="3.9+",
    config=SHAPE,
)
def test_a_brokers_retention_reaches_its_topics(case):
    """A cluster-wide log.retention.ms that is set at run time deletes old segments of a topic
    without an override and none of a topic with its own retention.ms."""
    topic, own = case.topic(), case.topic("own")
    many = batch(ONE, at=-HOUR), batch(TWO)
    return case.scenario(
        segmented(own, batch(ONE, at=-HOUR), configs={"retention.ms": 2 * HOUR}),
        a_topic(topic, configs={"segment.ms": 1000}),
        [produce(topic, 0, one, name=f"write {at}") for at, one in enumerate(many)],
        change("log.retention.ms", TEN_MINUTES),
        starts_at(topic, 1),
        earliest(own, "own"),
        change("log.retention.ms", None, step="back"),
        shown("log.retention.ms", None, "as before"),
        expect=all_of(
            answer("set", CODE).is_(ErrorCode.NONE),
            answer("earliest", f"{ROW}.offset").is_(1),
            answer("own", f"{ROW}.offset").is_(0),
            answer("back", CODE).is_(ErrorCode.NONE),
        ),
    )
