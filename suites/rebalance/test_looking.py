"""DescribeGroups, ListGroups, DeleteGroups and OffsetDelete: what admin clients see and delete.

Sources: GROUP-31; KIP-229, KIP-430, KIP-496, KIP-518, KIP-848, KIP-1043; all five were asked.
"""

from touchstone.harness.model.claim import claim, every, only, range_
from touchstone.harness.model.expect import all_of, answer, by_release
from touchstone.harness.model.placeholders import Joined, Name
from touchstone.harness.model.steps import a_topic
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.groups import (
    CLUSTER,
    CODE,
    MEMBERS,
    STATE,
    code,
    comes,
    commit,
    coordinated,
    delete,
    delete_offsets,
    describe,
    id_of,
    leave,
    list_groups,
    sync,
)
from touchstone.suites.rebalance.states import steps_into

OBSERVED = "observed on 1.0.2, 2.2.1, 2.8.2, 3.9.2 and 4.3.1"


@claim(
    "rebalance.stable-groups-show-their-parts",
    evidence=("GROUP-31",),
    api="DescribeGroups",
    versions=every("DescribeGroups"),
    config=CLUSTER,
)
def test_stable_groups_show_their_parts(case):
    """DescribeGroups of a stable group answers its protocol and each member's client id and
    assignment.
    """
    group = case.group()
    return case.scenario(
        steps_into("stable", group),
        describe(group, version=case.version, name="ask"),
        expect=all_of(
            answer("ask", "groups[0].protocol_data").is_("range"),
            answer("ask", MEMBERS).has_length(2),
            answer("ask", f"{MEMBERS}[*].client_id").each_is_one_of("member-a", "member-b"),
            answer("ask", f"{MEMBERS}[*].member_assignment").each_is_one_of(
                b"part of a", b"part of b"
            ),
        ),
    )


@claim(
    "rebalance.groups-are-described-together",
    evidence=("GROUP-31",),
    api="DescribeGroups",
    versions=every("DescribeGroups"),
    config=CLUSTER,
)
def test_groups_are_described_together(case):
    """DescribeGroups answers each requested group in request order; one that does not exist is
    Dead.
    """
    group, other, none = case.group(), case.group("other"), case.group("none")
    return case.scenario(
        steps_into("empty", group),
        describe(other, group, none, version=case.version, name="ask"),
        expect=all_of(
            answer("ask", "groups[0].group_state").is_("Dead"),
            answer("ask", "groups[1].group_state").is_("Empty"),
            answer("ask", "groups[2].group_state").is_("Dead"),
            answer("ask", "groups").has_length(3),
        ),
    )


@claim(
    "rebalance.operations-are-shown-when-asked-for",
    evidence=("KIP-430", OBSERVED),
    api="DescribeGroups",
    versions=range_("DescribeGroups", 3),
    config=CLUSTER,
)
def test_operations_are_shown_when_asked_for(case):
    """DescribeGroups with include_authorized_operations answers the client's allowed operations."""
    group = case.group()
    return case.scenario(
        steps_into("empty", group),
        describe(group, version=case.version, operations=True, name="ask"),
        expect=answer("ask", "groups[0].authorized_operations").at_least(1),
    )


@claim(
    "rebalance.lists-are-of-the-states-asked-for",
    evidence=("KIP-518", OBSERVED),
    api="ListGroups",
    versions=range_("ListGroups", 4),
    config=CLUSTER,
    state=("Empty", "Stable", "Dead", "Nonsense"),
)
def test_lists_are_of_the_states_asked_for(case):
    """ListGroups answers only groups in the requested states; an unknown state matches none."""
    group, listed = case.group(), answer("ask", "groups[*].group_id")
    return case.scenario(
        steps_into("stable", group),
        list_groups([case.state], version=case.version, name="ask"),
        expect=all_of(
            answer("ask", CODE).is_(ErrorCode.NONE),
            listed.contains(group) if case.state == "Stable" else listed.lacks(group),
        ),
    )


@claim(
    "rebalance.states-are-named-in-any-case",
    evidence=("KIP-518", OBSERVED),
    api="ListGroups",
    versions=range_("ListGroups", 4),
    config=CLUSTER,
)
def test_states_are_named_in_any_case(case):
    """From 3.9 on ListGroups accepts state names in any letter case."""
    group, listed = case.group(), answer("ask", "groups[*].group_id")
    return case.scenario(
        steps_into("stable", group),
        list_groups(["stable"], version=case.version, name="ask"),
        expect=all_of(
            answer("ask", CODE).is_(ErrorCode.NONE),
            by_release({"2.8": listed.lacks(group), "3.9+": listed.contains(group)}),
        ),
    )


@claim(
    "rebalance.lists-are-of-the-types-asked-for",
    evidence=("KIP-848", "observed on 3.9.2 and 4.3.1"),
    api="ListGroups",
    versions=range_("ListGroups", 5),
    config=CLUSTER,
    type=("classic", "Consumer", "nonsense"),
)
def test_lists_are_of_the_types_asked_for(case):
    """ListGroups answers only groups of the requested types; an unknown type matches none."""
    group, listed = case.group(), answer("ask", "groups[*].group_id")
    return case.scenario(
        steps_into("stable", group),
        list_groups([], [case.type], version=case.version, name="ask"),
        expect=all_of(
            answer("ask", CODE).is_(ErrorCode.NONE),
            listed.contains(group) if case.type == "classic" else listed.lacks(group),
        ),
    )


@claim(
    "rebalance.groups-are-deleted-one-by-one",
    evidence=("KIP-229", "observed on 2.2.1, 2.8.2, 3.9.2 and 4.3.1"),
    api="DeleteGroups",
    versions=every("DeleteGroups"),
    config=CLUSTER,
)
def test_groups_are_deleted_one_by_one(case):
    """DeleteGroups deletes empty groups and answers an error for each other one."""
    group, kept = case.group(), case.group("kept")
    return case.scenario(
        steps_into("empty", group),
        comes("k", kept),
        delete(group, kept, case.group("none"), version=case.version, name="ask"),
        describe(group, kept, name="after"),
        expect=all_of(
            *(
                answer("ask", "results").contains({"group_id": one, "error_code": code(word)})
                for one, word in (
                    (group, "NONE"),
                    (kept, "NON_EMPTY_GROUP"),
                    (case.group("none"), "GROUP_ID_NOT_FOUND"),
                )
            ),
            answer("after", STATE).is_("Dead"),
            answer("after", "groups[1].group_state").is_("CompletingRebalance"),
        ),
    )


@claim(
    "rebalance.deleted-groups-begin-anew",
    evidence=("KIP-229", "GROUP-01", "observed on 2.2.1, 2.8.2, 3.9.2 and 4.3.1"),
    api="DeleteGroups",
    versions=every("DeleteGroups"),
    config=CLUSTER,
)
def test_deleted_groups_begin_anew(case):
    """A group with a deleted group's id starts at generation 1."""
    group = case.group()
    return case.scenario(
        steps_into("empty", group),
        delete(group, version=case.version, name="ask"),
        comes("n", group),
        expect=all_of(
            answer("ask", "results[0].error_code").is_(ErrorCode.NONE),
            answer("n comes", "generation_id").is_(1),
        ),
    )


def _subscribed(topic):
    """A subscription to a topic whose name is known when it is made: its length is."""
    head = b"\0\0\0\0\0\1" + topic.length.to_bytes(2, "big")
    name = Name(topic.key, length=topic.length, binary=True)
    return (("range", Joined((head, name, b"\xff\xff\xff\xff"))),)


@claim(
    "rebalance.offsets-of-subscribed-topics-stay",
    evidence=("KIP-496", "observed on 2.8.2, 3.9.2 and 4.3.1"),
    api="OffsetDelete",
    versions=only("OffsetDelete", 0),
    config=CLUSTER,
)
def test_offsets_of_subscribed_topics_stay(case):
    """OffsetDelete of a topic that a member subscribes to answers GROUP_SUBSCRIBED_TO_TOPIC."""
    group, topic = case.group(), case.topic()
    return case.scenario(
        a_topic(topic),
        coordinated(group),
        comes("a", group, protocols=_subscribed(topic)),
        sync("a", group, 1, {"a": b"all"}, name="synced"),
        delete_offsets(group, topic, name="ask"),
        expect=answer("ask", "topics[0].partitions[0].error_code").is_(
            ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
        ),
    )


@claim(
    "rebalance.offsets-of-other-protocols-stay",
    evidence=("KIP-496", "observed on 2.8.2, 3.9.2 and 4.3.1"),
    api="OffsetDelete",
    versions=only("OffsetDelete", 0),
    config=CLUSTER,
)
def test_offsets_of_other_protocols_stay(case):
    """OffsetDelete of a group with members of another protocol type than consumer answers
    NON_EMPTY_GROUP.
    """
    group, topic = case.group(), case.topic()
    return case.scenario(
        a_topic(topic),
        coordinated(group),
        comes("a", group, kind="connect"),
        delete_offsets(group, topic, name="ask"),
        expect=answer("ask", CODE).is_(ErrorCode.NON_EMPTY_GROUP),
    )


@claim(
    "rebalance.emptied-groups-take-commits",
    evidence=("GROUP-24", "GROUP-25", "OFFS-10"),
    api="LeaveGroup",
    versions=every("LeaveGroup"),
    config=CLUSTER,
)
def test_emptied_groups_take_commits(case):
    """When the last member leaves, the group is Empty and takes commits without a member."""
    group, topic = case.group(), case.topic()
    return case.scenario(
        a_topic(topic),
        steps_into("stable", group),
        commit("b", group, topic, 2, member=id_of("b"), name="committed"),
        leave("a", group, name="a left"),
        leave("b", group, version=case.version, name="ask"),
        describe(group, name="after"),
        commit("b", group, topic, name="simple"),
        expect=all_of(
            answer("after", STATE).is_("Empty"),
            answer("simple", "topics[0].partitions[0].error_code").is_(ErrorCode.NONE),
        ),
    )
