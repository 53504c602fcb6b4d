"""Version 0 of OffsetCommit and OffsetFetch, which knows nothing of groups.

Until 3.x brokers with a ZooKeeper kept such offsets there; the two stores never mix. Releases that
have none still list the version until 4.0 and refuse it.

Sources: KafkaApis.handleOffsetCommitRequest and handleOffsetFetchRequest at 1.0.2, 2.8.2, 3.9;
ZkUtils/KafkaZkClient (the paths); clauses OFFS-01, OFFS-02, OFFS-27.
"""

from touchstone.harness.model.claim import claim, only
from touchstone.harness.model.expect import all_of, answer, by_release
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.offsets import (
    CLUSTER,
    CODE,
    NOTHING,
    OFFSET,
    a_group,
    a_member,
    commit,
    fetch,
    part,
    rows,
)

COMMITS = {"api": "OffsetCommit", "versions": only("OffsetCommit", 0), "config": CLUSTER}
FETCHES = {"api": "OffsetFetch", "versions": only("OffsetFetch", 0), "config": CLUSTER}
WITH_IT = "1.0-2.8"
WITHOUT = "3.9"
SECOND = "topics[0].partitions[1].committed_offset"


def code(step, wanted):
    return answer(step, CODE).is_(wanted)


@claim(
    "offsets.version-0-is-kept-apart",
    evidence=("OFFS-01", "OFFS-02", "OFFS-27"),
    switches=("version-0-refused",),
    **COMMITS | {"releases": WITH_IT},
)
def test_version_0_is_kept_apart(case):
    """Offsets that OffsetCommit 0 stores in ZooKeeper are returned by OffsetFetch 0 only, and those
    of later versions by later versions only."""
    topic, group, steps = a_group(case)
    return case.scenario(
        steps,
        commit(group, topic, 5, version=0, name="ask"),
        fetch(group, topic, version=1, name="coordinator has none"),
        commit(group, topic, 6, 1, version=2, name="later"),
        fetch(group, topic, 0, 1, version=0, name="in zookeeper"),
        fetch(group, topic, 0, 1, version=1, name="at the coordinator"),
        expect=all_of(
            code("ask", ErrorCode.NONE),
            answer("coordinator has none", OFFSET).is_(NOTHING),
            answer("in zookeeper", OFFSET).is_(5),
            answer("at the coordinator", OFFSET).is_(NOTHING),
            answer("at the coordinator", SECOND).is_(6),
        ),
    )


@claim(
    "offsets.version-0-has-no-offset-without-an-error",
    evidence=("OFFS-02",),
    **FETCHES | {"releases": WITH_IT},
)
def test_version_0_has_no_offset_without_an_error(case):
    """OffsetFetch 0 answers UNKNOWN_TOPIC_OR_PARTITION for a partition without an offset and for
    one that does not exist."""
    topic, group, steps = a_group(case)
    return case.scenario(
        steps,
        commit(group, topic, 5, version=0, name="sent"),
        fetch(group, topic, 1, 9, version=0, name="ask"),
        fetch(group, case.topic("strange"), version=0, name="strange"),
        expect=all_of(
            code("ask", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
            code("strange", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ),
    )


@claim(
    "offsets.version-0-asks-no-coordinator",
    evidence=("OFFS-01",),
    **COMMITS | {"releases": WITH_IT},
)
def test_version_0_asks_no_coordinator(case):
    """OffsetCommit 0 is stored whatever members the group has."""
    topic, group, steps = a_group(case)
    return case.scenario(
        steps,
        a_member(group),
        commit(group, topic, 5, version=0, name="ask"),
        fetch(group, topic, version=0, name="after"),
        expect=all_of(code("ask", ErrorCode.NONE), answer("after", OFFSET).is_(5)),
    )


@claim(
    "offsets.version-0-checks-topics-and-metadata",
    evidence=("OFFS-03", "OFFS-16"),
    **COMMITS | {"releases": WITH_IT},
)
def test_version_0_checks_topics_and_metadata(case):
    """OffsetCommit 0 answers UNKNOWN_TOPIC_OR_PARTITION for an unknown topic and
    OFFSET_METADATA_TOO_LARGE for too long metadata, and stores the others."""
    topic, group, steps = a_group(case)
    sent = [part(5, committed_metadata="m" * 4097), part(6, 1, committed_metadata="m"), part(7, 9)]
    return case.scenario(
        steps,
        rows(group, [(topic, sent)], version=0, name="ask"),
        commit(group, case.topic("strange"), version=0, name="strange"),
        fetch(group, topic, 0, 1, 9, version=0, name="after"),
        expect=all_of(
            answer("ask", "topics[0].partitions[*].error_code").contains(
                ErrorCode.OFFSET_METADATA_TOO_LARGE
            ),
            code("strange", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
            answer("after", SECOND).is_(6),
        ),
    )


@claim("offsets.version-0-replaces", evidence=("OFFS-01",), **COMMITS | {"releases": WITH_IT})
def test_version_0_replaces(case):
    """A later OffsetCommit 0 replaces an earlier one, even with a smaller offset."""
    topic, group, steps = a_group(case)
    return case.scenario(
        steps,
        commit(group, topic, 9, version=0, name="first"),
        commit(group, topic, 4, version=0, name="ask"),
        fetch(group, topic, version=0, name="after"),
        expect=answer("after", OFFSET).is_(4),
    )


@claim(
    "offsets.version-0-needs-a-zookeeper",
    evidence=("OFFS-01", "OFFS-02"),
    **COMMITS | {"releases": WITHOUT},
)
def test_version_0_needs_a_zookeeper(case):
    """OffsetCommit 0 and OffsetFetch 0 answer UNSUPPORTED_VERSION on a broker without ZooKeeper,
    although ApiVersions lists them."""
    topic, group, steps = a_group(case)
    return case.scenario(
        steps,
        commit(group, topic, version=0, name="ask"),
        fetch(group, topic, version=0, name="after"),
        expect=by_release({WITHOUT: all_of(
            code("ask", ErrorCode.UNSUPPORTED_VERSION), code("after", ErrorCode.UNSUPPORTED_VERSION)
        )}),
    )  # fmt: skip


@claim(
    "offsets.version-0-cannot-be-fetched-without-a-zookeeper",
    evidence=("OFFS-02",),
    **FETCHES | {"releases": WITHOUT},
)
def test_version_0_cannot_be_fetched_without_a_zookeeper(case):
    """OffsetFetch 0 on a broker without ZooKeeper answers UNSUPPORTED_VERSION for each partition,
    known or not."""
    topic, group, steps = a_group(case)
    return case.scenario(
        steps,
        fetch(group, topic, 0, 9, version=0, name="ask"),
        fetch(group, case.topic("strange"), version=0, name="strange"),
        expect=all_of(
            code("ask", ErrorCode.UNSUPPORTED_VERSION),
            code("strange", ErrorCode.UNSUPPORTED_VERSION),
        ),
    )
