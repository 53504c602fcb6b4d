"""DescribeConfigs, AlterConfigs, IncrementalAlterConfigs: what a topic is told to be.

Documentation texts (DescribeConfigs 3) are Kafka's prose; that there is one is its behaviour.

Sources: KIP-133 (describe, alter), KIP-226 (synonyms), KIP-339 (incremental), KIP-569 (types);
AdminManager (1.0.2, 2.2.1), ConfigAdminManager (3.9.2, 4.3.1).
"""

from functools import partial

from touchstone.harness.model.claim import claim, every, only, range_
from touchstone.harness.model.expect import all_of, answer, by_release
from touchstone.harness.model.placeholders import Now, Records
from touchstone.harness.model.scenario import Until
from touchstone.harness.model.steps import (
    APPEND,
    BROKER,
    DELETE,
    SET,
    SUBTRACT,
    a_topic,
    alter_configs,
    describe_configs,
    incremental_alter_configs,
    produce,
    together,
)
from touchstone.reference_impl.wire.errors import ErrorCode

KEYS = ("cleanup.policy", "max.message.bytes", "retention.ms", "compression.type")
CODE = "results[0].error_code"
ALTERED = "responses[0].error_code"
VALUES = "results[0].configs[*].value"
FIRST_DOCUMENTATION = "results[0].configs[0].documentation"


def described(case, topic, *keys, name="configs"):
    """What the topic's configs are, in a version that the release has."""
    version = 0 if case.release == "1.0" else 1
    return describe_configs(topic, *(keys or KEYS), version=version, name=name)


@claim(
    "configs.a-topic-has-its-own-and-the-defaults",
    evidence=("KIP-133", "KIP-226"),
    api="DescribeConfigs",
    versions=every("DescribeConfigs"),
)
def test_a_topic_has_its_own_and_the_defaults(case):
    """DescribeConfigs returns each config that the request names, the topic's own value where it
    has one, without an error."""
    name = case.topic()
    return case.scenario(
        a_topic(name, configs={"retention.ms": 77_000_000}),
        describe_configs(name, *KEYS, version=case.version, synonyms=True, name="ask"),
        expect=all_of(
            answer("ask", CODE).is_(ErrorCode.NONE),
            answer("ask", "results[0].configs").has_length(len(KEYS)),
            answer("ask", VALUES).contains("77000000"),
        ),
    )


@claim(
    "configs.all-of-a-topic",
    evidence=("KIP-133",),
    api="DescribeConfigs",
    versions=range_("DescribeConfigs", 0, 1),
    where=lambda row: row["version"] in (0, 1),
)
def test_all_of_a_topic(case):
    """DescribeConfigs of a topic without config names returns all of its configs."""
    name = case.topic()
    return case.scenario(
        a_topic(name),
        describe_configs(name, version=case.version, name="ask"),
        expect=all_of(
            answer("ask", "results[0].configs[*].name").contains("cleanup.policy"),
            answer("ask", "results[0].configs[*].name").contains("segment.bytes"),
        ),
    )


@claim(
    "configs.names-that-nobody-knows-are-left-out",
    evidence=("KIP-133", "observed on 1.0.2, 2.2.1, 2.8.2, 3.9.2 and 4.3.1"),
    api="DescribeConfigs",
    versions=range_("DescribeConfigs", 0, 1),
)
def test_names_that_nobody_knows_are_left_out(case):
    """DescribeConfigs leaves out a config name that does not exist, without an error."""
    name = case.topic()
    return case.scenario(
        a_topic(name),
        describe_configs(
            name, "no.such.config", "retention.ms", version=case.version, name="ask"
        ),
        expect=all_of(
            answer("ask", CODE).is_(ErrorCode.NONE),
            answer("ask", "results[0].configs[*].name").is_(["retention.ms"]),
        ),
    )  # fmt: skip


@claim(
    "configs.unknown-topics-have-none",
    evidence=("KIP-133",),
    api="DescribeConfigs",
    versions=range_("DescribeConfigs", 0, 1),
)
def test_unknown_topics_have_none(case):
    """DescribeConfigs answers UNKNOWN_TOPIC_OR_PARTITION for a missing topic (no error on 1.0) and
    INVALID_TOPIC_EXCEPTION for an illegal name."""
    there, missing = case.topic("there"), case.topic("missing")
    asks = [
        describe_configs(name, "retention.ms", version=case.version)
        for name in (there, missing, "a b")
    ]
    codes = answer("ask", "results[*].error_code")
    return case.scenario(
        a_topic(there),
        together(*asks, name="ask"),
        expect=all_of(
            codes.contains(ErrorCode.NONE),
            codes.contains(ErrorCode.INVALID_TOPIC_EXCEPTION),
            by_release(
                {
                    "1.0": codes.contains(ErrorCode.NONE),
                    "2.2+": codes.contains(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
                }
            ),
        ),
    )


@claim(
    "configs.brokers-have-theirs",
    evidence=("DYN-17", "KIP-133", "KIP-226"),
    api="DescribeConfigs",
    versions=range_("DescribeConfigs", 0, 1),
)
def test_brokers_have_theirs(case):
    """DescribeConfigs of the broker that is asked returns its settings; the id of another broker
    answers INVALID_REQUEST."""
    keys = ("num.partitions", "log.retention.hours", "compression.type", "no.such.config")
    asks = [
        describe_configs(broker, *keys, kind=BROKER, version=case.version, synonyms=True)
        for broker in ("0", "9")
    ]
    return case.scenario(
        together(*asks, name="ask"),
        expect=all_of(
            answer("ask", "results[*].error_code").contains(ErrorCode.NONE),
            answer("ask", "results[*].error_code").contains(ErrorCode.INVALID_REQUEST),
        ),
    )


@claim(
    "configs.say-what-they-are-for-when-asked",
    evidence=("KIP-569", "observed on 2.8.2, 3.9.2 and 4.3.1"),
    api="DescribeConfigs",
    versions=range_("DescribeConfigs", 3),
    releases="2.8+",
)
def test_say_what_they_are_for_when_asked(case):
    """DescribeConfigs with include_documentation returns the documentation of each config, and null
    without it."""
    name, ask = case.topic(), partial(describe_configs, version=case.version)
    key, setting = "retention.ms", "num.partitions"
    return case.scenario(
        a_topic(name),
        ask(name, key, documentation=True, name="topic"),
        ask("0", setting, kind=BROKER, documentation=True, name="broker"),
        ask(name, key, name="unasked"),
        expect=all_of(
            answer("topic", FIRST_DOCUMENTATION).matches(".+"),
            answer("broker", FIRST_DOCUMENTATION).matches(".+"),
            answer("unasked", FIRST_DOCUMENTATION).is_(None),
        ),
    )


@claim(
    "configs.strange-resources-are-refused",
    evidence=("KIP-133", "observed on 1.0.2, 2.2.1, 2.8.2, 3.9.2 and 4.3.1"),
    api="DescribeConfigs",
    versions=range_("DescribeConfigs", 0, 1),
)
def test_strange_resources_are_refused(case):
    """DescribeConfigs answers INVALID_REQUEST for a broker name that is not a number and for a
    resource type without configs."""
    return case.scenario(
        together(
            describe_configs("one", "num.partitions", kind=BROKER, version=case.version),
            describe_configs("g", kind=3, version=case.version),
            name="ask",
        ),
        expect=answer("ask", "results[*].error_code").each_is(ErrorCode.INVALID_REQUEST),
    )


@claim(
    "configs.altering-replaces-all-of-them",
    evidence=("DYN-17", "KIP-133"),
    api="AlterConfigs",
    versions=every("AlterConfigs"),
)
def test_altering_replaces_all_of_them(case):
    """AlterConfigs sets the configs that it names and resets every other config of the topic to its
    default."""
    name = case.topic()
    return case.scenario(
        a_topic(name, configs={"retention.ms": 77_000_000, "max.message.bytes": 4321}),
        alter_configs(name, {"cleanup.policy": "compact"}, version=case.version, name="alter"),
        Until(described(case, name), VALUES, "contains", "compact"),
        expect=all_of(
            answer("alter", ALTERED).is_(ErrorCode.NONE),
            answer("configs", VALUES).contains("604800000"),
            answer("configs", VALUES).contains("compact"),
        ),
    )


@claim(
    "configs.bad-alterations-are-refused",
    evidence=("KIP-133", "observed on 1.0.2, 2.2.1, 2.8.2, 3.9.2 and 4.3.1"),
    api="AlterConfigs",
    versions=only("AlterConfigs", 0),
    switches=("configs-not-validated",),
    entry=("no.such.config=1", "cleanup.policy=sometimes", "retention.ms=soon"),
)
def test_bad_alterations_are_refused(case):
    """AlterConfigs with an unknown config or an invalid value answers INVALID_CONFIG, or
    INVALID_REQUEST for the value before 3.9, and changes nothing."""
    name = case.topic()
    key, value = case.entry.split("=")
    code, unknown = answer("alter", ALTERED), key == "no.such.config"
    return case.scenario(
        a_topic(name, configs={"max.message.bytes": 4321}),
        alter_configs(name, {key: value}, name="alter"),
        described(case, name),
        expect=all_of(
            by_release(
                {
                    "1.0-2.8": code.is_(
                        ErrorCode.INVALID_CONFIG if unknown else ErrorCode.INVALID_REQUEST
                    ),
                    "3.9+": code.is_(ErrorCode.INVALID_CONFIG),
                }
            ),
            answer("configs", VALUES).contains("4321"),
        ),
    )


@claim(
    "configs.unknown-topics-cannot-be-altered",
    evidence=("KIP-133",),
    api="AlterConfigs",
    versions=only("AlterConfigs", 0),
    releases="2.8+",
)
def test_unknown_topics_cannot_be_altered(case):
    """AlterConfigs of a topic that does not exist answers UNKNOWN_TOPIC_OR_PARTITION."""
    return case.scenario(
        alter_configs(case.topic(), {"retention.ms": "1000"}, name="alter"),
        expect=answer("alter", ALTERED).is_(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    )


@claim(
    "configs.alterations-can-be-tried",
    evidence=("KIP-133",),
    api="AlterConfigs",
    versions=only("AlterConfigs", 0),
)
def test_alterations_can_be_tried(case):
    """AlterConfigs with validate_only answers no error and changes nothing."""
    name = case.topic()
    return case.scenario(
        a_topic(name, configs={"retention.ms": 77_000_000}),
        alter_configs(name, {"cleanup.policy": "compact"}, validate_only=True, name="alter"),
        described(case, name),
        expect=all_of(
            answer("alter", ALTERED).is_(ErrorCode.NONE),
            answer("configs", VALUES).contains("delete"),
            answer("configs", VALUES).contains("77000000"),
        ),
    )


@claim(
    "configs.changes-reach-a-topic-in-use",
    evidence=("DYN-10",),
    api="AlterConfigs",
    versions=only("AlterConfigs", 0),
)
def test_changes_reach_a_topic_in_use(case):
    """Produce of a batch larger than a max.message.bytes that AlterConfigs lowered answers
    MESSAGE_TOO_LARGE, without a restart."""
    name = case.topic()
    batch = Records({"magic": 2, "records": [b"x" * 200], "timestamp": Now()})
    return case.scenario(
        a_topic(name),
        produce(name, 0, batch, name="before"),
        alter_configs(name, {"max.message.bytes": 100}, name="alter"),
        Until(
            produce(name, 0, batch, name="after"),
            "responses[0].partition_responses[0].error_code", "==", ErrorCode.MESSAGE_TOO_LARGE,
        ),
        expect=all_of(
            answer("before", "responses[0].partition_responses[0].error_code").is_(ErrorCode.NONE),
            answer("alter", ALTERED).is_(ErrorCode.NONE),
            answer("after", "responses[0].partition_responses[0].error_code").is_(
                ErrorCode.MESSAGE_TOO_LARGE
            ),
        ),
    )  # fmt: skip


@claim(
    "configs.brokers-could-not-be-altered-at-first",
    evidence=("DYN-17",),
    api="AlterConfigs",
    versions=only("AlterConfigs", 0),
    releases="1.0",
)
def test_brokers_could_not_be_altered_at_first(case):
    """AlterConfigs of a broker answers INVALID_REQUEST on 1.0."""
    return case.scenario(
        alter_configs("0", {"log.retention.hours": "1"}, kind=BROKER, name="alter"),
        expect=answer("alter", ALTERED).is_(ErrorCode.INVALID_REQUEST),
    )


@claim(
    "configs.increments-touch-only-what-they-name",
    evidence=("KIP-339",),
    api="IncrementalAlterConfigs",
    versions=every("IncrementalAlterConfigs"),
)
def test_increments_touch_only_what_they_name(case):
    """IncrementalAlterConfigs sets and deletes the configs that it names and keeps the others."""
    name = case.topic()
    changes = [("retention.ms", DELETE, None), ("compression.type", SET, "gzip")]
    return case.scenario(
        a_topic(name, configs={"retention.ms": 77_000_000, "max.message.bytes": 4321}),
        incremental_alter_configs(name, changes, version=case.version, name="alter"),
        Until(described(case, name), VALUES, "contains", "gzip"),
        expect=all_of(
            answer("alter", ALTERED).is_(ErrorCode.NONE),
            answer("configs", VALUES).contains("604800000"),
            answer("configs", VALUES).contains("4321"),
        ),
    )


@claim(
    "configs.lists-can-grow-and-shrink",
    evidence=("KIP-339",),
    api="IncrementalAlterConfigs",
    versions=only("IncrementalAlterConfigs", 0),
)
def test_lists_can_grow_and_shrink(case):
    """IncrementalAlterConfigs with APPEND adds an element to a list (since 3.9 only if the list
    lacks it), and SUBTRACT removes one."""
    name = case.topic()
    twice = "compact,compact" if case.release == "2.8" else "compact"
    shown = {"appended": "delete,compact", "subtracted": "compact", "appended again": twice}

    def alter(operation, value, step):
        change = [("cleanup.policy", operation, value)]
        return incremental_alter_configs(name, change, version=0, name=step)

    def configs(step, value):
        step = described(case, name, "cleanup.policy", name=step)
        return Until(step, "results[0].configs[0].value", "==", value)

    return case.scenario(
        a_topic(name),
        alter(APPEND, "compact", "append"),
        configs("appended", "delete,compact"),
        alter(SUBTRACT, "delete", "subtract"),
        configs("subtracted", "compact"),
        alter(APPEND, "compact", "again"),
        configs("appended again", "compact,compact" if case.release == "2.8" else "compact"),
        expect=all_of(
            *(
                answer(step, "results[0].configs[0].value").is_(value)
                for step, value in shown.items()
            ),
            answer("append", ALTERED).is_(ErrorCode.NONE),
            answer("again", ALTERED).is_(ErrorCode.NONE),
            answer("subtract", ALTERED).is_(ErrorCode.NONE),
        ),
    )


@claim(
    "configs.bad-increments-are-refused",
    evidence=("KIP-339", "observed on 2.8.2, 3.9.2 and 4.3.1"),
    api="IncrementalAlterConfigs",
    versions=only("IncrementalAlterConfigs", 0),
    fault=("no list", "null", "a config twice", "unknown name", "bad value", "unknown operation"),
)
def test_bad_increments_are_refused(case):
    """IncrementalAlterConfigs refuses APPEND to a config that is no list, a null value, a config
    named twice, an unknown config or operation and an invalid value, and changes nothing."""
    changes = {
        "no list": [("retention.ms", APPEND, "1")],
        "null": [("retention.ms", SET, None)],
        "a config twice": [("retention.ms", SET, "1"), ("retention.ms", DELETE, None)],
        "unknown name": [("no.such.config", SET, "1")],
        "bad value": [("cleanup.policy", SET, "sometimes")],
        "unknown operation": [("retention.ms", 9, "1")],
    }
    name, strange = case.topic(), case.fault == "unknown operation"
    return case.scenario(
        a_topic(name, configs={"max.message.bytes": 4321}),
        incremental_alter_configs(name, changes[case.fault], version=0, name="alter"),
        described(case, name),
        expect=all_of(
            answer("alter", ALTERED).is_one_of(
                *(
                    (ErrorCode.UNKNOWN_SERVER_ERROR,)
                    if strange
                    else (ErrorCode.INVALID_CONFIG, ErrorCode.INVALID_REQUEST)
                )
            ),
            answer("configs", VALUES).contains("4321"),
        ),
    )


@claim(
    "configs.a-resource-twice-in-one-request",
    evidence=("KIP-339", "observed on 2.8.2, 3.9.2 and 4.3.1"),
    api="IncrementalAlterConfigs",
    versions=only("IncrementalAlterConfigs", 0),
)
def test_a_resource_twice_in_one_request(case):
    """IncrementalAlterConfigs that names a topic twice answers INVALID_REQUEST for each entry on
    KRaft, and no error once on 2.8."""
    name = case.topic()
    one = incremental_alter_configs(name, [("retention.ms", SET, "1000")], version=0)
    return case.scenario(
        a_topic(name),
        together(one, one, name="alter"),
        expect=by_release(
            {
                "2.8": answer("alter", "responses[*].error_code").is_([ErrorCode.NONE]),
                "3.9+": answer("alter", "responses[*].error_code").is_(
                    [ErrorCode.INVALID_REQUEST, ErrorCode.INVALID_REQUEST]
                ),
            }
        ),
    )
