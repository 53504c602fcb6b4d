"""OffsetFetch: what a group committed, by partition, by group, or all of it.

Sources: KafkaApis.handleOffsetFetchRequest at 1.0.2, 2.2.1, 2.8.2; OffsetMetadataManager at 4.3;
KIP-88 (all partitions), KIP-320 (leader epochs), KIP-447 (only stable ones), KIP-709 (several
groups), KIP-848 (members), KIP-1108 (topic ids).
"""

from touchstone.harness.model.claim import OBSERVED, claim, range_
from touchstone.harness.model.expect import all_of, answer, by_release
from touchstone.harness.model.placeholders import Ref
from touchstone.harness.model.steps import a_topic
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.offsets import (
    CLUSTER,
    CODE,
    FIRST_BY_ID,
    FIRST_WITH_MEMBER,
    MEMBER,
    NOTHING,
    OFFSET,
    OWN,
    a_group,
    a_member,
    commit,
    fetch,
    fetch_many,
    fetched,
    join,
    leave,
    part,
    rows,
)
from touchstone.suites.kit.offsets import COMMIT as COMMITS
from touchstone.suites.kit.transactions import COMMIT, a_producer, add_offsets, commit_offset, ended

BY_NAME = {"api": "OffsetFetch", "versions": range_("OffsetFetch", 1), "config": CLUSTER}
ALL = BY_NAME | {"versions": range_("OffsetFetch", 2)}
WITH_STABLE = BY_NAME | {"versions": range_("OffsetFetch", 7), "releases": "2.8+"}
BATCHED = BY_NAME | {"versions": range_("OffsetFetch", 8), "releases": "3.9+"}


def at(case, path, step="ask"):
    """A field of the only group's answer."""
    return answer(step, fetched(path, case.version))


@claim("offsets.nothing-committed-is-no-offset", evidence=("OFFS-21",), **BY_NAME)
def test_nothing_committed_is_no_offset(case):
    """OffsetFetch of a partition without a committed offset returns offset -1 and no error."""
    topic, group, steps = a_group(case)
    return case.scenario(
        steps,
        commit(group, topic, 7, name="sent"),
        fetch(group, topic, 1, version=case.version, name="ask"),
        expect=all_of(at(case, OFFSET).is_(NOTHING), at(case, CODE).is_(ErrorCode.NONE)),
    )


@claim("offsets.a-group-that-is-not-there-has-no-offsets", evidence=("OFFS-21",), **BY_NAME)
def test_a_group_that_is_not_there_has_no_offsets(case):
    """OffsetFetch of a group that does not exist returns offset -1 and no error for each
    partition."""
    topic, group, steps = a_group(case)
    return case.scenario(
        steps,
        fetch(group, topic, 0, 1, version=case.version, name="ask"),
        expect=all_of(
            at(case, "topics[0].partitions[*].committed_offset").each_is(NOTHING),
            at(case, "error_code").is_(ErrorCode.NONE)
            if case.version > 1
            else at(case, CODE).is_(ErrorCode.NONE),
        ),
    )


@claim("offsets.unknown-topics-have-no-offsets", evidence=("OFFS-21", "OFFS-03"), **BY_NAME)
def test_unknown_topics_have_no_offsets(case):
    """OffsetFetch of a topic that does not exist returns offset -1 and no error by name, and
    UNKNOWN_TOPIC_ID by id."""
    topic, group, steps = a_group(case)
    by_id = case.version >= FIRST_BY_ID
    strange = b"\x01" * 16 if by_id else case.topic("strange")
    return case.scenario(
        steps,
        commit(group, topic, 7, name="sent"),
        fetch(group, strange, 0, 3, version=case.version, name="ask"),
        expect=all_of(
            at(case, OFFSET).is_(NOTHING),
            at(case, CODE).is_(ErrorCode.UNKNOWN_TOPIC_ID if by_id else ErrorCode.NONE),
        ),
    )


@claim("offsets.unknown-partitions-have-no-offsets", evidence=("OFFS-21",), **BY_NAME)
def test_unknown_partitions_have_no_offsets(case):
    """OffsetFetch of a partition that its topic lacks returns offset -1 and no error."""
    topic, group, steps = a_group(case)
    return case.scenario(
        steps,
        fetch(group, topic, 9, -1, version=case.version, name="ask"),
        expect=all_of(
            at(case, "topics[0].partitions[*].error_code").each_is(ErrorCode.NONE),
            at(case, "topics[0].partitions[*].committed_offset").each_is(-1),
        ),
    )


@claim(
    "offsets.all-are-fetched-without-naming-them",
    evidence=("OFFS-21", "KIP-88"),
    switches=("fetch-of-all-forgets-topics",),
    **ALL,
)
def test_all_are_fetched_without_naming_them(case):
    """OffsetFetch with topics=null returns every topic with offsets of the group."""
    topic, group, steps = a_group(case, 3)
    other = case.topic("other")
    return case.scenario(
        steps,
        a_topic(other),
        rows(
            group, [(topic, [part(5), part(6, 2)]), (other, [part(8)])], name="sent",
            version=FIRST_BY_ID if case.version >= FIRST_BY_ID else COMMITS,
        ),
        fetch(group, None, version=case.version, name="ask"),
        expect=all_of(
            at(case, "topics").has_length(2),
            at(case, "error_code").is_(ErrorCode.NONE),
        ),
    )  # fmt: skip


@claim("offsets.all-of-nothing", evidence=("OFFS-21", "KIP-88"), **ALL)
def test_all_of_nothing(case):
    """OffsetFetch with topics=null for a group without offsets returns no topics and no error."""
    _, group, steps = a_group(case)
    return case.scenario(
        steps,
        fetch(group, None, version=case.version, name="ask"),
        expect=all_of(at(case, "topics").is_([]), at(case, "error_code").is_(ErrorCode.NONE)),
    )


@claim("offsets.no-topics-are-not-all-topics", evidence=("KIP-88",), **BY_NAME)
def test_no_topics_are_not_all_topics(case):
    """OffsetFetch with an empty list of topics returns no topics."""
    topic, group, steps = a_group(case)
    return case.scenario(
        steps,
        commit(group, topic, 7, name="sent"),
        fetch_many([(group, [], None, -1)], version=case.version, name="ask"),
        expect=at(case, "topics").is_([]),
    )


@claim("offsets.topics-without-partitions", evidence=("OFFS-21",), level=OBSERVED, **BY_NAME)
def test_topics_without_partitions(case):
    """OffsetFetch of a topic without partitions returns no topics before 4.x and the topic without
    partitions since."""
    topic, group, steps = a_group(case)
    return case.scenario(
        steps,
        commit(group, topic, 7, name="sent"),
        fetch_many([(group, [(topic, [])], None, -1)], version=case.version, name="ask"),
        expect=by_release(
            {
                "1.0-3.9": at(case, "topics").has_length(0),
                "4.3+": at(case, "topics[*].partitions").is_([[]]),
            }
        ),
    )


@claim("offsets.a-partition-fetched-twice-at-once", evidence=("OFFS-21",), level=OBSERVED,
       **BY_NAME)  # fmt: skip
def test_a_partition_fetched_twice_at_once(case):
    """OffsetFetch that names a partition twice returns its committed offset."""
    topic, group, steps = a_group(case)
    return case.scenario(
        steps,
        commit(group, topic, 7, name="sent"),
        fetch(group, topic, 0, 0, version=case.version, name="ask"),
        expect=at(case, OFFSET).is_(7),
    )


@claim("offsets.several-topics-are-fetched", evidence=("OFFS-21",), **BY_NAME)
def test_several_topics_are_fetched(case):
    """OffsetFetch returns the offsets of several partitions of several topics in one answer."""
    topic, group, steps = a_group(case)
    other = case.topic("other")
    topics = [(topic, [1, 0]), (other, [0, 1])]
    ours, others = ([5, 6], [6, 5]), ([-1, 8], [8, -1])  # topics and partitions in any order
    orders = [each for a in ours for b in others for each in ([a, b], [b, a])]
    return case.scenario(
        steps,
        a_topic(other, 2),
        rows(group, [(topic, [part(5), part(6, 1)]), (other, [part(8, 1)])], name="sent"),
        fetch_many([(group, topics, None, -1)], version=case.version, name="ask"),
        expect=at(case, "topics[*].partitions[*].committed_offset").is_one_of(*orders),
    )


@claim(
    "offsets.leader-epochs-are-fetched",
    evidence=("KIP-320",),
    switches=("fetch-by-name-omits-leader-epoch",),
    named=(True, False),
    full=True,
    **BY_NAME | {"versions": range_("OffsetFetch", 5), "releases": "2.2+"},
)
def test_leader_epochs_are_fetched(case):
    """OffsetFetch since version 5 returns the leader epoch of each commit, -1 where it had none."""
    topic, group, steps = a_group(case)
    sent = [part(5, 0, committed_leader_epoch=4), part(6, 1)]
    how = {"version": case.version, "name": "ask"}
    return case.scenario(
        steps,
        rows(group, [(topic, sent)], version=6, name="sent"),
        fetch(group, topic, 0, 1, **how) if case.named else fetch(group, None, **how),
        expect=at(case, "topics[0].partitions[*].committed_leader_epoch").is_one_of(
            [4, -1], [-1, 4]
        ),
    )


@claim("offsets.are-fetched-in-any-state", evidence=("OFFS-21",),
       state=("assigning", "stable", "left"), full=True, **BY_NAME)  # fmt: skip
def test_are_fetched_in_any_state(case):
    """OffsetFetch without a member returns the offsets of a group in any state."""
    topic, group, steps = a_group(case)
    stable = a_member(group)
    way = {
        "assigning": [join(group, "member")],
        "stable": stable,
        "left": [stable, leave(group, "left", member=MEMBER)],
    }
    return case.scenario(
        steps,
        commit(group, topic, 7, name="sent"),
        way[case.state],
        fetch(group, topic, version=case.version, name="ask"),
        expect=at(case, OFFSET).is_(7),
    )


@claim("offsets.are-fetched-from-the-empty-group", evidence=("OFFS-21",), level=OBSERVED,
       **BY_NAME)  # fmt: skip
def test_are_fetched_from_the_empty_group(case):
    """OffsetFetch of the empty group id returns offset -1 and no error for a partition that was
    never committed."""
    topic, _, steps = a_group(case)
    return case.scenario(
        steps,
        fetch("", topic, version=case.version, name="ask"),
        expect=all_of(
            at(case, "topics[0].partitions[0].error_code").is_(ErrorCode.NONE),
            at(case, "topics[0].partitions[0].committed_offset").is_(-1),
        ),
    )


def pending(case, group, topic):
    """Partition 0 has an offset of an open transaction, 1 one that was committed, 2 has both."""
    transaction = case.transactional_id()
    return transaction, [
        a_producer(transaction),
        rows(group, [(topic, [part(3, 1), part(4, 2)])], name="plain"),
        add_offsets(transaction, group, name="group added"),
        commit_offset(transaction, group, topic, 7, name="pending"),
        commit_offset(transaction, group, topic, 8, partition=2, name="pending too"),
    ]


@claim(
    "offsets.only-stable-ones-on-demand",
    evidence=("KIP-447",),
    switches=("unstable-offsets-fetched",),
    stable=(True, False),
    full=True,
    **WITH_STABLE,
)
def test_only_stable_ones_on_demand(case):
    """OffsetFetch with require_stable answers UNSTABLE_OFFSET_COMMIT for a partition with a pending
    offset of an open transaction, and the committed offset without it."""
    topic, group, steps = a_group(case, 3)
    transaction, more = pending(case, group, topic)
    return case.scenario(
        steps,
        more,
        fetch(group, topic, 0, 1, 2, version=case.version, stable=case.stable, name="ask"),
        ended(transaction, COMMIT, epoch=Ref("producer", "producer_epoch")),
        expect=all_of(
            at(case, "topics[0].partitions[0].error_code").is_(
                ErrorCode.UNSTABLE_OFFSET_COMMIT if case.stable else ErrorCode.NONE
            ),
            at(case, "topics[0].partitions[1].error_code").is_(ErrorCode.NONE),
            at(case, "topics[0].partitions[1].committed_offset").is_(3),
        ),
    )


@claim("offsets.only-stable-ones-of-all", evidence=("KIP-447",), stable=(True, False), full=True,
       **WITH_STABLE)  # fmt: skip
def test_only_stable_ones_of_all(case):
    """OffsetFetch with topics=null and require_stable answers UNSTABLE_OFFSET_COMMIT for partitions
    with pending offsets; without require_stable it returns the committed offsets."""
    topic, group, steps = a_group(case, 3)
    transaction, more = pending(case, group, topic)
    return case.scenario(
        steps,
        more,
        fetch(group, None, version=case.version, stable=case.stable, name="ask"),
        ended(transaction, COMMIT, epoch=Ref("producer", "producer_epoch")),
        expect=all_of(
            at(case, "error_code").is_(ErrorCode.NONE),
            at(case, "topics[0].partitions[*].committed_offset").contains(3),
            at(case, "topics[0].partitions[*].error_code").contains(
                ErrorCode.UNSTABLE_OFFSET_COMMIT
            )
            if case.stable
            else at(case, "topics[0].partitions[*].error_code").each_is(ErrorCode.NONE),
        ),
    )


@claim("offsets.stable-ones-where-nothing-is-pending", evidence=("KIP-447",), **WITH_STABLE)
def test_stable_ones_where_nothing_is_pending(case):
    """OffsetFetch with require_stable returns the committed offset where no transaction is open."""
    topic, group, steps = a_group(case)
    return case.scenario(
        steps,
        commit(group, topic, 7, name="sent"),
        fetch(group, topic, 0, 1, version=case.version, stable=True, name="ask"),
        expect=all_of(at(case, OFFSET).is_(7), at(case, CODE).is_(ErrorCode.NONE)),
    )


@claim("offsets.several-groups-are-fetched-at-once", evidence=("KIP-709",), **BATCHED)
def test_several_groups_are_fetched_at_once(case):
    """OffsetFetch since version 8 returns the offsets of several groups, each with its own topics
    or all."""
    topic, group, steps = a_group(case)
    other, none = case.group("other"), case.group("none")
    asked = [
        (group, [(topic, [0])], None, -1),
        (other, None, None, -1),
        (none, [(topic, [1])], None, -1),
    ]
    return case.scenario(
        steps,
        commit(group, topic, 7, name="sent"),
        commit(other, topic, 8, name="other sent"),
        fetch_many(asked, version=case.version, name="ask"),
        expect=all_of(
            answer("ask", "groups").has_length(3),
            answer("ask", "groups[*].error_code").each_is(ErrorCode.NONE),
            *(
                answer("ask", "groups[*].topics[*].partitions[*].committed_offset").contains(one)
                for one in ([[7]], [[8]], [[-1]])
            ),
        ),
    )


@claim(
    "offsets.no-groups-are-fetched",
    evidence=("KIP-709",),
    level=OBSERVED,
    **{**BATCHED, "releases": "4.3"},
)
def test_no_groups_are_fetched(case):
    """OffsetFetch without groups returns no groups on 4.3; 3.9.2 never answers it."""
    _, _, steps = a_group(case)
    return case.scenario(
        steps,
        fetch_many([], version=case.version, name="ask"),
        expect=answer("ask", "groups").is_([]),
    )


@claim("offsets.a-group-fetched-twice-at-once", evidence=("KIP-709",), level=OBSERVED, **BATCHED)
def test_a_group_fetched_twice_at_once(case):
    """OffsetFetch that names a group twice returns two entries for it, each with the partitions
    that were asked for."""
    topic, group, steps = a_group(case)
    asked = [(group, [(topic, [0])], None, -1), (group, [(topic, [1])], None, -1)]
    return case.scenario(
        steps,
        commit(group, topic, 7, name="sent"),
        fetch_many(asked, version=case.version, name="ask"),
        expect=answer("ask", "groups[*].topics[*].partitions[*].committed_offset").is_(
            [[[7]], [[-1]]]
        ),
    )


@claim(
    "offsets.fetches-of-a-classic-group-name-anybody",
    evidence=("KIP-848",),
    level=OBSERVED,
    member=("none", "empty", "own", "stranger"),
    epoch=(-1, 0, 5),
    **BATCHED | {"versions": range_("OffsetFetch", FIRST_WITH_MEMBER)},
)
def test_fetches_of_a_classic_group_name_anybody(case):
    """OffsetFetch of a classic group ignores member id and member epoch."""
    topic, group, steps = a_group(case)
    member = {"none": None, "empty": "", "own": MEMBER, "stranger": "nobody"}[case.member]
    return case.scenario(
        steps,
        a_member(group),
        commit(group, topic, 7, **OWN, name="sent"),
        fetch(group, topic, version=case.version, member=member, epoch=case.epoch, name="ask"),
        expect=all_of(at(case, "error_code").is_(ErrorCode.NONE), at(case, OFFSET).is_(7)),
    )


@claim(
    "offsets.fetches-of-no-group-name-anybody",
    evidence=("KIP-848",),
    level=OBSERVED,
    member=("none", "stranger"),
    epoch=(-1, 5),
    **BATCHED | {"versions": range_("OffsetFetch", FIRST_WITH_MEMBER)},
)
def test_fetches_of_no_group_name_anybody(case):
    """OffsetFetch of a group that does not exist ignores member id and member epoch: it returns
    offset -1 and no error."""
    topic, group, steps = a_group(case)
    member = {"none": None, "stranger": "nobody"}[case.member]
    return case.scenario(
        steps,
        fetch(group, topic, version=case.version, member=member, epoch=case.epoch, name="ask"),
        expect=all_of(
            at(case, "error_code").is_(ErrorCode.NONE),
            at(case, "topics[0].partitions[0].committed_offset").is_(-1),
        ),
    )
