"""Start offsets of share groups: DescribeShareGroupOffsets, Alter..., Delete...

Sources: KIP-932, KIP-1226; GroupCoordinatorService@4.3.1; observed on 4.3.1.
"""

from touchstone.harness.model.expect import all_of, answer
from touchstone.harness.model.scenario import Until
from touchstone.harness.model.steps import a_topic, ask, coordinator_ready
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.records import batch
from touchstone.suites.kit.shares import (
    ACCEPT,
    ANNE,
    CODE,
    LONG_MS,
    RELEASE_IT,
    a_group,
    acknowledge,
    beat,
    claims,
    close,
    fetch,
    has,
    is_,
    offsets,
    run,
)

DESCRIBE, ALTER, DELETE = (
    "DescribeShareGroupOffsets",
    "AlterShareGroupOffsets",
    "DeleteShareGroupOffsets",
)
PART = "groups[0].topics[0].partitions[0]"
START, LAG = f"{PART}.start_offset", f"{PART}.lag"
FIRST_WITH_LAG = 1
FOUR = (batch(b"one"), batch(b"two"), batch(b"three"), batch(b"four"))
CHANGED = "responses[0].partitions[0].error_code"
DELETED = "responses[0].error_code"


starts = claims(DESCRIBE)


def alter(group, *rows, **how):
    """`rows` are (topic, partition, start offset)."""
    topics = [
        {"topic_name": topic, "partitions": [{"partition_index": at, "start_offset": offset}]}
        for topic, at, offset in rows
    ]
    return ask(ALTER, 0, {"group_id": group, "topics": topics}, **how)


def delete(group, *topics, **how):
    rows = [{"topic_name": topic} for topic in topics]
    return ask(DELETE, 0, {"group_id": group, "topics": rows}, **how)


def deserted(group, topic, *batches, **how):
    """A group that has share partitions and no member."""
    return [a_group(group, topic, *batches, **how), beat(group, ANNE, -1, name="leaves")]


def tells(case, step, start, lag):
    """What a description of version 0 has no lag for."""
    told = answer(step, START).is_(start)
    return all_of(told, answer(step, LAG).is_(lag)) if case.version >= FIRST_WITH_LAG else told


@starts("nothing-was-read-yet")
def test_nothing_was_read_yet(case):
    """DescribeShareGroupOffsets returns start offset -1 and lag -1 before any record is
    acknowledged."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        a_group(group, topic, *FOUR),
        offsets(group, version=case.version, name="described"),
        expect=tells(case, "described", -1, -1),
    )


@starts("start-offsets-follow-acknowledgements")
def test_start_offsets_follow_acknowledgements(case):
    """DescribeShareGroupOffsets returns the start offset and lag that were stored with the
    acknowledgement before the last one."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        a_group(group, topic, *FOUR),
        fetch(group, 0, topic, name="fetch"),
        acknowledge(group, 1, topic, run(0, 1, ACCEPT), name="two"),
        offsets(group, version=case.version, name="after two"),
        acknowledge(group, 2, topic, run(2, 2, ACCEPT), name="three"),
        offsets(group, version=case.version, name="after three"),
        expect=all_of(tells(case, "after two", 0, 2), tells(case, "after three", 2, 1)),
    )


@starts("lag-counts-what-is-not-done")
def test_lag_counts_what_is_not_done(case):
    """DescribeShareGroupOffsets does not count records behind the start offset that are already
    acknowledged as lag."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        a_group(group, topic, *FOUR),
        fetch(group, 0, topic, name="fetch"),
        acknowledge(group, 1, topic, run(0, 0, RELEASE_IT), run(2, 3, ACCEPT), name="some"),
        offsets(group, version=case.version, name="described"),
        expect=tells(case, "described", 0, 2),
    )


@starts("named-topics-are-described")
def test_named_topics_are_described(case):
    """DescribeShareGroupOffsets returns each topic that the request names, even one that does not
    exist or that the group does not read, and none for an empty list."""
    group, topic, other = case.topic("group"), case.topic(), case.topic("other")
    wanted = [(topic, [0]), (case.topic("nowhere"), [0])]
    return case.scenario(
        a_topic(other),
        a_group(group, topic, *FOUR),
        offsets(group, wanted, version=case.version, name="one of two"),
        offsets(group, [(other, [0])], version=case.version, name="not subscribed"),
        offsets(group, [], version=case.version, name="no topics"),
        expect=all_of(
            answer("one of two", "groups[0].topics").has_length(2),
            answer("not subscribed", START).is_(-1),
            answer("no topics", "groups[0].topics").has_length(0),
        ),
    )


@starts("unknown-groups-have-no-offsets")
def test_unknown_groups_have_no_offsets(case):
    """DescribeShareGroupOffsets of an unknown group returns no topics and no error."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        a_topic(topic),
        coordinator_ready(group),
        Until(offsets(group, version=case.version, name="all"), "groups[0].error_code", "==", 0),
        expect=answer("all", "groups[0].topics").has_length(0),
    )


@starts("altered-groups-begin-there", api=ALTER)
def test_altered_groups_begin_there(case):
    """AlterShareGroupOffsets sets the start offset of a group without members."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        deserted(group, topic, *FOUR),
        alter(group, (topic, 0, 2), name="altered"),
        offsets(group, name="described"),
        expect=all_of(
            is_("altered", 0, CHANGED),
            answer("described", START).is_(2),
            answer("described", LAG).is_(2),
        ),
    )


@starts("altering-makes-a-group", api=ALTER)
def test_altering_makes_a_group(case):
    """AlterShareGroupOffsets creates a group that does not exist with that start offset, and a
    member can join it."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        a_topic(topic),
        coordinator_ready(group),
        Until(alter(group, (topic, 0, 1), name="altered"), CHANGED, "==", 0),
        offsets(group, name="described"),
        Until(beat(group, ANNE, 0, topic, name="joins"), CODE, "==", 0),
        expect=all_of(answer("described", START).is_(1), answer("joins", "member_epoch").is_(2)),
    )


@starts("groups-with-members-are-not-altered", api=ALTER)
def test_groups_with_members_are_not_altered(case):
    """AlterShareGroupOffsets answers NON_EMPTY_GROUP for a group with members and INVALID_GROUP_ID
    for an empty group id."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        a_group(group, topic, *FOUR),
        alter(group, (topic, 0, 2), name="altered"),
        alter("", (topic, 0, 2), name="nameless"),
        expect=all_of(
            is_("altered", ErrorCode.NON_EMPTY_GROUP), is_("nameless", ErrorCode.INVALID_GROUP_ID)
        ),
    )


@starts("unknown-partitions-are-not-altered", api=ALTER)
def test_unknown_partitions_are_not_altered(case):
    """AlterShareGroupOffsets answers UNKNOWN_TOPIC_OR_PARTITION for a topic or partition that does
    not exist."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        deserted(group, topic, *FOUR),
        alter(group, (case.topic("nowhere"), 0, 1), name="no topic"),
        alter(group, (topic, 3, 1), name="no partition"),
        expect=all_of(
            is_("no topic", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, CHANGED),
            is_("no partition", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, CHANGED),
        ),
    )


@starts("deleted-offsets-are-gone", api=DELETE)
def test_deleted_offsets_are_gone(case):
    """DeleteShareGroupOffsets removes a topic of a group without members; deleting it again answers
    UNKNOWN_TOPIC_OR_PARTITION."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        deserted(group, topic, *FOUR),
        delete(group, topic, name="deleted"),
        offsets(group, name="described"),
        delete(group, topic, name="again"),
        expect=all_of(
            is_("deleted", 0, DELETED),
            answer("described", "groups[0].topics").has_length(0),
            is_("again", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, DELETED),
        ),
    )


@starts("some-offsets-cannot-be-deleted", api=DELETE)
def test_some_offsets_cannot_be_deleted(case):
    """DeleteShareGroupOffsets answers UNKNOWN_TOPIC_OR_PARTITION for a topic that does not exist or
    that the group never read."""
    group, topic, other = case.topic("group"), case.topic(), case.topic("other")
    return case.scenario(
        a_topic(other),
        deserted(group, topic, *FOUR),
        delete(group, case.topic("nowhere"), name="no topic"),
        delete(group, other, name="never had"),
        expect=all_of(
            is_("no topic", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, DELETED),
            is_("never had", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, DELETED),
        ),
    )


@starts("offsets-of-living-groups-stay", api=DELETE)
def test_offsets_of_living_groups_stay(case):
    """DeleteShareGroupOffsets answers NON_EMPTY_GROUP for a group with members, GROUP_ID_NOT_FOUND
    for an unknown one and INVALID_GROUP_ID for an empty group id."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        a_group(group, topic, *FOUR),
        delete(group, topic, name="members"),
        delete(case.topic("nobody"), topic, name="nobody"),
        delete("", topic, name="nameless"),
        expect=all_of(
            is_("members", ErrorCode.NON_EMPTY_GROUP),
            is_("nobody", ErrorCode.GROUP_ID_NOT_FOUND),
            is_("nameless", ErrorCode.INVALID_GROUP_ID),
        ),
    )


@starts("offsets-outlive-members")
def test_offsets_outlive_members(case):
    """Acknowledgements outlive the members of a share group: later ShareFetches go on behind
    them."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        a_group(group, topic, *FOUR),
        fetch(group, 0, topic, name="fetch"),
        acknowledge(group, 1, topic, run(0, 2, ACCEPT), name="three"),
        close(group, name="closed"),  # what Anne still has goes back after the answer
        beat(group, ANNE, -1, name="leaves"),
        Until(offsets(group, version=case.version, name="described"), START, "==", 3),
        fetch(group, 0, topic, wait_ms=LONG_MS, name="goes on"),
        expect=all_of(tells(case, "described", 3, 1), has("goes on", (3, 3, 2))),
    )
