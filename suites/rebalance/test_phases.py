"""How long the phases of a classic group last, who counts for that, and which sessions there are.

Sources: GroupCoordinator at 1.0.2, 2.8.2, ClassicGroup and GroupMetadataManager at 3.9.2 and 4.3.1;
GROUP-04, GROUP-13, GROUP-14; KIP-134, KIP-345.
"""

from touchstone.harness.model.claim import claim, range_
from touchstone.harness.model.expect import all_of, answer
from touchstone.harness.model.scenario import Await
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.groups import (
    CLUSTER,
    CODE,
    MEMBERS,
    PREPARING,
    STATE,
    STATIC,
    again,
    comes,
    coordinated,
    describe,
    id_of,
    join,
    meet,
    sync,
    until,
)
from touchstone.suites.kit.in_flight import sent
from touchstone.suites.rebalance.states import PLAN
from touchstone.suites.rebalance.test_static import static
from touchstone.suites.rebalance.test_timeouts import SHORT_MS, paused

LONGEST_MS = 1_800_000  # group.max.session.timeout.ms by default
DELAY_MS = 3000
SINCE = "2.8+"


@claim("rebalance.sessions-may-be-as-long-as-the-limit", evidence=("GROUP-04",), api="JoinGroup",
       config=CLUSTER, subject=("group.min.session.timeout.ms",))  # fmt: skip
def test_sessions_may_be_as_long_as_the_limit(case):
    """JoinGroup with a session timeout of exactly group.min.session.timeout.ms or
    group.max.session.timeout.ms is not refused for it; a millisecond beyond either answers
    INVALID_SESSION_TIMEOUT."""
    groups = {word: case.group(word) for word in ("shortest", "shorter", "longest", "longer")}
    times = {"shortest": 100, "shorter": 99, "longest": LONGEST_MS, "longer": LONGEST_MS + 1}
    release_max = {"1.0": 300_000, "2.2": 300_000}.get(case.release, LONGEST_MS)
    times |= {"longest": release_max, "longer": release_max + 1}
    wrong = ErrorCode.INVALID_SESSION_TIMEOUT
    return case.scenario(
        [coordinated(group) for group in groups.values()],
        [
            join(word, group, version=case.version, session_ms=times[word], name=word)
            for word, group in groups.items()
        ],
        expect=all_of(
            answer("shortest", CODE).is_not(wrong),
            answer("shorter", CODE).is_(wrong),
            answer("longest", CODE).is_not(wrong),
            answer("longer", CODE).is_(wrong),
        ),
    )


@claim("rebalance.the-longest-rebalance-timeout-counts", evidence=("GROUP-13",), config=CLUSTER)
def test_the_longest_rebalance_timeout_counts(case):
    """A rebalance waits for a member as long as the longest rebalance timeout of the group's
    members: after a shorter one of another's the absent member is still in the group, and may
    come."""
    group = case.group()
    return case.scenario(
        coordinated(group),
        meet(
            group,
            comes("a", group),
            comes("b", group, rebalance_ms=SHORT_MS),
            again("a", group),
        ),
        sent(comes("c", group, rebalance_ms=SHORT_MS)),
        until(group, PREPARING, "c has come", 3),
        sent(again("b", group, rebalance_ms=SHORT_MS)),
        paused(case, 0),
        paused(case, 1),
        describe(group, name="after"),
        again("a", group, "a returns"),
        Await("b again"),
        Await("c comes"),
        expect=all_of(
            answer("after", STATE).is_(PREPARING),
            answer("after", f"{MEMBERS}[*].member_id").has_length(3),
            answer("a returns", "generation_id").is_(3),
            answer("c comes", "generation_id").is_(3),
        ),
    )


@claim("rebalance.absent-static-members-stay-in-the-generation", evidence=("KIP-345",),
       api="JoinGroup", versions=range_("JoinGroup", STATIC), releases=SINCE,
       config=CLUSTER)  # fmt: skip
def test_absent_static_members_stay_in_the_generation(case):
    """A static member that does not rejoin within the rebalance timeout, and whose session lasts,
    is a member of the next generation, and the leader's JoinGroup answer names it."""
    group, short = case.group(), {"rebalance_ms": SHORT_MS}
    return case.scenario(
        coordinated(group),
        meet(
            group,
            static("a", group, "a comes", **short),
            static("b", group, "b comes", **short),
            static("a", group, "a again", member=id_of("a"), **short),
        ),
        sent(sync("b", group, 2, name="b synced")),
        sync("a", group, 2, PLAN, name="a synced"),
        Await("b synced"),
        sent(static("c", group, "c comes", version=case.version, **short)),
        until(group, PREPARING, "c has come", 3),
        static("a", group, "a returns", member=id_of("a"), version=case.version, **short),
        Await("c comes"),
        expect=all_of(
            answer("a returns", "generation_id").is_(3),
            answer("a returns", "members").has_length(3),
            answer("a returns", "members[*].member_id").contains(id_of("b")),
        ),
    )


@claim("rebalance.a-static-member-that-does-not-sync-goes",
       evidence=("observed on 2.8.2, 3.9.2 and 4.3.1",), level="OBSERVED",
       api="SyncGroup", versions=range_("SyncGroup", 3), releases=SINCE,
       config=CLUSTER)  # fmt: skip
def test_a_static_member_that_does_not_sync_goes(case):
    """A static member that sends no SyncGroup within the rebalance timeout is removed, as any
    other, and the group rebalances."""
    group, short = case.group(), {"rebalance_ms": SHORT_MS}
    return case.scenario(
        coordinated(group),
        meet(
            group,
            static("a", group, "a comes", **short),
            static("b", group, "b comes", **short),
            static("a", group, "a again", member=id_of("a"), **short),
        ),
        sync("a", group, 2, PLAN, version=case.version, name="a synced"),
        until(group, PREPARING, "without b", 1),
        expect=answer("without b", f"{MEMBERS}[*].member_id").is_([id_of("a")]),
    )


@claim("rebalance.a-first-phase-is-longer-for-late-comers", evidence=("GROUP-14", "KIP-134"),
       config=CLUSTER | {"group.initial.rebalance.delay.ms": DELAY_MS}, releases=SINCE,
       subject=("group.initial.rebalance.delay.ms",))  # fmt: skip
def test_a_first_phase_is_longer_for_late_comers(case):
    """The first join phase of a group is extended by group.initial.rebalance.delay.ms where
    somebody came during it: who comes after the first delay and within the second is in the same
    generation."""
    group, clock = case.group(), case.group("clock")
    return case.scenario(
        coordinated(group),
        sent(comes("a", group)),
        until(group, PREPARING, "a has come", 1),
        sent(comes("b", group)),
        until(group, PREPARING, "b has come", 2),
        comes("t", clock),  # answered after one delay, which began after the group's
        sent(comes("c", group)),
        Await("a comes"),
        Await("b comes"),
        Await("c comes"),
        expect=all_of(
            answer("a comes", "generation_id").is_(1),
            answer("c comes", "generation_id").is_(1),
            answer("a comes", "members").has_length(3),
        ),
    )
