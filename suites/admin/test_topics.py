"""What an admin client does about topics, and what it reports."""

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, answer, client
from touchstone.harness.model.steps import list_offsets, metadata
from touchstone.suites.kit.clients import A, Change, Hear, Tell, a_topic, admin, fault, stored


def _does(operation, **fields):
    """One operation and its result."""
    return [
        Tell("admin", A, {"operation": operation} | fields, name=operation),
        Hear("admin_result", A, name=f"{operation} is done"),
    ]


def _creates(topic, partitions=1):
    return _does("create_topics", topics=[{"name": topic, "partitions": partitions}])


@claim("admin.a-topic-is-created-as-asked", evidence=("KIP-4",), role="client",
       switches=("one-partition-more",))  # fmt: skip
def test_a_topic_is_created_as_asked(case):
    """An admin client that creates a topic of three partitions reports no error, and has it."""
    topic = case.topic()
    return case.scenario(
        admin(),
        _creates(topic, 3),
        metadata(topic, name="after"),
        expect=all_of(
            client("codes", name="admin_result").is_([""]),
            answer("after", "topics[0].partitions").has_length(3),
        ),
    )


@claim("admin.a-topic-that-exists-is-reported", evidence=("KIP-4",), role="client",
       switches=("admin-errors-swallowed",))  # fmt: skip
def test_a_topic_that_exists_is_reported(case):
    """An admin client that creates a topic which exists reports TOPIC_ALREADY_EXISTS."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        admin(),
        _creates(topic),
        expect=client("codes", name="admin_result").is_(["TOPIC_ALREADY_EXISTS"]),
    )


@claim("admin.another-controller-is-looked-up", evidence=("KIP-4",), role="client",
       switches=("admin-errors-invented",))  # fmt: skip
def test_another_controller_is_looked_up(case):
    """An admin client whose CreateTopics meets NOT_CONTROLLER asks again, and the topic is made."""
    topic = case.topic()
    return case.scenario(
        admin(),
        fault("CreateTopics", "NOT_CONTROLLER", 1),
        _creates(topic),
        metadata(topic, name="after"),
        expect=all_of(
            client("codes", name="admin_result").is_([""]),
            client("count", api="CreateTopics").is_(2),
            answer("after", "topics[0].error_code").is_(0),
        ),
    )


@claim("admin.a-refusal-is-reported", evidence=("KIP-4",), role="client",
       switches=("admin-errors-swallowed",),
       error=("TOPIC_AUTHORIZATION_FAILED", "POLICY_VIOLATION",
              "INVALID_REPLICATION_FACTOR"))  # fmt: skip
def test_a_refusal_is_reported(case):
    """An admin client reports the error that CreateTopics answers for its topic."""
    topic = case.topic()
    return case.scenario(
        admin(),
        fault("CreateTopics", case.error, None),
        _creates(topic),
        expect=client("codes", name="admin_result").is_([case.error]),
    )


@claim("admin.a-topic-is-deleted", evidence=("KIP-4",), role="client",
       switches=("deletes-nothing",))  # fmt: skip
def test_a_topic_is_deleted(case):
    """An admin client that deletes a topic asks DeleteTopics, and reports no error."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        admin(),
        _does("delete_topics", topics=[topic]),
        expect=all_of(
            client("codes", name="admin_result").is_([""]),
            client("count", api="DeleteTopics").is_(1),
        ),
    )


@claim("admin.a-topic-that-is-not-there-is-reported", evidence=("KIP-4",), role="client",
       switches=("admin-errors-swallowed",))  # fmt: skip
def test_a_topic_that_is_not_there_is_reported(case):
    """An admin client that deletes a topic which does not exist reports so."""
    topic = case.topic()
    return case.scenario(
        admin(),
        _does("delete_topics", topics=[topic]),
        expect=client("codes", name="admin_result").is_(["UNKNOWN_TOPIC_OR_PARTITION"]),
    )


@claim("admin.topics-are-listed", evidence=("KIP-4",), role="client",
       switches=("lists-nothing",))  # fmt: skip
def test_topics_are_listed(case):
    """An admin client lists the topics that there are, and asks for all of them."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        admin(),
        _does("list_topics"),
        expect=client("listed").contains(topic),
    )


@claim("admin.fewer-partitions-are-refused", evidence=("KIP-195",), role="client",
       switches=("admin-errors-swallowed",))  # fmt: skip
def test_fewer_partitions_are_refused(case):
    """An admin client that wants fewer partitions than there are reports INVALID_PARTITIONS."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic, 3),
        admin(),
        _does("create_partitions", topic=topic, count=2),
        expect=client("codes", name="admin_result").is_(["INVALID_PARTITIONS"]),
    )


@claim("admin.records-are-deleted-at-their-leader", evidence=("KIP-107",), role="client",
       switches=("deletes-nothing",))  # fmt: skip
def test_records_are_deleted_at_their_leader(case):
    """An admin client that deletes records below offset 2 moves the start of the log there."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        stored(topic, "a", "b", "c"),
        admin(),
        _does("delete_records", topic=topic, partition=0, offset=2),
        list_offsets(topic, 0, timestamp=-2, name="start"),
        expect=all_of(
            client("codes", name="admin_result").is_([""]),
            answer("start", "topics[0].partitions[0].offset").is_(2),
        ),
    )


@claim("admin.unknown-tagged-fields-are-passed-over", evidence=("KIP-482",), role="client",
       switches=("admin-errors-invented",))  # fmt: skip
def test_unknown_tagged_fields_are_passed_over(case):
    """An admin client reads a CreateTopics answer with tagged fields that it does not know."""
    topic = case.topic()
    return case.scenario(
        Change("CreateTopics", "_tags", {90: b"from the future"}, times=0),
        Change("CreateTopics", "topics[*]._tags", {90: b"from the future"}, times=0),
        admin(),
        _creates(topic),
        expect=client("codes", name="admin_result").is_([""]),
    )
