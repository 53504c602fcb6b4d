"""What it takes to see topics, to make, alter and delete them.

Sources: KafkaApis.handleTopicMetadataRequest, handleCreateTopicsRequest, handleDeleteTopicsRequest,
handleCreatePartitionsRequest, handleDescribeConfigsRequest, handleAlterConfigsRequest at 1.0.2 to
4.3.1; KIP-11, KIP-277; clause META-10.
"""

from touchstone.harness.model.claim import claim, only, range_
from touchstone.harness.model.expect import all_of, answer
from touchstone.harness.model.scenario import Ask, TopicId
from touchstone.harness.model.steps import (
    SET,
    a_topic,
    alter_configs,
    create_partitions,
    create_topic,
    delete_topic,
    describe_configs,
    incremental_alter_configs,
    metadata,
)
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.rights import ALLOWED, DENIED, WITHOUT, asked, rights, said, shown
from touchstone.suites.kit.security import (
    ALTER,
    ALTER_CONFIGS,
    CREATE,
    DELETE,
    DESCRIBE,
    DESCRIBE_CONFIGS,
    TOPIC,
    authorizer,
)

REFUSED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
CONFIG = "retention.ms"


@claim(
    "authorizer.metadata-of-a-topic-needs-describe",
    evidence=("META-10", "KIP-11"),
    api="Metadata",
    versions=only("Metadata", 4),
)
def test_metadata_of_a_topic_needs_describe(case):
    """Metadata answers TOPIC_AUTHORIZATION_FAILED, and no partitions, for a topic that is named
    and that its client may not DESCRIBE."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        rights(case, TOPIC, topic, DESCRIBE),
        asked(lambda who: metadata(topic, version=case.version, **who)),
        expect=said(
            "topics[0].error_code",
            REFUSED,
            ErrorCode.NONE,
            answer(WITHOUT, "topics[0].partitions").is_([]),
        ),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.unknown-topics-look-like-forbidden-ones",
    evidence=("META-10", "KIP-11"),
    api="Metadata",
    versions=only("Metadata", 4),
    switches=("unknown-topics-told",),
)
def test_unknown_topics_look_like_forbidden_ones(case):
    """Metadata answers TOPIC_AUTHORIZATION_FAILED for a topic that its client may not DESCRIBE,
    whether there is such a topic or not."""
    topic = case.topic()
    unknown = case.topic("unknown")
    return case.scenario(
        a_topic(topic),
        rights(case, TOPIC, topic, DESCRIBE),
        asked(lambda who: metadata(topic, unknown, version=case.version, **who)),
        expect=all_of(
            answer(WITHOUT, "topics[*].error_code").each_is(REFUSED),
            answer(DENIED, "topics[*].error_code").each_is(REFUSED),
            answer(ALLOWED, "topics[*].error_code").contains(REFUSED),
        ),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.metadata-of-all-leaves-out-forbidden-topics",
    evidence=("META-10", "KIP-11"),
    api="Metadata",
    versions=only("Metadata", 4),
    switches=("forbidden-topics-listed",),
)
def test_metadata_of_all_leaves_out_forbidden_topics(case):
    """Metadata of all topics leaves out those that its client may not DESCRIBE, without a
    word."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        rights(case, TOPIC, topic, DESCRIBE),
        asked(lambda who: metadata(every=True, version=case.version, **who)),
        expect=shown("topics[*].name", topic),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.create-topics-needs-create",
    evidence=("KIP-277",),
    api="CreateTopics",
    releases="2.2+",
    versions=only("CreateTopics", 2),
)
def test_create_topics_needs_create(case):
    """CreateTopics answers TOPIC_AUTHORIZATION_FAILED for a topic that its client may not
    CREATE, neither by its name nor on the cluster."""
    topic = case.topic()
    return case.scenario(
        rights(case, TOPIC, topic, CREATE),
        asked(lambda who: create_topic(topic, version=case.version, **who)),
        expect=said("topics[0].error_code", REFUSED),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.create-topics-needs-the-cluster-in-1-0",
    evidence=("KIP-277", "observed on 1.0.2"),
    api="CreateTopics",
    releases="1.0",
    versions=only("CreateTopics", 2),
)
def test_create_topics_needs_the_cluster_in_1_0(case):
    """CreateTopics answers CLUSTER_AUTHORIZATION_FAILED to whoever may not CREATE on the
    cluster, although that one may CREATE the topic."""
    topic = case.topic()
    refused = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    return case.scenario(
        rights(case, TOPIC, topic, CREATE),
        asked(lambda who: create_topic(topic, version=case.version, **who)),
        expect=said("topics[0].error_code", refused, refused),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.delete-topics-needs-delete",
    evidence=("KIP-11", "observed on 1.0.2", "observed on 4.3.1"),
    api="DeleteTopics",
    versions=only("DeleteTopics", 1),
)
def test_delete_topics_needs_delete(case):
    """DeleteTopics answers TOPIC_AUTHORIZATION_FAILED for a topic that its client may not
    DELETE."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        rights(case, TOPIC, topic, DELETE),
        asked(lambda who: delete_topic(topic, version=case.version, **who)),
        expect=said("responses[0].error_code", REFUSED),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.deletions-by-id-do-not-tell-the-name",
    evidence=("observed on 2.8.2", "observed on 4.3.1"),
    api="DeleteTopics",
    versions=only("DeleteTopics", 6),
)
def test_deletions_by_id_do_not_tell_the_name(case):
    """DeleteTopics by id answers TOPIC_AUTHORIZATION_FAILED, without the name of the topic, to
    whoever may not DESCRIBE it."""
    topic = case.topic()
    rows = [{"name": None, "topic_id": TopicId(topic)}]
    body = {"topics": rows, "timeout_ms": 5000}
    return case.scenario(
        a_topic(topic),
        rights(case, TOPIC, topic, DELETE),
        asked(lambda who: Ask("DeleteTopics", case.version, body, **who)),
        expect=said(
            "responses[0].error_code",
            REFUSED,
            ErrorCode.NONE,
            answer(WITHOUT, "responses[0].name").is_(None),
        ),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.create-partitions-needs-alter",
    evidence=("KIP-11", "observed on 1.0.2", "observed on 4.3.1"),
    api="CreatePartitions",
    versions=only("CreatePartitions", 0),
)
def test_create_partitions_needs_alter(case):
    """CreatePartitions answers TOPIC_AUTHORIZATION_FAILED for a topic that its client may not
    ALTER."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        rights(case, TOPIC, topic, ALTER),
        asked(lambda who: create_partitions(topic, 2, version=case.version, **who)),
        expect=said("results[0].error_code", REFUSED),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.describe-configs-needs-describe-configs",
    evidence=("KIP-11", "observed on 1.0.2", "observed on 4.3.1"),
    api="DescribeConfigs",
    versions=range_("DescribeConfigs", 0, 1),
    switches=("configs-unguarded",),
)
def test_describe_configs_needs_describe_configs(case):
    """DescribeConfigs answers TOPIC_AUTHORIZATION_FAILED, and no configs, for a topic whose
    client may not DESCRIBE_CONFIGS of it."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        rights(case, TOPIC, topic, DESCRIBE_CONFIGS),
        asked(lambda who: describe_configs(topic, CONFIG, version=case.version, **who)),
        expect=said(
            "results[0].error_code",
            REFUSED,
            ErrorCode.NONE,
            answer(WITHOUT, "results[0].configs").is_([]),
        ),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.alter-configs-needs-alter-configs",
    evidence=("KIP-11", "observed on 1.0.2", "observed on 4.3.1"),
    api="AlterConfigs",
    versions=only("AlterConfigs", 0),
)
def test_alter_configs_needs_alter_configs(case):
    """AlterConfigs answers TOPIC_AUTHORIZATION_FAILED for a topic whose client may not
    ALTER_CONFIGS of it."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        rights(case, TOPIC, topic, ALTER_CONFIGS),
        asked(lambda who: alter_configs(topic, {CONFIG: 100_000}, version=case.version, **who)),
        expect=said("responses[0].error_code", REFUSED),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.incremental-alter-configs-needs-alter-configs",
    evidence=("KIP-11", "observed on 2.8.2", "observed on 4.3.1"),
    api="IncrementalAlterConfigs",
    versions=only("IncrementalAlterConfigs", 1),
)
def test_incremental_alter_configs_needs_alter_configs(case):
    """IncrementalAlterConfigs answers TOPIC_AUTHORIZATION_FAILED for a topic whose client may
    not ALTER_CONFIGS of it."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        rights(case, TOPIC, topic, ALTER_CONFIGS),
        asked(
            lambda who: incremental_alter_configs(
                topic, [(CONFIG, SET, "100000")], version=case.version, **who
            )
        ),
        expect=said("responses[0].error_code", REFUSED),
        config=authorizer(case.release),
    )
