"""A consumer as a member of a group: joining, sharing, heartbeats, leaving (CONS-17 to CONS-49)."""

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, client
from touchstone.suites.kit.clients import (
    QUICK,
    C,
    Change,
    Hear,
    Tell,
    Watch,
    a_topic,
    close,
    consumer,
    fault,
    reads,
    stored,
    subscribe,
)

OTHER = "d"
EAGER = {"partition.assignment.strategy": "range"}
SESSION = {"session.timeout.ms": 6000, "heartbeat.interval.ms": 300}
MOVED = ["partitions_assigned", "partitions_revoked"]


def _member(group, **more):
    """Settings of a classic member."""
    return EAGER | SESSION | {"group.id": group} | more


@claim("consumer.a-member-joins-and-syncs", evidence=("CONS-18", "CONS-17"), role="client",
       switches=("assignment-hidden",))  # fmt: skip
def test_a_member_joins_and_syncs(case):
    """A member finds its coordinator, joins, syncs, and tells the application what it got."""
    topic, group = case.topic(), case.group()
    return case.scenario(
        a_topic(topic, 2),
        consumer(config=_member(group)),
        subscribe(topic),
        Watch("Fetch", 1),
        expect=all_of(
            client("first and last", names=["FindCoordinator", "JoinGroup", "SyncGroup", "Fetch"])
            .contains("SyncGroup"),
            client("events", name="partitions_assigned", path="partitions[*].partition")
            .is_([[0, 1]]),
        ),
        config=QUICK,
    )  # fmt: skip


@claim("consumer.two-members-share-all-partitions", evidence=("CONS-45",), role="client",
       switches=("assignment-hidden",))  # fmt: skip
def test_two_members_share_all_partitions(case):
    """Of two members each reads what it was assigned, and no record is read twice."""
    topic, group = case.topic(), case.group()
    return case.scenario(
        a_topic(topic, 2),
        consumer(C, _member(group)),
        subscribe(topic, client=C),
        consumer(OTHER, _member(group)),
        subscribe(topic, client=OTHER),
        Hear("partitions_assigned", C, 2),
        stored(topic, "a", partition=0),
        stored(topic, "b", partition=1),
        reads(1, C, name="one reads"),
        reads(1, OTHER, name="the other reads"),
        expect=all_of(
            client("consumed", client=C, field="value").has_length(1),
            client("consumed", client=OTHER, field="value").has_length(1),
        ),
        config=QUICK,
    )


@claim("consumer.callbacks-of-a-rebalance-are-in-order", evidence=("CONS-40",), role="client",
       switches=("revocation-hidden",))  # fmt: skip
def test_callbacks_of_a_rebalance_are_in_order(case):
    """Before a member gets new partitions its application learns that the old are revoked."""
    topic, group = case.topic(), case.group()
    return case.scenario(
        a_topic(topic, 2),
        consumer(C, _member(group)),
        subscribe(topic, client=C),
        consumer(OTHER, _member(group)),
        subscribe(topic, client=OTHER),
        Hear("partitions_assigned", C, 2),
        expect=client("order", names=MOVED, client=C).is_(
            ["partitions_assigned", "partitions_revoked", "partitions_assigned"]
        ),
        config=QUICK,
    )


@claim("consumer.heartbeats-are-sent", evidence=("CONS-44", "KIP-62"), role="client",
       switches=("heartbeats-withheld",))  # fmt: skip
def test_heartbeats_are_sent(case):
    """A member sends heartbeats between its fetches, of its generation and under its id."""
    topic, group = case.topic(), case.group()
    return case.scenario(
        a_topic(topic),
        consumer(config=_member(group)),
        subscribe(topic),
        Watch("Heartbeat", 3),
        expect=client("generations").is_("as joined"),
        config=QUICK,
    )


@claim("consumer.closing-leaves-the-group", evidence=("CONS-39",), role="client",
       switches=("leaves-as-another",))  # fmt: skip
def test_closing_leaves_the_group(case):
    """A member that is closed leaves its group under the id that it had there."""
    topic, group = case.topic(), case.group()
    return case.scenario(
        a_topic(topic),
        consumer(config=_member(group)),
        subscribe(topic),
        Watch("Heartbeat", 1),
        close(C),
        expect=client("left").is_("as who had joined"),
        config=QUICK,
    )


@claim("consumer.a-static-member-keeps-its-place", evidence=("KIP-345",), role="client",
       switches=("instance-id-dropped",))  # fmt: skip
def test_a_static_member_keeps_its_place(case):
    """A static member names its group.instance.id when it joins, and does not leave at its end."""
    topic, group = case.topic(), case.group()
    return case.scenario(
        a_topic(topic),
        consumer(config=_member(group, **{"group.instance.id": "one"})),
        subscribe(topic),
        close(C),
        expect=all_of(
            client("asked", api="JoinGroup", path="group_instance_id").each_is("one"),
            client("count", api="LeaveGroup").is_(0),
        ),
        config=QUICK,
    )


@claim("consumer.a-moved-coordinator-is-looked-up", evidence=("CONS-44",), role="client",
       switches=("errors-of-heartbeats-hidden",),
       error=("NOT_COORDINATOR", "COORDINATOR_NOT_AVAILABLE"))  # fmt: skip
def test_a_moved_coordinator_is_looked_up(case):
    """A member whose heartbeat meets an error of a moved coordinator looks for it, and stays."""
    topic, group = case.topic(), case.group()
    return case.scenario(
        a_topic(topic),
        consumer(config=_member(group)),
        subscribe(topic),
        fault("Heartbeat", case.error, name="the error"),
        Watch("FindCoordinator", 1, since="the error"),
        Watch("Heartbeat", more=2),
        stored(topic, "v"),
        reads(1),
        expect=all_of(
            client("count", api="FindCoordinator", since="the error").at_least(1),
            client("count", api="JoinGroup", since="the error").is_(0),
        ),
        config=QUICK,
    )


@claim("consumer.a-lost-membership-is-joined-anew", evidence=("CONS-44",), role="client",
       switches=("errors-of-heartbeats-hidden",))  # fmt: skip
def test_a_lost_membership_is_joined_anew(case):
    """A member whose heartbeat is answered UNKNOWN_MEMBER_ID joins again, without its old id."""
    topic, group = case.topic(), case.group()
    return case.scenario(
        a_topic(topic),
        consumer(config=_member(group)),
        subscribe(topic),
        fault("Heartbeat", "UNKNOWN_MEMBER_ID", name="the error"),
        Hear("partitions_assigned", C, 2),
        expect=client("rejoined", since="the error").is_("without a member id"),
        config=QUICK,
    )


@claim("consumer.a-rebalance-is-joined", evidence=("CONS-18",), role="client",
       switches=("errors-of-heartbeats-hidden",))  # fmt: skip
def test_a_rebalance_is_joined(case):
    """A member whose heartbeat is answered REBALANCE_IN_PROGRESS joins again under its id."""
    topic, group = case.topic(), case.group()
    return case.scenario(
        a_topic(topic),
        consumer(config=_member(group)),
        subscribe(topic),
        fault("Heartbeat", "REBALANCE_IN_PROGRESS", name="the error"),
        Hear("partitions_assigned", C, 2),
        expect=client("rejoined", since="the error").is_("under its member id"),
        config=QUICK,
    )


@claim("consumer.find-coordinator-is-tried-again", evidence=("CONS-17",), role="client",
       switches=("assignment-hidden",))  # fmt: skip
def test_find_coordinator_is_tried_again(case):
    """A member asks FindCoordinator again while the coordinator is not available."""
    topic, group = case.topic(), case.group()
    return case.scenario(
        a_topic(topic),
        fault("FindCoordinator", "COORDINATOR_NOT_AVAILABLE", 2),
        consumer(config=_member(group)),
        subscribe(topic),
        expect=all_of(
            client("count", api="FindCoordinator").at_least(3),
            client("events", name="partitions_assigned").has_length(1),
        ),
        config=QUICK,
    )


@claim("consumer.a-join-is-tried-again", evidence=("CONS-17",), role="client",
       switches=("assignment-hidden",),
       error=("COORDINATOR_LOAD_IN_PROGRESS", "NOT_COORDINATOR"))  # fmt: skip
def test_a_join_is_tried_again(case):
    """A member whose JoinGroup meets an error that passes joins again."""
    topic, group = case.topic(), case.group()
    return case.scenario(
        a_topic(topic),
        fault("JoinGroup", case.error, 1),
        consumer(config=_member(group)),
        subscribe(topic),
        expect=client("events", name="partitions_assigned").has_length(1),
        config=QUICK,
    )


@claim("consumer.a-group-that-may-not-be-read-is-reported", evidence=("CONS-37",), role="client",
       switches=("errors-swallowed",))  # fmt: skip
def test_a_group_that_may_not_be_read_is_reported(case):
    """A JoinGroup that is answered GROUP_AUTHORIZATION_FAILED is the application's error."""
    topic, group = case.topic(), case.group()
    return case.scenario(
        a_topic(topic),
        fault("JoinGroup", "GROUP_AUTHORIZATION_FAILED", None),
        consumer(config=_member(group)),
        subscribe(topic, joins=False),
        Hear("consumer_error", C),
        expect=client("codes", name="consumer_error").contains("GROUP_AUTHORIZATION_FAILED"),
        config=QUICK,
    )


@claim("consumer.who-does-not-poll-leaves", evidence=("CONS-43", "KIP-62"), role="client",
       switches=("never-stops-polling",))  # fmt: skip
def test_who_does_not_poll_leaves(case):
    """A member that is not polled for max.poll.interval.ms leaves its group by itself."""
    topic, group = case.topic(), case.group()
    return case.scenario(
        a_topic(topic),
        consumer(config=_member(group, **{"max.poll.interval.ms": 6000})),
        subscribe(topic),
        Tell("poll", C, {"on": False}),
        Watch("LeaveGroup", 1),
        expect=client("count", api="LeaveGroup").is_(1),
        config=QUICK,
    )


@claim("consumer.a-server-side-member-beats-to-its-coordinator", evidence=("KIP-848",),
       role="client", releases="4.3+", switches=("assignment-hidden",))  # fmt: skip
def test_a_server_side_member_beats_to_its_coordinator(case):
    """With group.protocol consumer a member joins and leaves by ConsumerGroupHeartbeat alone."""
    topic, group = case.topic(), case.group()
    return case.scenario(
        a_topic(topic, 2),
        consumer(config={"group.id": group, "group.protocol": "consumer"}),
        subscribe(topic),
        close(C),
        expect=all_of(
            client("events", name="partitions_assigned", path="partitions[*].partition")
            .is_([[0, 1]]),
            client("asked", api="ConsumerGroupHeartbeat", path="member_epoch").contains(-1),
            client("count", api="JoinGroup").is_(0),
        ),
        config=QUICK,
    )  # fmt: skip


@claim("consumer.tags-in-group-answers-are-passed-over", evidence=("KIP-482",), role="client",
       switches=("assignment-hidden",))  # fmt: skip
def test_tags_in_group_answers_are_passed_over(case):
    """A member reads answers of its coordinator that have tagged fields which it does not know."""
    topic, group = case.topic(), case.group()
    apis = ("FindCoordinator", "JoinGroup", "SyncGroup", "Heartbeat", "OffsetFetch")
    return case.scenario(
        a_topic(topic),
        *(Change(api, "_tags", {90: b"from the future"}, times=0) for api in apis),
        stored(topic, "a"),
        consumer(config=_member(group)),
        subscribe(topic),
        reads(1),
        Watch("Heartbeat", 2),
        expect=client("consumed", client=C, field="value").is_(["a"]),
        config=QUICK,
    )
