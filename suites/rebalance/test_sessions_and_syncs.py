"""How long members of classic groups stay: after a sync timeout, and in a new incarnation.

Sources: GroupCoordinator.onExpirePendingSync@2.8.2, ClassicGroup and GroupMetadataManager@3.9.2 and
4.3.1; GROUP-13, GROUP-32; KIP-345.
"""

from touchstone.harness.model.claim import claim, every, range_
from touchstone.harness.model.expect import all_of, answer
from touchstone.harness.model.placeholders import Ref
from touchstone.harness.model.scenario import Await
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.groups import (
    CLUSTER,
    CODE,
    MEMBERS,
    PREPARING,
    STABLE,
    STATE,
    STATIC,
    again,
    comes,
    coordinated,
    describe,
    heartbeat,
    id_of,
    meet,
    sync,
    until,
)
from touchstone.suites.kit.in_flight import sent
from touchstone.suites.rebalance.states import PLAN
from touchstone.suites.rebalance.test_static import static
from touchstone.suites.rebalance.test_timeouts import SESSION_MS, SHORT_MS, paused, stable

SINCE = "2.8+"
SEEN = "observed on 2.8.2, 3.9.2 and 4.3.1"


def _three(group, **how):
    """a, who leads, b and c in generation 2."""
    return [
        coordinated(group),
        comes("a", group, **how),
        sent(comes("b", group, **how)),
        until(group, PREPARING, "b has come", 2),
        sent(comes("c", group, **how)),
        until(group, PREPARING, "c has come", 3),
        again("a", group, **how),
        Await("b comes"),
        Await("c comes"),
    ]


@claim("rebalance.who-synced-outlives-a-sync-timeout", evidence=("GROUP-13", SEEN),
       api="SyncGroup", versions=range_("SyncGroup", 3), releases=SINCE,
       config=CLUSTER)  # fmt: skip
def test_who_synced_outlives_a_sync_timeout(case):
    """When one of three members sends no SyncGroup within the rebalance timeout, the leader and the
    follower who did are asked to rejoin, and are the next generation."""
    group, short = case.group(), {"rebalance_ms": SHORT_MS}
    return case.scenario(
        _three(group, **short),
        sent(sync("b", group, 2, version=case.version, name="b synced")),
        sync("a", group, 2, PLAN, version=case.version, name="a synced"),
        Await("b synced"),
        until(group, PREPARING, "without c", 2),
        heartbeat("a", group, 2, name="a hears"),
        heartbeat("b", group, 2, name="b hears"),
        heartbeat("c", group, 2, name="c hears"),
        sent(again("b", group, **short)),
        again("a", group, "a returns", **short),
        Await("b again"),
        expect=all_of(
            answer("b synced", "assignment").is_(PLAN["b"]),
            answer("without c", f"{MEMBERS}[*].member_id").contains(id_of("a")),
            answer("without c", f"{MEMBERS}[*].member_id").contains(id_of("b")),
            answer("a hears", CODE).is_(ErrorCode.REBALANCE_IN_PROGRESS),
            answer("b hears", CODE).is_(ErrorCode.REBALANCE_IN_PROGRESS),
            answer("c hears", CODE).is_(ErrorCode.UNKNOWN_MEMBER_ID),
            answer("a returns", "generation_id").is_(3),
            answer("a returns", "members").has_length(2),
            answer("b again", "generation_id").is_(3),
        ),
    )


@claim("rebalance.a-new-incarnation-has-a-session-of-its-own", evidence=("GROUP-32", SEEN),
       api="JoinGroup", versions=range_("JoinGroup", STATIC), releases=SINCE,
       config=CLUSTER)  # fmt: skip
def test_a_new_incarnation_has_a_session_of_its_own(case):
    """A static member that returns begins its session anew: it is still a member when the session
    of the one that it replaces would have ended."""
    group = case.group()
    brief = {"session_ms": SESSION_MS}
    mine = Ref("b back", "member_id")
    return case.scenario(
        coordinated(group),
        meet(
            group,
            static("a", group, "a comes"),
            static("b", group, "b comes", **brief),
            static("a", group, "a again", member=id_of("a")),
        ),
        sent(sync("b", group, 2, name="b synced")),
        sync("a", group, 2, PLAN, name="a synced"),
        Await("b synced"),
        paused(case, 0),
        paused(case, 1),
        static("b", group, "b back", version=case.version, **brief),
        paused(case, 2),
        paused(case, 3),
        describe(group, name="after"),
        heartbeat("b", group, 2, member=mine, instance="instance-b", version=3, name="lives"),
        expect=all_of(
            answer("b back", "generation_id").is_(2),
            answer("after", STATE).is_(STABLE),
            answer("lives", CODE).is_(ErrorCode.NONE),
        ),
    )


@claim("rebalance.heartbeats-outlast-a-session", evidence=("GROUP-21",), api="Heartbeat",
       versions=every("Heartbeat"), config=CLUSTER)  # fmt: skip
def test_heartbeats_outlast_a_session(case):
    """A member that heartbeats for longer than its session timeout stays, and one that then falls
    silent goes."""
    group = case.group()
    beats = [
        [*paused(case, n), heartbeat("b", group, 2, version=case.version, name=f"beat {n}")]
        for n in range(4)
    ]
    return case.scenario(
        stable(group),
        *beats,
        describe(group, name="alive"),
        until(group, PREPARING, "silent", 1),
        expect=all_of(
            *[answer(f"beat {n}", CODE).is_(ErrorCode.NONE) for n in range(4)],
            answer("alive", STATE).is_(STABLE),
            answer("silent", f"{MEMBERS}[*].member_id").is_([id_of("a")]),
        ),
    )


@claim("rebalance.a-refused-heartbeat-is-no-sign-of-life", evidence=("GROUP-22",), config=CLUSTER)
def test_a_refused_heartbeat_is_no_sign_of_life(case):
    """A heartbeat that names another generation does not restart the member's session timeout."""
    group = case.group()
    beats = [[*paused(case, n), heartbeat("b", group, 1, name=f"beat {n}")] for n in range(2)]
    return case.scenario(
        stable(group),
        *beats,
        paused(case, 2),
        paused(case, 3),
        describe(group, name="after"),
        expect=all_of(
            answer("beat 1", CODE).is_(ErrorCode.ILLEGAL_GENERATION),
            answer("after", STATE).is_(PREPARING),
        ),
    )
