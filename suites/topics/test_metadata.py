"""Metadata and DescribeTopicPartitions: which topics there are, and who serves them.

Sources: KIP-78 (cluster id), KIP-430 (authorized operations), KIP-516 (topic ids), KIP-966
(DescribeTopicPartitions); KafkaApis.handleTopicMetadataRequest; clauses META-08 to META-10.
"""

from touchstone.harness.model.claim import claim, every, only, range_
from touchstone.harness.model.expect import all_of, answer
from touchstone.harness.model.placeholders import Ref
from touchstone.harness.model.scenario import Ask
from touchstone.harness.model.steps import a_topic, create_topic, metadata, topic_ready
from touchstone.reference_impl.wire.errors import ErrorCode

CODE = "topics[0].error_code"
NOBODYS_ID = bytes(range(16))
NOT_ASKED = -(1 << 31)


@claim(
    "metadata.says-who-serves-a-topic",
    evidence=("META-08", "KIP-78"),
    api="Metadata",
    versions=every("Metadata"),
)
def test_says_who_serves_a_topic(case):
    """Metadata of a topic returns its partitions with leader, replicas and ISR, and the brokers."""
    name = case.topic()
    return case.scenario(
        a_topic(name, 2),
        metadata(name, version=case.version, name="ask"),
        expect=all_of(
            answer("ask", "brokers").has_length(1),
            answer("ask", CODE).is_(ErrorCode.NONE),
            answer("ask", "topics[0].name").is_(name),
            answer("ask", "topics[0].partitions").has_length(2),
            answer("ask", "topics[0].partitions[*].leader_id").each_is(0),
            answer("ask", "topics[0].partitions[*].replica_nodes").each_is(0),
            answer("ask", "topics[0].partitions[*].isr_nodes").each_is(0),
        ),
    )


@claim(
    "metadata.an-empty-list-means-all-at-first-and-then-none",
    evidence=("META-09",),
    api="Metadata",
    versions=range_("Metadata", 0),
    where=lambda row: row["version"] in (0, 1, 9),
)
def test_an_empty_list_means_all_at_first_and_then_none(case):
    """Metadata with an empty list of topics returns all topics in version 0 and none since version
    1."""
    name = case.topic()
    topics = answer("ask", "topics[*].name")
    body = {"topics": [], "allow_auto_topic_creation": False}
    return case.scenario(
        a_topic(name),
        Ask("Metadata", case.version, body, name="ask"),
        expect=topics.contains(name) if case.version == 0 else topics.is_([]),
    )


@claim(
    "metadata.null-means-all-topics",
    evidence=("META-09",),
    api="Metadata",
    versions=range_("Metadata", 1),
    where=lambda row: row["version"] in (1, 9),
)
def test_null_means_all_topics(case):
    """Metadata with topics=null returns every topic."""
    one, two = case.topic("one"), case.topic("two")
    return case.scenario(
        a_topic(one),
        a_topic(two),
        metadata(every=True, version=case.version, name="ask"),
        expect=all_of(
            answer("ask", "topics[*].name").contains(one),
            answer("ask", "topics[*].name").contains(two),
        ),
    )


@claim(
    "metadata.unknown-topics-are-named-as-such",
    evidence=("META-10",),
    api="Metadata",
    versions=range_("Metadata", 4),
)
def test_unknown_topics_are_named_as_such(case):
    """Metadata answers UNKNOWN_TOPIC_OR_PARTITION for a topic that does not exist and no error for
    the others."""
    there, missing = case.topic("there"), case.topic("missing")
    return case.scenario(
        a_topic(there),
        metadata(missing, there, version=case.version, name="ask"),
        expect=all_of(
            answer("ask", "topics[*].error_code").contains(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
            answer("ask", "topics[*].error_code").contains(ErrorCode.NONE),
        ),
    )


@claim(
    "metadata.a-topic-asked-for-twice-is-answered-once",
    evidence=("META-08", "observed on 1.0.2, 2.2.1, 2.8.2, 3.9.2 and 4.3.1"),
    api="Metadata",
    versions=only("Metadata", 4),
)
def test_a_topic_asked_for_twice_is_answered_once(case):
    """Metadata returns one entry for a topic that the request names twice, whether the topic exists
    or not."""
    there, missing = case.topic("there"), case.topic("missing")
    return case.scenario(
        a_topic(there),
        metadata(there, missing, there, missing, name="ask"),
        expect=answer("ask", "topics").has_length(2),
    )


@claim(
    "metadata.ids-find-topics",
    evidence=("KIP-516", "META-08"),
    api="Metadata",
    versions=range_("Metadata", 12),
)
def test_ids_find_topics(case):
    """Metadata returns a topic by its id since version 12; an unknown id answers UNKNOWN_TOPIC_ID
    with a null name."""
    name = case.topic()
    return case.scenario(
        create_topic(name, version=7, name="create"),
        topic_ready(name),
        metadata(ids=[Ref("create", "topics[0].topic_id")], version=case.version, name="ask"),
        metadata(ids=[NOBODYS_ID], version=case.version, name="unknown"),
        expect=all_of(
            answer("ask", CODE).is_(ErrorCode.NONE),
            answer("ask", "topics[0].name").is_(name),
            answer("unknown", CODE).is_(ErrorCode.UNKNOWN_TOPIC_ID),
            answer("unknown", "topics[0].name").is_(None),
        ),
    )


@claim(
    "metadata.ids-came-with-version-12",
    evidence=("KIP-516", "observed on 2.8.2, 3.9.2 and 4.3.1"),
    api="Metadata",
    versions=range_("Metadata", 10, 11),
)
def test_ids_came_with_version_12(case):
    """Metadata 10 and 11 answers INVALID_REQUEST for a topic id, although their schema has the
    field."""
    name = case.topic()
    body = {
        "topics": [{"name": name, "topic_id": Ref("create", "topics[0].topic_id")}],
        "allow_auto_topic_creation": False,
    }
    return case.scenario(
        create_topic(name, version=7, name="create"),
        topic_ready(name),
        Ask("Metadata", case.version, body, name="ask"),
        expect=answer("ask", CODE).is_(ErrorCode.INVALID_REQUEST),
    )


@claim(
    "metadata.authorized-operations-are-told-when-asked-for",
    evidence=("KIP-430",),
    api="Metadata",
    versions=range_("Metadata", 8),
    where=lambda row: row["version"] in (8, 10, 12),
)
def test_authorized_operations_are_told_when_asked_for(case):
    """Metadata since version 8 returns the authorized operations of a topic if the request asks for
    them, and -2147483648 otherwise."""
    name = case.topic()
    body = {
        "topics": [{"name": name}],
        "allow_auto_topic_creation": False,
        "include_cluster_authorized_operations": True,
        "include_topic_authorized_operations": True,
    }
    return case.scenario(
        a_topic(name),
        metadata(name, version=case.version, name="not asked"),
        Ask("Metadata", case.version, body, name="asked"),
        expect=all_of(
            answer("not asked", "topics[0].topic_authorized_operations").is_(NOT_ASKED),
            answer("asked", "topics[0].topic_authorized_operations").at_least(1),
        ),
    )


def partitions_of(*topics, limit=2000, cursor=None, name="ask"):
    """DescribeTopicPartitions of these topics."""
    body = {
        "topics": [{"name": topic} for topic in topics],
        "response_partition_limit": limit,
        "cursor": cursor,
    }
    return Ask("DescribeTopicPartitions", 0, body, name=name)


@claim(
    "metadata.topic-partitions-are-described",
    evidence=("KIP-966",),
    api="DescribeTopicPartitions",
    versions=every("DescribeTopicPartitions"),
)
def test_topic_partitions_are_described(case):
    """DescribeTopicPartitions returns a topic without an error and UNKNOWN_TOPIC_OR_PARTITION for
    one that does not exist."""
    there, missing = case.topic("there"), case.topic("missing")
    return case.scenario(
        a_topic(there, 3),
        partitions_of(there, missing),
        expect=all_of(
            answer("ask", "topics[*].error_code").contains(ErrorCode.NONE),
            answer("ask", "topics[*].error_code").contains(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
            answer("ask", "next_cursor").is_(None),
        ),
    )


@claim(
    "metadata.topic-partitions-come-in-pages",
    evidence=("KIP-966",),
    api="DescribeTopicPartitions",
    versions=every("DescribeTopicPartitions"),
)
def test_topic_partitions_come_in_pages(case):
    """DescribeTopicPartitions returns at most response_partition_limit partitions and a cursor from
    which the next request goes on."""
    name = case.topic()
    return case.scenario(
        a_topic(name, 3),
        partitions_of(name, limit=2, name="first"),
        partitions_of(
            name, limit=2, cursor={"topic_name": name, "partition_index": 2}, name="second"
        ),
        expect=all_of(
            answer("first", "topics[0].partitions[*].partition_index").is_([0, 1]),
            answer("first", "next_cursor.topic_name").is_(name),
            answer("first", "next_cursor.partition_index").is_(2),
            answer("second", "topics[0].partitions[*].partition_index").is_([2]),
            answer("second", "next_cursor").is_(None),
        ),
    )
