"""OffsetCommit of a group without members: what is kept, what is refused, in which order.

Sources: KafkaApis.handleOffsetCommitRequest and GroupMetadataManager.storeOffsets at 1.0.2, 2.2.1,
2.8.2; OffsetMetadataManager at 4.3; KIP-320 (leader epochs), KIP-848 (v9), KIP-1108 (v10).
"""

from touchstone.harness.model.claim import OBSERVED, claim, range_
from touchstone.harness.model.expect import all_of, answer, by_release
from touchstone.harness.model.scenario import Await
from touchstone.harness.model.steps import a_topic
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.in_flight import sent
from touchstone.suites.kit.offsets import (
    CLUSTER,
    FIRST_BY_ID,
    FIRST_WITH_MEMBER,
    NOTHING,
    OFFSET,
    a_group,
    commit,
    describe,
    fetch,
    part,
    rows,
    serving,
)

TO_GROUPS = {
    "api": "OffsetCommit",
    "versions": range_("OffsetCommit", 1),
    "config": CLUSTER,
}
ALL_CODES = "topics[0].partitions[*].error_code"
LIMIT = 4096  # offset.metadata.max.bytes
NEWER = "4.3+"


def see(case, group, *partitions):
    """The observing fetch, of the version that names what a commit of this version keeps."""
    return fetch(group, case.topic(), *partitions, version=5 if case.release != "1.0" else 3,
                 name="after")  # fmt: skip


def code_of(step, partition=0, topic=0):
    return answer(step, f"topics[{topic}].partitions[{partition}].error_code")


def kept(offset, partition=0):
    return answer("after", f"topics[0].partitions[{partition}].committed_offset").is_(offset)


@claim(
    "offsets.commits-are-fetched",
    evidence=("OFFS-05", "OFFS-10", "OFFS-17", "OFFS-21"),
    switches=("committed-offset-off-by-one",),
    **TO_GROUPS,
)
def test_commits_are_fetched(case):
    """OffsetCommit without a generation creates the group, and OffsetFetch returns its offset and
    metadata."""
    topic, group, steps = a_group(case)
    fields = {"committed_metadata": "where I was"}
    return case.scenario(
        steps,
        commit(group, topic, 7, fields=fields, version=case.version, name="ask"),
        see(case, group, 0, 1),
        expect=all_of(
            code_of("ask").is_(ErrorCode.NONE),
            kept(7),
            answer("after", "topics[0].partitions[0].metadata").is_("where I was"),
            kept(NOTHING, 1),
        ),
    )


@claim(
    "offsets.metadata-of-commits-is-kept",
    evidence=("OFFS-21", "OFFS-22"),
    switches=("commit-metadata-lost",),
    text=("", "plain", "längst verbraucht", "消费组", "😀"),
    full=True,
    **TO_GROUPS | {"versions": range_("OffsetCommit", 2, 2)},
)
def test_metadata_of_commits_is_kept(case):
    """OffsetFetch returns the metadata of a commit as it was sent, whatever characters it
    contains."""
    topic, group, steps = a_group(case)
    fields = {"committed_metadata": case.text}
    return case.scenario(
        steps,
        commit(group, topic, 7, fields=fields, version=case.version, name="ask"),
        fetch(group, topic, name="after"),
        expect=answer("after", "topics[0].partitions[0].metadata").is_(case.text),
    )


@claim("offsets.null-metadata-is-empty", evidence=("OFFS-21",), **TO_GROUPS)
def test_null_metadata_is_empty(case):
    """OffsetFetch returns empty metadata for an offset that was committed with null metadata."""
    topic, group, steps = a_group(case)
    return case.scenario(
        steps,
        commit(group, topic, fields={"committed_metadata": None}, version=case.version, name="ask"),
        fetch(group, topic, name="after"),
        expect=all_of(
            code_of("ask").is_(ErrorCode.NONE),
            answer("after", "topics[0].partitions[0].metadata").is_(""),
        ),
    )


@claim(
    "offsets.metadata-of-commits-has-a-limit",
    evidence=("OFFS-16",),
    switches=("commit-metadata-unlimited",),
    **TO_GROUPS,
)
def test_metadata_of_commits_has_a_limit(case):
    """OffsetCommit answers OFFSET_METADATA_TOO_LARGE for a partition with more than 4096 characters
    of metadata and stores the others."""
    topic, group, steps = a_group(case, 3)
    sent = [
        part(5, 0, committed_metadata="m" * (LIMIT + 1)),
        part(6, 1, committed_metadata="m" * LIMIT),
        part(7, 2),
    ]
    return case.scenario(
        steps,
        rows(group, [(topic, sent)], version=case.version, name="ask"),
        fetch(group, topic, 0, 1, 2, name="after"),
        expect=all_of(
            answer("ask", ALL_CODES).contains(ErrorCode.OFFSET_METADATA_TOO_LARGE),
            kept(NOTHING, 0),
            kept(6, 1),
            kept(7, 2),
        ),
    )


@claim(
    "offsets.metadata-of-commits-is-counted-in-java-chars",
    evidence=("OFFS-16",),
    **TO_GROUPS | {"versions": range_("OffsetCommit", 2, 2)},
)
def test_metadata_of_commits_is_counted_in_java_chars(case):
    """OffsetCommit counts metadata in UTF-16 units: 4096 characters of one unit fit, 2049
    characters of two units are OFFSET_METADATA_TOO_LARGE."""
    topic, group, steps = a_group(case)
    sent = [
        part(5, 0, committed_metadata="ü" * LIMIT),
        part(6, 1, committed_metadata="😀" * (LIMIT // 2 + 1)),
    ]
    return case.scenario(
        steps,
        rows(group, [(topic, sent)], version=case.version, name="ask"),
        fetch(group, topic, 0, 1, name="after"),
        expect=all_of(
            answer("ask", ALL_CODES).contains(ErrorCode.OFFSET_METADATA_TOO_LARGE),
            kept(5, 0),
            kept(NOTHING, 1),
        ),
    )


@claim("offsets.unknown-topics-are-not-committed", evidence=("OFFS-03",), **TO_GROUPS)
def test_unknown_topics_are_not_committed(case):
    """OffsetCommit of a topic that does not exist answers UNKNOWN_TOPIC_OR_PARTITION, or
    UNKNOWN_TOPIC_ID where the request names it by id."""
    topic, group, steps = a_group(case)
    by_id = case.version >= FIRST_BY_ID
    strange = b"\x01" * 16 if by_id else case.topic("strange")
    return case.scenario(
        steps,
        rows(group, [(topic, [part(7)])], version=case.version, name="known"),
        rows(group, [(strange, [part(8), part(9, 1)])], version=case.version, name="ask"),
        see(case, group),
        expect=all_of(
            answer("ask", "topics[*].partitions[*].error_code").each_is(
                ErrorCode.UNKNOWN_TOPIC_ID if by_id else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            ),
            kept(7),
        ),
    )


@claim("offsets.known-topics-are-committed-beside-unknown-ones", evidence=("OFFS-03",), **TO_GROUPS)
def test_known_topics_are_committed_beside_unknown_ones(case):
    """OffsetCommit of a known and an unknown topic stores the offset of the known one."""
    topic, group, steps = a_group(case)
    strange = b"\x01" * 16 if case.version >= FIRST_BY_ID else case.topic("strange")
    return case.scenario(
        steps,
        rows(group, [(strange, [part(8)]), (topic, [part(7)])], version=case.version, name="ask"),
        see(case, group),
        expect=all_of(answer("ask", "topics[*].partitions[*].error_code").has_length(2), kept(7)),
    )


@claim("offsets.partitions-of-commits-are-checked", evidence=("OFFS-03",), **TO_GROUPS)
def test_partitions_of_commits_are_checked(case):
    """OffsetCommit does not store an offset of a partition that its topic lacks (1.0 does); it
    stores the others."""
    topic, group, steps = a_group(case)
    sent = [part(8, 9), part(7, 1)]
    return case.scenario(
        steps,
        rows(group, [(topic, sent)], version=case.version, name="ask"),
        see(case, group, 1, 9),
        expect=all_of(
            kept(7, 0),
            by_release({"1.0": kept(8, 1), "2.2+": kept(NOTHING, 1)}),
        ),
    )


@claim(
    "offsets.generations-of-no-group-are-refused",
    evidence=("OFFS-05", "OFFS-06", "KIP-848"),
    generation=(0, 5),
    full=True,
    **TO_GROUPS,
)
def test_generations_of_no_group_are_refused(case):
    """OffsetCommit with a generation for a group that does not exist answers ILLEGAL_GENERATION, or
    GROUP_ID_NOT_FOUND since version 9 on 4.x, and stores nothing."""
    topic, group, steps = a_group(case)
    newer = (
        ErrorCode.GROUP_ID_NOT_FOUND
        if case.version >= FIRST_WITH_MEMBER
        else ErrorCode.ILLEGAL_GENERATION
    )
    return case.scenario(
        steps,
        commit(
            group, topic, generation=case.generation, member="m", version=case.version, name="ask"
        ),
        see(case, group),
        expect=all_of(
            by_release(
                {
                    "1.0-3.9": code_of("ask").is_(ErrorCode.ILLEGAL_GENERATION),
                    NEWER: code_of("ask").is_(newer),
                }
            ),
            kept(NOTHING),
        ),
    )


@claim(
    "offsets.negative-generations-are-all-alike",
    evidence=("OFFS-05", "OFFS-10"),
    level=OBSERVED,
    generation=(-1, -2, -100),
    member=("", "somebody"),
    **TO_GROUPS,
)
def test_negative_generations_are_all_alike(case):
    """OffsetCommit with any negative generation is stored for a group without members, whatever its
    member id."""
    topic, group, steps = a_group(case)
    return case.scenario(
        steps,
        commit(
            group, topic, generation=case.generation, member=case.member, version=case.version,
            name="ask",
        ),
        see(case, group),
        expect=all_of(code_of("ask").is_(ErrorCode.NONE), kept(7)),
    )  # fmt: skip


@claim(
    "offsets.leader-epochs-of-commits-are-kept",
    evidence=("KIP-320", "OFFS-22"),
    switches=("commit-leader-epoch-lost", "fetch-by-name-omits-leader-epoch"),
    epoch=(-1, 0, 3),
    full=True,
    **TO_GROUPS | {"versions": range_("OffsetCommit", 6), "releases": "2.2+"},
)
def test_leader_epochs_of_commits_are_kept(case):
    """OffsetFetch returns the leader epoch of a commit, whether the request names the partition or
    asks for all; -1 means none."""
    topic, group, steps = a_group(case)
    fields = {"committed_leader_epoch": case.epoch}
    return case.scenario(
        steps,
        commit(group, topic, 7, fields=fields, version=case.version, name="ask"),
        see(case, group),
        fetch(group, None, version=5, name="all"),
        expect=all_of(
            *(
                answer(step, "topics[0].partitions[0].committed_leader_epoch").is_(case.epoch)
                for step in ("after", "all")
            )
        ),
    )


@claim(
    "offsets.older-commits-have-no-leader-epoch",
    evidence=("KIP-320",),
    **TO_GROUPS | {"versions": range_("OffsetCommit", 1, 5), "releases": "2.2+"},
)
def test_older_commits_have_no_leader_epoch(case):
    """An OffsetCommit version without leader epochs resets the epoch of an earlier commit to -1."""
    topic, group, steps = a_group(case)
    return case.scenario(
        steps,
        commit(group, topic, fields={"committed_leader_epoch": 3}, version=6, name="newer"),
        commit(group, topic, 8, version=case.version, name="ask"),
        see(case, group),
        expect=answer("after", "topics[0].partitions[0].committed_leader_epoch").is_(-1),
    )


@claim("offsets.the-last-commit-counts", evidence=("OFFS-19",), **TO_GROUPS)
def test_the_last_commit_counts(case):
    """A later commit replaces an earlier one, even with a smaller offset."""
    topic, group, steps = a_group(case)
    return case.scenario(
        steps,
        commit(group, topic, 9, version=case.version, name="first"),
        commit(group, topic, 4, version=case.version, name="second"),
        see(case, group),
        expect=kept(4),
    )


@claim("offsets.commits-of-a-connection-keep-their-order", evidence=("OFFS-19",), **TO_GROUPS)
def test_commits_of_a_connection_keep_their_order(case):
    """Of several commits pipelined on one connection the last one is the one that OffsetFetch
    returns."""
    topic, group, steps = a_group(case)
    asked = [commit(group, topic, at, version=case.version, name=f"at {at}") for at in (3, 9, 5)]
    return case.scenario(
        steps,
        [sent(one) for one in asked],
        [Await(one.name) for one in asked],
        see(case, group),
        expect=kept(5),
    )


@claim(
    "offsets.a-partition-committed-twice-at-once",
    evidence=("OFFS-19",),
    level=OBSERVED,
    **TO_GROUPS,
)
def test_a_partition_committed_twice_at_once(case):
    """OffsetCommit that names a partition twice stores the offset of the second entry."""
    topic, group, steps = a_group(case)
    return case.scenario(
        steps,
        rows(group, [(topic, [part(3), part(9)])], version=case.version, name="ask"),
        see(case, group),
        expect=kept(9),
    )


@claim("offsets.commits-of-nothing", evidence=("OFFS-05",), level=OBSERVED, **TO_GROUPS)
def test_commits_of_nothing(case):
    """OffsetCommit without topics answers with no topics and creates no group."""
    _, group, steps = a_group(case)
    return case.scenario(
        steps,
        rows(group, [], version=case.version, name="ask"),
        describe(group, name="after"),
        expect=all_of(
            answer("ask", "topics").is_([]),
            answer("after", "groups[0].group_state").is_("Dead"),
        ),
    )


@claim("offsets.commits-without-partitions", evidence=("OFFS-05",), level=OBSERVED, **TO_GROUPS)
def test_commits_without_partitions(case):
    """OffsetCommit of a topic without partitions answers with no topics and creates no group."""
    topic, group, steps = a_group(case)
    return case.scenario(
        steps,
        rows(group, [(topic, [])], version=case.version, name="ask"),
        describe(group, name="after"),
        expect=all_of(
            answer("ask", "topics").has_length(0),
            answer("after", "groups[0].group_state").is_("Dead"),
        ),
    )


@claim("offsets.commits-of-several-topics", evidence=("OFFS-17",), **TO_GROUPS)
def test_commits_of_several_topics(case):
    """OffsetCommit stores the offsets of several partitions of several topics in one request."""
    topic, group, steps = a_group(case)
    other = case.topic("other")
    sent = [(topic, [part(5, 1), part(6)]), (other, [part(8)])]
    return case.scenario(
        steps,
        a_topic(other),
        rows(group, sent, version=case.version, name="ask"),
        fetch(group, topic, 0, 1, name="after"),
        fetch(group, other, name="other after"),
        expect=all_of(kept(6, 0), kept(5, 1), answer("other after", OFFSET).is_(8)),
    )


@claim("offsets.refused-rows-do-not-stop-others", evidence=("OFFS-03", "OFFS-16"), **TO_GROUPS)
def test_refused_rows_do_not_stop_others(case):
    """OffsetCommit stores the valid partitions of a request although others of it are refused."""
    topic, group, steps = a_group(case, 3)
    big = "m" * (LIMIT + 1)
    sent = [part(5, 2), part(6, 9), part(7, 1, committed_metadata=big), part(8, 0)]
    return case.scenario(
        steps,
        rows(group, [(topic, sent)], version=case.version, name="ask"),
        fetch(group, topic, 0, 1, 2, name="after"),
        expect=all_of(kept(8, 0), kept(NOTHING, 1), kept(5, 2)),
    )


@claim("offsets.odd-offsets-are-kept", evidence=("OFFS-17",), level=OBSERVED,
       offset=(0, -1, -2, 2**63 - 1), **TO_GROUPS)  # fmt: skip
def test_odd_offsets_are_kept(case):
    """OffsetCommit accepts any offset, negative or beyond the log end, and does not compare it with
    the log."""
    topic, group, steps = a_group(case)
    return case.scenario(
        steps,
        commit(group, topic, case.offset, version=case.version, name="ask"),
        see(case, group),
        expect=all_of(code_of("ask").is_(ErrorCode.NONE), kept(case.offset)),
    )


@claim("offsets.a-group-of-no-name", evidence=("OFFS-05",), level=OBSERVED, **TO_GROUPS)
def test_a_group_of_no_name(case):
    """OffsetCommit and OffsetFetch accept the empty group id for commits without a generation."""
    topic, group, steps = a_group(case)
    return case.scenario(
        steps,
        commit("", topic, version=case.version, name="ask"),
        fetch("", topic, name="after"),
        expect=all_of(code_of("ask").is_(ErrorCode.NONE), answer("after", OFFSET).is_(7)),
    )


@claim(
    "offsets.commits-found-an-empty-group",
    evidence=("OFFS-05", "OFFS-10", "GROUP-31"),
    **TO_GROUPS,
)
def test_commits_found_an_empty_group(case):
    """A group that only stores offsets is in state Empty."""
    topic, group, steps = a_group(case)
    return case.scenario(
        steps,
        describe(group, name="before"),
        commit(group, topic, version=case.version, name="ask"),
        describe(group, name="after"),
        expect=all_of(
            answer("before", "groups[0].group_state").is_("Dead"),
            answer("after", "groups[0].group_state").is_("Empty"),
        ),
    )


@claim("offsets.groups-do-not-share-offsets", evidence=("OFFS-21",), **TO_GROUPS)
def test_groups_do_not_share_offsets(case):
    """Two groups have separate offsets for one partition."""
    topic, group, steps = a_group(case)
    other = case.group("other")
    return case.scenario(
        steps,
        serving(other),
        commit(group, topic, 7, version=case.version, name="ask"),
        commit(other, topic, 3, version=case.version, name="other"),
        see(case, group),
        fetch(other, topic, name="other after"),
        expect=all_of(kept(7), answer("other after", OFFSET).is_(3)),
    )
