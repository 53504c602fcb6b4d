"""Who may commit into a group that has members, in each of its states, and in which order it asks.

A group is PreparingRebalance while a second member waits for the first to join again, and awaits
assignments while nobody has brought them. Which of two errors comes first where both would fit is
what OFFS-12 is about.

Sources: GroupCoordinator.doCommitOffsets at 1.0.2, 2.2.1, 2.8.2; ClassicGroup.validateOffsetCommit
at 4.3; KIP-345 (instance ids).
"""

from touchstone.harness.model.claim import claim, range_
from touchstone.harness.model.expect import all_of, answer, by_release
from touchstone.harness.model.placeholders import Ref
from touchstone.harness.model.scenario import Await, Send, Until
from touchstone.harness.model.steps import ask
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.groups import delete
from touchstone.suites.kit.offsets import (
    CLUSTER,
    CODE,
    FIRST_WITH_MEMBER,
    MEMBER,
    NOTHING,
    OFFSET,
    SESSION_MS,
    a_group,
    a_member,
    commit,
    describe,
    fetch,
    heartbeat,
    join,
    leave,
)

BY_MEMBERS = {
    "api": "OffsetCommit",
    "versions": range_("OffsetCommit", 1),
    "config": CLUSTER,
}
NO_GENERATION = -1
STATE = "groups[0].group_state"
UNKNOWN_MEMBER = "nobody"
# name -> member id, generation: who commits into a group whose member is in generation 1
WHO = {
    "own": (MEMBER, 1),
    "older": (MEMBER, 0),
    "newer": (MEMBER, 2),
    "member without generation": (MEMBER, NO_GENERATION),
    "stranger": (UNKNOWN_MEMBER, 1),
    "stranger of another generation": (UNKNOWN_MEMBER, 5),
    "stranger without generation": (UNKNOWN_MEMBER, NO_GENERATION),
    "nobody of this generation": ("", 1),
    "nobody": ("", NO_GENERATION),
}


def committed(case, group, topic, name="ask", who="own", offset=7):
    member, generation = WHO[who]
    return commit(
        group, topic, offset, member=member, generation=generation, version=case.version, name=name
    )


def is_(step, code):
    return answer(step, CODE).is_(code)


def assigning(group):
    """A group of one whose assignment nobody has brought."""
    return [join(group, "member")]


def preparing(group):
    """A second member's join waits for the first one, which has not heard of it."""
    body = join(group, "second").body
    rebalancing = describe(group, name="rebalancing")
    return [
        a_member(group),
        Send("JoinGroup", 2, body, "second", connection="second"),
        Until(rebalancing, STATE, "==", "PreparingRebalance"),
    ]


def rejoined(group):
    """The first member leaves, so that the second one's join is answered."""
    return [leave(group, "left", member=MEMBER), Await("second")]


def tried(case, who, code):
    """A commit of this one into a group with a member: its code, and what is kept of it."""
    topic, group, steps = a_group(case)
    return case.scenario(
        steps,
        a_member(group),
        committed(case, group, topic, who=who),
        fetch(group, topic, name="after"),
        expect=all_of(is_("ask", code), answer("after", OFFSET).is_(NOTHING if code else 7)),
    )


@claim(
    "offsets.members-commit-in-their-generation",
    evidence=("OFFS-11",),
    **BY_MEMBERS,
)
def test_members_commit_in_their_generation(case):
    """OffsetCommit of a member of a stable group with its id and generation is stored."""
    return tried(case, "own", ErrorCode.NONE)


@claim(
    "offsets.other-generations-commit-nothing",
    evidence=("OFFS-09",),
    switches=("stale-generation-committed",),
    who=("older", "newer"),
    full=True,
    **BY_MEMBERS,
)
def test_other_generations_commit_nothing(case):
    """OffsetCommit of a member with another generation answers ILLEGAL_GENERATION and stores
    nothing."""
    return tried(case, case.who, ErrorCode.ILLEGAL_GENERATION)


@claim(
    "offsets.strangers-commit-nothing",
    evidence=("OFFS-08", "OFFS-13"),
    switches=("strangers-commit",),
    who=(
        "stranger",
        "stranger of another generation",
        "stranger without generation",
        "nobody of this generation",
        "nobody",
    ),
    full=True,
    **BY_MEMBERS,
)
def test_strangers_commit_nothing(case):
    """OffsetCommit into a stable group by anybody but a member answers UNKNOWN_MEMBER_ID, with a
    generation or without, and stores nothing."""
    return tried(case, case.who, ErrorCode.UNKNOWN_MEMBER_ID)


@claim(
    "offsets.members-without-generation-commit-nothing",
    evidence=("OFFS-09", "OFFS-13"),
    **BY_MEMBERS,
)
def test_members_without_generation_commit_nothing(case):
    """OffsetCommit of a member with generation -1 answers ILLEGAL_GENERATION and stores nothing."""
    return tried(case, "member without generation", ErrorCode.ILLEGAL_GENERATION)


@claim(
    "offsets.commits-while-assignments-are-awaited",
    evidence=("OFFS-07", "OFFS-12"),
    who=tuple(WHO),
    full=True,
    **BY_MEMBERS,
)
def test_commits_while_assignments_are_awaited(case):
    """OffsetCommit in CompletingRebalance stores nothing: it answers REBALANCE_IN_PROGRESS to
    everybody up to 2.2, and since only to members of the generation."""
    topic, group, steps = a_group(case)
    late = {
        "own": ErrorCode.REBALANCE_IN_PROGRESS,
        "older": ErrorCode.ILLEGAL_GENERATION,
        "newer": ErrorCode.ILLEGAL_GENERATION,
    }
    late["member without generation"] = ErrorCode.ILLEGAL_GENERATION
    return case.scenario(
        steps,
        assigning(group),
        committed(case, group, topic, who=case.who),
        fetch(group, topic, name="after"),
        expect=all_of(
            by_release(
                {
                    "1.0-2.2": is_("ask", ErrorCode.REBALANCE_IN_PROGRESS),
                    "2.8+": is_("ask", late.get(case.who, ErrorCode.UNKNOWN_MEMBER_ID)),
                }
            ),
            answer("after", OFFSET).is_(NOTHING),
        ),
    )


@claim(
    "offsets.commits-while-members-join",
    evidence=("OFFS-08", "OFFS-09", "OFFS-11", "OFFS-12"),
    who=("own", "older", "stranger", "nobody"),
    full=True,
    **BY_MEMBERS,
)
def test_commits_while_members_join(case):
    """OffsetCommit in PreparingRebalance is stored for a member of the current generation, and
    answers ILLEGAL_GENERATION or UNKNOWN_MEMBER_ID otherwise."""
    topic, group, steps = a_group(case)
    codes = {"own": ErrorCode.NONE, "older": ErrorCode.ILLEGAL_GENERATION}
    code = codes.get(case.who, ErrorCode.UNKNOWN_MEMBER_ID)
    return case.scenario(
        steps,
        preparing(group),
        committed(case, group, topic, who=case.who),
        fetch(group, topic, name="after"),
        rejoined(group),
        expect=all_of(is_("ask", code), answer("after", OFFSET).is_(NOTHING if code else 7)),
    )


@claim(
    "offsets.commits-into-a-group-that-was-left",
    evidence=("OFFS-08", "OFFS-10"),
    who=("own", "older", "stranger", "stranger without generation", "nobody"),
    full=True,
    **BY_MEMBERS,
)
def test_commits_into_a_group_that_was_left(case):
    """OffsetCommit into a group that all members left is stored without a generation and answers
    UNKNOWN_MEMBER_ID with one."""
    topic, group, steps = a_group(case)
    simple = WHO[case.who][1] == NO_GENERATION
    return case.scenario(
        steps,
        a_member(group),
        leave(group, "left", member=MEMBER),
        committed(case, group, topic, who=case.who),
        fetch(group, topic, name="after"),
        expect=all_of(
            is_("ask", ErrorCode.NONE if simple else ErrorCode.UNKNOWN_MEMBER_ID),
            answer("after", OFFSET).is_(7 if simple else NOTHING),
        ),
    )


@claim(
    "offsets.commits-into-a-deleted-group",
    evidence=("OFFS-05", "OFFS-06"),
    who=("own", "nobody"),
    full=True,
    **BY_MEMBERS | {"releases": "2.2+"},
)
def test_commits_into_a_deleted_group(case):
    """OffsetCommit into a deleted group is stored without a generation, and with one answers
    ILLEGAL_GENERATION, or GROUP_ID_NOT_FOUND since version 9 on 4.x."""
    topic, group, steps = a_group(case)
    refused = {"2.2-3.9": ErrorCode.ILLEGAL_GENERATION, "4.3+": ErrorCode.GROUP_ID_NOT_FOUND}
    if case.version < FIRST_WITH_MEMBER:
        refused["4.3+"] = ErrorCode.ILLEGAL_GENERATION
    stored = case.who == "nobody"
    return case.scenario(
        steps,
        a_member(group),
        leave(group, "left", member=MEMBER),
        delete(group, name="deleted"),
        committed(case, group, topic, who=case.who),
        fetch(group, topic, name="after"),
        expect=all_of(
            is_("ask", ErrorCode.NONE)
            if stored
            else by_release({words: is_("ask", code) for words, code in refused.items()}),
            answer("after", OFFSET).is_(7 if stored else NOTHING),
        ),
    )


@claim("offsets.commits-outlive-their-members", evidence=("OFFS-21", "GROUP-25"), **BY_MEMBERS)
def test_commits_outlive_their_members(case):
    """OffsetFetch returns an offset after the member that committed it has left, and in the next
    generation."""
    topic, group, steps = a_group(case)
    return case.scenario(
        steps,
        a_member(group),
        committed(case, group, topic),
        leave(group, "left", member=MEMBER),
        fetch(group, topic, name="left behind"),
        join(group, "next"),
        fetch(group, topic, name="after"),
        expect=all_of(answer("left behind", OFFSET).is_(7), answer("after", OFFSET).is_(7)),
    )


@claim(
    "offsets.refused-members-do-not-stop-others",
    evidence=("OFFS-08", "OFFS-11"),
    **BY_MEMBERS,
)
def test_refused_members_do_not_stop_others(case):
    """A refused OffsetCommit changes nothing for the members of the group: their heartbeats and
    commits succeed."""
    topic, group, steps = a_group(case)
    return case.scenario(
        steps,
        a_member(group),
        committed(case, group, topic, "refused", "stranger", 9),
        heartbeat(group, "alive", member=MEMBER),
        committed(case, group, topic),
        fetch(group, topic, name="after"),
        expect=all_of(
            answer("alive", "error_code").is_(ErrorCode.NONE), answer("after", OFFSET).is_(7)
        ),
    )


@claim(
    "offsets.instances-are-checked-first",
    evidence=("KIP-345", "OFFS-08", "GROUP-32"),
    who=("own", "fenced", "unknown instance", "stale generation"),
    full=True,
    **BY_MEMBERS | {"versions": range_("OffsetCommit", 7)},
)
def test_instances_are_checked_first(case):
    """OffsetCommit with an instance id that another member holds answers FENCED_INSTANCE_ID, with
    one that nobody holds UNKNOWN_MEMBER_ID (2.8 checks only the member id), and with its own but
    another generation ILLEGAL_GENERATION."""
    topic, group, steps = a_group(case)
    body = {
        "group_id": group,
        "session_timeout_ms": SESSION_MS,
        "rebalance_timeout_ms": SESSION_MS,
        "member_id": "",
        "group_instance_id": "one",
        "protocol_type": "consumer",
        "protocols": [{"name": "range", "metadata": b""}],
    }
    member = Ref("member", "member_id")
    synced = {
        "group_id": group,
        "generation_id": 1,
        "member_id": member,
        "group_instance_id": "one",
        "assignments": [{"member_id": member, "assignment": b""}],
    }
    own, instance, generation = {
        "own": (member, "one", 1),
        "fenced": (UNKNOWN_MEMBER, "one", 1),
        "unknown instance": (member, "two", 1),
        "stale generation": (member, "one", 0),
    }[case.who]
    wanted = {
        "own": is_("ask", ErrorCode.NONE),
        "fenced": is_("ask", ErrorCode.FENCED_INSTANCE_ID),
        "stale generation": is_("ask", ErrorCode.ILLEGAL_GENERATION),
        "unknown instance": by_release(
            {"2.8": is_("ask", ErrorCode.NONE), "3.9+": is_("ask", ErrorCode.UNKNOWN_MEMBER_ID)}
        ),
    }
    return case.scenario(
        steps,
        ask("JoinGroup", 5, body, name="member"),
        ask("SyncGroup", 3, synced, name="assigned"),
        commit(
            group, topic, member=own, generation=generation, instance=instance,
            version=case.version, name="ask",
        ),
        fetch(group, topic, name="after"),
        expect=all_of(
            wanted[case.who],
            by_release(
                {
                    "2.8": answer("after", OFFSET).is_(
                        7 if case.who in ("own", "unknown instance") else -1
                    ),
                    "3.9+": answer("after", OFFSET).is_(7 if case.who == "own" else -1),
                }
            ),
        ),
    )  # fmt: skip
