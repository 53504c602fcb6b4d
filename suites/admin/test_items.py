"""What an admin client says of each item, asks again, and waits for (KIP-4)."""

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, answer, client
from touchstone.harness.model.steps import metadata
from touchstone.suites.kit.admins import creates, does
from touchstone.suites.kit.clients import A, a_topic, admin, fault, spoil

DONE = {"name": "admin_result"}
SHORT = {"request.timeout.ms": 1000, "default.api.timeout.ms": 1500}


@claim("admin.each-new-topic-has-its-own-result", evidence=("KIP-4",), role="client",
       switches=("items-alike",))  # fmt: skip
def test_each_new_topic_has_its_own_result(case):
    """Of two topics that are created together the one that exists has TOPIC_ALREADY_EXISTS, and the
    other one is made.
    """
    old, new = case.topic("old"), case.topic("new")
    return case.scenario(
        a_topic(old),
        admin(),
        creates(old, new),
        metadata(new, name="after"),
        expect=all_of(
            client("item", operation="create_topics", item=old).is_("TOPIC_ALREADY_EXISTS"),
            client("item", operation="create_topics", item=new).is_(""),
            answer("after", "topics[0].error_code").is_(0),
        ),
    )


@claim("admin.each-deleted-topic-has-its-own-result", evidence=("KIP-4",), role="client",
       switches=("items-alike",))  # fmt: skip
def test_each_deleted_topic_has_its_own_result(case):
    """Of two topics that are deleted together the one that does not exist has
    UNKNOWN_TOPIC_OR_PARTITION, and the other one is deleted.
    """
    here, gone = case.topic("here"), case.topic("gone")
    return case.scenario(
        a_topic(here),
        admin(),
        does("delete_topics", topics=[here, gone]),
        metadata(here, name="after"),
        expect=all_of(
            client("item", operation="delete_topics", item=here).is_(""),
            client("item", operation="delete_topics", item=gone).is_("UNKNOWN_TOPIC_OR_PARTITION"),
            answer("after", "topics[0].error_code").is_(3),
        ),
    )


@claim("admin.a-topic-is-created-with-its-settings", evidence=("KIP-4",), role="client",
       switches=("settings-dropped",))  # fmt: skip
def test_a_topic_is_created_with_its_settings(case):
    """CreateTopics carries the settings that the application gives a new topic."""
    topic = case.topic()
    row = {"name": topic, "partitions": 1, "configs": {"retention.ms": "1234567"}}
    asked = {"api": "CreateTopics", "path": "topics[*].configs[*].value"}
    return case.scenario(
        admin(),
        creates(row),
        expect=all_of(
            client("codes", **DONE).is_([""]), client("asked", **asked).is_([[["1234567"]]])
        ),
    )


@claim("admin.a-check-creates-nothing", evidence=("KIP-4",), role="client",
       switches=("checks-become-deeds",))  # fmt: skip
def test_a_check_creates_nothing(case):
    """A creation that is only to be validated says so, and no topic appears."""
    topic = case.topic()
    return case.scenario(
        admin(),
        creates(topic, validate_only=True),
        metadata(topic, name="after"),
        expect=all_of(
            client("codes", **DONE).is_([""]),
            client("asked", api="CreateTopics", path="validate_only").is_([True]),
            answer("after", "topics[0].error_code").is_(3),
        ),
        config={"auto.create.topics.enable": "false"},
    )


@claim("admin.partitions-are-added", evidence=("KIP-195",), role="client",
       switches=("deletes-nothing",))  # fmt: skip
def test_partitions_are_added(case):
    """An admin client that wants three partitions of a topic names that total, and gets them."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        admin(),
        does("create_partitions", topic=topic, count=3),
        metadata(topic, name="after"),
        expect=all_of(
            client("codes", **DONE).is_([""]),
            client("asked", api="CreatePartitions", path="topics[*].count").is_([[3]]),
            answer("after", "topics[0].partitions").has_length(3),
        ),
    )


@claim("admin.a-throttled-creation-is-asked-again", evidence=("KIP-599",), role="client",
       releases="2.8+", switches=("admin-errors-invented",))  # fmt: skip
def test_a_throttled_creation_is_asked_again(case):
    """A CreateTopics that is answered THROTTLING_QUOTA_EXCEEDED is asked again, and the topic is
    made.
    """
    topic = case.topic()
    return case.scenario(
        admin(),
        fault("CreateTopics", "THROTTLING_QUOTA_EXCEEDED", 1),
        creates(topic),
        expect=all_of(
            client("codes", **DONE).is_([""]), client("count", api="CreateTopics").is_(2)
        ),
    )


@claim("admin.an-operation-ends-in-time", evidence=("KIP-4",), role="client",
       switches=("admin-errors-swallowed",))  # fmt: skip
def test_an_operation_ends_in_time(case):
    """An operation that meets a passing error for longer than default.api.timeout.ms fails with a
    timeout.
    """
    topic = case.topic()
    return case.scenario(
        admin(config=SHORT),
        fault("CreateTopics", "NOT_CONTROLLER", None),
        creates(topic),
        expect=client("codes", **DONE).is_(["REQUEST_TIMED_OUT"]),
    )


@claim("admin.a-lost-connection-is-made-anew", evidence=("KIP-4",), role="client",
       switches=("admin-errors-invented",))  # fmt: skip
def test_a_lost_connection_is_made_anew(case):
    """An admin client whose connection ends before the answer asks again on another one."""
    topic = case.topic()
    return case.scenario(
        admin(),
        spoil("close", "CreateTopics", carried_out=False),
        creates(topic),
        metadata(topic, name="after"),
        expect=all_of(
            client("codes", **DONE).is_([""]),
            client("count", api="CreateTopics", client=A).is_(2),
            answer("after", "topics[0].error_code").is_(0),
        ),
    )
