"""Clusters in which some brokers have a rack and others have none.

ZooKeeper releases refuse to assign replicas there unless the request gives every assignment; only
auto-creation falls back to an assignment without racks, and so shows the tables of TOPIC-18 to
TOPIC-20. KRaft treats a missing rack as one more rack.

Sources: AdminUtils.getBrokerMetadatas with RackAwareMode.Enforced and Safe (1.0.2 to 2.8.2),
StripedReplicaPlacer (3.9.2, 4.3.1); clauses TOPIC-03, TOPIC-15, TOPIC-18 to TOPIC-20, TOPIC-31.
"""

from touchstone.harness.model.claim import claim, only
from touchstone.harness.model.expect import all_of, answer, any_of, by_release
from touchstone.harness.model.steps import (
    a_topic,
    at_controller,
    create_partitions,
    create_topic,
    metadata,
    topic_ready,
)
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.racks.tables import placed

MIXED = {
    "brokers": 3,
    "racks": ("a", "b", ""),
    "config": {"num.partitions": 6, "default.replication.factor": 3},
}
FORWARDS, BACKWARDS = ([0, 1, 2], [1, 2, 0], [2, 0, 1]), ([0, 2, 1], [1, 0, 2], [2, 1, 0])


def turned(rows, by):
    return [*rows[by:], *rows[:by]]


# Nine pairs of start and shift deal three brokers out in six different ways (TOPIC-20, TOPIC-31):
# a round of one direction from any broker, then a round of the other from that broker.
SIX = [turned(FORWARDS, start) + turned(BACKWARDS, start) for start in range(3)] + [
    turned(BACKWARDS, start) + turned(FORWARDS, start) for start in range(3)
]
# Kafka goes round by its own ids, which may run against the scenario's numbers: the number 0 is the
# controller's, and the last one the broker's without a rack.
MIRRORED = [[[-broker % 3 for broker in row] for row in table] for table in SIX]


@claim(
    "racks.placement-over-mixed-racks",
    evidence=("TOPIC-15",),
    api="CreateTopics",
    versions=only("CreateTopics", 2),
    **MIXED,
)
def test_placement_over_mixed_racks(case):
    """CreateTopics without an assignment answers UNKNOWN_SERVER_ERROR in ZooKeeper releases if a
    broker lacks a rack; KRaft creates the topic.
    """
    name = case.topic()
    code = answer("create", "topics[0].error_code")
    return case.scenario(
        metadata(name="racks"),
        create_topic(name, name="create", **at_controller()),
        expect=by_release(
            {"1.0-2.8": code.is_(ErrorCode.UNKNOWN_SERVER_ERROR), "3.9+": code.is_(ErrorCode.NONE)}
        ),
    )


@claim(
    "racks.mixed-racks-take-assignments",
    evidence=("TOPIC-09", "TOPIC-15"),
    api="CreateTopics",
    versions=only("CreateTopics", 2),
    **MIXED,
)
def test_mixed_racks_take_assignments(case):
    """CreateTopics with an explicit assignment ignores racks, also if a broker lacks one."""
    name, rows = case.topic(), {0: [2, 0], 1: [0, 1]}
    return case.scenario(
        a_topic(name, assignments=rows, brokers=3),
        metadata(name, name="after"),
        expect=placed("after", rows),
    )


@claim(
    "racks.growth-over-mixed-racks",
    evidence=("TOPIC-15", "TOPIC-33"),
    api="CreatePartitions",
    versions=only("CreatePartitions", 0),
    **MIXED,
)
def test_growth_over_mixed_racks(case):
    """CreatePartitions answers UNKNOWN_SERVER_ERROR in ZooKeeper releases if a broker lacks a rack,
    even with an assignment; KRaft adds the partition.
    """
    name = case.topic()
    code = answer("grow", "results[0].error_code")
    return case.scenario(
        metadata(name="racks"),
        a_topic(name, assignments={0: [2, 0]}, brokers=3),
        create_partitions(name, 2, assignments=[[0, 1]], name="grow", **at_controller()),
        expect=by_release(
            {"1.0-2.8": code.is_(ErrorCode.UNKNOWN_SERVER_ERROR), "3.9+": code.is_(ErrorCode.NONE)}
        ),
    )


@claim(
    "racks.auto-creation-goes-without-racks",
    evidence=("TOPIC-03", "TOPIC-18", "TOPIC-19", "TOPIC-20", "TOPIC-30", "TOPIC-31"),
    api="Metadata",
    versions=only("Metadata", 4),
    releases="1.0-2.2,3.9+",
    **MIXED,
)
def test_auto_creation_goes_without_racks(case):
    """Auto-creation ignores racks if a broker lacks one: 1.0 and 2.2 assign by one of the six
    round-robin tables, KRaft puts each partition on all three brokers.
    """
    name = case.topic()
    return case.scenario(
        metadata(name, create=True, name="ask"),
        topic_ready(name, 6, brokers=3),
        metadata(name, name="after"),
        expect=by_release(
            {
                "1.0-2.2": any_of(
                    *(placed("after", dict(enumerate(table))) for table in (*SIX, *MIRRORED))
                ),
                "3.9+": all_of(
                    *(
                        answer("after", f"topics[0].partitions[{p}].replica_nodes").is_one_of(
                            *FORWARDS, *BACKWARDS
                        )
                        for p in range(6)
                    )
                ),
            }
        ),
    )


@claim(
    "racks.auto-creation-by-the-controller-wants-racks",
    evidence=("TOPIC-03", "observed on 2.8.2"),
    api="Metadata",
    versions=only("Metadata", 4),
    releases="2.8",
    **MIXED,
)
def test_auto_creation_by_the_controller_wants_racks(case):
    """In 2.8 auto-creation answers UNKNOWN_SERVER_ERROR and creates nothing if a broker lacks a
    rack.
    """
    name = case.topic()
    return case.scenario(
        metadata(name="racks"),
        metadata(name, create=True, name="ask"),
        metadata(name, create=True, name="again"),
        metadata(name, name="after"),
        expect=all_of(
            answer("ask", "topics[0].error_code").is_(ErrorCode.UNKNOWN_SERVER_ERROR),
            answer("after", "topics[0].error_code").is_(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ),
    )
