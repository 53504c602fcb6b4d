"""DeleteTopics: by name, and since version 6 by id.

Sources: KIP-4, KIP-516 (ids, version 6), KIP-599 (messages, version 5); AdminManager (1.0.2),
ReplicationControlManager (3.9.2); clause TOPIC-35.
"""

from touchstone.harness.model.claim import claim, every, only
from touchstone.harness.model.expect import all_of, answer, by_release
from touchstone.harness.model.placeholders import Ref
from touchstone.harness.model.scenario import Ask, Until
from touchstone.harness.model.steps import (
    a_topic,
    create_topic,
    delete_topic,
    metadata,
    together,
    topic_gone,
    topic_ready,
)
from touchstone.reference_impl.wire.errors import ErrorCode

BY_ID = 6
NO_ID, NOBODYS_ID = bytes(16), bytes(range(16))


def by_id(*entries):
    """DeleteTopics of these (name, id)."""
    rows = [{"name": name, "topic_id": topic_id} for name, topic_id in entries]
    return Ask("DeleteTopics", BY_ID, {"topics": rows, "timeout_ms": 5000}, name="delete")


@claim(
    "topics.deleted-topics-are-gone",
    evidence=("TOPIC-35", "KIP-4"),
    api="DeleteTopics",
    versions=every("DeleteTopics"),
)
def test_deleted_topics_are_gone(case):
    """DeleteTopics answers no error for each topic, and Metadata then reports each as unknown."""
    one, two = case.topic("one"), case.topic("two")
    return case.scenario(
        a_topic(one),
        a_topic(two, 3),
        together(
            delete_topic(one, version=case.version), delete_topic(two, version=case.version),
            name="delete",
        ),
        topic_gone(one),
        topic_gone(two),
        expect=all_of(
            answer("delete", "responses[*].error_code").each_is(ErrorCode.NONE),
            answer("gone one", "topics[0].error_code").is_(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
            answer("gone two", "topics[0].error_code").is_(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ),
    )  # fmt: skip


@claim(
    "topics.unknown-topics-cannot-be-deleted",
    evidence=("TOPIC-35",),
    api="DeleteTopics",
    versions=every("DeleteTopics"),
    where=lambda row: row["version"] in (1, 5, 6),
)
def test_unknown_topics_cannot_be_deleted(case):
    """DeleteTopics of a topic that does not exist answers UNKNOWN_TOPIC_OR_PARTITION, whether its
    name is legal or not."""
    there, missing = case.topic("there"), case.topic("missing")
    return case.scenario(
        a_topic(there),
        together(
            delete_topic(missing, version=case.version),
            delete_topic("no topic at all", version=case.version),
            delete_topic("", version=case.version),
            name="delete",
        ),
        metadata(there, name="after"),
        expect=answer("delete", "responses[*].error_code").each_is(
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        ),
    )


@claim(
    "topics.deleted-topics-can-be-made-again",
    evidence=("TOPIC-35",),
    api="DeleteTopics",
    versions=only("DeleteTopics", 1),
)
def test_deleted_topics_can_be_made_again(case):
    """CreateTopics can reuse the name of a deleted topic, and the new topic has its own number of
    partitions."""
    name = case.topic()
    return case.scenario(
        a_topic(name, 3),
        delete_topic(name, name="delete"),
        topic_gone(name),
        Until(create_topic(name, 2, name="again"), "topics[0].error_code", "==", ErrorCode.NONE),
        topic_ready(name, 2, again=" again"),
        metadata(name, name="after"),
        expect=answer("after", "topics[0].partitions").has_length(2),
    )


@claim(
    "topics.a-topic-twice-in-one-deletion",
    evidence=("TOPIC-35", "observed on 1.0.2, 2.2.1, 2.8.2, 3.9.2 and 4.3.1"),
    api="DeleteTopics",
    versions=only("DeleteTopics", 1),
)
def test_a_topic_twice_in_one_deletion(case):
    """DeleteTopics that names a topic twice deletes it on releases with ZooKeeper and answers
    INVALID_REQUEST on KRaft."""
    name = case.topic()
    codes = answer("delete", "responses[*].error_code")
    return case.scenario(
        a_topic(name),
        together(delete_topic(name), delete_topic(name), name="delete"),
        expect=by_release(
            {
                "1.0-2.8": codes.each_is(ErrorCode.NONE),
                "3.9+": codes.each_is(ErrorCode.INVALID_REQUEST),
            }
        ),
    )


@claim(
    "topics.no-time-to-wait-still-deletes",
    evidence=("TOPIC-35", "observed on 1.0.2, 2.2.1 and 2.8.2"),
    api="DeleteTopics",
    versions=only("DeleteTopics", 1),
    releases="1.0-2.8",
    timeout_ms=(0, -1),
)
def test_no_time_to_wait_still_deletes(case):
    """DeleteTopics with a timeout of 0 or less answers REQUEST_TIMED_OUT and deletes the topic all
    the same."""
    name = case.topic()
    return case.scenario(
        a_topic(name),
        delete_topic(name, timeout_ms=case.timeout_ms, name="delete"),
        topic_gone(name),
        expect=all_of(
            answer("delete", "responses[0].error_code").is_(ErrorCode.REQUEST_TIMED_OUT),
            answer("gone topic", "topics[0].error_code").is_(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ),
    )


@claim(
    "topics.ids-delete-topics",
    evidence=("KIP-516",),
    api="DeleteTopics",
    versions=only("DeleteTopics", BY_ID),
)
def test_ids_delete_topics(case):
    """DeleteTopics by topic id deletes the topic and returns its name and id."""
    name = case.topic()
    return case.scenario(
        create_topic(name, version=7, name="create"),
        topic_ready(name),
        by_id((None, Ref("create", "topics[0].topic_id"))),
        topic_gone(name),
        expect=all_of(
            answer("delete", "responses[0].error_code").is_(ErrorCode.NONE),
            answer("delete", "responses[0].name").is_(name),
            answer("delete", "responses[0].topic_id").is_(Ref("create", "topics[0].topic_id")),
        ),
    )


@claim(
    "topics.unknown-ids-delete-nothing",
    evidence=("KIP-516",),
    api="DeleteTopics",
    versions=only("DeleteTopics", BY_ID),
)
def test_unknown_ids_delete_nothing(case):
    """DeleteTopics of an unknown topic id answers UNKNOWN_TOPIC_ID."""
    return case.scenario(
        by_id((None, NOBODYS_ID)),
        expect=answer("delete", "responses[0].error_code").is_(ErrorCode.UNKNOWN_TOPIC_ID),
    )


@claim(
    "topics.deletions-give-a-name-or-an-id",
    evidence=("KIP-516", "observed on 2.8.2, 3.9.2 and 4.3.1"),
    api="DeleteTopics",
    versions=only("DeleteTopics", BY_ID),
    given=("both", "neither"),
)
def test_deletions_give_a_name_or_an_id(case):
    """DeleteTopics with both a name and a topic id answers INVALID_REQUEST, and so does one with
    neither (on 2.8 another error)."""
    name = case.topic()
    rows = {"both": (name, Ref("create", "topics[0].topic_id")), "neither": (None, NO_ID)}
    codes = answer("delete", "responses[*].error_code")
    return case.scenario(
        create_topic(name, version=7, name="create"),
        topic_ready(name),
        by_id(rows[case.given]),
        expect=by_release(
            {
                "2.8": codes.each_is(
                    ErrorCode.INVALID_REQUEST
                    if case.given == "both"
                    else ErrorCode.TOPIC_AUTHORIZATION_FAILED  # nobody may see a nameless topic
                ),
                "3.9+": codes.each_is(ErrorCode.INVALID_REQUEST),
            }
        ),
    )
