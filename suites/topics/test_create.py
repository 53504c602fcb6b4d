"""CreateTopics: what is made, and that making is asked for once.

Sources: KIP-4 (the API), KIP-464 (-1 means the default), KIP-516 (topic ids), KIP-525 (the made
topic's size and configs in the answer); clauses TOPIC-07, TOPIC-09, TOPIC-34.
"""

from dataclasses import replace

from touchstone.harness.model.claim import claim, every, only, range_
from touchstone.harness.model.expect import all_of, answer, by_release
from touchstone.harness.model.placeholders import Ref
from touchstone.harness.model.scenario import Until
from touchstone.harness.model.steps import (
    a_topic,
    create_partitions,
    create_topic,
    delete_topic,
    describe_configs,
    metadata,
    together,
    topic_gone,
    topic_ready,
)
from touchstone.reference_impl.wire.errors import ErrorCode

WITH_IDS = 7


@claim(
    "topics.created-topics-can-be-used",
    evidence=("TOPIC-34", "KIP-4", "KIP-525"),
    api="CreateTopics",
    versions=every("CreateTopics"),
)
def test_created_topics_can_be_used(case):
    """CreateTopics answers no error for each topic, and each then has leaders for as many
    partitions as the request asks for."""
    one, two = case.topic("one"), case.topic("two")
    return case.scenario(
        together(
            create_topic(one, version=case.version),
            create_topic(two, 3, configs={"retention.ms": 9_000_000}, version=case.version),
            name="create",
        ),
        topic_ready(one),
        topic_ready(two, 3),
        metadata(one, two, name="after"),
        expect=all_of(
            answer("create", "topics[*].error_code").each_is(ErrorCode.NONE),
            answer("after", "topics[*].partitions[*].error_code").is_one_of(
                [[ErrorCode.NONE], [ErrorCode.NONE] * 3],
                [[ErrorCode.NONE] * 3, [ErrorCode.NONE]],
            ),
        ),
    )


@claim(
    "topics.existing-topics-are-not-made-again",
    evidence=("TOPIC-34",),
    api="CreateTopics",
    versions=only("CreateTopics", 2),
)
def test_existing_topics_are_not_made_again(case):
    """CreateTopics of a topic that exists answers TOPIC_ALREADY_EXISTS with the name in its
    message, and the topic keeps its partitions."""
    name = case.topic()
    return case.scenario(
        a_topic(name),
        create_topic(name, 2, version=case.version, name="again"),
        metadata(name, name="after"),
        expect=all_of(
            answer("again", "topics[0].error_code").is_(ErrorCode.TOPIC_ALREADY_EXISTS),
            answer("again", "topics[0].error_message").matches(r"Topic '.*' already exists\."),
            answer("after", "topics[0].partitions").has_length(1),
        ),
    )


@claim(
    "topics.a-topic-twice-in-one-request-is-refused",
    evidence=("TOPIC-34",),
    api="CreateTopics",
    versions=only("CreateTopics", 2),
)
def test_a_topic_twice_in_one_request_is_refused(case):
    """CreateTopics answers INVALID_REQUEST for a topic that it names twice and creates the
    others."""
    twice, once = case.topic("twice"), case.topic("once")
    return case.scenario(
        together(create_topic(twice), create_topic(once), create_topic(twice, 2), name="create"),
        topic_ready(once),
        metadata(twice, name="after"),
        expect=all_of(
            answer("create", "topics[*].error_code").contains(ErrorCode.INVALID_REQUEST),
            answer("create", "topics[*].error_code").contains(ErrorCode.NONE),
            answer("after", "topics[0].error_code").is_(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ),
    )


@claim(
    "topics.validate-only-creates-nothing",
    evidence=("TOPIC-34", "KIP-4"),
    api="CreateTopics",
    versions=range_("CreateTopics", 1),
    where=lambda row: row["version"] in (1, 2, 5, 7),
    switches=("validate-only-creates",),
)
def test_validate_only_creates_nothing(case):
    """CreateTopics with validate_only returns the errors that it would return otherwise and creates
    no topic."""
    good, bad = case.topic("good"), case.topic("bad")
    return case.scenario(
        together(
            create_topic(good, 2, version=case.version, validate_only=True),
            create_topic(bad, 0, version=case.version),
            name="create",
        ),
        metadata(good, bad, name="after"),
        expect=all_of(
            answer("create", "topics[*].error_code").contains(ErrorCode.NONE),
            answer("create", "topics[*].error_code").contains(ErrorCode.INVALID_PARTITIONS),
            answer("after", "topics[*].error_code").each_is(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ),
    )


@claim(
    "topics.no-time-to-wait-still-creates",
    evidence=("TOPIC-34", "observed on 1.0.2, 2.2.1 and 2.8.2"),
    api="CreateTopics",
    versions=only("CreateTopics", 2),
    releases="1.0-2.8",
    timeout_ms=(0, -1),
)
def test_no_time_to_wait_still_creates(case):
    """CreateTopics with a timeout of 0 or less answers REQUEST_TIMED_OUT and creates the topic all
    the same."""
    name = case.topic()
    return case.scenario(
        create_topic(name, 2, timeout_ms=case.timeout_ms, name="create"),
        topic_ready(name, 2),
        metadata(name, name="after"),
        expect=all_of(
            answer("create", "topics[0].error_code").is_(ErrorCode.REQUEST_TIMED_OUT),
            answer("after", "topics[0].error_code").is_(ErrorCode.NONE),
            answer("after", "topics[0].partitions").has_length(2),
        ),
    )


@claim(
    "topics.minus-one-means-the-brokers-default",
    evidence=("KIP-464",),
    api="CreateTopics",
    versions=range_("CreateTopics", 2, 5),
    where=lambda row: row["version"] in (2, 5),
)
def test_minus_one_means_the_brokers_default(case):
    """CreateTopics with -1 partitions and replication factor -1 uses the broker's defaults; before
    2.4 it answers INVALID_PARTITIONS."""
    name, told = case.topic(), ("num_partitions", "replication_factor")
    defaults = [answer("create", f"topics[0].{each}").is_(1) for each in told if case.version >= 5]
    return case.scenario(
        create_topic(name, -1, -1, version=case.version, name="create"),
        expect=by_release(
            {
                "1.0-2.2": answer("create", "topics[0].error_code").is_(
                    ErrorCode.INVALID_PARTITIONS
                ),
                "2.8+": all_of(
                    answer("create", "topics[0].error_code").is_(ErrorCode.NONE), *defaults
                ),
            }
        ),
    )


@claim(
    "topics.assignments-are-kept",
    evidence=("TOPIC-09",),
    api="CreateTopics",
    versions=range_("CreateTopics", 2),
    where=lambda row: row["version"] in (2, 7),
)
def test_assignments_are_kept(case):
    """CreateTopics with a manual assignment creates one partition for each entry, with the replicas
    that the entry names."""
    name = case.topic()
    return case.scenario(
        create_topic(name, assignments={1: [0], 0: [0]}, version=case.version, name="create"),
        topic_ready(name, 2),
        metadata(name, name="after"),
        expect=all_of(
            answer("create", "topics[0].error_code").is_(ErrorCode.NONE),
            answer("after", "topics[0].partitions[*].replica_nodes").is_([[0], [0]]),
        ),
    )


@claim(
    "topics.configs-given-are-kept",
    evidence=("KIP-4", "KIP-133"),
    api="CreateTopics",
    versions=only("CreateTopics", 2),
)
def test_configs_given_are_kept(case):
    """DescribeConfigs returns the configs with which CreateTopics created the topic."""
    name = case.topic()
    given = {"cleanup.policy": "compact", "max.message.bytes": 4321, "retention.ms": -1}
    return case.scenario(
        create_topic(name, configs=given, name="create"),
        topic_ready(name),
        describe_configs(name, *given, version=1, name="configs")
        if case.release != "1.0"
        else describe_configs(name, *given, version=0, name="configs"),
        expect=all_of(
            answer("create", "topics[0].error_code").is_(ErrorCode.NONE),
            answer("configs", "results[0].configs[*].value").contains("compact"),
            answer("configs", "results[0].configs[*].value").contains("4321"),
            answer("configs", "results[0].configs[*].value").contains("-1"),
        ),
    )


@claim(
    "topics.a-new-topic-has-a-new-id",
    evidence=("KIP-516",),
    releases="2.8+",
    switches=("topic-id-reused",),
)
def test_a_new_topic_has_a_new_id(case):
    """A topic that is deleted and created again under its name has another topic id."""
    name = case.topic()
    return case.scenario(
        create_topic(name, version=WITH_IDS, name="first"),
        topic_ready(name),
        delete_topic(name, name="delete"),
        topic_gone(name),
        Until(
            create_topic(name, version=WITH_IDS, name="second"),
            "topics[0].error_code",
            "==",
            ErrorCode.NONE,
        ),
        expect=answer("second", "topics[0].topic_id").is_not(Ref("first", "topics[0].topic_id")),
    )


@claim(
    "topics.an-empty-request-is-answered",
    evidence=("KIP-4", "observed on 1.0.2, 2.2.1, 2.8.2, 3.9.2 and 4.3.1"),
    apis=("CreateTopics", "DeleteTopics", "CreatePartitions"),
)
def test_an_empty_request_is_answered(case):
    """CreateTopics, DeleteTopics and CreatePartitions without a topic answer with an empty list."""
    steps = {
        "CreateTopics": (create_topic("x"), "topics"),
        "DeleteTopics": (delete_topic("x"), "responses"),
        "CreatePartitions": (create_partitions("x", 1), "results"),
    }
    step, rows = steps[case.apis]
    empty = {key: [] if isinstance(value, list) else value for key, value in step.body.items()}
    return case.scenario(
        replace(step, body=empty, name="nothing"),
        expect=answer("nothing", rows).has_length(0),
    )
