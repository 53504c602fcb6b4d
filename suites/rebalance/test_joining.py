"""JoinGroup: checks before any group is looked at, member ids first, full groups, the choice of a
protocol, delays.

Sources: GROUP-04, 11 to 16; KIP-62, KIP-389 (group.max.size), KIP-394; all five were asked.
"""

from touchstone.harness.model.claim import claim, every, only, range_
from touchstone.harness.model.expect import all_of, answer, fits, no_answer
from touchstone.harness.model.placeholders import Ref
from touchstone.harness.model.scenario import Await, Quiet
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.groups import (
    CLUSTER,
    CODE,
    EMPTY,
    ID_FIRST,
    PREPARING,
    STATE,
    again,
    comes,
    coordinated,
    describe,
    heartbeat,
    id_of,
    join,
    leave,
    meet,
    subscription,
    sync,
    until,
)
from touchstone.suites.kit.in_flight import sent
from touchstone.suites.rebalance.states import steps_into

OBSERVED = "observed on 1.0.2, 2.2.1, 2.8.2, 3.9.2 and 4.3.1"
FULL = 8  # group.max.size of the cluster


@claim(
    "rebalance.sessions-have-bounds",
    evidence=("GROUP-04", OBSERVED),
    api="JoinGroup",
    versions=every("JoinGroup"),
    config=CLUSTER,
    session_ms=(99, 1_800_001),
)
def test_sessions_have_bounds(case):
    """JoinGroup with a session timeout outside the broker's bounds answers
    INVALID_SESSION_TIMEOUT.
    """
    group = case.group()
    return case.scenario(
        coordinated(group),
        join("a", group, version=case.version, session_ms=case.session_ms, name="ask"),
        describe(group, name="after"),
        expect=all_of(
            answer("ask", CODE).is_(ErrorCode.INVALID_SESSION_TIMEOUT),
            answer("after", STATE).is_("Dead"),
        ),
    )


@claim(
    "rebalance.a-group-has-a-name",
    evidence=("GROUP-04", OBSERVED),
    api="JoinGroup",
    versions=every("JoinGroup"),
    config=CLUSTER,
)
def test_a_group_has_a_name(case):
    """JoinGroup with an empty group id answers INVALID_GROUP_ID."""
    return case.scenario(
        coordinated(case.group()),
        join("a", "", version=case.version, name="ask"),
        expect=answer("ask", CODE).is_(ErrorCode.INVALID_GROUP_ID),
    )


@claim(
    "rebalance.an-id-that-was-given-may-be-used",
    evidence=("GROUP-12", "KIP-394"),
    api="JoinGroup",
    versions=range_("JoinGroup", ID_FIRST),
    config=CLUSTER,
)
def test_an_id_that_was_given_may_be_used(case):
    """A client that joins with the member id of MEMBER_ID_REQUIRED becomes a member
    under that id.
    """
    group = case.group()
    mine = Ref("named", "member_id")
    return case.scenario(
        coordinated(group),
        join("a", group, version=case.version, name="named"),
        join("a", group, member=mine, version=case.version, name="ask"),
        heartbeat("a", group, 1, member=mine, name="beat"),
        describe(group, name="after"),
        expect=all_of(
            answer("named", "member_id").matches(r"member-a-[-0-9a-f]{36}"),
            answer("ask", "member_id").is_(mine),
            answer("ask", "leader").is_(mine),
            answer("ask", "generation_id").is_(1),
        ),
    )


@claim(
    "rebalance.pending-ids-are-waited-for",
    evidence=("GROUP-12", "GROUP-13", "KIP-394"),
    api="JoinGroup",
    versions=range_("JoinGroup", ID_FIRST),
    config=CLUSTER,
)
def test_pending_ids_are_waited_for(case):
    """The join phase waits for a client that got MEMBER_ID_REQUIRED to rejoin with
    its member id.
    """
    group = case.group()
    return case.scenario(
        steps_into("stable", group),
        join("n", group, version=case.version, name="named"),
        sent(again("a", group, "a returns")),
        until(group, PREPARING, "begun"),
        sent(again("b", group, "b returns")),
        describe(group, name="still"),
        join("n", group, member=Ref("named", "member_id"), version=case.version, name="ask"),
        Await("a returns"),
        Await("b returns"),
        expect=all_of(
            answer("ask", "generation_id").is_(3),
            answer("a returns", "members").has_length(3),
        ),
    )


@claim(
    "rebalance.pending-ids-lapse",
    evidence=("GROUP-12", "KIP-394"),
    api="JoinGroup",
    versions=range_("JoinGroup", ID_FIRST),
    config=CLUSTER,
)
def test_pending_ids_lapse(case):
    """A member id of MEMBER_ID_REQUIRED expires after the session timeout: the join phase ends, and
    using the id answers UNKNOWN_MEMBER_ID.
    """
    group = case.group()
    return case.scenario(
        steps_into("stable", group),
        join("n", group, version=case.version, session_ms=400, name="named"),
        sent(again("a", group, "a returns")),
        until(group, PREPARING, "begun"),
        sent(again("b", group, "b returns")),
        Await("a returns"),
        Await("b returns"),
        join("n", group, member=Ref("named", "member_id"), version=case.version, name="late"),
        expect=all_of(
            answer("a returns", "members").has_length(2),
            answer("late", CODE).is_(ErrorCode.UNKNOWN_MEMBER_ID),
        ),
    )


@claim(
    "rebalance.pending-ids-can-be-left",
    evidence=("GROUP-24", "KIP-394"),
    api="LeaveGroup",
    versions=every("LeaveGroup"),
    releases="2.2+",
    config=CLUSTER,
)
def test_pending_ids_can_be_left(case):
    """LeaveGroup of a member id that was assigned and not used ends the join phase."""
    group = case.group()
    return case.scenario(
        steps_into("stable", group),
        join("n", group, version=4, name="named"),
        sent(again("a", group, "a returns")),
        until(group, PREPARING, "begun"),
        sent(again("b", group, "b returns")),
        leave("n", group, member=Ref("named", "member_id"), version=case.version, name="ask"),
        Await("a returns"),
        Await("b returns"),
        expect=answer("a returns", "members").has_length(2),
    )


@claim(
    "rebalance.the-first-to-come-leads",
    evidence=("GROUP-11", "GROUP-16"),
    api="JoinGroup",
    versions=every("JoinGroup"),
    config=CLUSTER,
)
def test_the_first_to_come_leads(case):
    """The first member leads, and only its JoinGroup answer lists the members."""
    group = case.group()
    return case.scenario(
        coordinated(group),
        meet(
            group,
            comes("a", group),
            comes("b", group),
            again("a", group, version=case.version),
        ),
        expect=all_of(
            answer("a again", "leader").is_(id_of("a")),
            answer("a again", "members").has_length(2),
            answer("b comes", "leader").is_(id_of("a")),
            answer("b comes", "members").has_length(0),
        ),
    )


@claim(
    "rebalance.the-one-who-is-left-leads",
    evidence=("GROUP-11", "GROUP-24"),
    api="JoinGroup",
    versions=every("JoinGroup"),
    config=CLUSTER,
)
def test_the_one_who_is_left_leads(case):
    """When the leader leaves, another member leads and its JoinGroup answer lists the members."""
    group = case.group()
    return case.scenario(
        steps_into("stable", group),
        leave("a", group, name="a left"),
        again("b", group, "ask", version=case.version),
        expect=all_of(
            answer("ask", "leader").is_(id_of("b")),
            answer("ask", "generation_id").is_(3),
            answer("ask", "members").has_length(1),
        ),
    )


def _wishing(*names):
    return tuple((name, subscription("wanted")) for name in names)


CHOICES = {
    "the-only-common-one": (("x", "y"), ("y", "z"), ("z", "y"), "y"),
    "the-most-votes": (("x", "y"), ("y", "x"), ("y", "x"), "y"),
    "votes-for-common-ones-only": (("z", "x", "y"), ("y", "x"), ("x", "y"), "x"),
    "all-alike": (("y", "x"), ("y", "x"), ("y", "x"), "y"),
}


@claim(
    "rebalance.most-votes-choose-the-protocol",
    evidence=("GROUP-15",),
    api="JoinGroup",
    versions=every("JoinGroup"),
    config=CLUSTER,
    choice=CHOICES,
)
def test_most_votes_choose_the_protocol(case):
    """Of the protocols that all members support the group chooses the one that most
    members prefer.
    """
    group = case.group()
    a, b, c, chosen = CHOICES[case.choice]
    return case.scenario(
        coordinated(group),
        comes("a", group, protocols=_wishing(*a)),
        sent(comes("b", group, protocols=_wishing(*b))),
        until(group, PREPARING, "b has come", 2),
        sent(comes("c", group, protocols=_wishing(*c))),
        until(group, PREPARING, "c has come", 3),
        again("a", group, "ask", version=case.version, protocols=_wishing(*a)),
        Await("b comes"),
        Await("c comes"),
        expect=answer("ask", "protocol_name").is_(chosen),
    )


def _join_all(group, members):
    """So many members in one generation; the first of them leads."""
    names = [chr(ord("a") + index) for index in range(members)]
    first, *others = names
    steps = [comes(first, group)]
    for index, who in enumerate(others, 2):
        steps += [sent(comes(who, group)), until(group, PREPARING, f"{who} has come", index)]
    return [*steps, again(first, group), *[Await(f"{who} comes") for who in others]]


@claim(
    "rebalance.a-full-group-takes-nobody",
    evidence=("KIP-389", "observed on 2.2.1, 2.8.2, 3.9.2 and 4.3.1"),
    api="JoinGroup",
    versions=every("JoinGroup"),
    releases="2.2+",
    config=CLUSTER,
    subject=("group.max.size",),
)
def test_a_full_group_takes_nobody(case):
    """JoinGroup beyond group.max.size answers GROUP_MAX_SIZE_REACHED."""
    group = case.group()
    return case.scenario(
        coordinated(group),
        _join_all(group, FULL),
        join("n", group, version=case.version, name="ask"),
        describe(group, name="after"),
        expect=all_of(
            answer("ask", CODE).is_(ErrorCode.GROUP_MAX_SIZE_REACHED),
            answer("after", "groups[0].members").has_length(FULL),
        ),
    )


@claim(
    "rebalance.a-full-join-phase-takes-nobody",
    evidence=("KIP-389", "observed on 2.2.1, 2.8.2, 3.9.2 and 4.3.1"),
    api="JoinGroup",
    versions=every("JoinGroup"),
    releases="2.2+",
    config=CLUSTER,
    subject=("group.max.size",),
)
def test_a_full_join_phase_takes_nobody(case):
    """During a join phase as many members may wait as group.max.size allows; the next answers
    GROUP_MAX_SIZE_REACHED (2.2 also counts members that have not rejoined).
    """
    group = case.group()
    waiting = FULL - 1 if case.release == "2.2" else FULL
    others = [chr(ord("b") + index) for index in range(waiting)]
    waits = []
    for index, who in enumerate(others, 2):
        waits += [sent(comes(who, group)), until(group, PREPARING, f"{who} has come", index)]
    return case.scenario(
        coordinated(group),
        comes("a", group),
        waits,
        join("n", group, version=case.version, name="ask"),
        describe(group, name="after"),
        expect=all_of(
            answer("ask", CODE).is_(ErrorCode.GROUP_MAX_SIZE_REACHED),
            answer("after", STATE).is_(PREPARING),
        ),
    )


@claim(
    "rebalance.pending-syncs-hear-of-a-newcomer",
    evidence=("GROUP-09",),
    api="SyncGroup",
    versions=every("SyncGroup"),
    config=CLUSTER,
)
def test_pending_syncs_hear_of_a_newcomer(case):
    """A waiting SyncGroup answers REBALANCE_IN_PROGRESS when another member joins."""
    group = case.group()
    return case.scenario(
        steps_into("completing", group),
        sent(sync("b", group, 2, version=case.version, name="ask")),
        describe(group, name="meanwhile"),
        sent(comes("n", group)),
        until(group, PREPARING, "after", 3),
        Await("ask"),
        expect=answer("ask", CODE).is_(ErrorCode.REBALANCE_IN_PROGRESS),
    )


@claim(
    "rebalance.a-generation-begins-with-every-phase",
    evidence=("GROUP-01",),
    api="JoinGroup",
    versions=every("JoinGroup"),
    config=CLUSTER,
)
def test_a_generation_begins_with_every_phase(case):
    """The first generation is 1, and each join phase starts the next one, even one that leaves the
    group Empty.
    """
    group = case.group()
    return case.scenario(
        coordinated(group),
        comes("a", group),
        again("a", group, "second"),
        sync("a", group, 1, name="old"),
        again("a", group, "kept", version=case.version),
        leave("a", group, name="left"),
        until(group, EMPTY, "empty"),
        comes("c", group),
        expect=all_of(
            answer("a comes", "generation_id").is_(1),
            answer("kept", "generation_id").is_(2),
            answer("c comes", "generation_id").is_(4),
        ),
    )


@claim(
    "rebalance.consumers-must-speak-their-protocol",
    evidence=("observed on 1.0.2, 2.2.1, 2.8.2, 3.9.2 and 4.3.1",),
    api="JoinGroup",
    versions=only("JoinGroup", 2),
    config=CLUSTER,
)
def test_consumers_must_speak_their_protocol(case):
    """JoinGroup with consumer metadata that is no subscription succeeds until 2.2; from 2.8 on it
    gets no answer.
    """
    group = case.group()
    mine = (("range", b"no subscription at all"),)
    asked = join("a", group, version=case.version, protocols=mine, name="ask")
    hangs = [sent(asked), Quiet("member a"), describe(group, name="after")]
    return case.scenario(
        coordinated(group),
        hangs if fits(case.release, "2.8+") else asked,
        expect=all_of(no_answer("ask"), answer("after", STATE).is_(PREPARING))
        if fits(case.release, "2.8+")
        else all_of(answer("ask", CODE).is_(ErrorCode.NONE), answer("ask", "generation_id").is_(1)),
    )


DELAYED = CLUSTER | {"group.initial.rebalance.delay.ms": 2000}


@claim(
    "rebalance.the-first-phase-waits-for-others",
    evidence=("GROUP-14",),
    api="JoinGroup",
    versions=only("JoinGroup", 2),
    config=DELAYED,
    subject=("group.initial.rebalance.delay.ms",),
)
def test_the_first_phase_waits_for_others(case):
    """Members that join within group.initial.rebalance.delay.ms are all in the first generation."""
    group = case.group()
    first = join("a", group, version=case.version, name="ask")
    return case.scenario(
        coordinated(group),
        sent(first),
        until(group, PREPARING, "a waits"),
        comes("b", group),
        Await("ask"),
        expect=all_of(
            answer("ask", "generation_id").is_(1),
            answer("ask", "members").has_length(2),
            answer("b comes", "generation_id").is_(1),
        ),
    )


@claim(
    "rebalance.the-delay-ends-with-the-rebalance-timeout",
    evidence=("GROUP-14",),
    config=DELAYED,
    subject=("group.initial.rebalance.delay.ms",),
)
def test_the_delay_ends_with_the_rebalance_timeout(case):
    """The initial rebalance delay is extended for new members, up to the longest
    rebalance timeout.
    """
    group = case.group()
    return case.scenario(
        coordinated(group),
        sent(comes("a", group, rebalance_ms=2500)),
        until(group, PREPARING, "a waits"),
        sent(comes("b", group, rebalance_ms=2500)),
        until(group, PREPARING, "b waits", 2),
        Await("a comes"),
        Await("b comes"),
        heartbeat("a", group, 1, name="beat"),
        expect=answer("a comes", "members").has_length(2),
    )
