"""What a client may do is told as bits, to whoever asks for them (KIP-430).

Sources: KafkaApis.authorizedOperations at 2.8.2 to 4.3.1, AuthHelper, AclEntry.supportedOperations.
"""

from touchstone.harness.model.claim import claim, only, range_
from touchstone.harness.model.expect import all_of, answer
from touchstone.harness.model.scenario import Ask
from touchstone.harness.model.steps import a_topic
from touchstone.suites.kit import groups, offsets
from touchstone.suites.kit.rights import ALLOWED, connected, principal
from touchstone.suites.kit.security import (
    ALTER,
    CLUSTER,
    CLUSTER_NAME,
    CREATE,
    DELETE,
    DESCRIBE,
    GROUP,
    READ,
    TOPIC,
    WRITE,
    acl,
    authorizer,
    granted,
)


def _bits(*operations):
    return sum(1 << operation for operation in operations)


def _granted(case, kind, resource, *operations):
    who = principal(case.release, ALLOWED)
    acls = [acl(kind, resource, operation, who) for operation in operations]
    return [granted(case.release, *acls), connected(case.release, ALLOWED)]


@claim(
    "authorizer.topics-tell-what-one-may-do",
    evidence=("KIP-430",),
    api="Metadata",
    versions=only("Metadata", 8),
    switches=("all-operations-told",),
)
def test_topics_tell_what_one_may_do(case):
    """Metadata that is asked for them tells the operations on a topic that its client may do, with
    those that they imply."""
    topic = case.topic()
    body = {
        "topics": [{"name": topic}],
        "allow_auto_topic_creation": False,
        "include_cluster_authorized_operations": False,
        "include_topic_authorized_operations": True,
    }
    return case.scenario(
        a_topic(topic),
        _granted(case, TOPIC, topic, READ, WRITE),
        Ask("Metadata", case.version, body, "asked", ALLOWED),
        expect=answer("asked", "topics[0].topic_authorized_operations").is_(
            _bits(READ, WRITE, DESCRIBE)
        ),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.groups-tell-what-one-may-do",
    evidence=("KIP-430",),
    api="DescribeGroups",
    versions=only("DescribeGroups", 3),
)
def test_groups_tell_what_one_may_do(case):
    """DescribeGroups that is asked for them tells the operations on a group that its client may do,
    with those that they imply."""
    topic, group, made = offsets.a_group(case)
    return case.scenario(
        made,
        offsets.commit(group, topic, name="commit"),
        _granted(case, GROUP, group, DELETE),
        groups.describe(
            group, version=case.version, operations=True, connection=ALLOWED, name="asked"
        ),
        expect=answer("asked", "groups[0].authorized_operations").is_(_bits(DELETE, DESCRIBE)),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.the-cluster-tells-what-one-may-do",
    evidence=("KIP-430", "observed on 4.3.1"),
    api="DescribeCluster",
    versions=range_("DescribeCluster", 0),
)
def test_the_cluster_tells_what_one_may_do(case):
    """DescribeCluster that is asked for them tells the operations on the cluster that its client
    may do, with those that they imply."""
    body = {"include_cluster_authorized_operations": True, "endpoint_type": 1}
    return case.scenario(
        _granted(case, CLUSTER, CLUSTER_NAME, CREATE, ALTER),
        Ask("DescribeCluster", case.version, body, "asked", ALLOWED),
        expect=all_of(
            answer("asked", "cluster_authorized_operations").is_(_bits(CREATE, ALTER, DESCRIBE))
        ),
        config=authorizer(case.release),
    )
