"""A member whose group's coordinator divides the partitions (KIP-848)."""

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, client
from touchstone.suites.kit.clients import (
    QUICK,
    C,
    Change,
    Hear,
    Watch,
    a_topic,
    close,
    consumer,
    fault,
    place,
    reads,
    stored,
    subscribe,
)

HEARTBEAT = "ConsumerGroupHeartbeat"
OTHER = "d"
KIND = {"group.protocol": "consumer"}


def _joined(topic, group, partitions=1, **more):
    """A member that has its partitions."""
    return [
        a_topic(topic, partitions),
        consumer(config=KIND | {"group.id": group} | more),
        subscribe(topic),
    ]


@claim("consumer.a-server-side-member-keeps-its-coordinators-time", evidence=("KIP-848",),
       role="client", releases="4.3+", switches=("interval-hidden",))  # fmt: skip
def test_a_server_side_member_keeps_its_coordinators_time(case):
    """A member beats as often as heartbeat_interval_ms of the answers says: each 200 ms in place of
    5 s.
    """
    topic, group = case.topic(), case.group()
    return case.scenario(
        Change(HEARTBEAT, "heartbeat_interval_ms", 200, times=0),
        _joined(topic, group),
        Watch(HEARTBEAT, more=8),
        expect=client("count", api=HEARTBEAT).at_least(9),
        config=QUICK,
    )


@claim("consumer.a-fenced-server-side-member-joins-anew", evidence=("KIP-848",), role="client",
       releases="4.3+", switches=("errors-of-server-side-heartbeats-hidden",),
       error=("FENCED_MEMBER_EPOCH", "UNKNOWN_MEMBER_ID"))  # fmt: skip
def test_a_fenced_server_side_member_joins_anew(case):
    """A member whose heartbeat finds it fenced or unknown tells that its partitions are lost, and
    joins with epoch 0.
    """
    topic, group = case.topic(), case.group()
    return case.scenario(
        Change(HEARTBEAT, "heartbeat_interval_ms", 200, times=0),
        _joined(topic, group),
        fault(HEARTBEAT, case.error, name="the error"),
        Hear("partitions_assigned", C, 2, where={"partitions": [place(topic)]}),
        expect=all_of(
            client("asked", api=HEARTBEAT, path="member_epoch", since="the error").contains(0),
            client("moves", client=C).is_([["assigned", 1], ["lost", 1], ["assigned", 1]]),
        ),
        config=QUICK,
    )


@claim("consumer.a-server-side-member-says-what-it-has", evidence=("KIP-848",), role="client",
       releases="4.3+", switches=("owned-not-said",))  # fmt: skip
def test_a_server_side_member_says_what_it_has(case):
    """A member says in its first heartbeat that it has nothing, and acknowledges what it is given
    in the one behind the answer.
    """
    topic, group = case.topic(), case.group()
    return case.scenario(
        Change(HEARTBEAT, "heartbeat_interval_ms", 200, times=0),
        _joined(topic, group, 2),
        stored(topic, "v"),
        reads(1),
        Watch(HEARTBEAT, more=2),
        expect=all_of(
            client("asked", api=HEARTBEAT, path="topic_partitions").contains([]),
            client("acknowledged", client=C).contains([0, 1]),
        ),
        config=QUICK,
    )


@claim("consumer.a-server-side-member-names-itself", evidence=("KIP-848",), role="client",
       releases="4.3+", switches=("joins-under-no-id",))  # fmt: skip
def test_a_server_side_member_names_itself(case):
    """A member makes its id itself and names it from its first heartbeat on."""
    topic, group = case.topic(), case.group()
    return case.scenario(
        _joined(topic, group),
        close(C),
        expect=client("asked", api=HEARTBEAT, path="member_id").lacks(""),
        config=QUICK,
    )


@claim("consumer.a-static-server-side-member-goes-for-a-while", evidence=("KIP-848", "KIP-345"),
       role="client", releases="4.3+", switches=("static-leaves-for-good",))  # fmt: skip
def test_a_static_server_side_member_goes_for_a_while(case):
    """A static member that is closed heartbeats with epoch -2, which keeps its place."""
    topic, group = case.topic(), case.group()
    return case.scenario(
        _joined(topic, group, **{"group.instance.id": "one"}),
        close(C),
        expect=all_of(
            client("asked", api=HEARTBEAT, path="member_epoch").contains(-2),
            client("asked", api=HEARTBEAT, path="member_epoch").lacks(-1),
        ),
        config=QUICK,
    )


@claim("consumer.a-server-side-group-that-may-not-be-read-is-reported", evidence=("KIP-848",),
       role="client", releases="4.3+", switches=("errors-swallowed",))  # fmt: skip
def test_a_server_side_group_that_may_not_be_read_is_reported(case):
    """A heartbeat that is answered GROUP_AUTHORIZATION_FAILED is the application's error."""
    topic, group = case.topic(), case.group()
    return case.scenario(
        a_topic(topic),
        fault(HEARTBEAT, "GROUP_AUTHORIZATION_FAILED", None),
        consumer(config=KIND | {"group.id": group}),
        subscribe(topic, joins=False),
        Hear("consumer_error", C),
        expect=client("codes", name="consumer_error").contains("GROUP_AUTHORIZATION_FAILED"),
        config=QUICK,
    )


@claim("consumer.a-server-side-member-gives-up-only-what-moves", evidence=("KIP-848",),
       role="client", releases="4.3+", switches=("all-told-as-revoked",))  # fmt: skip
def test_a_server_side_member_gives_up_only_what_moves(case):
    """When a second member joins, the first one's application learns that two of its four
    partitions are revoked, and nothing of those that it keeps.
    """
    topic, group = case.topic(), case.group()
    return case.scenario(
        Change(HEARTBEAT, "heartbeat_interval_ms", 200, times=0),
        _joined(topic, group, 4),
        consumer(OTHER, KIND | {"group.id": group}),
        subscribe(topic, client=OTHER, joins=False),
        Hear("partitions_revoked", C),
        *(stored(topic, "v", partition=at) for at in range(4)),
        Hear("records_consumed", OTHER, 2, field="count"),
        expect=client("moves", client=C).is_([["assigned", 4], ["revoked", 2]]),
        config=QUICK,
    )
