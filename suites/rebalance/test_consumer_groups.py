"""Consumer groups (KIP-848), one rule at a time: assignment, membership, and the records written.

Sources: KIP-848, KIP-1101; GroupMetadataManager, UniformAssignor, RangeAssignor@4.3.1; observed on
4.3.1.
"""

from touchstone.harness.model.claim import claim, range_
from touchstone.harness.model.expect import all_of, answer, own_batches
from touchstone.harness.model.placeholders import Ref
from touchstone.harness.model.scenario import Ask, Until
from touchstone.harness.model.steps import (
    a_topic,
    create_partitions,
    delete_topic,
    topic_ready,
)
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit import groups
from touchstone.suites.kit.consumer_groups import (
    AWAY,
    CODE,
    EPOCH,
    GIVEN,
    GROUP_EPOCH,
    HEARTBEATS,
    INTERVAL,
    LEAVE,
    MEMBERS,
    SEEN,
    SESSION,
    SINCE_3_9,
    STATE,
    beat,
    configure,
    describe,
    first_epoch,
    join,
    started,
    topic_known,
    until,
)
from touchstone.suites.kit.internal_logs import OFFSETS, written

COUNTED = HEARTBEATS | SINCE_3_9
# Kinds of records in the log of groups, as their keys begin.
GROUP, MEMBER, TARGET_EPOCH, TARGET, CURRENT = 3, 5, 6, 7, 8
METADATA = 4  # of the partitions that a group subscribes to, before KIP-1101
TARGETS = f"{MEMBERS}[*].target_assignment.topic_partitions[*].partitions"


@claim(
    "rebalance.consumer-groups-begin-at-epoch-1",
    switches=("group-epoch-not-bumped",),
    **COUNTED,
)
def test_consumer_groups_begin_at_epoch_1(case):
    """The first subscribed member of a new consumer group gets all partitions at once, at group
    epoch 2, in 3.9 at epoch 1.
    """
    group, topic, first = case.group(), case.topic(), first_epoch(case)
    return case.scenario(
        started(group, topic),
        join(group, "m1", topic, version=case.version, name="join"),
        describe(group, name="then"),
        expect=all_of(
            answer("join", EPOCH).is_(first),
            answer("join", GIVEN).is_([0, 1, 2, 3]),
            answer("then", GROUP_EPOCH).is_(first),
        ),
    )


@claim("rebalance.consumer-ids-are-given-to-those-without", **COUNTED | {
    "versions": range_("ConsumerGroupHeartbeat", 0, 0)})  # fmt: skip
def test_consumer_ids_are_given_to_those_without(case):
    """In ConsumerGroupHeartbeat version 0 a member that joins without a member id gets one and
    continues with it.
    """
    group, topic, first = case.group(), case.topic(), first_epoch(case)
    return case.scenario(
        started(group, topic),
        join(group, "", topic, version=case.version, name="join"),
        beat(group, Ref("join", "member_id"), first, version=case.version, name="beat"),
        expect=all_of(answer("join", EPOCH).is_(first), answer("beat", EPOCH).is_(first)),
    )


@claim("rebalance.consumers-of-nothing-have-nothing", **HEARTBEATS)
def test_consumers_of_nothing_have_nothing(case):
    """A member may subscribe to no topic: its group is Stable at epoch 1."""
    group, topic = case.group(), case.topic()
    return case.scenario(
        started(group, topic),
        join(group, "m1", version=case.version, name="join"),
        describe(group, name="then"),
        expect=all_of(answer("join", EPOCH).is_(1), answer("then", STATE).is_("Stable")),
    )


@claim("rebalance.topics-named-twice-count-once", **COUNTED)
def test_topics_named_twice_count_once(case):
    """A topic named twice does not raise the group epoch; an additional topic that does not exist
    does.
    """
    group, topic, first = case.group(), case.topic(), first_epoch(case)
    again = {"subscribed_topic_names": [topic, topic], "version": case.version}
    return case.scenario(
        started(group, topic),
        join(group, "m1", topic, version=case.version, name="join"),
        beat(group, "m1", first, name="twice", **again),
        beat(group, "m1", first, name="and another", version=case.version,
             subscribed_topic_names=[topic, "no such topic"]),
        describe(group, name="then"),
        expect=all_of(
            answer("twice", EPOCH).is_(first),
            answer("and another", EPOCH).is_(first + 1),
            answer("then", STATE).is_("Stable"),
        ),
    )  # fmt: skip


@claim("rebalance.new-topics-are-shared-out", **HEARTBEATS)
def test_new_topics_are_shared_out(case):
    """A member that subscribed to a missing topic gets its partitions by a heartbeat after the
    topic's creation.
    """
    group, topic, late = case.group(), case.topic(), case.topic("late")
    return case.scenario(
        started(group, topic),
        join(group, "m1", late, version=case.version, name="join"),
        a_topic(late, 2),
        Until(beat(group, "m1", Ref("join", EPOCH), name="finds", version=case.version),
              GIVEN, "len ==", 2),
        describe(group, name="then"),
        expect=answer("finds", GIVEN).is_([0, 1]),
    )  # fmt: skip


@claim("rebalance.new-partitions-are-shared-out", **SEEN | SINCE_3_9)
def test_new_partitions_are_shared_out(case):
    """Partitions added to a subscribed topic raise the group epoch and go to its member."""
    group, topic, first = case.group(), case.topic(), first_epoch(case)
    return case.scenario(
        started(group, topic),
        join(group, "m1", topic, name="join"),
        create_partitions(topic, 6, name="grow"),
        topic_ready(topic, 6, again=" again"),
        Until(beat(group, "m1", first, name="finds"), EPOCH, "==", first + 1),
        expect=all_of(
            answer("finds", EPOCH).is_(first + 1), answer("finds", GIVEN).is_([0, 1, 2, 3, 4, 5])
        ),
    )


@claim("rebalance.deleted-topics-are-taken-back", **SEEN | SINCE_3_9)
def test_deleted_topics_are_taken_back(case):
    """Deleting a subscribed topic raises the group epoch and revokes its partitions."""
    group, topic, first = case.group(), case.topic(), first_epoch(case)
    return case.scenario(
        started(group, topic),
        join(group, "m1", topic, name="join"),
        delete_topic(topic, name="delete"),
        Until(beat(group, "m1", first, name="finds"), "assignment.topic_partitions", "len ==", 0),
        beat(group, "m1", first, name="gave up", topic_partitions=[]),
        describe(group, name="then"),
        expect=all_of(
            answer("finds", "assignment.topic_partitions").is_([]),
            answer("gave up", EPOCH).is_(first + 1),
            answer("then", STATE).is_("Stable"),
        ),
    )


@claim("rebalance.uniform-moves-as-little-as-it-can", **COUNTED)
def test_uniform_moves_as_little_as_it_can(case):
    """The uniform assignor gives a third member partitions of the members that have most and moves
    no other.
    """
    group, topic, first = case.group(), case.topic(), first_epoch(case)
    version = case.version
    return case.scenario(
        started(group, topic),
        join(group, "m1", topic, version=version, name="m1"),
        join(group, "m2", topic, version=version, name="m2"),
        beat(group, "m1", first, topic, (0, 1), version=version, name="m1 gives"),
        beat(group, "m1", first, topic, (0, 1), version=version, name="m1 gave"),
        beat(group, "m2", first + 1, version=version, name="m2 takes"),
        join(group, "m3", topic, version=version, name="m3"),
        beat(group, "m1", first + 1, version=version, name="m1 hears"),
        beat(group, "m2", first + 1, version=version, name="m2 hears"),
        describe(group, name="then"),
        expect=all_of(
            answer("m3", EPOCH).is_(first + 2),
            answer("m1 hears", "assignment").is_(None),
            answer("m2 hears", GIVEN).is_([2]),
            answer("then", MEMBERS).has_length(3),
            answer("then", TARGETS).contains([[3]]),
        ),
    )


@claim("rebalance.range-gives-the-first-the-rest", evidence=("KIP-848", "GROUP-28"),
       **{key: value for key, value in COUNTED.items() if key != "evidence"})  # fmt: skip
def test_range_gives_the_first_the_rest(case):
    """The range assignor gives members, in the order of their ids, consecutive partitions, and the
    remainder to the first.
    """
    group, topic, first = case.group(), case.topic(), first_epoch(case)
    how = {"server_assignor": "range", "version": case.version}
    return case.scenario(
        started(group, topic),
        *[join(group, each, topic, name=each, **how) for each in ("m2", "m1", "m3")],
        describe(group, name="then"),
        expect=all_of(
            answer("then", "groups[0].assignor_name").is_("range"),
            answer("m3", EPOCH).is_(first + 2),
            *(answer("then", TARGETS).contains([part]) for part in ([0, 1], [2], [3])),
        ),
    )


@claim("rebalance.most-members-choose-the-assignor", **SEEN | SINCE_3_9)
def test_most_members_choose_the_assignor(case):
    """The group uses the assignor that most members prefer; a member without a preference has no
    vote.
    """
    group, topic = case.group(), case.topic()
    return case.scenario(
        started(group, topic),
        join(group, "m1", topic, name="m1", server_assignor="range"),
        join(group, "m2", topic, name="m2", server_assignor="uniform"),
        describe(group, name="even"),
        join(group, "m3", topic, name="m3"),
        join(group, "m4", topic, name="m4", server_assignor="range"),
        describe(group, name="then"),
        expect=answer("then", "groups[0].assignor_name").is_("range"),
    )


@claim("rebalance.other-subscriptions-are-balanced", **SEEN | SINCE_3_9)
def test_other_subscriptions_are_balanced(case):
    """Members with different subscriptions get only topics that they subscribe to, as evenly as
    these allow.
    """
    group, topic, other = case.group(), case.topic(), case.topic("other")
    return case.scenario(
        started(group, topic),
        a_topic(other, 2),
        topic_known(other),
        join(group, "m1", topic, name="m1"),
        join(group, "m2", other, name="m2"),
        join(group, "m3", other, name="m3"),
        describe(group, name="then"),
        expect=all_of(
            answer("m1", GIVEN).is_([0, 1, 2, 3]),
            answer("m2", GIVEN).is_([0, 1]),
            *(answer("then", TARGETS).contains([part]) for part in ([0, 1, 2, 3], [0], [1])),
        ),
    )


@claim(
    "rebalance.full-consumer-groups-refuse",
    subject=("group.consumer.max.size",),
    **COUNTED,
)
def test_full_consumer_groups_refuse(case):
    """Beyond group.consumer.max.size a join answers GROUP_MAX_SIZE_REACHED; a member can rejoin."""
    group, topic = case.group(), case.topic()
    everybody = [f"m{number}" for number in range(1, 7)]
    return case.scenario(
        started(group, topic),
        *[join(group, each, topic, version=case.version, name=each) for each in everybody],
        join(group, "m7", topic, version=case.version, name="m7"),
        join(group, "m1", topic, version=case.version, name="m1 again"),
        expect=all_of(
            answer("m7", CODE).is_(ErrorCode.GROUP_MAX_SIZE_REACHED),
            answer("m1 again", CODE).is_(ErrorCode.NONE),
        ),
    )


@claim("rebalance.silent-consumers-are-fenced", **SEEN)
def test_silent_consumers_are_fenced(case):
    """A member without a heartbeat for the session timeout leaves the group; its next heartbeat
    answers UNKNOWN_MEMBER_ID.
    """
    group, topic = case.group(), case.topic()
    return case.scenario(
        started(group, topic),
        configure(group, {SESSION: "600", INTERVAL: "100"}, "short"),
        Until(join(group, "m1", topic, name="join"), "heartbeat_interval_ms", "==", 100),
        until(group, "Empty", "silence"),
        beat(group, "m1", 2, name="late"),
        expect=answer("late", CODE).is_(ErrorCode.UNKNOWN_MEMBER_ID),
    )


@claim("rebalance.who-does-not-give-up-is-fenced", **SEEN | SINCE_3_9)
def test_who_does_not_give_up_is_fenced(case):
    """A member that does not revoke partitions within its rebalance timeout leaves the group, and
    the others get its partitions.
    """
    group, topic, first = case.group(), case.topic(), first_epoch(case)
    return case.scenario(
        started(group, topic),
        join(group, "m1", topic, name="m1", rebalance_timeout_ms=500),
        join(group, "m2", topic, name="m2"),
        beat(group, "m1", first, name="m1 is told"),
        until(group, "Assigning", "m1 is out", members=1),
        beat(group, "m1", first, name="late"),
        beat(group, "m2", first + 1, name="m2 has all"),
        expect=all_of(
            answer("late", CODE).is_(ErrorCode.UNKNOWN_MEMBER_ID),
            answer("m2 has all", GIVEN).is_([0, 1, 2, 3]),
        ),
    )


@claim("rebalance.heartbeats-that-were-lost-are-sent-again", **COUNTED)
def test_heartbeats_that_were_lost_are_sent_again(case):
    """A heartbeat with the previous epoch answers the current epoch if it owns only assigned
    partitions, else FENCED_MEMBER_EPOCH.
    """
    group, topic, first = case.group(), case.topic(), first_epoch(case)
    version = case.version
    return case.scenario(
        started(group, topic),
        join(group, "m1", topic, version=version, name="m1"),
        join(group, "m2", topic, version=version, name="m2"),
        beat(group, "m1", first, version=version, name="told"),
        beat(group, "m1", first, topic, (0, 1), version=version, name="lost"),
        beat(group, "m1", first, topic, (0, 1), version=version, name="again"),
        beat(group, "m1", first, topic, (0, 3), version=version, name="too much"),
        expect=all_of(
            answer("lost", EPOCH).is_(first + 1),
            answer("again", EPOCH).is_(first + 1),
            answer("too much", CODE).is_(ErrorCode.FENCED_MEMBER_EPOCH),
        ),
    )


@claim("rebalance.static-consumers-come-back-to-what-they-had", **COUNTED)
def test_static_consumers_come_back_to_what_they_had(case):
    """A static member that left temporarily returns under another member id without a new group
    epoch; the old id answers FENCED_INSTANCE_ID.
    """
    group, topic, first = case.group(), case.topic(), first_epoch(case)
    how = {"instance_id": "i1", "version": case.version}
    return case.scenario(
        started(group, topic),
        join(group, "m1", topic, name="m1", **how),
        join(group, "m2", topic, name="too early", **how),
        beat(group, "m1", AWAY, name="away", **how),
        describe(group, name="meanwhile"),
        join(group, "m2", topic, name="m2", **how),
        beat(group, "m1", first, name="m1 again", **how),
        describe(group, name="then"),
        expect=all_of(
            answer("too early", CODE).is_(ErrorCode.UNRELEASED_INSTANCE_ID),
            answer("m2", EPOCH).is_(first),
            answer("m1 again", CODE).is_(ErrorCode.FENCED_INSTANCE_ID),
        ),
    )


@claim("rebalance.joins-are-records", switches=("consumer-groups-not-logged",),
       **HEARTBEATS | {"evidence": ("KIP-848", "KIP-1101")})  # fmt: skip
def test_joins_are_records(case):
    """A join writes one batch with the member, target assignment, current assignment, group epoch
    and target epoch.
    """
    group, topic = case.group(), case.topic()
    # of a batch by the ids of members, records without one last
    first = [MEMBER, TARGET, CURRENT, GROUP, TARGET_EPOCH]
    second = [TARGET, *first]  # m1 is to give up what m2 gets
    return case.scenario(
        started(group, topic),
        written(
            OFFSETS,
            join(group, "m1", topic, version=case.version, name="m1"),
            join(group, "m2", topic, version=case.version, name="m2", instance_id="i2"),
        ),
        expect=all_of(
            answer("m2", EPOCH).is_(3),
            own_batches("log", "[*].records[*].kind").is_([first, second]),
        ),
    )


@claim("rebalance.steps-are-records", **COUNTED)
def test_steps_are_records(case):
    """Revoking and taking partitions writes current assignments; a heartbeat that changes nothing
    writes nothing.
    """
    group, topic, first = case.group(), case.topic(), first_epoch(case)
    version = case.version
    return case.scenario(
        started(group, topic),
        join(group, "m1", topic, version=version, name="m1"),
        join(group, "m2", topic, version=version, name="m2"),
        written(
            OFFSETS,
            beat(group, "m1", first, version=version, name="is told"),
            beat(group, "m1", first, topic, (0, 1), version=version, name="gives up"),
            beat(group, "m1", first + 1, version=version, name="nothing"),
            beat(group, "m2", first + 1, version=version, name="takes"),
            beat(group, "m1", first + 1, version=version, name="moves", rack_id="r1"),
        ),
        expect=all_of(
            answer("takes", GIVEN).is_([2, 3]),
            own_batches("log", "[*].records[*].kind").is_(
                [[CURRENT], [CURRENT], [CURRENT], [MEMBER]]
            ),
            own_batches("log", "[*].records[*].key.member_id").is_(
                [["m1"], ["m1"], ["m2"], ["m1"]]
            ),
        ),
    )


@claim("rebalance.good-byes-are-tombstones", **HEARTBEATS)
def test_good_byes_are_tombstones(case):
    """A member that leaves writes tombstones, one that leaves temporarily a record of its new
    epoch, and DeleteGroups tombstones of the group.
    """
    group, topic = case.group(), case.topic()
    how = {"instance_id": "i1", "version": case.version}
    return case.scenario(
        started(group, topic),
        join(group, "m1", topic, name="m1", **how),
        written(
            OFFSETS,
            beat(group, "m1", AWAY, name="away", **how),
            join(group, "m2", topic, name="back", **how),
            beat(group, "m2", LEAVE, name="leaves", **how),
            groups.delete(group, name="delete"),
        ),
        expect=all_of(
            answer("delete", "results[0].error_code").is_(ErrorCode.NONE),
            own_batches("log", "[0].records[*].value.member_epoch").is_([AWAY]),
            own_batches("log", "[2].records[*].kind").is_([CURRENT, TARGET, MEMBER, GROUP]),
            own_batches("log", "[2].records[*].version").is_([None, None, None, 0]),
            own_batches("log", "[3].records[*].kind").is_([TARGET_EPOCH, METADATA, GROUP]),
            own_batches("log", "[3].records[*].value").each_is(None),
        ),
    )


@claim("rebalance.offsets-survive-a-change-of-protocol", **SEEN)
def test_offsets_survive_a_change_of_protocol(case):
    """Committed offsets survive a group's change to the consumer protocol and to the classic
    protocol.
    """
    group, topic = case.group(), case.topic()
    fetched = {"group_id": group, "topics": [{"name": topic, "partition_indexes": [0]}]}
    return case.scenario(
        started(group, topic),
        written(
            OFFSETS,
            groups.commit("x", group, topic, name="commit"),
            join(group, "m1", topic, name="m1"),
            beat(group, "m1", LEAVE, name="leaves"),
            groups.comes("c", group),
        ),
        Ask("OffsetFetch", 1, fetched, name="fetch"),
        groups.describe(group, name="then"),
        expect=all_of(
            answer("fetch", "topics[0].partitions[0].committed_offset").is_(5),
            answer("then", STATE).is_("CompletingRebalance"),
        ),
    )
