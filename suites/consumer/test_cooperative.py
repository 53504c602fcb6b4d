"""Rebalances that take only what moves, and assignors (KIP-429, CONS-39, CONS-40)."""

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, client
from touchstone.harness.model.steps import create_partitions, topic_ready
from touchstone.suites.kit.clients import (
    QUICK,
    C,
    Hear,
    a_topic,
    close,
    consumer,
    reads,
    stored,
    subscribe,
)

OTHER = "d"
SESSION = {"session.timeout.ms": 6000, "heartbeat.interval.ms": 300}
COOPERATIVE = SESSION | {"partition.assignment.strategy": "cooperative-sticky"}
EAGER = SESSION | {"partition.assignment.strategy": "range"}


def _two(topic, group, own, *between):
    """One member has all four partitions, then a second one joins and gets two of them."""
    return [
        a_topic(topic, 4),
        consumer(C, own | {"group.id": group}),
        subscribe(topic, client=C),
        *between,
        consumer(OTHER, own | {"group.id": group}),
        subscribe(topic, client=OTHER, joins=False),
    ]


def _has_two(client_):
    """The member of this name is told of two partitions."""
    return Hear("records_consumed", client_, 2, field="count", name=f"{client_} reads two")


@claim("consumer.a-cooperative-member-gives-up-only-what-moves", evidence=("KIP-429",),
       role="client", switches=("all-told-as-revoked",))  # fmt: skip
def test_a_cooperative_member_gives_up_only_what_moves(case):
    """When a second member joins, the application of one with the cooperative-sticky assignor
    learns that two of its four partitions are revoked, and nothing of those that it keeps.
    """
    topic, group = case.topic(), case.group()
    return case.scenario(
        _two(topic, group, COOPERATIVE),
        Hear("partitions_revoked", C),
        *(stored(topic, "v", partition=at) for at in range(4)),
        _has_two(OTHER),
        expect=all_of(
            client("moves", client=C).is_([["assigned", 4], ["revoked", 2]]),
            client("moves", client=OTHER).is_([["assigned", 2]]),
        ),
        config=QUICK,
    )


@claim("consumer.an-eager-member-gives-up-everything", evidence=("CONS-40",), role="client",
       switches=("revocation-hidden",))  # fmt: skip
def test_an_eager_member_gives_up_everything(case):
    """When a second member joins, the application of one with the range assignor learns that its
    four partitions are revoked, and then which two of them it has.
    """
    topic, group = case.topic(), case.group()
    return case.scenario(
        _two(topic, group, EAGER),
        Hear("partitions_assigned", C, 2),
        expect=client("moves", client=C).is_([["assigned", 4], ["revoked", 4], ["assigned", 2]]),
        config=QUICK,
    )


@claim("consumer.a-cooperative-member-names-what-it-owns", evidence=("KIP-429",), role="client",
       switches=("owned-hidden",))  # fmt: skip
def test_a_cooperative_member_names_what_it_owns(case):
    """A cooperative member that joins again says in its subscription which partitions it has: all
    four at first, and two when it gave up the others.
    """
    topic, group = case.topic(), case.group()
    return case.scenario(
        _two(topic, group, COOPERATIVE),
        Hear("partitions_revoked", C),
        *(stored(topic, "v", partition=at) for at in range(4)),
        _has_two(OTHER),
        expect=all_of(client("owned", client=C).contains(4), client("owned", client=C).contains(2)),
        config=QUICK,
    )


@claim("consumer.assignors-are-offered-in-order", evidence=("CONS-18",), role="client",
       switches=("assignors-turned-round",))  # fmt: skip
def test_assignors_are_offered_in_order(case):
    """JoinGroup offers the assignors of partition.assignment.strategy in their order."""
    topic, group = case.topic(), case.group()
    offered = {"api": "JoinGroup", "path": "protocols[*].name"}
    both = SESSION | {"partition.assignment.strategy": "range,roundrobin", "group.id": group}
    return case.scenario(
        a_topic(topic),
        consumer(config=both),
        subscribe(topic),
        expect=all_of(
            client("asked", **offered).contains(["range", "roundrobin"]),
            *(
                client("asked", **offered).lacks(other)
                for other in (["roundrobin", "range"], ["range"], ["roundrobin"])
            ),
        ),
        config=QUICK,
    )


@claim("consumer.what-was-read-is-committed-before-a-rebalance", evidence=("CONS-39",),
       role="client", switches=("never-commits-by-itself",))  # fmt: skip
def test_what_was_read_is_committed_before_a_rebalance(case):
    """A member that commits by itself does so before it joins again, so that nobody reads its
    records a second time.
    """
    topic, group = case.topic(), case.group()
    own = EAGER | {"enable.auto.commit": "true", "auto.commit.interval.ms": 60000}
    return case.scenario(
        _two(
            topic, group, own,
            *(stored(topic, "v", partition=at) for at in range(4)), reads(4),
        ),
        Hear("partitions_assigned", C, 2),
        Hear("partitions_assigned", OTHER),
        expect=all_of(
            *(client("commits", topic=topic, partition=at, client=C).contains(1)
              for at in range(4)),
            client("consumed", client=OTHER).is_([]),
        ),
        config=QUICK,
    )  # fmt: skip


@claim("consumer.what-was-not-committed-is-read-again", evidence=("CONS-40", "CONS-23"),
       role="client", switches=("commits-by-itself",))  # fmt: skip
def test_what_was_not_committed_is_read_again(case):
    """Records that a member read and did not commit are read again by the next member."""
    topic, group = case.topic(), case.group()
    own = EAGER | {"enable.auto.commit": "false", "group.id": group}
    return case.scenario(
        a_topic(topic),
        stored(topic, "a", "b"),
        consumer(C, own),
        subscribe(topic, client=C),
        reads(2, C),
        close(C),
        consumer(OTHER, own),
        subscribe(topic, client=OTHER),
        reads(2, OTHER),
        expect=client("consumed", client=OTHER, field="value").is_(["a", "b"]),
        config=QUICK,
    )


@claim("consumer.new-partitions-are-shared-out", evidence=("CONS-09",), role="client",
       switches=("metadata-kept",))  # fmt: skip
def test_new_partitions_are_shared_out(case):
    """A group's only member that learns from Metadata of another partition joins again, and gets
    it.
    """
    topic, group = case.topic(), case.group()
    return case.scenario(
        a_topic(topic),
        consumer(config=EAGER | {"group.id": group, "metadata.max.age.ms": 500}),
        subscribe(topic),
        create_partitions(topic, 3, name="more"),
        topic_ready(topic, 3, again=" again"),
        Hear("partitions_assigned", C, 2),
        expect=client("events", name="partitions_assigned", path="partitions[*].partition").is_(
            [[0], [0, 1, 2]]
        ),
        config=QUICK,
    )
