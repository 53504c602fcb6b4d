"""Streams groups: topologies against the topics that exist, and internal topics.

Sources: KIP-1071; InternalTopicManager, RepartitionTopics, CopartitionedTopicsEnforcer@4.3.1;
KafkaApis.handleStreamsGroupHeartbeat (who makes missing topics); observed on 4.3.1.
"""

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, answer
from touchstone.harness.model.placeholders import Ref
from touchstone.harness.model.scenario import Until
from touchstone.harness.model.steps import a_topic, create_partitions
from touchstone.reference_impl.wire.errors import ErrorCode as E
from touchstone.suites.kit.streams_groups import (
    DETAIL,
    EPOCH,
    GIVEN,
    HEARTBEATS,
    INCORRECTLY_PARTITIONED,
    MISSING_INTERNAL,
    MISSING_SOURCES,
    STALE_TOPOLOGY,
    STATE,
    STATUS,
    STATUSES,
    beat,
    describe,
    internal,
    is_,
    join,
    known,
    reading,
    started,
    subtopology,
    topology,
)

ROW = "groups[0].topology.subtopologies"


@claim("rebalance.streams-groups-wait-for-their-source-topics", **HEARTBEATS)
def test_streams_groups_wait_for_their_source_topics(case):
    """While a source topic is missing, members get no tasks and the status MISSING_SOURCE_TOPICS,
    and the group is NotReady; a heartbeat after the topic's creation gets tasks.
    """
    group, topic, late = case.group(), case.topic(), case.topic("late")
    return case.scenario(
        started(group, topic),
        join(group, "m1", reading(late), name="join", version=case.version),
        describe(group, name="then"),
        a_topic(late, 2),
        Until(
            beat(group, "m1", Ref("join", EPOCH), name="finds", version=case.version),
            GIVEN,
            "len ==",
            2,
        ),
        expect=all_of(
            answer("join", EPOCH).is_(2),
            answer("join", STATUS).is_(MISSING_SOURCES),
            answer("then", STATE).is_("NotReady"),
            answer("finds", GIVEN).is_([0, 1]),
        ),
    )


@claim(
    "rebalance.missing-internal-topics-are-made",
    switches=("streams-topics-not-made",),
    **HEARTBEATS,
)
def test_missing_internal_topics_are_made(case):
    """StreamsGroupHeartbeat has missing changelog and repartition topics made, as wide as what is
    written into them, and answers MISSING_INTERNAL_TOPICS; later it gives out tasks.
    """
    group, topic = case.group(), case.topic()
    log, middle = case.topic("log"), case.topic("middle")
    told = topology(
        subtopology("0", topic, sinks=[middle]),
        subtopology("1", changelogs=[internal(log)], repartition=[internal(middle)]),
    )
    return case.scenario(
        started(group, topic, 3),
        join(group, "m1", told, name="join", version=case.version),
        describe(group, name="not yet"),
        Until(beat(group, "m1", 2, name="gets", version=case.version), "active_tasks", "len ==", 2),
        describe(group, name="then"),
        expect=all_of(
            answer("join", STATUS).is_(MISSING_INTERNAL),
            answer("not yet", STATE).is_("NotReady"),
            answer("not yet", f"{ROW}[1].state_changelog_topics[0].partitions").is_(0),
            answer("gets", "active_tasks[*].partitions").is_([[0, 1, 2], [0, 1, 2]]),
            answer("then", f"{ROW}[1].state_changelog_topics[0].partitions").is_(3),
            answer("then", f"{ROW}[1].repartition_source_topics[0].partitions").is_(3),
        ),
    )


@claim("rebalance.streams-members-hear-why-topics-are-not-made", **HEARTBEATS)
def test_streams_members_hear_why_topics_are_not_made(case):
    """Where an internal topic cannot be created, a later heartbeat's status says why."""
    group, topic, log = case.group(), case.topic(), case.topic("log")
    told = topology(subtopology("0", topic, changelogs=[internal(log, replicas=9)]))
    return case.scenario(
        started(group, topic),
        join(group, "m1", told, name="join", version=case.version),
        Until(
            beat(group, "m1", 2, name="hears", version=case.version),
            DETAIL,
            "contains",
            "Creation failed",
        ),
        expect=all_of(
            answer("join", STATUS).is_(MISSING_INTERNAL),
            answer("hears", STATUS).is_(MISSING_INTERNAL),
        ),
    )


@claim(
    "rebalance.joined-source-topics-have-equally-many-partitions",
    switches=("streams-joined-topics-not-compared",),
    **HEARTBEATS,
)
def test_joined_source_topics_have_equally_many_partitions(case):
    """Source topics of a copartition group with different numbers of partitions have the status
    INCORRECTLY_PARTITIONED_TOPICS, and no tasks are given out.
    """
    group, topic, other = case.group(), case.topic(), case.topic("other")
    told = topology(subtopology("0", topic, other, joined=(0, 1)))
    return case.scenario(
        started(group, topic, 2),
        *a_topic(other, 3),
        known(other),
        join(group, "m1", told, name="join", version=case.version),
        expect=all_of(
            answer("join", STATUS).is_(INCORRECTLY_PARTITIONED),
            answer("join", "active_tasks").has_length(0),
        ),
    )


@claim("rebalance.topologies-that-cannot-be-counted-are-refused", **HEARTBEATS)
def test_topologies_that_cannot_be_counted_are_refused(case):
    """A topology whose repartition topic is written by nobody, or only by who reads it, or a
    subtopology without any source answers STREAMS_INVALID_TOPOLOGY.
    """
    group, topic = case.group(), case.topic()
    middle = internal("middle")
    wrong = {
        "no writer": subtopology("0", repartition=[middle]),
        "a loop": subtopology("0", repartition=[middle], sinks=["middle"]),
        "no source": subtopology("0"),
    }
    return case.scenario(
        started(group, topic),
        *[
            join(group, "m1", topology(one), name=name, version=case.version)
            for name, one in wrong.items()
        ],
        expect=all_of(*[is_(name, E.STREAMS_INVALID_TOPOLOGY) for name in wrong]),
    )


@claim("rebalance.a-streams-group-keeps-its-first-topology", **HEARTBEATS)
def test_a_streams_group_keeps_its_first_topology(case):
    """A member that joins with an older topology epoch has the status STALE_TOPOLOGY; another
    topology of the same epoch, or a newer epoch, answers INVALID_REQUEST.
    """
    group, topic, other = case.group(), case.topic(), case.topic("other")
    one = subtopology("0", topic)
    return case.scenario(
        started(group, topic),
        join(group, "m1", topology(one, epoch=3), name="first", version=case.version),
        join(group, "m2", topology(one, epoch=2), name="older", version=case.version),
        join(
            group,
            "m3",
            topology(subtopology("0", other), epoch=3),
            name="another",
            version=case.version,
        ),
        join(group, "m3", topology(one, epoch=4), name="newer", version=case.version),
        expect=all_of(
            answer("first", STATUSES).has_length(0),
            answer("older", STATUS).is_(STALE_TOPOLOGY),
            is_("another", E.INVALID_REQUEST),
            is_("newer", E.INVALID_REQUEST),
        ),
    )


@claim("rebalance.wider-source-topics-bring-tasks", **HEARTBEATS)
def test_wider_source_topics_bring_tasks(case):
    """A heartbeat after a source topic got partitions raises the epoch and gives out their
    tasks.
    """
    group, topic = case.group(), case.topic()
    return case.scenario(
        started(group, topic, 2),
        join(group, "m1", reading(topic), name="join"),
        create_partitions(topic, 4, name="wider"),
        Until(beat(group, "m1", 2, name="gets", version=case.version), GIVEN, "len ==", 4),
        expect=all_of(answer("gets", EPOCH).is_(3), answer("gets", GIVEN).is_([0, 1, 2, 3])),
    )
