"""Replica placement: what holds for every assignment, whatever broker it starts with.

ZooKeeper releases assign replicas from a random start and shift, KRaft in stripes: the tables of
two runs differ, so claims judge membership and the properties that all tables share. Three brokers
suffice: broker 0 has rack a for itself, brokers 1 and 2 share rack b.

Sources: AdminUtils.assignReplicasToBrokers (1.0.2 to 2.8.2), StripedReplicaPlacer (3.9.2, 4.3.1),
KIP-36 (racks); clauses TOPIC-09, TOPIC-13, TOPIC-15, TOPIC-18 to TOPIC-20, TOPIC-24 to TOPIC-26,
TOPIC-30, TOPIC-31, TOPIC-33.
"""

from itertools import permutations

from touchstone.harness.model.claim import claim, every, only
from touchstone.harness.model.expect import all_of, answer, by_release
from touchstone.harness.model.steps import (
    a_topic,
    at_another_broker,
    at_controller,
    create_partitions,
    create_topic,
    delete_topic,
    metadata,
    together,
    topic_ready,
)
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.racks.tables import placed

CODES = "topics[*].error_code"
THREE = {"brokers": 3, "racks": ("a", "b", "b")}
ACROSS = ([0, 1], [1, 0], [0, 2], [2, 0])
ALL = tuple(list(row) for row in permutations(range(3)))


def each_row(step, count, rows):
    """Each of so many partitions has one of these rows of replicas."""
    places = [answer(step, f"topics[0].partitions[{p}].replica_nodes") for p in range(count)]
    return all_of(*(place.is_one_of(*rows) for place in places))


@claim(
    "racks.replicas-spread-over-racks",
    evidence=("TOPIC-15", "TOPIC-24", "TOPIC-25", "TOPIC-26", "TOPIC-30", "KIP-36"),
    api="CreateTopics",
    versions=only("CreateTopics", 2),
    switches=("racks-ignored",),
    **THREE,
)
def test_replicas_spread_over_racks(case):
    """Two replicas of a partition are in different racks, even where a rack has a single broker."""
    name = case.topic()
    return case.scenario(
        a_topic(name, 6, 2, brokers=3),
        metadata(name, name="after"),
        expect=each_row("after", 6, ACROSS),
    )


@claim(
    "racks.no-broker-holds-a-partition-twice",
    evidence=("TOPIC-30", "TOPIC-31"),
    api="CreateTopics",
    versions=only("CreateTopics", 2),
    **THREE,
)
def test_no_broker_holds_a_partition_twice(case):
    """With as many replicas as brokers every broker holds exactly one replica of each partition."""
    name = case.topic()
    return case.scenario(
        a_topic(name, 6, 3, brokers=3),
        metadata(name, name="after"),
        expect=each_row("after", 6, ALL),
    )


@claim(
    "racks.every-broker-gets-partitions",
    evidence=("TOPIC-30",),
    api="CreateTopics",
    versions=only("CreateTopics", 2),
    brokers=3,
)
def test_every_broker_gets_partitions(case):
    """Six partitions with one replica each give every one of three brokers a partition to lead.
    (Without racks only: KRaft may pass over one of two brokers that share a rack.)
    """
    name = case.topic()
    leaders = answer("after", "topics[0].partitions[*].leader_id")
    return case.scenario(
        a_topic(name, 6, brokers=3),
        metadata(name, name="after"),
        expect=all_of(leaders.contains(0), leaders.contains(1), leaders.contains(2)),
    )


@claim(
    "racks.more-replicas-than-brokers-are-refused",
    evidence=("TOPIC-13", "TOPIC-14"),
    api="CreateTopics",
    versions=only("CreateTopics", 2),
    **THREE,
)
def test_more_replicas_than_brokers_are_refused(case):
    """CreateTopics with replication factor 4 on three brokers answers INVALID_REPLICATION_FACTOR,
    names the factor in its message and creates nothing.
    """
    name = case.topic()
    message = answer("create", "topics[0].error_message")
    return case.scenario(
        create_topic(name, 1, 4, name="create", **at_controller()),
        metadata(name, name="after"),
        expect=all_of(
            answer("create", CODES).each_is(ErrorCode.INVALID_REPLICATION_FACTOR),
            answer("after", CODES).each_is(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
            by_release(
                {
                    "1.0-2.8": message.is_(
                        "Replication factor: 4 larger than available brokers: 3."
                    ),
                    "3.9+": message.matches(".*replication factor of 4 cannot be reached.*"),
                }
            ),
        ),
    )


@claim(
    "racks.assignments-are-kept",
    evidence=("TOPIC-09", "META-08"),
    api="CreateTopics",
    versions=only("CreateTopics", 2),
    **THREE,
)
def test_assignments_are_kept(case):
    """CreateTopics follows an explicit assignment whatever the racks; the first replica of each
    leads.
    """
    name, rows = case.topic(), {0: [2, 1], 1: [1, 2], 2: [0, 1]}
    return case.scenario(
        a_topic(name, assignments=rows, brokers=3),
        metadata(name, name="after"),
        expect=placed("after", rows),
    )


@claim(
    "racks.growth-goes-on-where-placement-ended",
    evidence=("TOPIC-33",),
    api="CreatePartitions",
    versions=only("CreatePartitions", 0),
    releases="1.0-2.8",
    **THREE,
)
def test_growth_goes_on_where_placement_ended(case):
    """CreatePartitions continues the round robin from partition 0's first replica, without
    randomness.
    """
    name, added = case.topic(), {1: [2, 0, 1], 2: [0, 1, 2], 3: [1, 0, 2]}
    return case.scenario(
        a_topic(name, assignments={0: [1, 2, 0]}, brokers=3),
        create_partitions(name, 4, name="grow", **at_controller()),
        topic_ready(name, 4, brokers=3, again=" grown"),
        metadata(name, name="after"),
        expect=all_of(
            answer("grow", "results[0].error_code").is_(ErrorCode.NONE), placed("after", added)
        ),
    )


@claim(
    "racks.growth-spreads-over-racks",
    evidence=("TOPIC-33", "TOPIC-30"),
    api="CreatePartitions",
    versions=only("CreatePartitions", 0),
    **THREE,
)
def test_growth_spreads_over_racks(case):
    """Partitions that CreatePartitions adds have replicas in both racks, like the first ones."""
    name = case.topic()
    return case.scenario(
        a_topic(name, 2, 2, brokers=3),
        create_partitions(name, 6, name="grow", **at_controller()),
        topic_ready(name, 6, brokers=3, again=" grown"),
        metadata(name, name="after"),
        expect=all_of(
            answer("grow", "results[0].error_code").is_(ErrorCode.NONE),
            each_row("after", 6, ACROSS),
        ),
    )


@claim(
    "racks.assigned-growth-is-kept",
    evidence=("TOPIC-33", "KIP-195"),
    api="CreatePartitions",
    versions=only("CreatePartitions", 0),
    **THREE,
)
def test_assigned_growth_is_kept(case):
    """CreatePartitions follows an explicit assignment of new partitions whatever the racks."""
    name = case.topic()
    return case.scenario(
        a_topic(name, assignments={0: [0, 1]}, brokers=3),
        create_partitions(name, 3, assignments=[[2, 1], [1, 2]], name="grow", **at_controller()),
        topic_ready(name, 3, brokers=3, again=" grown"),
        metadata(name, name="after"),
        expect=placed("after", {0: [0, 1], 1: [2, 1], 2: [1, 2]}),
    )


@claim(
    "racks.are-told-to-clients",
    evidence=("META-08", "KIP-36"),
    api="Metadata",
    versions=every("Metadata"),
    where=lambda row: row["version"] in (1, 9),
    **THREE,
)
def test_are_told_to_clients(case):
    """Metadata reports each broker's rack from version 1 on."""
    racks = answer("ask", "brokers[*].rack")
    return case.scenario(
        metadata(version=case.version, name="ask"),
        expect=all_of(
            answer("ask", "brokers").has_length(3), racks.contains("a"), racks.contains("b")
        ),
    )


@claim(
    "racks.only-the-controller-changes-topics",
    evidence=("TOPIC-34", "TOPIC-35", "KIP-500"),
    **THREE,
)
def test_only_the_controller_changes_topics(case):
    """A ZooKeeper broker that is not the controller answers CreateTopics, CreatePartitions and
    DeleteTopics with NOT_CONTROLLER; a KRaft broker forwards them.
    """
    there, new, other = case.topic("there"), case.topic("new"), at_another_broker()
    codes = (
        answer("create", CODES),
        answer("grow", "results[*].error_code"),
        answer("delete", "responses[*].error_code"),
    )
    return case.scenario(
        a_topic(there, assignments={0: [0]}, brokers=3),
        together(
            create_topic(new, **other), create_topic("no topic", **other), name="create"
        ),
        create_partitions(there, 1, name="grow", **other),
        delete_topic(there, name="delete", **other),
        expect=by_release(
            {
                "1.0-2.8": all_of(*(code.each_is(ErrorCode.NOT_CONTROLLER) for code in codes)),
                "3.9+": all_of(
                    codes[0].contains(ErrorCode.NONE),
                    codes[1].each_is(ErrorCode.INVALID_PARTITIONS),  # one partition is no growth
                    codes[2].each_is(ErrorCode.NONE),
                ),
            }
        ),
    )  # fmt: skip
