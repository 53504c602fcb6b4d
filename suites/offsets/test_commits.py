"""OffsetCommit of a group without members: what is kept, what is refused, in which order.

Sources: KafkaApis.handleOffsetCommitRequest and GroupMetadataManager.storeOffsets at 1.0.2, 2.2.1,
2.8.2; OffsetMetadataManager at 4.3; KIP-320 (leader epochs), KIP-848 (v9), KIP-1108 (v10).
"""

from touchstone.harness.claim import OBSERVED, claim, range_
from touchstone.harness.expect import all_of, answer, by_release
from touchstone.harness.scenario import Await, Send
from touchstone.harness.steps import a_topic
from touchstone.suites.offsets.commits import (
    CLUSTER,
    FIRST_BY_ID,
    FIRST_WITH_MEMBER,
    ILLEGAL_GENERATION,
    NO_SUCH_GROUP,
    NONE,
    NOTHING,
    OFFSET,
    TOO_LARGE,
    UNKNOWN_TOPIC,
    UNKNOWN_TOPIC_ID,
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
    """A commit without a generation founds the group, and its offset and metadata are fetched."""
    topic, group, steps = a_group(case)
    fields = {"committed_metadata": "where I was"}
    return case.scenario(
        steps,
        commit(group, topic, 7, fields=fields, version=case.version, name="ask"),
        see(case, group, 0, 1),
        expect=all_of(
            code_of("ask").is_(NONE),
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
    """The text beside an offset comes back as it was, whatever script it is in."""
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
    """A commit without metadata is fetched with an empty one."""
    topic, group, steps = a_group(case)
    return case.scenario(
        steps,
        commit(group, topic, fields={"committed_metadata": None}, version=case.version, name="ask"),
        fetch(group, topic, name="after"),
        expect=all_of(
            code_of("ask").is_(NONE), answer("after", "topics[0].partitions[0].metadata").is_("")
        ),
    )


@claim(
    "offsets.metadata-of-commits-has-a-limit",
    evidence=("OFFS-16",),
    switches=("commit-metadata-unlimited",),
    **TO_GROUPS,
)
def test_metadata_of_commits_has_a_limit(case):
    """More than 4096 is OFFSET_METADATA_TOO_LARGE for that partition; the others are stored."""
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
            answer("ask", ALL_CODES).contains(TOO_LARGE),
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
    """The limit counts UTF-16 units: 4096 letters of two bytes fit, 2049 of two units do not."""
    topic, group, steps = a_group(case)
    sent = [
        part(5, 0, committed_metadata="ü" * LIMIT),
        part(6, 1, committed_metadata="😀" * (LIMIT // 2 + 1)),
    ]
    return case.scenario(
        steps,
        rows(group, [(topic, sent)], version=case.version, name="ask"),
        fetch(group, topic, 0, 1, name="after"),
        expect=all_of(answer("ask", ALL_CODES).contains(TOO_LARGE), kept(5, 0), kept(NOTHING, 1)),
    )


@claim("offsets.unknown-topics-are-not-committed", evidence=("OFFS-03",), **TO_GROUPS)
def test_unknown_topics_are_not_committed(case):
    """A topic that is not there is UNKNOWN_TOPIC_OR_PARTITION, by id UNKNOWN_TOPIC_ID."""
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
                UNKNOWN_TOPIC_ID if by_id else UNKNOWN_TOPIC
            ),
            kept(7),
        ),
    )


@claim("offsets.known-topics-are-committed-beside-unknown-ones", evidence=("OFFS-03",), **TO_GROUPS)
def test_known_topics_are_committed_beside_unknown_ones(case):
    """One request with a known and an unknown topic keeps the known one's offset."""
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
    """A partition that its topic does not have is refused from 2.2 on; the others are stored."""
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
    """A generation of a group that is not there is ILLEGAL_GENERATION, newly GROUP_ID_NOT_FOUND."""
    topic, group, steps = a_group(case)
    newer = NO_SUCH_GROUP if case.version >= FIRST_WITH_MEMBER else ILLEGAL_GENERATION
    return case.scenario(
        steps,
        commit(
            group, topic, generation=case.generation, member="m", version=case.version, name="ask"
        ),
        see(case, group),
        expect=all_of(
            by_release(
                {
                    "1.0-3.9": code_of("ask").is_(ILLEGAL_GENERATION),
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
    """Any negative generation means a group that only stores offsets; a member id is not asked."""
    topic, group, steps = a_group(case)
    return case.scenario(
        steps,
        commit(
            group, topic, generation=case.generation, member=case.member, version=case.version,
            name="ask",
        ),
        see(case, group),
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
    """The leader epoch of a commit is fetched with its offset, named or not; -1 is none."""
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
    """A commit of a version that carries no leader epoch forgets the one that was there."""
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
    """A later commit replaces an earlier one, also with a smaller offset."""
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
    """Of commits that are sent without waiting the last one's offset stays."""
    topic, group, steps = a_group(case)
    asked = [commit(group, topic, at, version=case.version, name=f"at {at}") for at in (3, 9, 5)]
    return case.scenario(
        steps,
        [Send(one.api, one.version, one.body, one.name) for one in asked],
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
    """What becomes of a request that names one partition twice, with two offsets."""
    topic, group, steps = a_group(case)
    return case.scenario(
        steps,
        rows(group, [(topic, [part(3), part(9)])], version=case.version, name="ask"),
        see(case, group),
        expect=kept(9),
    )


@claim("offsets.commits-of-nothing", evidence=("OFFS-05",), level=OBSERVED, **TO_GROUPS)
def test_commits_of_nothing(case):
    """A commit without topics is answered without topics; what group it leaves behind."""
    _, group, steps = a_group(case)
    return case.scenario(
        steps,
        rows(group, [], version=case.version, name="ask"),
        describe(group, name="after"),
        expect=answer("ask", "topics").is_([]),
    )


@claim("offsets.commits-without-partitions", evidence=("OFFS-05",), level=OBSERVED, **TO_GROUPS)
def test_commits_without_partitions(case):
    """A topic without partitions in a commit, and what group it leaves behind."""
    topic, group, steps = a_group(case)
    return case.scenario(
        steps,
        rows(group, [(topic, [])], version=case.version, name="ask"),
        describe(group, name="after"),
    )


@claim("offsets.commits-of-several-topics", evidence=("OFFS-17",), **TO_GROUPS)
def test_commits_of_several_topics(case):
    """One commit may name many partitions of many topics; all are kept."""
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
    """Each partition of a commit is judged apart: the right ones are stored, whatever the rest."""
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
    """Nobody compares a committed offset with the log: any is kept, and fetched."""
    topic, group, steps = a_group(case)
    return case.scenario(
        steps,
        commit(group, topic, case.offset, version=case.version, name="ask"),
        see(case, group),
        expect=code_of("ask").is_(NONE),
    )


@claim("offsets.a-group-of-no-name", evidence=("OFFS-05",), level=OBSERVED, **TO_GROUPS)
def test_a_group_of_no_name(case):
    """The empty group id may keep offsets, unlike members."""
    topic, group, steps = a_group(case)
    return case.scenario(
        steps,
        commit("", topic, version=case.version, name="ask"),
        fetch("", topic, name="after"),
        expect=all_of(code_of("ask").is_(NONE), answer("after", OFFSET).is_(7)),
    )


@claim(
    "offsets.commits-found-an-empty-group",
    evidence=("OFFS-05", "OFFS-10", "GROUP-31"),
    **TO_GROUPS,
)
def test_commits_found_an_empty_group(case):
    """A group that only stores offsets is Empty, without protocol or members."""
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
    """Two groups' offsets of one partition are two."""
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
