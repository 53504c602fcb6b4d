"""Static members: they leave and return by instance id, which fences the member that was replaced.

Sources: GROUP-32; KIP-345, KIP-814; GroupCoordinator.scala@2.8.2; three releases were asked.
"""

from touchstone.harness.model.claim import claim, range_
from touchstone.harness.model.expect import all_of, answer, by_release
from touchstone.harness.model.placeholders import Ref
from touchstone.harness.model.scenario import Await
from touchstone.harness.model.steps import a_topic
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.groups import (
    CLUSTER,
    CODE,
    OFFSET_CODE,
    PREPARING,
    STABLE,
    STATE,
    STATIC,
    commit,
    coordinated,
    describe,
    heartbeat,
    id_of,
    join,
    leave_all,
    meet,
    sync,
    until,
)
from touchstone.suites.kit.in_flight import sent
from touchstone.suites.rebalance.states import PLAN

OBSERVED = "observed on 2.8.2, 3.9.2 and 4.3.1"
A, B = "instance-a", "instance-b"
SINCE = "2.8+"
KNOWS = 3  # versions of SyncGroup and Heartbeat that carry instance ids


def static(who, group, name, *, member="", version=STATIC, **how):
    return join(
        who, group, instance=f"instance-{who}", member=member, version=version, name=name, **how
    )


def both(group, **how):
    """a and b, both static, in generation 2."""
    return meet(
        group,
        static("a", group, "a comes", **how),
        static("b", group, "b comes", **how),
        static("a", group, "a again", member=id_of("a"), **how),
    )


def pair(group, **how):
    """a and b, both static, with assignments, in generation 2."""
    return [
        coordinated(group),
        both(group, **how),
        sent(sync("b", group, 2, name="b synced")),
        sync("a", group, 2, PLAN, name="a synced"),
        Await("b synced"),
    ]


@claim(
    "rebalance.static-members-keep-their-part",
    evidence=("GROUP-32", OBSERVED),
    api="JoinGroup",
    versions=range_("JoinGroup", STATIC),
    releases=SINCE,
    config=CLUSTER,
    who=("a", "b"),
)
def test_static_members_keep_their_part(case):
    """A static member that returns gets a new member id and keeps its assignment without a
    rebalance.
    """
    group, who = case.group(), case.who
    mine = Ref("ask", "member_id")
    return case.scenario(
        pair(group),
        static(who, group, "ask", version=case.version),
        describe(group, name="after"),
        sync(who, group, 2, member=mine, version=3, instance=f"instance-{who}", name="part"),
        expect=all_of(
            answer("ask", "generation_id").is_(2),
            answer("ask", "member_id").is_not(id_of(who)),
            answer("after", STATE).is_(STABLE),
            answer("part", "assignment").is_(PLAN[who]),
        ),
    )


def _fenced(case, ask, path):
    """The request of a member whose instance id another has taken."""
    group = case.group()
    return case.scenario(
        a_topic(case.topic()),
        pair(group),
        static("b", group, "b back"),
        ask(group),
        describe(group, name="after"),
        expect=answer("ask", path).is_(ErrorCode.FENCED_INSTANCE_ID),
    )


@claim(
    "rebalance.who-was-replaced-is-fenced",
    evidence=("GROUP-32", OBSERVED),
    api="Heartbeat",
    versions=range_("Heartbeat", KNOWS),
    releases=SINCE,
    config=CLUSTER,
)
def test_who_was_replaced_is_fenced(case):
    """Heartbeat of a static member that another has replaced answers FENCED_INSTANCE_ID."""
    return _fenced(
        case,
        lambda g: heartbeat("x", g, 2, member=id_of("b"), instance=B, version=case.version,
                            name="ask"),
        CODE,
    )  # fmt: skip


@claim(
    "rebalance.who-was-replaced-gets-no-part",
    evidence=("GROUP-32", OBSERVED),
    api="SyncGroup",
    versions=range_("SyncGroup", KNOWS),
    releases=SINCE,
    config=CLUSTER,
)
def test_who_was_replaced_gets_no_part(case):
    """SyncGroup of a static member that another has replaced answers FENCED_INSTANCE_ID."""
    return _fenced(
        case,
        lambda g: sync("x", g, 2, member=id_of("b"), instance=B, version=case.version, name="ask"),
        CODE,
    )


@claim(
    "rebalance.who-was-replaced-cannot-join",
    evidence=("GROUP-32", OBSERVED),
    api="JoinGroup",
    versions=range_("JoinGroup", STATIC),
    releases=SINCE,
    config=CLUSTER,
)
def test_who_was_replaced_cannot_join(case):
    """JoinGroup of a static member that another has replaced answers FENCED_INSTANCE_ID."""
    return _fenced(
        case,
        lambda g: join("x", g, member=id_of("b"), instance=B, version=case.version, name="ask"),
        CODE,
    )


@claim(
    "rebalance.who-was-replaced-cannot-commit",
    evidence=("GROUP-32", OBSERVED),
    api="OffsetCommit",
    versions=range_("OffsetCommit", 7),
    releases=SINCE,
    config=CLUSTER,
)
def test_who_was_replaced_cannot_commit(case):
    """OffsetCommit of a static member that another has replaced answers FENCED_INSTANCE_ID."""
    return _fenced(
        case,
        lambda g: commit("x", g, case.topic(), 2, member=id_of("b"), instance=B,
                         version=case.version, name="ask"),
        OFFSET_CODE,
    )  # fmt: skip


@claim(
    "rebalance.who-was-replaced-cannot-leave",
    evidence=("GROUP-32", OBSERVED),
    api="LeaveGroup",
    versions=range_("LeaveGroup", 3),
    releases=SINCE,
    config=CLUSTER,
)
def test_who_was_replaced_cannot_leave(case):
    """LeaveGroup of a static member that another has replaced answers FENCED_INSTANCE_ID."""
    return _fenced(
        case,
        lambda g: leave_all("x", g, (id_of("b"), B), version=case.version, name="ask"),
        "members[0].error_code",
    )


@claim(
    "rebalance.waiting-joins-are-fenced",
    evidence=("GROUP-32", OBSERVED),
    api="JoinGroup",
    versions=range_("JoinGroup", STATIC),
    releases=SINCE,
    config=CLUSTER,
)
def test_waiting_joins_are_fenced(case):
    """A static member's waiting JoinGroup answers FENCED_INSTANCE_ID when another member joins with
    its instance id.
    """
    group = case.group()
    return case.scenario(
        coordinated(group),
        static("a", group, "a comes"),
        sent(static("b", group, "ask", version=case.version)),
        until(group, PREPARING, "b waits", 2),
        sent(join("c", group, instance=B, version=case.version, name="b back")),
        Await("ask"),
        static("a", group, "a again", member=id_of("a")),
        Await("b back"),
        expect=all_of(
            answer("ask", CODE).is_(ErrorCode.FENCED_INSTANCE_ID),
            answer("b back", "generation_id").is_(2),
        ),
    )


@claim(
    "rebalance.waiting-syncs-are-fenced",
    evidence=("GROUP-32", OBSERVED),
    api="SyncGroup",
    versions=range_("SyncGroup", KNOWS),
    releases=SINCE,
    config=CLUSTER,
)
def test_waiting_syncs_are_fenced(case):
    """A static member's waiting SyncGroup answers FENCED_INSTANCE_ID when another member joins with
    its instance id.
    """
    group = case.group()
    return case.scenario(
        coordinated(group),
        both(group),
        sent(sync("b", group, 2, instance=B, version=case.version, name="ask")),
        describe(group, name="meanwhile"),
        sent(join("c", group, instance=B, version=STATIC, name="b back")),
        Await("ask"),
        until(group, PREPARING, "after"),
        expect=answer("ask", CODE).is_(ErrorCode.FENCED_INSTANCE_ID),
    )


@claim(
    "rebalance.instance-ids-leave",
    evidence=("GROUP-24", "GROUP-32", "KIP-345", OBSERVED),
    api="LeaveGroup",
    versions=range_("LeaveGroup", 3),
    releases=SINCE,
    config=CLUSTER,
)
def test_instance_ids_leave(case):
    """LeaveGroup from version 3 on removes several members, by member id, instance id or both, and
    answers each.
    """
    group = case.group()
    return case.scenario(
        pair(group),
        leave_all("x", group, ("", A), (id_of("b"), B), ("", "instance-x"), (id_of("a"), None),
                  version=case.version, name="ask"),
        describe(group, name="after"),
        expect=all_of(
            answer("ask", CODE).is_(ErrorCode.NONE),
            answer("ask", "members[0].error_code").is_(ErrorCode.NONE),
            answer("ask", "members[1].error_code").is_(ErrorCode.NONE),
            answer("ask", "members[2].error_code").is_(ErrorCode.UNKNOWN_MEMBER_ID),
            answer("after", STATE).is_("Empty"),
        ),
    )  # fmt: skip


@claim(
    "rebalance.instance-ids-nobody-has",
    evidence=("GROUP-32", OBSERVED),
    api="Heartbeat",
    versions=range_("Heartbeat", KNOWS),
    releases=SINCE,
    config=CLUSTER,
)
def test_instance_ids_nobody_has(case):
    """Heartbeat with an unknown instance id answers UNKNOWN_MEMBER_ID; 2.8 checks only the member
    id.
    """
    group = case.group()
    return case.scenario(
        pair(group),
        heartbeat("b", group, 2, instance="instance-x", version=case.version, name="ask"),
        expect=by_release(
            {
                "2.8": answer("ask", CODE).is_(ErrorCode.NONE),
                "3.9+": answer("ask", CODE).is_(ErrorCode.UNKNOWN_MEMBER_ID),
            }
        ),
    )


@claim(
    "rebalance.other-protocols-come-back-to-a-rebalance",
    evidence=("GROUP-32", OBSERVED),
    api="JoinGroup",
    versions=range_("JoinGroup", STATIC),
    releases=SINCE,
    config=CLUSTER,
)
def test_other_protocols_come_back_to_a_rebalance(case):
    """A static member that returns and changes the chosen protocol triggers a rebalance."""
    group = case.group()
    data = b"\0\0\0\0\0\0\xff\xff\xff\xff"
    usual, turned = (("range", data), ("sticky", data)), (("sticky", data), ("range", data))
    return case.scenario(
        coordinated(group),
        meet(
            group,
            static("a", group, "a comes", protocols=turned),
            static("b", group, "b comes", protocols=usual),
            static("a", group, "a again", member=id_of("a"), protocols=usual),
        ),
        sent(sync("b", group, 2, name="b synced")),
        sync("a", group, 2, PLAN, name="a synced"),
        Await("b synced"),
        sent(static("b", group, "ask", version=case.version, protocols=turned[:1])),
        until(group, PREPARING, "after"),
        static("a", group, "a returns", member=id_of("a"), protocols=usual),
        Await("ask"),
        expect=all_of(
            answer("after", STATE).is_(PREPARING), answer("ask", "protocol_name").is_("sticky")
        ),
    )
