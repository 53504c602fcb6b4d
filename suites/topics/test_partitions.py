"""CreatePartitions: a topic grows and never shrinks.

Sources: KIP-195; AdminManager (1.0.2, 2.2.1), ZkAdminManager (2.8.2), ReplicationControlManager
(3.9.2, 4.3.1); clause TOPIC-33.
"""

from touchstone.harness.model.claim import claim, every, only
from touchstone.harness.model.expect import all_of, answer, by_release
from touchstone.harness.model.steps import (
    a_topic,
    create_partitions,
    metadata,
    together,
    topic_ready,
)
from touchstone.reference_impl.wire.errors import ErrorCode

CODE = "results[0].error_code"
FIRST = only("CreatePartitions", 0)
FAULTY = {
    "too few rows": (3, [[0]]),
    "too many rows": (2, [[0], [0]]),
    "an unknown broker": (2, [[77]]),
    "a broker twice": (2, [[0, 0]]),
    "no replicas": (2, [[]]),
    "other replication": (3, [[0], [0, 1]]),
}


@claim(
    "topics.partitions-can-be-added",
    evidence=("TOPIC-33", "KIP-195"),
    api="CreatePartitions",
    versions=every("CreatePartitions"),
)
def test_partitions_can_be_added(case):
    """CreatePartitions with a larger count adds partitions, each of which gets a leader."""
    name = case.topic()
    return case.scenario(
        a_topic(name),
        create_partitions(name, 4, version=case.version, name="grow"),
        topic_ready(name, 4, again=" grown"),
        metadata(name, name="after"),
        expect=all_of(
            answer("grow", CODE).is_(ErrorCode.NONE),
            answer("after", "topics[0].partitions").has_length(4),
        ),
    )


@claim("topics.never-shrink", evidence=("TOPIC-33",), api="CreatePartitions", versions=FIRST)
def test_never_shrink(case):
    """CreatePartitions answers INVALID_PARTITIONS for a count that is not larger than the
    topic's."""
    names = [case.topic(f"t{index}") for index in range(4)]
    asks = [create_partitions(n, c) for n, c in zip(names, (2, 1, 0, -1), strict=True)]
    return case.scenario(
        *(a_topic(name, 2) for name in names),
        together(*asks, name="grow"),
        metadata(*names, name="after"),
        expect=answer("grow", "results[*].error_code").each_is(ErrorCode.INVALID_PARTITIONS),
    )


@claim(
    "topics.unknown-topics-cannot-grow", evidence=("TOPIC-33",), api="CreatePartitions",
    versions=FIRST,
)  # fmt: skip
def test_unknown_topics_cannot_grow(case):
    """CreatePartitions of a topic that does not exist answers UNKNOWN_TOPIC_OR_PARTITION and
    creates no topic."""
    name = case.topic()
    return case.scenario(
        create_partitions(name, 2, name="grow"),
        metadata(name, name="after"),
        expect=all_of(
            answer("grow", CODE).is_(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
            answer("after", "topics[0].error_code").is_(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ),
    )


@claim(
    "topics.a-topic-grows-once-per-request", evidence=("TOPIC-33", "KIP-195"),
    api="CreatePartitions", versions=FIRST,
)  # fmt: skip
def test_a_topic_grows_once_per_request(case):
    """CreatePartitions answers INVALID_REQUEST for a topic that it names twice, which keeps its
    partitions, and adds partitions to the others."""
    twice, once = case.topic("twice"), case.topic("once")
    return case.scenario(
        a_topic(twice),
        a_topic(once),
        together(
            create_partitions(twice, 2), create_partitions(once, 2), create_partitions(twice, 3),
            name="grow",
        ),
        topic_ready(once, 2, again=" grown"),
        metadata(twice, name="after"),
        expect=all_of(
            answer("grow", "results[*].error_code").contains(ErrorCode.INVALID_REQUEST),
            answer("grow", "results[*].error_code").contains(ErrorCode.NONE),
            answer("after", "topics[0].partitions").has_length(1),
        ),
    )  # fmt: skip


@claim(
    "topics.growth-can-be-tried", evidence=("TOPIC-33", "KIP-195"), api="CreatePartitions",
    versions=FIRST,
)  # fmt: skip
def test_growth_can_be_tried(case):
    """CreatePartitions with validate_only returns the errors that it would return otherwise and
    adds no partitions."""
    name, bad = case.topic(), case.topic("bad")
    return case.scenario(
        a_topic(name),
        a_topic(bad),
        together(
            create_partitions(name, 3, validate_only=True), create_partitions(bad, 1), name="grow"
        ),
        metadata(name, name="after"),
        expect=all_of(
            answer("grow", "results[*].error_code").contains(ErrorCode.NONE),
            answer("grow", "results[*].error_code").contains(ErrorCode.INVALID_PARTITIONS),
            answer("after", "topics[0].partitions").has_length(1),
        ),
    )


@claim(
    "topics.new-partitions-can-be-assigned", evidence=("TOPIC-33", "KIP-195"),
    api="CreatePartitions", versions=FIRST,
)  # fmt: skip
def test_new_partitions_can_be_assigned(case):
    """CreatePartitions with an assignment for each new partition answers no error, and each has the
    replicas that it names."""
    name = case.topic()
    return case.scenario(
        a_topic(name),
        create_partitions(name, 3, assignments=[[0], [0]], name="grow"),
        topic_ready(name, 3, again=" grown"),
        metadata(name, name="after"),
        expect=all_of(
            answer("grow", CODE).is_(ErrorCode.NONE),
            answer("after", "topics[0].partitions[*].replica_nodes").is_([[0], [0], [0]]),
        ),
    )


@claim(
    "topics.faulty-assignments-add-nothing", evidence=("TOPIC-33", "KIP-195"),
    api="CreatePartitions", versions=FIRST,
)  # fmt: skip
def test_faulty_assignments_add_nothing(case):
    """CreatePartitions answers INVALID_REPLICA_ASSIGNMENT, and adds nothing, for assignments that
    do not fit the count, the brokers or the topic's replication factor."""
    names = [case.topic(f"t{index}") for index in range(len(FAULTY))]
    asks = [
        create_partitions(name, count, assignments=rows)
        for name, (count, rows) in zip(names, FAULTY.values(), strict=True)
    ]
    return case.scenario(
        *(a_topic(name) for name in names),
        together(*asks, name="grow"),
        metadata(*names, name="after"),
        expect=all_of(
            answer("grow", "results[*].error_code").each_is(ErrorCode.INVALID_REPLICA_ASSIGNMENT),
            answer("after", "topics[*].partitions[*].partition_index").each_is(0),
        ),
    )


@claim(
    "topics.no-time-to-grow",
    evidence=("TOPIC-33", "observed on 1.0.2, 2.2.1, 2.8.2, 3.9.2 and 4.3.1"),
    api="CreatePartitions",
    versions=FIRST,
)
def test_no_time_to_grow(case):
    """CreatePartitions with timeout 0 answers REQUEST_TIMED_OUT; releases with ZooKeeper add the
    partitions all the same, KRaft does not."""
    name = case.topic()
    grown = topic_ready(name, 2, again=" grown") if case.release in ("1.0", "2.2", "2.8") else []
    return case.scenario(
        a_topic(name),
        create_partitions(name, 2, timeout_ms=0, name="grow"),
        grown,
        metadata(name, name="after"),
        expect=all_of(
            answer("grow", CODE).is_(ErrorCode.REQUEST_TIMED_OUT),
            by_release(
                {
                    "1.0-2.8": answer("after", "topics[0].partitions").has_length(2),
                    "3.9+": answer("after", "topics[0].partitions").has_length(1),
                }
            ),
        ),
    )
