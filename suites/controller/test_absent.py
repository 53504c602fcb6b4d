"""Topics created, extended and deleted while one of their brokers is down.

Sources: AdminManager/AdminUtils and TopicDeletionManager (1.0.2 to 2.8.2),
ReplicationControlManager.createTopic, createPartitions and deleteTopic (3.9.2, 4.3.1); clauses
CTL-12, CTL-18, CTL-21, TOPIC-10, TOPIC-13, TOPIC-35.
"""

from touchstone.harness.model.claim import claim, only
from touchstone.harness.model.expect import all_of, answer, by_release
from touchstone.harness.model.scenario import Until
from touchstone.harness.model.steps import (
    create_partitions,
    create_topic,
    delete_topic,
    metadata,
    start_broker,
    stop_broker,
)
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.records import ONE
from touchstone.suites.kit.three_brokers import (
    ISR,
    LEADER,
    PART,
    SHORT_SESSIONS,
    EpochsVary,
    a_log,
    led_by,
    look,
    placed,
    until_led,
)

CODE = "topics[0].error_code"
CREATE = {"api": "CreateTopics", "versions": only("CreateTopics", 2), **SHORT_SESSIONS}
AWAY = Until(metadata(broker=0, name="away"), "brokers", "len ==", 2)


@claim("controller.assignments-may-name-absent-brokers", evidence=("CTL-12", "TOPIC-10"), **CREATE)
def test_assignments_may_name_absent_brokers(case):
    """CreateTopics accepts an assignment to a stopped broker: a live replica leads, and the stopped
    one joins the ISR when it returns.
    """
    name = case.topic()
    return case.scenario(
        stop_broker(2),
        AWAY,
        create_topic(name, assignments={0: [2, 1]}, name="create", broker=0),
        until_led(case, name, 1, [1]),
        start_broker(2),
        until_led(case, name, 1, [1, 2], "back"),
        expect=all_of(
            answer("create", CODE).is_(ErrorCode.NONE),
            led_by("look", 1, [1], 0),
            answer("back", ISR).contains(2),
        ),
    )


@claim("controller.a-topic-without-a-living-replica", evidence=("CTL-12", "CTL-18"), **CREATE)
def test_a_topic_without_a_living_replica(case):
    """A topic assigned only to stopped brokers is unknown to Metadata until one returns, which then
    leads; KRaft refuses it with INVALID_REPLICA_ASSIGNMENT.
    """
    name = case.topic()
    later = [] if case.release in ("3.9", "4.3") else until_led(case, name, 2, [2], "back")
    return case.scenario(
        stop_broker(2),
        AWAY,
        create_topic(name, assignments={0: [2]}, timeout_ms=500, name="create", broker=0),
        look(case, name),
        start_broker(2),
        later,
        look(case, name, "last"),
        expect=by_release(
            {
                "1.0-2.8": all_of(
                    answer("look", CODE).is_(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
                    answer("last", LEADER).is_(2),
                ),
                "3.9+": answer("create", CODE).is_(ErrorCode.INVALID_REPLICA_ASSIGNMENT),
            }
        ),
    )


@claim("controller.placement-while-a-broker-is-down", evidence=("TOPIC-13",), **CREATE)
def test_placement_while_a_broker_is_down(case):
    """With one of three brokers down ZooKeeper releases answer replication factor 3 with
    INVALID_REPLICATION_FACTOR; KRaft counts the stopped broker and creates the topic.
    """
    three, two = case.topic("three"), case.topic("two")
    rows = answer("after", f"{PART}.replica_nodes")
    return case.scenario(
        stop_broker(2),
        AWAY,
        create_topic(three, 1, 3, name="three", broker=0),
        create_topic(two, 1, 2, name="two", broker=0),
        Until(metadata(two, broker=0, name="after"), ISR, "len ==", 2),
        expect=by_release(
            {
                "1.0-2.8": all_of(
                    answer("three", CODE).is_(ErrorCode.INVALID_REPLICATION_FACTOR),
                    rows.is_one_of([0, 1], [1, 0]),
                ),
                "3.9+": all_of(
                    answer("three", CODE).is_(ErrorCode.NONE),
                    answer("two", CODE).is_(ErrorCode.NONE),
                ),
            }
        ),
    )


@claim("controller.a-topic-grows-without-its-brokers", evidence=("CTL-12",),
       api="CreatePartitions", versions=only("CreatePartitions", 0), **SHORT_SESSIONS)  # fmt: skip
def test_a_topic_grows_without_its_brokers(case):
    """CreatePartitions accepts a replica on a stopped broker and the live replica leads; ZooKeeper
    releases answer INVALID_REPLICA_ASSIGNMENT.
    """
    case = EpochsVary(case)
    name = case.topic()
    led_ = Until(
        look(case, name), "topics[0].partitions", "len ==", 2,
        also=(("topics[0].partitions[*].leader_id", "each ==", 1),),
    )  # fmt: skip
    grown = answer("grow", "results[0].error_code")
    leaders = answer("look", "topics[0].partitions[*].leader_id")
    return case.scenario(
        placed(name, {0: [1, 2]}),
        stop_broker(2),
        AWAY,
        create_partitions(name, 2, assignments=[[2, 1]], name="grow", broker=0),
        led_ if case.release in ("3.9", "4.3") else look(case, name),
        expect=by_release(
            {
                "1.0-2.8": all_of(
                    grown.is_(ErrorCode.INVALID_REPLICA_ASSIGNMENT), leaders.is_([1])
                ),
                "3.9+": all_of(grown.is_(ErrorCode.NONE), leaders.is_([1, 1])),
            }
        ),
    )


@claim("controller.deletion-while-a-replica-is-absent", evidence=("CTL-21", "TOPIC-35"),
       api="DeleteTopics", versions=only("DeleteTopics", 1), **SHORT_SESSIONS)  # fmt: skip
def test_deletion_while_a_replica_is_absent(case):
    """In ZooKeeper releases the deletion of a topic with a replica on a stopped broker ends after
    its return (REQUEST_TIMED_OUT or no error before); KRaft deletes at once.
    """
    case = EpochsVary(case)
    name, answers = case.topic(), "responses[0].error_code"
    return case.scenario(
        a_log(name, (1, 2), ONE),
        stop_broker(2),
        until_led(case, name, 1, [1], "alone"),
        delete_topic(name, timeout_ms=1000, name="delete", broker=0),
        start_broker(2),
        Until(
            metadata(name, broker=0, name="gone"), CODE, "==", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        ),
        Until(
            metadata(name, broker=2, name="gone there"),
            CODE,
            "==",
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ),
        expect=all_of(
            by_release(
                {
                    "1.0-2.8": answer("delete", answers).is_one_of(
                        ErrorCode.REQUEST_TIMED_OUT, ErrorCode.NONE
                    ),
                    "3.9+": answer("delete", answers).is_(ErrorCode.NONE),
                }
            ),
            answer("gone", CODE).is_(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
            answer("gone there", CODE).is_(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ),
    )
