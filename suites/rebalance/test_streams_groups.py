"""Streams groups: members join, walk to their tasks, are fenced and leave.

Sources: KIP-1071; GroupMetadataManager.streamsGroupHeartbeat, CurrentAssignmentBuilder,
StickyTaskAssignor@4.3.1; observed there.
"""

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, answer
from touchstone.harness.model.steps import a_topic
from touchstone.reference_impl.wire.errors import ErrorCode as E
from touchstone.suites.kit.streams_groups import (
    CLUSTER,
    DELAYED,
    EPOCH,
    GIVEN,
    GROUP_EPOCH,
    HEARTBEATS,
    LEAVE,
    MEMBERS,
    SHUTDOWN,
    STANDING_BY,
    STATE,
    STATUS,
    STATUSES,
    beat,
    configure,
    describe,
    internal,
    is_,
    join,
    known,
    owning,
    reading,
    started,
    subtopology,
    topology,
    until,
)


@claim("rebalance.the-first-streams-member-gets-every-task", **HEARTBEATS)
def test_the_first_streams_member_gets_every_task(case):
    """StreamsGroupHeartbeat of a new group's first member returns member epoch 2 and a task for
    each partition of its source topic; the group is Stable.
    """
    group, topic = case.group(), case.topic()
    return case.scenario(
        started(group, topic),
        join(group, "m1", reading(topic), name="join", version=case.version),
        describe(group, name="then"),
        expect=all_of(
            answer("join", EPOCH).is_(2),
            answer("join", GIVEN).is_([0, 1, 2, 3]),
            answer("join", STATUSES).has_length(0),
            answer("then", STATE).is_("Stable"),
            answer("then", GROUP_EPOCH).is_(2),
        ),
    )


def two_members(case):
    """m1 has all four tasks and has not heard that m2, which has none, is to get two."""
    group, topic = case.group(), case.topic()
    told = reading(topic)
    steps = [
        *started(group, topic),
        join(group, "m1", told, name="m1 joins"),
        join(group, "m2", told, name="m2 joins", version=case.version),
    ]
    return group, told, steps


@claim(
    "rebalance.streams-tasks-are-given-up-before-they-are-given-on",
    switches=("streams-tasks-go-to-two",),
    **HEARTBEATS,
)
def test_streams_tasks_are_given_up_before_they_are_given_on(case):
    """A second member gets tasks when the first, which was told to keep fewer, no longer owns them;
    until then the first stays in its epoch.
    """
    group, _, steps = two_members(case)
    return case.scenario(
        *steps,
        beat(group, "m1", 2, name="is told", version=case.version),
        beat(group, "m2", 3, name="waits", version=case.version),
        beat(group, "m1", 2, name="keeps", version=case.version, **owning({"0": [0, 1, 2, 3]})),
        beat(group, "m1", 2, name="gives up", version=case.version, **owning({"0": [0, 1]})),
        beat(group, "m2", 3, name="gets", version=case.version),
        describe(group, name="then"),
        expect=all_of(
            answer("m2 joins", EPOCH).is_(3),
            answer("is told", EPOCH).is_(2),
            answer("is told", GIVEN).is_([0, 1]),
            answer("waits", "active_tasks").is_(None),
            answer("keeps", EPOCH).is_(2),
            answer("gives up", EPOCH).is_(3),
            answer("gets", GIVEN).is_([2, 3]),
            answer("then", STATE).is_("Stable"),
        ),
    )


@claim(
    "rebalance.streams-members-are-fenced-by-epochs",
    switches=("streams-epochs-not-checked",),
    **HEARTBEATS,
)
def test_streams_members_are_fenced_by_epochs(case):
    """StreamsGroupHeartbeat of another epoch than the member's answers FENCED_MEMBER_EPOCH, unless
    it is the previous one and the member owns no more than it was told.
    """
    group, _, steps = two_members(case)
    return case.scenario(
        *steps,
        beat(group, "m1", 2, name="is told"),
        beat(group, "m1", 2, name="gives up", **owning({"0": [0, 1]})),
        beat(group, "m1", 9, name="later", version=case.version),
        beat(group, "m1", 2, name="silent", version=case.version),
        beat(group, "m1", 2, name="owns more", version=case.version, **owning({"0": [2]})),
        beat(group, "m1", 2, name="missed it", version=case.version, **owning({"0": [0]})),
        beat(group, "m3", 2, name="stranger", version=case.version),
        expect=all_of(
            *[is_(name, E.FENCED_MEMBER_EPOCH) for name in ("later", "silent", "owns more")],
            answer("missed it", EPOCH).is_(3),
            is_("stranger", E.UNKNOWN_MEMBER_ID),
        ),
    )


@claim("rebalance.streams-tasks-that-do-not-exist-are-refused", **HEARTBEATS)
def test_streams_tasks_that_do_not_exist_are_refused(case):
    """StreamsGroupHeartbeat that owns a task of a partition or a subtopology that the topology does
    not have answers INVALID_REQUEST.
    """
    group, topic = case.group(), case.topic()
    return case.scenario(
        started(group, topic),
        join(group, "m1", reading(topic), name="join"),
        beat(group, "m1", 2, name="partition", version=case.version, **owning({"0": [4]})),
        beat(group, "m1", 2, name="subtopology", version=case.version, **owning({"9": [0]})),
        expect=all_of(is_("partition", E.INVALID_REQUEST), is_("subtopology", E.INVALID_REQUEST)),
    )


@claim(
    "rebalance.leaving-streams-members-raise-the-epoch",
    switches=("streams-leaves-keep-the-epoch",),
    **HEARTBEATS,
)
def test_leaving_streams_members_raise_the_epoch(case):
    """A heartbeat of epoch -1 removes the member and raises the group epoch; the group of the last
    member is Empty, and the member is unknown.
    """
    group, topic = case.group(), case.topic()
    return case.scenario(
        started(group, topic),
        join(group, "m1", reading(topic), name="join"),
        beat(group, "m1", LEAVE, name="leave", version=case.version),
        beat(group, "m1", LEAVE, name="again", version=case.version),
        describe(group, name="then"),
        expect=all_of(
            answer("leave", EPOCH).is_(-1),
            is_("again", E.UNKNOWN_MEMBER_ID),
            answer("then", STATE).is_("Empty"),
            answer("then", GROUP_EPOCH).is_(3),
            answer("then", MEMBERS).has_length(0),
        ),
    )


@claim(
    "rebalance.silent-streams-members-are-removed",
    switches=("streams-members-never-go",),
    **HEARTBEATS,
)
def test_silent_streams_members_are_removed(case):
    """A member that sends no heartbeat for streams.session.timeout.ms is removed."""
    group, topic = case.group(), case.topic()
    settings = {"streams.session.timeout.ms": "300", "streams.heartbeat.interval.ms": "100"}
    return case.scenario(
        configure(group, settings, "configured"),
        started(group, topic),
        join(group, "m1", reading(topic), name="join", version=case.version),
        until(group, "Empty", "then", members=0),
        expect=all_of(
            answer("join", "heartbeat_interval_ms").is_(100),
            answer("then", STATE).is_("Empty"),
        ),
    )


@claim("rebalance.streams-members-that-keep-their-tasks-are-removed", **HEARTBEATS)
def test_streams_members_that_keep_their_tasks_are_removed(case):
    """A member that does not give tasks up within its rebalance timeout is removed, and another
    gets them.
    """
    group, topic = case.group(), case.topic()
    told = reading(topic)
    return case.scenario(
        started(group, topic),
        join(group, "m1", told, name="m1 joins", rebalance_timeout_ms=300),
        join(group, "m2", told, name="m2 joins"),
        beat(group, "m1", 2, name="is told", version=case.version),
        until(group, "Assigning", "gone", members=1),
        beat(group, "m2", 3, name="gets", version=case.version),
        expect=all_of(answer("gets", EPOCH).is_(4), answer("gets", GIVEN).is_([0, 1, 2, 3])),
    )


@claim(
    "rebalance.streams-applications-are-told-to-shut-down",
    switches=("streams-shutdowns-not-told",),
    **HEARTBEATS,
)
def test_streams_applications_are_told_to_shut_down(case):
    """After a heartbeat with shutdown_application every member's answer has the status
    SHUTDOWN_APPLICATION, until the group is empty.
    """
    group, told, steps = two_members(case)
    return case.scenario(
        *steps,
        beat(group, "m2", 3, name="asks", version=case.version, shutdown_application=True),
        beat(group, "m1", 2, name="hears", version=case.version),
        beat(group, "m1", LEAVE, name="m1 leaves"),
        beat(group, "m2", LEAVE, name="m2 leaves"),
        join(group, "m3", told, name="afterwards", version=case.version),
        expect=all_of(
            answer("asks", STATUS).is_(SHUTDOWN),
            answer("hears", STATUS).is_(SHUTDOWN),
            answer("afterwards", STATUSES).has_length(0),
        ),
    )


@claim(
    "rebalance.streams-members-hear-of-endpoints",
    switches=("streams-endpoints-not-told",),
    **HEARTBEATS,
)
def test_streams_members_hear_of_endpoints(case):
    """A member with an endpoint raises the epoch of endpoint information when it joins and when its
    tasks change; a heartbeat of another such epoch is answered with the partitions behind each
    endpoint.
    """
    group, topic = case.group(), case.topic()
    told = reading(topic)
    there = {"host": "localhost", "port": 4711}
    at = "partitions_by_user_endpoint"
    return case.scenario(
        started(group, topic),
        join(group, "m1", told, name="m1 joins"),
        join(group, "m2", told, name="m2 joins", version=case.version, user_endpoint=there),
        beat(group, "m2", 3, name="knows", version=case.version, endpoint_information_epoch=1),
        beat(group, "m1", 2, name="is told"),
        beat(group, "m1", 2, name="gives up", **owning({"0": [0, 1]})),
        beat(group, "m2", 3, name="gets", version=case.version, endpoint_information_epoch=1),
        expect=all_of(
            answer("m2 joins", "endpoint_information_epoch").is_(1),
            answer("m2 joins", f"{at}[0].user_endpoint.port").is_(4711),
            answer("m2 joins", f"{at}[0].active_partitions").has_length(0),
            answer("knows", at).is_(None),
            answer("gets", "endpoint_information_epoch").is_(2),
            answer("gets", f"{at}[0].active_partitions[0].partitions").is_([2, 3]),
        ),
    )


@claim("rebalance.streams-groups-stand-by", switches=("streams-standbys-not-given",), **HEARTBEATS)
def test_streams_groups_stand_by(case):
    """With streams.num.standby.replicas of 1 a second process gets standby tasks of a subtopology
    with a changelog, but not of tasks that its process has.
    """
    group, topic, log = case.group(), case.topic(), case.topic("log")
    told = topology(subtopology("0", topic, changelogs=[internal(log)]))
    return case.scenario(
        configure(group, {"streams.num.standby.replicas": "1"}, "configured"),
        started(group, topic),
        *a_topic(log, 4),
        known(log),
        join(group, "m1", told, name="m1 joins"),
        join(group, "m2", told, name="m2 joins", version=case.version),
        describe(group, name="then"),
        expect=all_of(
            answer("m1 joins", "standby_tasks").has_length(0),
            answer("m2 joins", STANDING_BY).is_([0, 1]),
            answer("then", f"{MEMBERS}[*].member_id").is_(["m2", "m1"]),
            answer("then", f"{MEMBERS}[*].target_assignment.standby_tasks[0].partitions").is_(
                [[0, 1], [2, 3]]
            ),
        ),
    )


@claim(
    "rebalance.first-streams-assignments-wait-for-members",
    switches=("streams-first-assignment-at-once",),
    **HEARTBEATS | {"config": CLUSTER | {"group.streams.initial.rebalance.delay.ms": 1500}},
)
def test_first_streams_assignments_wait_for_members(case):
    """A new group's members are told ASSIGNMENT_DELAYED and stay at epoch 1 until
    group.streams.initial.rebalance.delay.ms is over; then both get tasks at once.
    """
    group, topic = case.group(), case.topic()
    told = reading(topic)
    return case.scenario(
        started(group, topic),
        join(group, "m1", told, name="m1 joins", version=case.version),
        join(group, "m2", told, name="m2 joins", version=case.version),
        until(group, "Reconciling", "assigned", members=2),
        beat(group, "m1", 1, name="gets", version=case.version),
        expect=all_of(
            answer("m1 joins", EPOCH).is_(1),
            answer("m1 joins", STATUS).is_(DELAYED),
            answer("m2 joins", STATUS).is_(DELAYED),
            answer("gets", EPOCH).is_(3),
            answer("gets", GIVEN).is_([0, 2]),
        ),
    )
