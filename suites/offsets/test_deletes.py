"""How offsets go away when somebody asks: OffsetDelete, DeleteGroups, the end of a topic.

Sources: GroupCoordinator.handleDeleteOffsets, handleDeleteGroups and KafkaApis at 2.2.1, 2.8.2;
GroupMetadataManager.cleanupGroupMetadata; OffsetMetadataManager at 4.3; KIP-229, KIP-496.
"""

from touchstone.harness.model.claim import OBSERVED, claim, range_
from touchstone.harness.model.expect import all_of, answer, by_release
from touchstone.harness.model.scenario import Until
from touchstone.harness.model.steps import (
    a_topic,
    create_topic,
    delete_topic,
    topic_gone,
    topic_ready,
)
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.groups import delete, delete_offsets
from touchstone.suites.kit.offsets import (
    CLUSTER,
    CODE,
    MEMBER,
    NOTHING,
    OFFSET,
    OWN,
    a_group,
    a_member,
    commit,
    describe,
    fetch,
    leave,
    part,
    rows,
    serving,
    subscription,
)

DELETES = {"api": "OffsetDelete", "versions": range_("OffsetDelete", 0), "config": CLUSTER}
GROUPS = {"api": "DeleteGroups", "versions": range_("DeleteGroups", 0), "config": CLUSTER}
TOPICS = {"api": "DeleteTopics", "versions": range_("DeleteTopics", 1, 3), "config": CLUSTER}


@claim(
    "offsets.deleted-offsets-are-gone",
    evidence=("KIP-496",),
    switches=("offset-delete-forgets-nothing",),
    **DELETES,
)
def test_deleted_offsets_are_gone(case):
    """OffsetDelete removes the offsets of the partitions that it names and of no others."""
    topic, group, steps = a_group(case)
    return case.scenario(
        steps,
        rows(group, [(topic, [part(5), part(6, 1)])], name="sent"),
        delete_offsets(group, topic, 0, name="ask"),
        fetch(group, topic, 0, 1, name="after"),
        expect=all_of(
            answer("ask", "error_code").is_(ErrorCode.NONE),
            answer("ask", CODE).is_(ErrorCode.NONE),
            answer("after", OFFSET).is_(NOTHING),
            answer("after", "topics[0].partitions[1].committed_offset").is_(6),
        ),
    )


@claim("offsets.deleting-what-was-never-committed", evidence=("KIP-496",), **DELETES)
def test_deleting_what_was_never_committed(case):
    """OffsetDelete of a partition without a committed offset answers no error."""
    topic, group, steps = a_group(case)
    return case.scenario(
        steps,
        commit(group, topic, name="sent"),
        delete_offsets(group, topic, 1, name="ask"),
        expect=all_of(
            answer("ask", "error_code").is_(ErrorCode.NONE),
            answer("ask", "topics[0].partitions[0].error_code").is_(ErrorCode.NONE),
        ),
    )


@claim("offsets.deletes-check-their-partitions", evidence=("KIP-496",), **DELETES)
def test_deletes_check_their_partitions(case):
    """OffsetDelete answers UNKNOWN_TOPIC_OR_PARTITION for a topic that does not exist and removes
    the other offsets of its request."""
    topic, group, steps = a_group(case)
    return case.scenario(
        steps,
        commit(group, topic, name="sent"),
        delete_offsets(group, case.topic("strange"), name="strange"),
        delete_offsets(group, topic, 9, 0, name="ask"),
        fetch(group, topic, name="after"),
        expect=all_of(
            answer("strange", CODE).is_(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
            answer("after", OFFSET).is_(NOTHING),
        ),
    )


@claim("offsets.deletes-need-a-group", evidence=("KIP-496",), **DELETES)
def test_deletes_need_a_group(case):
    """OffsetDelete answers GROUP_ID_NOT_FOUND for an unknown group and INVALID_GROUP_ID for the
    empty group id."""
    topic, group, steps = a_group(case)
    return case.scenario(
        steps,
        delete_offsets(group, topic, name="ask"),
        delete_offsets("", topic, name="empty"),
        expect=all_of(
            answer("ask", "error_code").is_(ErrorCode.GROUP_ID_NOT_FOUND),
            answer("empty", "error_code").is_(ErrorCode.INVALID_GROUP_ID),
        ),
    )


@claim("offsets.subscribed-topics-keep-their-offsets", evidence=("KIP-496",), **DELETES)
def test_subscribed_topics_keep_their_offsets(case):
    """OffsetDelete answers GROUP_SUBSCRIBED_TO_TOPIC for a topic that a member subscribes to, and
    deletes the offsets of other topics."""
    topic, group, steps = a_group(case)
    other = case.topic("other")
    return case.scenario(
        steps,
        a_topic(other),
        a_member(group, metadata=subscription(topic)),
        rows(group, [(topic, [part(5)]), (other, [part(6)])], **OWN, name="sent"),
        delete_offsets(group, topic, name="ask"),
        delete_offsets(group, other, name="other"),
        fetch(group, topic, name="after"),
        fetch(group, other, name="other after"),
        expect=all_of(
            answer("ask", CODE).is_(ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC),
            answer("other", CODE).is_(ErrorCode.NONE),
            answer("after", OFFSET).is_(5),
            answer("other after", OFFSET).is_(NOTHING),
        ),
    )


@claim("offsets.groups-that-hide-their-topics-keep-all", evidence=("KIP-496",), **DELETES)
def test_groups_that_hide_their_topics_keep_all(case):
    """OffsetDelete answers GROUP_SUBSCRIBED_TO_TOPIC for every topic while a consumer's metadata
    cannot be parsed."""
    topic, group, steps = a_group(case)
    return case.scenario(
        steps,
        a_member(group, metadata=b"?"),
        commit(group, topic, **OWN, name="sent"),
        delete_offsets(group, topic, name="ask"),
        fetch(group, topic, name="after"),
        expect=all_of(
            answer("ask", CODE).is_(ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC),
            answer("after", OFFSET).is_(7),
        ),
    )


@claim("offsets.active-groups-of-other-protocols-keep-all", evidence=("KIP-496",), **DELETES)
def test_active_groups_of_other_protocols_keep_all(case):
    """OffsetDelete answers NON_EMPTY_GROUP for a group with members of another protocol type than
    consumer, and deletes once the group is empty."""
    topic, group, steps = a_group(case)
    return case.scenario(
        steps,
        a_member(group, protocol_type="connect"),
        commit(group, topic, **OWN, name="sent"),
        delete_offsets(group, topic, name="ask"),
        leave(group, "left", member=MEMBER),
        delete_offsets(group, topic, name="empty"),
        fetch(group, topic, name="after"),
        expect=all_of(
            answer("ask", "error_code").is_(ErrorCode.NON_EMPTY_GROUP),
            answer("empty", "error_code").is_(ErrorCode.NONE),
            answer("after", OFFSET).is_(NOTHING),
        ),
    )


@claim("offsets.empty-groups-subscribe-to-nothing", evidence=("KIP-496",), **DELETES)
def test_empty_groups_subscribe_to_nothing(case):
    """OffsetDelete removes offsets of a topic after its last subscriber has left the group."""
    topic, group, steps = a_group(case)
    return case.scenario(
        steps,
        a_member(group, metadata=subscription(topic)),
        commit(group, topic, **OWN, name="sent"),
        leave(group, "left", member=MEMBER),
        delete_offsets(group, topic, name="ask"),
        fetch(group, topic, name="after"),
        expect=all_of(
            answer("ask", CODE).is_(ErrorCode.NONE), answer("after", OFFSET).is_(NOTHING)
        ),
    )


@claim("offsets.groups-whose-last-offset-is-deleted", evidence=("KIP-496", "OFFS-24"),
       level=OBSERVED, **DELETES)  # fmt: skip
def test_groups_whose_last_offset_is_deleted(case):
    """OffsetDelete of a group's last offset answers no error; the group is then Dead before 4.x and
    Empty since."""
    topic, group, steps = a_group(case)
    return case.scenario(
        steps,
        commit(group, topic, name="sent"),
        delete_offsets(group, topic, name="ask"),
        describe(group, name="after"),
        expect=all_of(
            answer("ask", CODE).is_(ErrorCode.NONE),
            by_release(
                {
                    "2.8-3.9": answer("after", "groups[0].group_state").is_("Dead"),
                    "4.3+": answer("after", "groups[0].group_state").is_("Empty"),
                }
            ),
        ),
    )


@claim("offsets.deletes-of-nothing", evidence=("KIP-496",), level=OBSERVED, **DELETES)
def test_deletes_of_nothing(case):
    """OffsetDelete of a topic without partitions deletes nothing."""
    topic, group, steps = a_group(case)
    asked = delete_offsets(group, topic)
    topics = [{"name": topic, "partitions": []}]
    return case.scenario(
        steps,
        commit(group, topic, name="sent"),
        type(asked)("OffsetDelete", 0, {"group_id": group, "topics": topics}, name="ask"),
        fetch(group, topic, name="after"),
        expect=answer("after", OFFSET).is_(7),
    )


@claim("offsets.deleted-groups-have-none", evidence=("OFFS-24", "KIP-229"), **GROUPS)
def test_deleted_groups_have_none(case):
    """DeleteGroups removes all offsets of the group; a group created under its name has none of
    them."""
    topic, group, steps = a_group(case)
    return case.scenario(
        steps,
        rows(group, [(topic, [part(5), part(6, 1)])], name="sent"),
        delete(group, version=case.version, name="ask"),
        fetch(group, topic, 0, 1, name="gone"),
        commit(group, topic, 9, name="anew"),
        fetch(group, topic, 0, 1, name="after"),
        expect=all_of(
            answer("ask", "results[0].error_code").is_(ErrorCode.NONE),
            answer("gone", "topics[0].partitions[*].committed_offset").each_is(NOTHING),
            answer("after", OFFSET).is_(9),
            answer("after", "topics[0].partitions[1].committed_offset").is_(NOTHING),
        ),
    )


@claim("offsets.groups-with-members-keep-theirs", evidence=("KIP-229",), **GROUPS)
def test_groups_with_members_keep_theirs(case):
    """DeleteGroups of a group with members answers NON_EMPTY_GROUP and removes no offsets."""
    topic, group, steps = a_group(case)
    return case.scenario(
        steps,
        a_member(group),
        commit(group, topic, **OWN, name="sent"),
        delete(group, version=case.version, name="ask"),
        fetch(group, topic, name="after"),
        expect=all_of(
            answer("ask", "results[0].error_code").is_(ErrorCode.NON_EMPTY_GROUP),
            answer("after", OFFSET).is_(7),
        ),
    )


def forgotten(group, name, *, version=2):
    """Nothing at all is left of what the group committed: topics go a moment after their end."""
    return Until(fetch(group, None, version=version, name=name), "topics", "==", [])


@claim("offsets.deleted-topics-have-none", evidence=("OFFS-24",), **TOPICS)
def test_deleted_topics_have_none(case):
    """Deleting a topic removes its offsets from every group and leaves those of other topics."""
    topic, group, steps = a_group(case)
    other, second = case.group("other"), case.topic("second")
    return case.scenario(
        steps,
        a_topic(second),
        serving(other),
        rows(group, [(topic, [part(5), part(6, 1)])], name="sent"),
        rows(other, [(topic, [part(7)]), (second, [part(8)])], name="other sent"),
        delete_topic(topic, version=case.version, name="ask"),
        forgotten(group, "after"),
        Until(fetch(other, None, version=2, name="other after"), "topics", "len ==", 1),
        expect=answer("other after", OFFSET).is_(8),
    )


@claim("offsets.new-topics-begin-without-any", evidence=("OFFS-24",), **TOPICS)
def test_new_topics_begin_without_any(case):
    """A topic created under the name of a deleted one has no committed offsets."""
    topic, group, steps = a_group(case)
    return case.scenario(
        steps,
        commit(group, topic, name="sent"),
        delete_topic(topic, version=case.version, name="ask"),
        topic_gone(topic),
        forgotten(group, "gone"),
        Until(create_topic(topic, name="again"), "topics[0].error_code", "==", 0),
        topic_ready(topic, again=" again"),
        fetch(group, topic, name="after"),
        expect=answer("after", OFFSET).is_(NOTHING),
    )
