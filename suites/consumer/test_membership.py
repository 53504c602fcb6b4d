"""How a classic member comes, stays and goes (CONS-06, CONS-07, CONS-18, CONS-43, CONS-44)."""

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, client
from touchstone.suites.kit.clients import (
    QUICK,
    C,
    Hear,
    Tell,
    Watch,
    a_topic,
    commit,
    consumer,
    fault,
    place,
    reads,
    stored,
    subscribe,
)

MEMBER = {
    "partition.assignment.strategy": "range",
    "session.timeout.ms": 6000,
    "heartbeat.interval.ms": 300,
}


def _joined(case, topic, group, **more):
    """A member that has its partition."""
    return [a_topic(topic), consumer(config=MEMBER | {"group.id": group} | more), subscribe(topic)]


def _stops_polling():
    return [
        Tell("poll", C, {"on": False}),
        Hear("command_done", C, where={"command": "poll"}),
    ]


@claim("consumer.a-first-join-gets-an-id", evidence=("KIP-394", "CONS-18"), role="client",
       releases="2.2+", switches=("joins-under-no-id",))  # fmt: skip
def test_a_first_join_gets_an_id(case):
    """A member whose first JoinGroup is answered MEMBER_ID_REQUIRED joins again at once under the
    id of that answer.
    """
    topic, group = case.topic(), case.group()
    return case.scenario(
        _joined(case, topic, group),
        expect=all_of(
            client("answers", api="JoinGroup", path="error_code").is_([79, 0]),
            client("asked", api="JoinGroup", path="member_id").contains(""),
        ),
        config=QUICK,
    )


@claim("consumer.a-new-generation-is-joined", evidence=("CONS-44",), role="client",
       switches=("errors-of-heartbeats-hidden",))  # fmt: skip
def test_a_new_generation_is_joined(case):
    """A member whose heartbeat is answered ILLEGAL_GENERATION joins again, and has partitions."""
    topic, group = case.topic(), case.group()
    return case.scenario(
        _joined(case, topic, group),
        fault("Heartbeat", "ILLEGAL_GENERATION", name="the error"),
        Hear("partitions_assigned", C, 2),
        expect=client("count", api="JoinGroup", since="the error").at_least(1),
        config=QUICK,
    )


@claim("consumer.a-sync-that-fails-is-joined-anew", evidence=("CONS-18",), role="client",
       switches=("assignment-hidden",),
       error=("REBALANCE_IN_PROGRESS", "UNKNOWN_MEMBER_ID"))  # fmt: skip
def test_a_sync_that_fails_is_joined_anew(case):
    """A member whose SyncGroup finds its group in another rebalance, or itself unknown, joins
    again.
    """
    topic, group = case.topic(), case.group()
    return case.scenario(
        fault("SyncGroup", case.error),
        _joined(case, topic, group),
        expect=all_of(
            client("count", api="SyncGroup").at_least(2),
            client("events", name="partitions_assigned", path="partitions[*].partition").contains(
                [0]
            ),
        ),
        config=QUICK,
    )


@claim("consumer.a-lost-membership-is-told-as-lost", evidence=("KIP-429", "CONS-40"),
       role="client", switches=("loss-told-as-revocation",))  # fmt: skip
def test_a_lost_membership_is_told_as_lost(case):
    """A member that its group does not know any more tells its application that its partitions are
    lost, not that they are revoked, for others may have them.
    """
    topic, group = case.topic(), case.group()
    return case.scenario(
        _joined(case, topic, group),
        fault("Heartbeat", "UNKNOWN_MEMBER_ID"),
        Hear("partitions_assigned", C, 2, where={"partitions": [place(topic)]}),
        expect=client("moves", client=C).is_([["assigned", 1], ["lost", 1], ["assigned", 1]]),
        config=QUICK,
    )


@claim("consumer.heartbeats-go-on-between-polls", evidence=("CONS-44", "KIP-62"), role="client",
       switches=("heartbeats-not-sent",))  # fmt: skip
def test_heartbeats_go_on_between_polls(case):
    """A member whose application rests from polling sends heartbeats, and keeps its place."""
    topic, group = case.topic(), case.group()
    return case.scenario(
        _joined(case, topic, group),
        _stops_polling(),
        Watch("Heartbeat", more=4),
        Tell("poll", C, {"on": True}),
        stored(topic, "v"),
        reads(1),
        expect=all_of(
            client("count", api="LeaveGroup").is_(0),
            client("events", name="partitions_assigned").has_length(1),
        ),
        config=QUICK,
    )


@claim("consumer.who-left-cannot-commit", evidence=("CONS-43", "KIP-62"), role="client",
       switches=("commit-failure-hidden",))  # fmt: skip
def test_who_left_cannot_commit(case):
    """A commit of a member that left because nobody polled it fails."""
    topic, group = case.topic(), case.group()
    slow = {"max.poll.interval.ms": 6000, "enable.auto.commit": "false"}
    return case.scenario(
        _joined(case, topic, group, **slow),
        stored(topic, "v"),
        reads(1),
        _stops_polling(),
        Watch("LeaveGroup", 1),
        commit(offsets=[{"topic": topic, "partition": 0, "offset": 1}]),
        expect=client("events", name="offsets_committed", path="success").is_([False]),
        config=QUICK,
    )


@claim("consumer.a-fenced-static-member-says-so", evidence=("KIP-345",), role="client",
       releases="2.8+", switches=("errors-swallowed",))  # fmt: skip
def test_a_fenced_static_member_says_so(case):
    """A static member whose heartbeat is answered FENCED_INSTANCE_ID reports that error; if its
    application polls on, it joins without a member id.
    """
    topic, group = case.topic(), case.group()
    return case.scenario(
        _joined(case, topic, group, **{"group.instance.id": "one"}),
        fault("Heartbeat", "FENCED_INSTANCE_ID", name="the error"),
        Hear("consumer_error", C),
        Watch("JoinGroup", 1, since="the error", name="it joins again"),
        expect=all_of(
            client("codes", name="consumer_error").is_(["FENCED_INSTANCE_ID"]),
            client("rejoined", since="the error", client=C).is_("without a member id"),
        ),
        config=QUICK,
    )


@claim("consumer.a-subscription-replaces-the-one-before", evidence=("CONS-07",), role="client",
       switches=("first-subscription-kept",))  # fmt: skip
def test_a_subscription_replaces_the_one_before(case):
    """After a second subscription a member has partitions of its topics and of no other."""
    topic, other, group = case.topic(), case.topic("other"), case.group()
    return case.scenario(
        a_topic(other),
        _joined(case, topic, group),
        Tell("subscribe", C, {"topics": [other]}, name="subscribe to the other"),
        Hear("partitions_assigned", C, 2),
        stored(topic, "old"),
        stored(other, "new"),
        reads(1),
        expect=all_of(
            client("consumed", client=C, field="value").is_(["new"]),
            client("events", name="partitions_assigned", path="partitions[*].topic").is_(
                [[topic], [other]]
            ),
        ),
        config=QUICK,
    )


@claim("consumer.who-unsubscribes-leaves-the-group", evidence=("CONS-06", "CONS-08"),
       role="client", switches=("leaves-as-another", "revocation-hidden"))  # fmt: skip
def test_who_unsubscribes_leaves_the_group(case):
    """A member that unsubscribes leaves its group, and its partitions are revoked."""
    topic, group = case.topic(), case.group()
    return case.scenario(
        _joined(case, topic, group),
        Tell("unsubscribe", C),
        Hear("command_done", C, where={"command": "unsubscribe"}),
        Watch("LeaveGroup", 1),
        expect=all_of(
            client("left").is_("as who had joined"),
            client("moves", client=C).is_([["assigned", 1], ["revoked", 1]]),
        ),
        config=QUICK,
    )


@claim("consumer.a-member-says-how-long-it-may-be-silent", evidence=("CONS-18", "KIP-62"),
       role="client", switches=("timeout-not-said",))  # fmt: skip
def test_a_member_says_how_long_it_may_be_silent(case):
    """JoinGroup names session.timeout.ms, and max.poll.interval.ms as the time for a rebalance."""
    topic, group = case.topic(), case.group()
    return case.scenario(
        _joined(case, topic, group, **{"max.poll.interval.ms": 47000}),
        expect=all_of(
            client("asked", api="JoinGroup", path="session_timeout_ms").each_is(6000),
            client("asked", api="JoinGroup", path="rebalance_timeout_ms").each_is(47000),
        ),
        config=QUICK,
    )
