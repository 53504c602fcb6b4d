"""Consumer groups, unusual members: cells that no other claim covers.

Classic members in a consumer group, members whose instance id another member has taken, static
members that left temporarily, consumer members that change to the classic protocol; and members
that learn nothing new because the assignment interval delays the next target assignment.

Sources: KIP-848, KIP-1251; GroupMetadataManager, ConsumerGroup.validateOffsetCommit,
CurrentAssignmentBuilder@4.3.1; observed on 4.3.1.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, answer
from touchstone.harness.model.placeholders import Ref
from touchstone.harness.model.scenario import Ask, Until
from touchstone.harness.model.steps import a_topic
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit import groups
from touchstone.suites.kit.consumer_groups import (
    AWAY,
    CODE,
    EPOCH,
    GIVEN,
    HEARTBEATS,
    INTERVAL,
    LEAVE,
    SEEN,
    SESSION,
    STATE,
    STATES,
    beat,
    configure,
    describe,
    join,
    started,
    topic_known,
    until,
)
from touchstone.suites.kit.groups import id_of
from touchstone.suites.rebalance.mixed import SHARED, begun, mixed, rejoins, wants

CLASSIC_STATIC = {"instance": "i1", "version": 5}
SLOW = {"consumer.assignment.interval.ms": "15000", INTERVAL: "777"}  # longer than a case
FETCHED = "groups[0].error_code"
TARGETS = "groups[0].members[*].target_assignment.topic_partitions[*].partitions"
TARGET_OF_M2 = "groups[0].members[0].target_assignment.topic_partitions[0].partitions"


class Cell(NamedTuple):
    """Who is where, what is asked, and what is answered."""

    steps: Callable[[Any, Any], list[Any]]  # of group and topic
    ask: Callable[[Any, Any], Ask]
    code: str = "NONE"
    at: str = CODE


def _away(group: Any, topic: Any) -> list[Any]:
    """m1 is away, m2 is there; both want the shared topic."""
    return [
        *begun(group),
        join(group, "m1", SHARED, name="m1", instance_id="i1"),
        join(group, "m2", SHARED, name="m2"),
        beat(group, "m1", AWAY, name="m1 goes", instance_id="i1"),
    ]


def _ousted(group: Any, topic: Any) -> list[Any]:
    """m1 was away and m2 took its place."""
    return [
        *started(group, topic),
        *STATES["away"].steps(group, topic, 2),
        join(group, "m2", topic, name="m2 comes", instance_id="i1"),
    ]


def _stranded(group: Any, topic: Any) -> list[Any]:
    """m1 took another instance id and left; its first one still stands for it."""
    return [
        *begun(group),
        join(group, "m2", SHARED, name="m2"),
        join(group, "m1", SHARED, name="m1", instance_id="i1"),
        join(group, "m1", SHARED, name="m1 again", instance_id="i2"),
        beat(group, "m1", LEAVE, name="m1 leaves", instance_id="i2"),
    ]


def _moved(group: Any, topic: Any) -> list[Any]:
    """The classic member c gave up two partitions and came to epoch 2 with the others."""
    return [
        *mixed(group),
        rejoins(group, 0, 1, 2, 3, name="c hears"),
        rejoins(group, 0, 1, name="c gave up"),
    ]


def _offsets(group: Any, topic: Any, epoch: int, member: Any) -> Ask:
    named = [{"name": topic, "partition_indexes": [0]}]
    one = {"group_id": group, "member_id": member, "member_epoch": epoch, "topics": named}
    return Ask("OffsetFetch", 9, {"groups": [one], "require_stable": False}, name="ask")


def _of_c(group: Any, topic: Any = None, owned: Any = None, *, epoch: int) -> Ask:
    return beat(group, id_of("c"), epoch, topic, owned, name="ask")


CELLS = {
    "nobody-fetches-of-an-empty-group": Cell(
        lambda g, t: [*started(g, t), *STATES["left"].steps(g, t, 2)],
        lambda g, t: _offsets(g, t, -1, None),
        at=FETCHED,
    ),
    "a-stranger-says-good-bye": Cell(
        lambda g, t: [*started(g, t), *STATES["stable"].steps(g, t, 2)],
        lambda g, t: beat(g, "stranger", LEAVE, name="ask"),
        "UNKNOWN_MEMBER_ID",
    ),
    "an-ousted-member-says-good-bye": Cell(
        _ousted,
        lambda g, t: beat(g, "m1", LEAVE, name="ask", instance_id="i1"),
        "FENCED_INSTANCE_ID",
    ),
    "an-ousted-member-goes-away": Cell(
        _ousted,
        lambda g, t: beat(g, "m1", AWAY, name="ask", instance_id="i1"),
        "FENCED_INSTANCE_ID",
    ),
    "a-stranded-instance-joins": Cell(
        _stranded,
        lambda g, t: join(g, "m3", SHARED, name="ask", instance_id="i1"),
        "UNKNOWN_MEMBER_ID",
    ),
    "a-stranded-instance-joins-the-classic-way": Cell(
        _stranded,
        lambda g, t: groups.join("x", g, instance="i1", version=5, protocols=wants(), name="ask"),
        "UNKNOWN_MEMBER_ID",
    ),
    "a-stranded-instance-beats": Cell(
        _stranded,
        lambda g, t: beat(g, "m1", 3, name="ask", instance_id="i1"),
        "UNKNOWN_MEMBER_ID",
    ),
    "a-stranded-instance-says-good-bye": Cell(
        _stranded,
        lambda g, t: beat(g, "m1", LEAVE, name="ask", instance_id="i1"),
        "UNKNOWN_MEMBER_ID",
    ),
    "a-stranded-instance-goes-away": Cell(
        _stranded,
        lambda g, t: beat(g, "m1", AWAY, name="ask", instance_id="i1"),
        "UNKNOWN_MEMBER_ID",
    ),
    "a-stranded-instance-is-put-out": Cell(
        _stranded,
        lambda g, t: groups.leave_all("x", g, ("", "i1"), name="ask"),
        "UNKNOWN_MEMBER_ID", "members[0].error_code",
    ),
    "who-is-away-joins-without-its-instance": Cell(
        _away, lambda g, t: join(g, "m1", SHARED, name="ask")
    ),
    "who-is-away-joins-the-classic-way": Cell(
        _away, lambda g, t: groups.join("x", g, member="m1", protocols=wants(), name="ask")
    ),
    "who-is-away-is-replaced-the-classic-way": Cell(
        _away, lambda g, t: groups.join("x", g, instance="i1", version=5, protocols=wants(),
                                      name="ask"),
    ),
    "a-consumer-joins-the-classic-way": Cell(
        _away, lambda g, t: groups.join("x", g, member="m2", protocols=wants(), name="ask")
    ),
    "a-consumer-commits-what-it-has-had": Cell(
        lambda g, t: [*started(g, t), *STATES["revoked"].steps(g, t, 2)],
        lambda g, t: groups.commit("x", g, t, 2, member="m1", version=9, name="ask"),
        at=groups.OFFSET_CODE,
    ),
    "a-static-classic-member-is-replaced": Cell(
        lambda g, t: mixed(g, **CLASSIC_STATIC),
        lambda g, t: groups.join("d", g, instance="i1", version=5, protocols=wants(), name="ask"),
    ),
    "a-classic-member-beats": Cell(lambda g, t: mixed(g), lambda g, t: _of_c(g, epoch=1)),
    "a-classic-member-beats-of-a-later-epoch": Cell(
        lambda g, t: mixed(g), lambda g, t: _of_c(g, epoch=9), "FENCED_MEMBER_EPOCH"
    ),
    "a-classic-member-beats-of-the-epoch-before": Cell(
        _moved, lambda g, t: _of_c(g, epoch=1), "FENCED_MEMBER_EPOCH"
    ),
    "a-classic-member-beats-again": Cell(
        _moved, lambda g, t: _of_c(g, SHARED, (0, 1), epoch=1)
    ),
    "a-classic-member-says-good-bye": Cell(
        lambda g, t: mixed(g), lambda g, t: _of_c(g, epoch=LEAVE)
    ),
    "a-classic-member-goes-away": Cell(
        lambda g, t: mixed(g, **CLASSIC_STATIC),
        lambda g, t: beat(g, id_of("c"), AWAY, name="ask", instance_id="i1"),
    ),
    "a-classic-member-commits-what-it-has-had": Cell(
        _moved,
        lambda g, t: groups.commit("c", g, SHARED, 1, member=id_of("c"), version=8, name="ask"),
        at=groups.OFFSET_CODE,
    ),
    "a-classic-member-fetches": Cell(
        lambda g, t: mixed(g), lambda g, t: _offsets(g, SHARED, 1, id_of("c")), at=FETCHED
    ),
    "a-classic-member-fetches-in-another-epoch": Cell(
        lambda g, t: mixed(g), lambda g, t: _offsets(g, SHARED, 7, id_of("c")),
        "ILLEGAL_GENERATION", FETCHED,
    ),
}  # fmt: skip


@claim("rebalance.consumer-groups-know-how-each-stands", cell=tuple(CELLS), **SEEN)
def test_consumer_groups_know_how_each_stands(case):
    """A consumer group answers classic, replaced, absent and unknown members by their membership
    and epoch, each with the error of its cell.
    """
    group, topic, cell = case.group(), case.topic(), CELLS[case.cell]
    return case.scenario(
        cell.steps(group, topic),
        cell.ask(group, topic),
        describe(group, version=1, name="then"),
        groups.describe(group, version=5, name="as a classic one"),
        expect=answer("ask", cell.at).is_(groups.code(cell.code)),
    )


@claim("rebalance.who-is-away-for-too-long-is-out", **SEEN)
def test_who_is_away_for_too_long_is_out(case):
    """A static member that left temporarily loses its place after the session timeout."""
    group, topic = case.group(), case.topic()
    return case.scenario(
        started(group, topic),
        configure(group, {SESSION: "600", INTERVAL: "100"}, "short"),
        Until(join(group, "m1", topic, name="join"), "heartbeat_interval_ms", "==", 100),
        join(group, "s1", topic, name="static", instance_id="i1"),
        beat(group, "s1", AWAY, name="away", instance_id="i1"),
        until(group, "Empty", "silence"),
        join(group, "s2", topic, name="late", instance_id="i1"),
        expect=all_of(
            answer("silence", STATE).is_("Empty"),
            answer("late", CODE).is_(ErrorCode.NONE),
            answer("late", "member_epoch").is_(Ref("silence", "groups[0].group_epoch", 1)),
        ),
    )


def _slowly(group: Any, who: str, epoch: int) -> list[Any]:
    """From now on the group's target is not worked out again within the case."""
    told = Until(beat(group, who, epoch, name="told"), "heartbeat_interval_ms", "==", 777)
    return [configure(group, SLOW, "slowly"), told]


@claim("rebalance.emptied-groups-wait-for-the-interval", **HEARTBEATS)
def test_emptied_groups_wait_for_the_interval(case):
    """A member that joins an emptied group within the assignment interval gets no
    partitions yet.
    """
    group, topic = case.group(), case.topic()
    return case.scenario(
        started(group, topic),
        join(group, "m1", topic, name="m1"),
        _slowly(group, "m1", 2),
        beat(group, "m1", LEAVE, name="m1 leaves"),
        join(group, "m2", topic, name="m2", version=case.version),
        describe(group, name="then"),
        expect=all_of(
            answer("m2", "assignment.topic_partitions").has_length(0),
            answer("then", STATE).is_("Assigning"),
        ),
    )


@claim("rebalance.who-wants-less-gives-up-at-once", also=("nothing", "another"), **HEARTBEATS)
def test_who_wants_less_gives_up_at_once(case):
    """A member that drops a topic must revoke its partitions before the next target assignment."""
    group, topic, other = case.group(), case.topic(), case.topic("other")
    more = {} if case.also == "nothing" else {"subscribed_topic_names": [topic, "no such topic"]}
    version = case.version
    return case.scenario(
        started(group, topic),
        a_topic(other, 2),
        topic_known(other),
        join(group, "m1", topic, other, name="m1"),
        _slowly(group, "m1", 2),
        beat(group, "m1", 2, name="less", version=version, subscribed_topic_names=[topic]),
        describe(group, name="has to give up"),
        beat(group, "m1", 2, topic, (0, 1, 2, 3), name="gave up", version=version, **more),
        describe(group, name="then"),
        expect=all_of(
            answer("less", EPOCH).is_(2),
            answer("less", GIVEN).is_([0, 1, 2, 3]),
            answer("less", "assignment.topic_partitions").has_length(1),
            answer("gave up", EPOCH).is_(2),
            answer("then", STATE).is_("Assigning"),
        ),
    )


@claim("rebalance.who-waits-may-want-something-else", **HEARTBEATS)
def test_who_waits_may_want_something_else(case):
    """A member that drops a topic whose partitions it waits for reaches its target
    epoch at once.
    """
    group, topic = case.group(), case.topic()
    return case.scenario(
        started(group, topic),
        join(group, "m1", topic, name="m1"),
        join(group, "m2", topic, name="m2"),
        _slowly(group, "m2", 3),
        beat(group, "m2", 3, name="other", version=case.version,
             subscribed_topic_names=["no such topic"]),
        describe(group, name="then"),
        expect=all_of(answer("other", EPOCH).is_(3), answer("then", STATE).is_("Assigning")),
    )  # fmt: skip


@claim("rebalance.of-two-assignors-the-latest-wins", then=("range", "uniform"), **HEARTBEATS)
def test_of_two_assignors_the_latest_wins(case):
    """Of two assignors with equally many votes the group uses the one that was named last."""
    group, topic = case.group(), case.topic()
    first = "uniform" if case.then == "range" else "range"
    return case.scenario(
        started(group, topic),
        join(group, "m2", topic, name="m2", version=case.version, server_assignor=first),
        join(group, "m1", topic, name="m1", version=case.version, server_assignor=case.then),
        describe(group, name="then"),
        expect=answer("then", TARGET_OF_M2).is_([2, 3] if case.then == "range" else [0, 1]),
    )


@claim(
    "rebalance.newcomers-without-topics-may-be-given-some", by=("range", "uniform"), **HEARTBEATS
)
def test_newcomers_without_topics_may_be_given_some(case):
    """A member without subscription that joins after another left counts as a member of the new
    target assignment.
    """
    group, topic = case.group(), case.topic()
    how = {"version": case.version, "server_assignor": case.by}
    return case.scenario(
        started(group, topic),
        join(group, "m1", topic, name="m1"),
        join(group, "m2", topic, name="m2", **how),
        beat(group, "m1", LEAVE, name="m1 leaves"),
        join(group, "m3", name="m3", **how),
        describe(group, name="then"),
        beat(group, "m3", 4, name="m3 beats"),
        describe(group, name="at last"),
        expect=all_of(
            answer("m3", CODE).is_(ErrorCode.NONE),
            answer("then", TARGETS).is_one_of([[[0, 1]], [[2, 3]]], [[[2, 3]], [[0, 1]]]),
        ),
    )
