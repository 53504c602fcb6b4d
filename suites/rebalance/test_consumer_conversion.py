"""Groups that change their protocol while their members stay (KIP-848's online migration).

Sources: KIP-848; GroupMetadataManager.convertToConsumerGroup, classicGroupJoinToConsumerGroup,
convertToClassicGroup@4.3.1; observed on 4.3.1.
"""

from touchstone.harness.model.claim import claim, range_
from touchstone.harness.model.expect import all_of, answer, own_batches
from touchstone.harness.model.scenario import Await
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit import groups
from touchstone.suites.kit.consumer_groups import (
    AWAY,
    CLUSTER,
    CODE,
    EPOCH,
    GIVEN,
    HEARTBEATS,
    LEAVE,
    MEMBERS,
    SEEN,
    SINCE_3_9,
    STATE,
    beat,
    describe,
    newest_description,
    until,
)
from touchstone.suites.kit.consumer_groups import join as joins
from touchstone.suites.kit.groups import comes, coordinated, heartbeat, id_of, sync
from touchstone.suites.kit.in_flight import sent
from touchstone.suites.kit.internal_logs import OFFSETS, written
from touchstone.suites.rebalance.mixed import SHARED, begun, classic, mixed, part, rejoins, wants

TYPES, CLASSIC, CONSUMER = f"{MEMBERS}[*].member_type", 0, 1
NOT_DISABLED = CLUSTER | {"group.consumer.migration.policy": "disabled"}


@claim("rebalance.classic-groups-are-upgraded", **HEARTBEATS)
def test_classic_groups_are_upgraded(case):
    """The first ConsumerGroupHeartbeat converts a classic group to a consumer group and keeps its
    classic members, whose Heartbeat answers REBALANCE_IN_PROGRESS.
    """
    group = case.group()
    return case.scenario(
        classic(group),
        joins(group, "m1", SHARED, name="m1", version=case.version),
        describe(group, version=1, name="mixed"),
        groups.describe(group, version=6, name="no classic one"),
        heartbeat("c", group, 1, name="c hears"),
        expect=all_of(
            answer("m1", EPOCH).is_(2),
            answer("mixed", STATE).is_("Reconciling"),
            answer("mixed", TYPES).is_one_of([CLASSIC, CONSUMER], [CONSUMER, CLASSIC]),
            answer("no classic one", "groups[0].error_code").is_(ErrorCode.GROUP_ID_NOT_FOUND),
            answer("c hears", CODE).is_(ErrorCode.REBALANCE_IN_PROGRESS),
        ),
    )


@claim("rebalance.classic-members-give-up-and-take", **SEEN | SINCE_3_9 | {
    "api": "JoinGroup", "versions": range_("JoinGroup", 2, 3)})  # fmt: skip
def test_classic_members_give_up_and_take(case):
    """A classic member of a consumer group rejoins and syncs to learn what to revoke, and rejoins
    to revoke it; then the consumer member gets it.
    """
    group, version = case.group(), case.version
    return case.scenario(
        mixed(group),
        rejoins(group, 0, 1, 2, 3, name="hears", version=version),
        heartbeat("c", group, 1, name="not yet"),
        sync("c", group, 1, name="has to give up"),
        rejoins(group, 0, 1, name="gave up", version=version),
        sync("c", group, 2, name="has"),
        heartbeat("c", group, 2, name="settled"),
        beat(group, "m1", 2, name="m1 takes"),
        describe(group, version=newest_description(case), name="then"),
        expect=all_of(
            answer("hears", "generation_id").is_(1),
            answer("gave up", "generation_id").is_(2),
            answer("not yet", CODE).is_(ErrorCode.REBALANCE_IN_PROGRESS),
            answer("settled", CODE).is_(ErrorCode.NONE),
            answer("m1 takes", GIVEN).is_([2, 3]),
            answer("then", STATE).is_("Stable"),
        ),
    )


@claim("rebalance.eager-members-give-up-by-joining", **SEEN | SINCE_3_9)
def test_eager_members_give_up_by_joining(case):
    """A classic member whose subscription has no owned partitions revokes all of
    them by rejoining.
    """
    group = case.group()
    eager = {"protocols": wants(version=0)}
    return case.scenario(
        mixed(group, **eager),
        groups.join("c", group, member=id_of("c"), name="again", **eager),
        sync("c", group, 2, name="has"),
        beat(group, "m1", 2, name="m1 takes"),
        expect=all_of(
            answer("again", "generation_id").is_(2), answer("m1 takes", GIVEN).is_([2, 3])
        ),
    )


@claim("rebalance.newcomers-may-be-classic", **SEEN | {
    "api": "JoinGroup", "versions": range_("JoinGroup", 2)})  # fmt: skip
def test_newcomers_may_be_classic(case):
    """A classic member can join a consumer group; JoinGroup versions that require a member id first
    assign one.
    """
    group, version = case.group(), case.version
    first = groups.join("n", group, protocols=wants(), version=version, name="first")
    again = groups.join("n", group, member=groups.Ref("first", "member_id"), protocols=wants(),
                      version=version, name="again")  # fmt: skip
    return case.scenario(
        begun(group),
        joins(group, "m1", SHARED, name="m1"),
        first,
        again,
        describe(group, version=1, name="then"),
        expect=all_of(
            answer("first", CODE).is_(
                ErrorCode.NONE if version < groups.ID_FIRST else ErrorCode.MEMBER_ID_REQUIRED
            ),
            answer("again", CODE).is_(ErrorCode.NONE),
            answer("again", "leader").is_(""),
            answer("then", TYPES).is_one_of([CLASSIC, CONSUMER], [CONSUMER, CLASSIC]),
        ),
    )


@claim("rebalance.classic-members-are-checked", **SEEN)
def test_classic_members_are_checked(case):
    """A consumer group checks a classic member's generation, member id and protocol:
    ILLEGAL_GENERATION, UNKNOWN_MEMBER_ID, INCONSISTENT_GROUP_PROTOCOL.
    """
    group = case.group()
    nobody = {"member": "stranger"}
    return case.scenario(
        mixed(group),
        heartbeat("c", group, 7, name="other generation"),
        heartbeat("c", group, 1, name="stranger", **nobody),
        heartbeat("c", group, 2, member="m1", name="no classic member"),
        heartbeat("c", group, 1, instance="i9", version=3, name="other instance"),
        sync("c", group, 7, name="sync of another generation"),
        sync("c", group, 1, version=5, protocol="other", name="other protocol"),
        sync("c", group, 1, version=5, kind="other", name="other type"),
        groups.join("x", group, kind="connect", name="other kind"),
        groups.join("x", group, protocols=(("other", wants()[0][1]),), name="nothing in common"),
        groups.leave_all("x", group, ("stranger", None), ("", "i9"), name="nobody leaves"),
        expect=all_of(
            answer("other generation", CODE).is_(ErrorCode.ILLEGAL_GENERATION),
            answer("stranger", CODE).is_(ErrorCode.UNKNOWN_MEMBER_ID),
            answer("no classic member", CODE).is_(ErrorCode.UNKNOWN_MEMBER_ID),
            answer("other instance", CODE).is_(ErrorCode.UNKNOWN_MEMBER_ID),
            answer("sync of another generation", CODE).is_(ErrorCode.ILLEGAL_GENERATION),
            answer("other protocol", CODE).is_(ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
            answer("other type", CODE).is_(ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
            answer("nobody leaves", "members[*].error_code").each_is(ErrorCode.UNKNOWN_MEMBER_ID),
            answer("other kind", CODE).is_(ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
            answer("nothing in common", CODE).is_(ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        ),
    )


UNFIT = {
    "no-consumers": {"kind": "connect", "protocols": (("range", b"x"),)},
    "malformed": {"protocols": (("range", b"\0"),)},
    "custom-assignor": {"protocols": wants()},
}


@claim("rebalance.some-classic-groups-stay", why=tuple(UNFIT), **SEEN)
def test_some_classic_groups_stay(case):
    """ConsumerGroupHeartbeat answers GROUP_ID_NOT_FOUND for a classic group of another protocol
    type, with malformed metadata or with user data, and does not convert it.
    """
    group = case.group()
    return case.scenario(
        begun(group),
        comes("c", group, **UNFIT[case.why]),
        sync("c", group, 1, {"c": part(0, user_data=b"mine")}, name="c synced"),
        joins(group, "m1", SHARED, name="ask"),
        groups.describe(group, version=6, name="then"),
        expect=all_of(
            answer("ask", CODE).is_(ErrorCode.GROUP_ID_NOT_FOUND),
            answer("then", STATE).is_("Stable"),
        ),
    )


@claim("rebalance.who-waits-is-told-of-the-upgrade", **SEEN)
def test_who_waits_is_told_of_the_upgrade(case):
    """A member's waiting SyncGroup answers REBALANCE_IN_PROGRESS when its group is converted to a
    consumer group.
    """
    group = case.group()
    return case.scenario(
        begun(group),
        comes("c", group, protocols=wants()),
        sent(comes("d", group, protocols=wants())),
        groups.until(group, groups.PREPARING, "d has come"),
        rejoins(group, name="c again"),
        Await("d comes"),
        sent(sync("d", group, 2, name="d waits")),
        groups.heartbeat("c", group, 2, name="c beats"),
        joins(group, "m1", SHARED, name="m1", server_assignor="range"),
        Await("d waits"),
        describe(group, version=newest_description(case), name="then"),
        expect=all_of(
            answer("d waits", CODE).is_(ErrorCode.REBALANCE_IN_PROGRESS),
            answer("m1", EPOCH).is_(3),
        ),
    )


@claim("rebalance.consumer-groups-are-downgraded", **HEARTBEATS)
def test_consumer_groups_are_downgraded(case):
    """When the last consumer member leaves, the group with its classic members becomes a classic
    group in PreparingRebalance.
    """
    group = case.group()
    return case.scenario(
        mixed(group),
        beat(group, "m1", LEAVE, version=case.version, name="m1 leaves"),
        groups.describe(group, version=5, name="classic again"),
        describe(group, name="no consumer group"),
        heartbeat("c", group, 2, name="c hears"),
        groups.join("c", group, member=id_of("c"), protocols=wants(0, 1, 2, 3), name="c again"),
        sync("c", group, 3, {"c": part(0, 1, 2, 3)}, name="c leads"),
        groups.describe(group, version=5, name="then"),
        expect=all_of(
            answer("classic again", STATE).is_("PreparingRebalance"),
            answer("no consumer group", "groups[0].error_code").is_(ErrorCode.GROUP_ID_NOT_FOUND),
            answer("c hears", CODE).is_(ErrorCode.REBALANCE_IN_PROGRESS),
            answer("c again", "generation_id").is_(3),
            answer("then", STATE).is_("Stable"),
        ),
    )


@claim("rebalance.static-consumers-may-return-as-classic-ones", **SEEN | {
    "api": "JoinGroup", "versions": range_("JoinGroup", 5)})  # fmt: skip
def test_static_consumers_may_return_as_classic_ones(case):
    """A static member that is the only consumer member and rejoins by JoinGroup makes its group a
    classic group.
    """
    group, version = case.group(), case.version
    return case.scenario(
        begun(group),
        joins(group, "s1", SHARED, name="s1", instance_id="i1"),
        groups.join("c", group, instance="i1", protocols=wants(), version=version, name="c comes"),
        groups.describe(group, version=5, name="then"),
        sync("c", group, 2, instance="i1", version=3, name="has"),
        expect=all_of(
            answer("c comes", "generation_id").is_(2), answer("then", STATE).is_("Stable")
        ),
    )


@claim("rebalance.static-members-change-their-protocol-among-others", **SEEN)
def test_static_members_change_their_protocol_among_others(case):
    """A static member beside another consumer member can change to the classic
    protocol and back.
    """
    group = case.group()
    return case.scenario(
        begun(group),
        joins(group, "s1", SHARED, name="s1", instance_id="i1"),
        joins(group, "m1", SHARED, name="m1"),
        groups.join("c", group, instance="i1", protocols=wants(), version=5, name="c comes"),
        describe(group, version=1, name="classic"),
        joins(group, "s2", SHARED, name="s2", instance_id="i1"),
        describe(group, version=1, name="then"),
        expect=all_of(
            answer("c comes", CODE).is_(ErrorCode.NONE),
            answer("classic", TYPES).is_one_of([CLASSIC, CONSUMER], [CONSUMER, CLASSIC]),
            answer("s2", CODE).is_(ErrorCode.NONE),
            answer("then", TYPES).is_([CONSUMER, CONSUMER]),
        ),
    )


@claim("rebalance.classic-members-may-change-their-protocol", **HEARTBEATS)
def test_classic_members_may_change_their_protocol(case):
    """A classic member that sends ConsumerGroupHeartbeat under its own member id becomes a consumer
    member.
    """
    group = case.group()
    return case.scenario(
        classic(group),
        joins(group, id_of("c"), SHARED, name="ask", version=case.version),
        describe(group, version=1, name="then"),
        expect=all_of(
            answer("ask", EPOCH).is_(1),
            answer("then", STATE).is_("Stable"),
            answer("then", TYPES).is_([CONSUMER]),
        ),
    )


@claim("rebalance.late-classic-members-are-fenced", **SEEN | SINCE_3_9)
def test_late_classic_members_are_fenced(case):
    """A consumer group removes a classic member that does not rejoin within its rebalance timeout;
    its Heartbeat answers UNKNOWN_MEMBER_ID.
    """
    group = case.group()
    return case.scenario(
        mixed(group, rebalance_ms=1500),
        heartbeat("c", group, 1, name="c hears"),
        until(group, "Assigning", "c is out", members=1),
        heartbeat("c", group, 1, name="late"),
        expect=answer("late", CODE).is_(ErrorCode.UNKNOWN_MEMBER_ID),
    )


@claim("rebalance.classic-members-have-to-sync", **SEEN | SINCE_3_9)
def test_classic_members_have_to_sync(case):
    """A consumer group removes a classic member that does not send SyncGroup within its rebalance
    timeout; a late one answers UNKNOWN_MEMBER_ID.
    """
    group = case.group()
    return case.scenario(
        begun(group),
        joins(group, "m1", SHARED, name="m1"),
        comes("c", group, protocols=wants(), rebalance_ms=500),
        until(group, "Assigning", "c is out", members=1),
        sync("c", group, 3, name="late"),
        expect=answer("late", CODE).is_(ErrorCode.UNKNOWN_MEMBER_ID),
    )


@claim("rebalance.classic-members-commit-in-their-generation", **SEEN | SINCE_3_9)
def test_classic_members_commit_in_their_generation(case):
    """A classic member of a consumer group commits offsets with its member epoch as generation; a
    later one answers ILLEGAL_GENERATION.
    """
    group = case.group()
    own = {"member": id_of("c"), "version": 8}
    return case.scenario(
        mixed(group),
        groups.commit("c", group, SHARED, 1, name="now", **own),
        groups.commit("c", group, SHARED, 0, name="before", **own),
        groups.commit("c", group, SHARED, 7, name="later", **own),
        expect=all_of(
            answer("now", groups.OFFSET_CODE).is_(0),
            answer("later", groups.OFFSET_CODE).is_(ErrorCode.ILLEGAL_GENERATION),
        ),
    )


@claim("rebalance.conversions-are-records", **SEEN)
def test_conversions_are_records(case):
    """A change of a group's protocol writes one batch: tombstones of the old kind of group and
    records of the new.
    """
    group = case.group()
    # kinds: 2 is the classic group; 3 to 8 are a consumer group's, its members' and their targets'
    upgrade, downgrade = [2, 5, 7, 8, 5, 7, 8, 7, 3, 6, 3, 6], [2, 8, 7, 5, 8, 7, 5, 6, 4, 3]
    return case.scenario(
        classic(group),
        written(
            OFFSETS,
            joins(group, "m1", SHARED, name="m1"),
            rejoins(group, 0, 1, 2, 3, name="hears"),
            rejoins(group, 0, 1, name="gave up"),
            beat(group, "m1", LEAVE, name="leaves"),
        ),
        expect=all_of(
            answer("leaves", CODE).is_(ErrorCode.NONE),
            own_batches("log", "[*].records[*].kind").is_([upgrade, [5, 8], [5, 8], downgrade]),
            own_batches("log", "[0].records[0].value").is_(None),
            own_batches("log", "[3].records[*].version").is_([3, *[None] * 9]),
        ),
    )


@claim("rebalance.all-may-leave-at-once", **SEEN)
def test_all_may_leave_at_once(case):
    """One LeaveGroup can remove classic and consumer members of a group and leaves it Empty."""
    group = case.group()
    return case.scenario(
        mixed(group),
        groups.leave_all("c", group, (id_of("c"), None), ("m1", None), ("x", None), name="ask"),
        describe(group, name="then"),
        expect=all_of(
            answer("ask", CODE).is_(ErrorCode.NONE),
            answer("ask", "members[*].error_code").is_(
                [ErrorCode.NONE, ErrorCode.NONE, ErrorCode.UNKNOWN_MEMBER_ID]
            ),
            answer("then", STATE).is_("Empty"),
        ),
    )


@claim("rebalance.without-migration-protocols-stay-apart", **SEEN | {"config": NOT_DISABLED})
def test_without_migration_protocols_stay_apart(case):
    """With group.consumer.migration.policy=disabled a consumer member gets GROUP_ID_NOT_FOUND for a
    classic group, a classic member INCONSISTENT_GROUP_PROTOCOL for a consumer group.
    """
    group, other = case.group(), case.group("other")
    return case.scenario(
        classic(group),
        coordinated(other),
        joins(group, "m1", SHARED, name="consumer"),
        joins(other, "m1", SHARED, name="m1"),
        groups.join("d", other, protocols=wants(), name="classic"),
        beat(other, "m1", AWAY, name="not static"),
        expect=all_of(
            answer("consumer", CODE).is_(ErrorCode.GROUP_ID_NOT_FOUND),
            answer("classic", CODE).is_(ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        ),
    )
