"""Streams groups among other kinds of groups, what is said of them, and offsets that they keep.

Sources: KIP-1071; GroupMetadataManager.castToStreamsGroup, StreamsGroup.validateOffsetCommit@4.3.1;
observed there.
"""

from touchstone.harness.model.claim import claim, every, range_
from touchstone.harness.model.expect import all_of, answer
from touchstone.harness.model.placeholders import TopicId
from touchstone.harness.model.steps import ask
from touchstone.reference_impl.wire.errors import ErrorCode as E
from touchstone.suites.kit import consumer_groups, groups
from touchstone.suites.kit.streams_groups import (
    DESCRIBES,
    EPOCH,
    GROUP_EPOCH,
    HEARTBEATS,
    LEAVE,
    MEMBERS,
    SEEN,
    STATE,
    beat,
    describe,
    is_,
    join,
    owning,
    reading,
    started,
)

GROUP_CODE, GROUP_WORDS = "groups[0].error_code", "groups[0].error_message"
OFFSET_CODE = "topics[0].partitions[0].error_code"


def commit(group, topic, member, epoch, *, name, version=9, partition=0):
    """OffsetCommit of offset 3 by a member in an epoch."""
    row = {
        "partition_index": partition,
        "committed_offset": 3,
        "committed_leader_epoch": -1,
        "committed_metadata": "",
    }
    body = {
        "group_id": group,
        "generation_id_or_member_epoch": epoch,
        "member_id": member,
        "group_instance_id": None,
        "topics": [{"name": topic, "topic_id": TopicId(topic), "partitions": [row]}],
    }
    return ask("OffsetCommit", version, body, name=name)


@claim("rebalance.streams-groups-are-described", operations=(False, True), **DESCRIBES)
def test_streams_groups_are_described(case):
    """StreamsGroupDescribe returns state, epochs, topology, and of each member its process, tags,
    tasks and target; authorized operations only on request.
    """
    group, topic = case.group(), case.topic()
    tags = [{"key": "zone", "value": "a"}]
    return case.scenario(
        started(group, topic),
        join(group, "m1", reading(topic), name="join", client_tags=tags, rack_id="r"),
        describe(group, name="ask", version=case.version, operations=case.operations),
        expect=all_of(
            answer("ask", STATE).is_("Stable"),
            answer("ask", GROUP_EPOCH).is_(2),
            answer("ask", "groups[0].topology.subtopologies[0].subtopology_id").is_("0"),
            answer("ask", f"{MEMBERS}[0].process_id").is_("m1"),
            answer("ask", f"{MEMBERS}[0].client_tags[0].key").is_("zone"),
            answer("ask", f"{MEMBERS}[0].assignment.active_tasks[0].partitions").is_([0, 1, 2, 3]),
            answer("ask", f"{MEMBERS}[0].target_assignment.active_tasks[0].partitions").is_(
                [0, 1, 2, 3]
            ),
        ),
    )


@claim("rebalance.other-groups-are-no-streams-groups", **DESCRIBES)
def test_other_groups_are_no_streams_groups(case):
    """StreamsGroupDescribe answers GROUP_ID_NOT_FOUND for a group that does not exist and for a
    consumer group, and StreamsGroupHeartbeat refuses to join the latter.
    """
    group, topic = case.group(), case.topic()
    return case.scenario(
        consumer_groups.started(group, topic),
        describe(group, name="missing", version=case.version),
        consumer_groups.join(group, "c1", topic, name="consumer", version=1),
        describe(group, name="other", version=case.version),
        join(group, "m1", reading(topic), name="join"),
        expect=all_of(
            answer("missing", GROUP_CODE).is_(E.GROUP_ID_NOT_FOUND),
            answer("other", GROUP_CODE).is_(E.GROUP_ID_NOT_FOUND),
            is_("join", E.GROUP_ID_NOT_FOUND),
        ),
    )


@claim("rebalance.streams-groups-are-no-other-groups", **HEARTBEATS)
def test_streams_groups_are_no_other_groups(case):
    """To a streams group with members, JoinGroup answers INCONSISTENT_GROUP_PROTOCOL,
    ConsumerGroupHeartbeat and ConsumerGroupDescribe GROUP_ID_NOT_FOUND, and DescribeGroups shows it
    as Dead.
    """
    group, topic = case.group(), case.topic()
    joins = {
        "group_id": group,
        "session_timeout_ms": 30_000,
        "rebalance_timeout_ms": 30_000,
        "member_id": "",
        "protocol_type": "consumer",
        "protocols": [{"name": "range", "metadata": groups.subscription("wanted")}],
    }
    return case.scenario(
        started(group, topic),
        join(group, "m1", reading(topic), name="join", version=case.version),
        ask("JoinGroup", 2, joins, name="classic"),
        consumer_groups.join(group, "c1", topic, name="consumer", version=1),
        consumer_groups.describe(group, name="as consumer"),
        ask(
            "DescribeGroups",
            5,
            {"groups": [group], "include_authorized_operations": False},
            name="as classic",
        ),
        expect=all_of(
            is_("classic", E.INCONSISTENT_GROUP_PROTOCOL),
            is_("consumer", E.GROUP_ID_NOT_FOUND),
            answer("as consumer", GROUP_CODE).is_(E.GROUP_ID_NOT_FOUND),
            answer("as classic", STATE).is_("Dead"),
        ),
    )


@claim(
    "rebalance.streams-groups-are-listed-as-streams",
    **SEEN | {"api": "ListGroups", "versions": range_("ListGroups", 5)},
)
def test_streams_groups_are_listed_as_streams(case):
    """ListGroups shows a streams group with protocol type and group type "streams", and its types
    filter finds it.
    """
    group, topic = case.group(), case.topic()
    asked = {"states_filter": ["Stable"], "types_filter": ["streams"]}
    return case.scenario(
        started(group, topic),
        join(group, "m1", reading(topic), name="join"),
        ask("ListGroups", case.version, asked, name="list"),
        expect=all_of(
            answer("list", "groups[*].group_type").contains("streams"),
            answer("list", "groups[*].protocol_type").contains("streams"),
            answer("list", "groups[*].group_id").contains(group),
        ),
    )


@claim(
    "rebalance.streams-groups-go-when-they-are-empty",
    **SEEN | {"api": "DeleteGroups", "versions": every("DeleteGroups")},
)
def test_streams_groups_go_when_they_are_empty(case):
    """DeleteGroups answers NON_EMPTY_GROUP for a streams group with members, and removes an empty
    one.
    """
    group, topic = case.group(), case.topic()
    asked = {"groups_names": [group]}
    return case.scenario(
        started(group, topic),
        join(group, "m1", reading(topic), name="join"),
        ask("DeleteGroups", case.version, asked, name="too soon"),
        beat(group, "m1", LEAVE, name="leave"),
        ask("DeleteGroups", case.version, asked, name="deleted"),
        describe(group, name="then"),
        expect=all_of(
            answer("too soon", "results[0].error_code").is_(E.NON_EMPTY_GROUP),
            answer("deleted", "results[0].error_code").is_(E.NONE),
            answer("then", GROUP_CODE).is_(E.GROUP_ID_NOT_FOUND),
        ),
    )


@claim("rebalance.empty-classic-groups-become-streams-groups", **HEARTBEATS)
def test_empty_classic_groups_become_streams_groups(case):
    """A streams member may join a group that has offsets and no members; nobody else commits to it
    then, and its offsets stay.
    """
    group, topic = case.group(), case.topic()
    fetch = {
        "groups": [
            {
                "group_id": group,
                "member_id": None,
                "member_epoch": -1,
                "topics": [{"name": topic, "topic_id": TopicId(topic), "partition_indexes": [0]}],
            }
        ],
        "require_stable": False,
    }
    return case.scenario(
        started(group, topic),
        commit(group, topic, "", -1, name="simple"),
        join(group, "m1", reading(topic), name="join", version=case.version),
        commit(group, topic, "", -1, name="too late"),
        ask("OffsetFetch", 9, fetch, name="fetch"),
        expect=all_of(
            answer("simple", OFFSET_CODE).is_(E.NONE),
            answer("join", EPOCH).is_(2),
            answer("too late", OFFSET_CODE).is_(E.UNKNOWN_MEMBER_ID),
            answer("fetch", "groups[0].topics[0].partitions[0].committed_offset").is_(3),
        ),
    )


@claim(
    "rebalance.streams-members-commit-in-the-epoch-of-their-task",
    switches=("streams-commits-of-any-epoch",),
    **SEEN | {"api": "OffsetCommit", "versions": range_("OffsetCommit", 9)},
)
def test_streams_members_commit_in_the_epoch_of_their_task(case):
    """A member of a streams group may commit in an earlier epoch for a partition whose task was its
    own then; other commits in another epoch answer STALE_MEMBER_EPOCH.
    """
    group, topic = case.group(), case.topic()
    told = reading(topic)

    def commits(member, epoch, name, partition=0):
        return commit(
            group, topic, member, epoch, name=name, version=case.version, partition=partition
        )

    return case.scenario(
        started(group, topic),
        join(group, "m1", told, name="m1 joins"),
        join(group, "m2", told, name="m2 joins"),
        beat(group, "m1", 2, name="is told"),
        beat(group, "m1", 2, name="gives up", **owning({"0": [0, 1]})),
        beat(group, "m2", 3, name="gets"),
        commits("m1", 3, "current"),
        commits("m1", 2, "its own then"),
        commits("m1", 2, "gone", 3),
        commits("m2", 2, "not yet", 3),
        commits("m1", 4, "later"),
        commits("m9", 3, "stranger"),
        expect=all_of(
            *[answer(name, OFFSET_CODE).is_(E.NONE) for name in ("current", "its own then")],
            *[
                answer(name, OFFSET_CODE).is_(E.STALE_MEMBER_EPOCH)
                for name in ("gone", "not yet", "later")
            ],
            answer("stranger", OFFSET_CODE).is_(E.UNKNOWN_MEMBER_ID),
        ),
    )


@claim(
    "rebalance.streams-members-need-commits-with-epochs",
    **SEEN | {"api": "OffsetCommit", "versions": range_("OffsetCommit", 2, 8)},
)
def test_streams_members_need_commits_with_epochs(case):
    """OffsetCommit below version 9 of a streams group's member answers UNSUPPORTED_VERSION."""
    group, topic = case.group(), case.topic()
    return case.scenario(
        started(group, topic),
        join(group, "m1", reading(topic), name="join"),
        commit(group, topic, "m1", 2, name="commit", version=case.version),
        expect=answer("commit", OFFSET_CODE).is_(E.UNSUPPORTED_VERSION),
    )


@claim(
    "rebalance.offsets-of-streams-groups-are-fetched-in-the-members-epoch",
    **SEEN | {"api": "OffsetFetch", "versions": range_("OffsetFetch", 9)},
)
def test_offsets_of_streams_groups_are_fetched_in_the_members_epoch(case):
    """OffsetFetch with a member id answers STALE_MEMBER_EPOCH in another epoch than the member's,
    and UNKNOWN_MEMBER_ID for nobody.
    """
    group, topic = case.group(), case.topic()

    def fetch(member, epoch, name):
        topics = [{"name": topic, "topic_id": TopicId(topic), "partition_indexes": [0]}]
        asked = {
            "group_id": group, "member_id": member, "member_epoch": epoch, "topics": topics,
        }  # fmt: skip
        body = {"groups": [asked], "require_stable": False}
        return ask("OffsetFetch", case.version, body, name=name)

    return case.scenario(
        started(group, topic),
        join(group, "m1", reading(topic), name="join"),
        fetch("m1", 2, "current"),
        fetch("m1", 1, "earlier"),
        fetch("m9", 2, "stranger"),
        fetch(None, -1, "admin"),
        expect=all_of(
            answer("current", GROUP_CODE).is_(E.NONE),
            answer("earlier", GROUP_CODE).is_(E.STALE_MEMBER_EPOCH),
            answer("stranger", GROUP_CODE).is_(E.UNKNOWN_MEMBER_ID),
            answer("admin", GROUP_CODE).is_(E.NONE),
        ),
    )
