"""What it takes to keep the offsets of a group, and to see them: the group and the topic.

Sources: KafkaApis.handleOffsetCommitRequest, handleOffsetFetchRequest at 1.0.2 to 4.3.1; KIP-11;
clause OFFS-03.
"""

from touchstone.harness.model.claim import claim, only
from touchstone.harness.model.expect import all_of, answer
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit import offsets
from touchstone.suites.kit.rights import ALLOWED, DENIED, WITHOUT, also, asked, rights, said
from touchstone.suites.kit.security import (
    DESCRIBE,
    GROUP,
    READ,
    TOPIC,
    authorizer,
)

GROUP_REFUSED = ErrorCode.GROUP_AUTHORIZATION_FAILED
TOPIC_REFUSED = ErrorCode.TOPIC_AUTHORIZATION_FAILED


@claim(
    "authorizer.offset-commit-needs-the-group",
    evidence=("OFFS-03", "KIP-11"),
    api="OffsetCommit",
    versions=only("OffsetCommit", 3),
)
def test_offset_commit_needs_the_group(case):
    """OffsetCommit answers GROUP_AUTHORIZATION_FAILED for each partition where its client may
    READ the topic and not the group."""
    topic, group, made = offsets.a_group(case)
    return case.scenario(
        made,
        also(case, TOPIC, topic, READ),
        rights(case, GROUP, group, READ),
        asked(lambda who: offsets.commit(group, topic, version=case.version, **who)),
        expect=said("topics[0].partitions[0].error_code", GROUP_REFUSED),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.offset-commit-needs-the-topic",
    evidence=("OFFS-03", "KIP-11"),
    api="OffsetCommit",
    versions=only("OffsetCommit", 3),
)
def test_offset_commit_needs_the_topic(case):
    """OffsetCommit answers TOPIC_AUTHORIZATION_FAILED for the partitions of a topic that its
    client may not READ, although it may READ the group."""
    topic, group, made = offsets.a_group(case)
    return case.scenario(
        made,
        also(case, GROUP, group, READ),
        rights(case, TOPIC, topic, READ),
        asked(lambda who: offsets.commit(group, topic, version=case.version, **who)),
        expect=said("topics[0].partitions[0].error_code", TOPIC_REFUSED),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.offset-fetch-needs-the-group",
    evidence=("KIP-11", "observed on 1.0.2", "observed on 4.3.1"),
    api="OffsetFetch",
    versions=only("OffsetFetch", 3),
)
def test_offset_fetch_needs_the_group(case):
    """OffsetFetch answers GROUP_AUTHORIZATION_FAILED for a group that its client may not
    DESCRIBE, although it may DESCRIBE the topic."""
    topic, group, made = offsets.a_group(case)
    path = offsets.fetched("error_code", case.version)
    return case.scenario(
        made,
        also(case, TOPIC, topic, DESCRIBE),
        rights(case, GROUP, group, DESCRIBE),
        asked(lambda who: offsets.fetch(group, topic, 0, version=case.version, **who)),
        expect=said(path, GROUP_REFUSED),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.offset-fetch-needs-the-topic",
    evidence=("KIP-11", "observed on 1.0.2", "observed on 4.3.1"),
    api="OffsetFetch",
    versions=only("OffsetFetch", 3),
)
def test_offset_fetch_needs_the_topic(case):
    """OffsetFetch answers TOPIC_AUTHORIZATION_FAILED for the partitions of a topic that its
    client may not DESCRIBE, although it may DESCRIBE the group."""
    topic, group, made = offsets.a_group(case)
    path = offsets.fetched("topics[0].partitions[0].error_code", case.version)
    return case.scenario(
        made,
        also(case, GROUP, group, DESCRIBE),
        rights(case, TOPIC, topic, DESCRIBE),
        asked(lambda who: offsets.fetch(group, topic, 0, version=case.version, **who)),
        expect=said(path, TOPIC_REFUSED),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.offset-fetch-of-all-leaves-out-forbidden-topics",
    evidence=("KIP-11", "observed on 1.0.2", "observed on 4.3.1"),
    api="OffsetFetch",
    versions=only("OffsetFetch", 3),
)
def test_offset_fetch_of_all_leaves_out_forbidden_topics(case):
    """OffsetFetch of all topics of a group leaves out those that its client may not
    DESCRIBE."""
    topic, group, made = offsets.a_group(case)
    told = offsets.fetched("topics", case.version)
    return case.scenario(
        made,
        offsets.commit(group, topic, name="commit"),
        also(case, GROUP, group, DESCRIBE),
        rights(case, TOPIC, topic, DESCRIBE),
        asked(lambda who: offsets.fetch(group, version=case.version, **who)),
        expect=all_of(
            answer(WITHOUT, told).is_([]),
            answer(DENIED, told).is_([]),
            answer(ALLOWED, told).has_length(1),
        ),
        config=authorizer(case.release),
    )
