"""ShareGroupHeartbeat: joining, going on, being fenced, leaving; and what is assigned.

Sources: KIP-932; GroupMetadataManager.shareGroupHeartbeat@4.3.1; observed on 4.3.1.
"""

from touchstone.harness.model.claim import claim, every
from touchstone.harness.model.expect import all_of, answer
from touchstone.harness.model.placeholders import Ref
from touchstone.harness.model.scenario import Until
from touchstone.harness.model.steps import (
    a_topic,
    coordinator_ready,
    create_partitions,
    topic_ready,
)
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.shares import (
    ANNE,
    BERT,
    CODE,
    SEEN,
    TIGHT,
    a_group,
    beat,
    claims,
    configured,
    described,
    is_,
    joins,
)

API = "ShareGroupHeartbeat"
EPOCH = Ref("anne assigned", "member_epoch")
MEMBERS = "groups[0].members"


heartbeats = claims(API)


@heartbeats("heartbeats-are-checked-first")
def test_heartbeats_are_checked_first(case):
    """ShareGroupHeartbeat without a group id, member id or subscription, with an empty rack, a
    member id over 36 characters or an epoch below -1 answers INVALID_REQUEST."""
    wrong = {
        "no group": {"group": "", "names": ["t"]},
        "no member": {"member": "", "names": ["t"]},
        "long member": {"member": "m" * 37, "names": ["t"]},
        "no rack": {"rack": "", "names": ["t"]},
        "no subscription": {"names": None},
        "empty subscription": {"names": []},
        "odd epoch": {"epoch": -2},
    }
    steps = [
        beat(**({"group": case.topic("group"), "version": case.version, "name": name} | how))
        for name, how in wrong.items()
    ]
    return case.scenario(
        *steps, expect=all_of(*[is_(name, ErrorCode.INVALID_REQUEST) for name in wrong])
    )


@heartbeats("the-first-subscription-is-epoch-2")
def test_the_first_subscription_is_epoch_2(case):
    """ShareGroupHeartbeat of a new group's first member returns member epoch 2 and an empty
    assignment."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        a_topic(topic),
        coordinator_ready(group),
        Until(beat(group, ANNE, 0, topic, version=case.version, name="join"), CODE, "==", 0),
        described(group, name="described"),
        expect=all_of(
            answer("join", "member_epoch").is_(2),
            answer("join", "assignment.topic_partitions").has_length(0),
            answer("described", "groups[0].group_epoch").is_(2),
        ),
    )


@heartbeats("initialised-partitions-are-assigned")
def test_initialised_partitions_are_assigned(case):
    """When the share partitions of a topic are initialised, the group epoch rises and
    ShareGroupHeartbeat assigns them; it repeats the assignment if the member sends its
    subscription."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        a_group(group, topic, partitions=2),
        beat(group, ANNE, EPOCH, version=case.version, name="nothing new"),
        beat(group, ANNE, EPOCH, topic, version=case.version, name="said again"),
        described(group, name="described"),
        expect=all_of(
            answer("anne assigned", "member_epoch").is_(3),
            answer("nothing new", "assignment").is_(None),
            answer("said again", "assignment.topic_partitions[0].partitions").is_([0, 1]),
            answer("described", "groups[0].assignment_epoch").is_(3),
        ),
    )


@heartbeats("members-share-a-partition")
def test_members_share_a_partition(case):
    """Two members of a share group with one partition are both assigned that partition."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        a_group(group, topic),
        beat(group, BERT, 0, topic, version=case.version, name="second"),
        beat(group, ANNE, EPOCH, version=case.version, name="first"),
        described(group, name="described"),
        expect=all_of(
            answer("second", "assignment.topic_partitions[0].partitions").is_([0]),
            answer("first", "member_epoch").is_(4),
            answer("described", MEMBERS).has_length(2),
        ),
    )


@heartbeats("members-subscribe-to-what-they-like")
def test_members_subscribe_to_what_they_like(case):
    """Members of a share group that subscribe to different topics are assigned their own topics
    only."""
    group, topic, other = case.topic("group"), case.topic(), case.topic("other")
    return case.scenario(
        a_topic(other),
        a_group(group, topic),
        joins(group, BERT, other),
        beat(group, ANNE, EPOCH, version=case.version, name="first"),
        described(group, name="described"),
        expect=all_of(
            answer("bert assigned", "assignment.topic_partitions").has_length(1),
            answer("described", f"{MEMBERS}[0].assignment.topic_partitions").has_length(1),
        ),
    )


@heartbeats("a-changed-subscription-is-an-epoch")
def test_a_changed_subscription_is_an_epoch(case):
    """A member that changes its subscription gets a new epoch without the old partitions, and
    another one with the new ones."""
    group, topic, other = case.topic("group"), case.topic(), case.topic("other")
    changed = beat(group, ANNE, EPOCH, other, version=case.version, name="changed")
    again = beat(group, ANNE, Ref("changed", "member_epoch"), name="assigned anew")
    return case.scenario(
        a_topic(other),
        a_group(group, topic),
        changed,
        Until(again, "assignment.topic_partitions", "len >=", 1),
        described(group, name="described"),
        expect=all_of(
            answer("changed", "member_epoch").is_(4),
            answer("changed", "assignment.topic_partitions").has_length(0),
            answer("assigned anew", "member_epoch").is_(5),
        ),
    )


@heartbeats("more-partitions-are-assigned-too")
def test_more_partitions_are_assigned_too(case):
    """Partitions that are added to a subscribed topic are initialised and assigned to the
    member."""
    group, topic = case.topic("group"), case.topic()
    path = "groups[0].members[0].assignment.topic_partitions[0].partitions"
    told = beat(group, ANNE, EPOCH, topic, version=case.version, name="told")
    return case.scenario(
        a_group(group, topic),
        create_partitions(topic, 3, name="grown"),
        topic_ready(topic, 3, again=" again"),
        Until(told, "member_epoch", "!=", EPOCH),  # the coordinator hears of it after Metadata
        Until(
            beat(group, ANNE, Ref("told", "member_epoch"), topic, name="beats"),
            "assignment.topic_partitions[0].partitions", "len >=", 3,
        ),
        described(group, name="described"),
        expect=answer("described", path).has_length(3),
    )  # fmt: skip


@heartbeats("topics-that-are-not-there-are-not-assigned")
def test_topics_that_are_not_there_are_not_assigned(case):
    """ShareGroupHeartbeat of a member that subscribes to a topic that does not exist answers no
    error."""
    group, topic = case.topic("group"), case.topic()
    joined = Until(beat(group, ANNE, 0, topic, version=case.version, name="join"), CODE, "==", 0)
    return case.scenario(
        coordinator_ready(group),
        joined,
        beat(group, ANNE, Ref("join", "member_epoch"), version=case.version, name="on"),
        expect=all_of(is_("on", 0), answer("on", "member_epoch").is_(2)),
    )


@heartbeats("strangers-do-not-beat")
def test_strangers_do_not_beat(case):
    """ShareGroupHeartbeat with an epoch answers GROUP_ID_NOT_FOUND for an unknown group and
    UNKNOWN_MEMBER_ID for an unknown member, to leave as well as to stay."""
    group, topic, nobody = case.topic("group"), case.topic(), case.topic("nobody")
    return case.scenario(
        a_group(group, topic),
        beat(nobody, ANNE, 1, version=case.version, name="no group"),
        beat(group, BERT, 3, version=case.version, name="no member"),
        beat(nobody, ANNE, -1, version=case.version, name="leaves no group"),
        beat(group, BERT, -1, version=case.version, name="leaves no member"),
        expect=all_of(
            is_("no group", ErrorCode.GROUP_ID_NOT_FOUND),
            is_("no member", ErrorCode.UNKNOWN_MEMBER_ID),
            is_("leaves no group", ErrorCode.GROUP_ID_NOT_FOUND),
            is_("leaves no member", ErrorCode.UNKNOWN_MEMBER_ID),
        ),
    )


@heartbeats("other-epochs-are-fenced")
def test_other_epochs_are_fenced(case):
    """ShareGroupHeartbeat answers FENCED_MEMBER_EPOCH for an epoch that is neither the member's
    current nor its previous one."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        a_group(group, topic),
        beat(group, ANNE, 4, version=case.version, name="newer"),
        beat(group, ANNE, 1, version=case.version, name="older"),
        beat(group, ANNE, 2, version=case.version, name="the last"),
        beat(group, ANNE, 3, version=case.version, name="the same"),
        expect=all_of(
            is_("newer", ErrorCode.FENCED_MEMBER_EPOCH),
            is_("older", ErrorCode.FENCED_MEMBER_EPOCH),
            is_("the last", 0),
            is_("the same", 0),
        ),
    )


@heartbeats("a-member-may-join-again")
def test_a_member_may_join_again(case):
    """ShareGroupHeartbeat of a member that joins again returns its assignment in its current
    epoch."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        a_group(group, topic),
        beat(group, ANNE, 0, topic, version=case.version, name="again"),
        expect=all_of(
            answer("again", "member_epoch").is_(3),
            answer("again", "assignment.topic_partitions[0].partitions").is_([0]),
        ),
    )


@heartbeats("who-leaves-is-gone")
def test_who_leaves_is_gone(case):
    """A member that leaves a share group is unknown afterwards (UNKNOWN_MEMBER_ID), and its group
    is Empty with a higher group epoch."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        a_group(group, topic),
        beat(group, ANNE, -1, version=case.version, name="leaves"),
        beat(group, ANNE, EPOCH, version=case.version, name="beats"),
        described(group, name="described"),
        expect=all_of(
            answer("leaves", "member_epoch").is_(-1),
            is_("beats", ErrorCode.UNKNOWN_MEMBER_ID),
            answer("described", "groups[0].group_state").is_("Empty"),
            answer("described", "groups[0].group_epoch").is_(4),
            answer("described", "groups[0].assignment_epoch").is_(3),
        ),
    )


@heartbeats("who-stays-goes-on")
def test_who_stays_goes_on(case):
    """When a member leaves a share group, the other member gets a new epoch."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        a_group(group, topic),
        beat(group, BERT, 0, topic, version=case.version, name="second"),
        beat(group, ANNE, -1, version=case.version, name="leaves"),
        beat(group, BERT, Ref("second", "member_epoch"), version=case.version, name="stays"),
        expect=all_of(
            answer("second", "member_epoch").is_(4), answer("stays", "member_epoch").is_(5)
        ),
    )


@heartbeats("silent-members-are-removed")
def test_silent_members_are_removed(case):
    """A member without a ShareGroupHeartbeat for share.session.timeout.ms is removed: its next one
    answers UNKNOWN_MEMBER_ID."""
    group, topic = case.topic("group"), case.topic()
    empty = Until(described(group, name="empty"), "groups[0].group_state", "==", "Empty")
    return case.scenario(
        a_group(group, topic, beat_ms=400, session_ms=1000),
        empty,
        beat(group, ANNE, EPOCH, version=case.version, name="beats"),
        expect=is_("beats", ErrorCode.UNKNOWN_MEMBER_ID),
    )


@heartbeats("the-heartbeat-interval-is-the-groups")
def test_the_heartbeat_interval_is_the_groups(case):
    """ShareGroupHeartbeat returns the group's share.heartbeat.interval.ms, and the new value after
    a change."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        a_group(group, topic, beat_ms=700),
        configured(group, beat_ms=900),
        Until(
            beat(group, ANNE, EPOCH, version=case.version, name="changed"),
            "heartbeat_interval_ms", "==", 900,
        ),
        expect=all_of(
            answer("anne assigned", "heartbeat_interval_ms").is_(700),
            answer("changed", "heartbeat_interval_ms").is_(900),
        ),
    )  # fmt: skip


@claim("share.a-full-group-takes-nobody", evidence=SEEN, api=API, versions=every(API), **TIGHT)
def test_a_full_group_takes_nobody(case):
    """ShareGroupHeartbeat of a new member answers GROUP_MAX_SIZE_REACHED in a group of
    group.share.max.size members."""
    group, topic = case.topic("group"), case.topic()
    return case.scenario(
        a_group(group, topic),
        beat(group, BERT, 0, topic, version=case.version, name="one too many"),
        beat(group, ANNE, EPOCH, version=case.version, name="goes on"),
        expect=all_of(is_("one too many", ErrorCode.GROUP_MAX_SIZE_REACHED), is_("goes on", 0)),
    )
