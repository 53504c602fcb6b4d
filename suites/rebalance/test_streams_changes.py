"""Streams groups that change: settings, what members say of themselves, room, and old epochs.

Sources: KIP-1071; GroupMetadataManager.streamsGroupHeartbeat at 4.3.1; observed there.
"""

from touchstone.harness.model.claim import claim, every
from touchstone.harness.model.expect import all_of, answer
from touchstone.harness.model.steps import a_topic
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.groups import coordinated
from touchstone.suites.kit.streams_groups import (
    CLUSTER,
    CODE,
    DELAYED,
    EPOCH,
    GROUP_EPOCH,
    HEARTBEATS,
    LEAVE,
    MEMBERS,
    STATUS,
    beat,
    configure,
    describe,
    join,
    owning,
    reading,
    started,
    until,
)

ALL = {"0": [0, 1, 2, 3]}
API = {"api": "StreamsGroupHeartbeat", "versions": every("StreamsGroupHeartbeat"),
       "releases": "4.3"}  # fmt: skip
EVIDENCE = ("KIP-1071", "observed on 4.3.1")


@claim("rebalance.streams-epochs-older-than-the-last-are-fenced", **HEARTBEATS)
def test_streams_epochs_older_than_the_last_are_fenced(case):
    """A heartbeat with the epoch before the member's, whose tasks are among its own, is one whose
    answer was lost and is answered; one with an older epoch is FENCED_MEMBER_EPOCH."""
    group, topic = case.group(), case.topic()
    told = reading(topic)
    steps = [*started(group, topic), join(group, "m1", told, name="m1 joins")]
    for turn, other in enumerate(("m2", "m3")):
        steps += [
            join(group, other, told, name=f"{other} joins"),
            beat(group, other, LEAVE, name=f"{other} leaves"),
            beat(group, "m1", 2 + 2 * turn, name=f"m1 goes on {turn}", **owning(ALL)),
        ]
    return case.scenario(
        *steps,
        beat(group, "m1", 4, name="lost", version=case.version, **owning({"0": [0]})),
        beat(group, "m1", 2, name="older", version=case.version, **owning({"0": [0]})),
        expect=all_of(
            answer("m1 goes on 1", EPOCH).is_(6),
            answer("lost", CODE).is_(ErrorCode.NONE),
            answer("older", CODE).is_(ErrorCode.FENCED_MEMBER_EPOCH),
        ),
    )


@claim("rebalance.streams-settings-begin-an-epoch", **HEARTBEATS)
def test_streams_settings_begin_an_epoch(case):
    """A heartbeat after streams.num.standby.replicas of the group was changed raises the group
    epoch by one; one after that does not."""
    group, topic = case.group(), case.topic()
    return case.scenario(
        *started(group, topic),
        join(group, "m1", reading(topic), name="joins"),
        describe(group, name="before"),
        configure(group, {"streams.num.standby.replicas": "1"}, "configured"),
        *_looked(case, topic),
        beat(group, "m1", 2, name="goes on", version=case.version, **owning(ALL)),
        beat(group, "m1", 3, name="and on", version=case.version, **owning(ALL)),
        describe(group, name="after"),
        expect=all_of(
            answer("before", GROUP_EPOCH).is_(2),
            answer("goes on", EPOCH).is_(3),
            answer("and on", EPOCH).is_(3),
            answer("after", GROUP_EPOCH).is_(3),
        ),
    )


def _looked(case, topic):
    """A short session of another group's member has passed: the settings are in force."""
    other = case.group("other")
    brief = {"streams.session.timeout.ms": "600", "streams.heartbeat.interval.ms": "100"}
    return [
        configure(other, brief, "brief"),
        join(other, "clock", reading(topic), name="clock"),
        until(other, "Empty", "tick", members=0),
    ]


@claim("rebalance.streams-members-may-change-what-they-say", **HEARTBEATS)
def test_streams_members_may_change_what_they_say(case):
    """A heartbeat with other client tags, endpoint or process id replaces those that the member
    had, and one without leaves them."""
    group, topic = case.group(), case.topic()

    def said(word):
        tags = [{"key": "zone", "value": word}]
        return {"client_tags": tags, "user_endpoint": {"host": word, "port": 7}}

    row = f"{MEMBERS}[0]"
    return case.scenario(
        *started(group, topic),
        join(group, "m1", reading(topic), name="joins", **said("one")),
        beat(group, "m1", 2, name="says no more", version=case.version, **owning(ALL)),
        describe(group, name="before"),
        beat(group, "m1", 2, name="says", version=case.version, **said("two"), **owning(ALL)),
        describe(group, name="after"),
        expect=all_of(
            answer("before", f"{row}.client_tags[0].value").is_("one"),
            answer("before", f"{row}.user_endpoint.host").is_("one"),
            answer("after", f"{row}.client_tags").has_length(1),
            answer("after", f"{row}.client_tags[0].value").is_("two"),
            answer("after", f"{row}.user_endpoint.host").is_("two"),
        ),
    )


@claim("rebalance.streams-groups-have-room-for-so-many", evidence=EVIDENCE,
       config=CLUSTER | {"group.streams.max.size": 1}, **API)  # fmt: skip
def test_streams_groups_have_room_for_so_many(case):
    """A member that joins a streams group of group.streams.max.size members answers
    GROUP_MAX_SIZE_REACHED; when one has left there is room for it."""
    group, topic = case.group(), case.topic()
    told = reading(topic)
    return case.scenario(
        *started(group, topic),
        join(group, "m1", told, name="m1 joins", version=case.version),
        join(group, "m2", told, name="too many", version=case.version),
        beat(group, "m1", 2, name="goes on", version=case.version, **owning(ALL)),
        join(group, "m1", told, name="m1 joins again", version=case.version),
        beat(group, "m1", LEAVE, name="m1 leaves"),
        join(group, "m2", told, name="m2 joins", version=case.version),
        expect=all_of(
            answer("m1 joins", CODE).is_(ErrorCode.NONE),
            answer("too many", CODE).is_(ErrorCode.GROUP_MAX_SIZE_REACHED),
            answer("goes on", CODE).is_(ErrorCode.NONE),
            answer("m2 joins", CODE).is_(ErrorCode.NONE),
        ),
    )


@claim("rebalance.streams-groups-that-were-empty-are-waited-with-again", evidence=EVIDENCE,
       config=CLUSTER | {"group.streams.initial.rebalance.delay.ms": 3_600_000},
       **API)  # fmt: skip
def test_streams_groups_that_were_empty_are_waited_with_again(case):
    """StreamsGroupHeartbeat of a group's first member answers that its assignment is delayed, and
    so does that of the first member after all have left."""
    group, topic = case.group(), case.topic("unread")
    told = reading(topic)
    return case.scenario(
        *a_topic(topic),
        *coordinated(group),
        join(group, "m1", told, name="first", version=case.version),
        beat(group, "m1", LEAVE, name="leaves"),
        join(group, "m1", told, name="first again", version=case.version),
        expect=all_of(
            answer("first", STATUS).is_(DELAYED), answer("first again", STATUS).is_(DELAYED)
        ),
    )
