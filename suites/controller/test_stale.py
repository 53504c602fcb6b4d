"""Requests reserved for controllers and brokers, sent with a stale epoch: brokers refuse them.

Every request here carries a past controller epoch, a broker epoch that is not the sender's, or a
broker id that does not exist. A broker that obeyed one would show it in the last step.

Sources: KafkaApis.handleLeaderAndIsrRequest, handleStopReplicaRequest, handleUpdateMetadataRequest,
handleControlledShutdownRequest, handleAlterIsrRequest (1.0.2 to 2.8.2), KIP-380 (broker epochs);
clauses CTL-10, CTL-24, REPL-20.
"""

from touchstone.harness.model.claim import claim, every
from touchstone.harness.model.expect import all_of, answer, by_release, outcome, records
from touchstone.harness.model.scenario import Until
from touchstone.harness.model.steps import at_another_broker, at_controller, kill_broker
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.controllers import (
    alter_partition,
    controlled_shutdown,
    leader_and_isr,
    stop_replica,
    update_metadata,
)
from touchstone.suites.kit.records import ONE, TWO
from touchstone.suites.kit.three_brokers import (
    EPOCH,
    LEADER,
    SHORT_SESSIONS,
    SHORT_SESSIONS_UNHARMED,
    EpochsVary,
    a_log,
    led_by,
    look,
    on,
    read,
    stored,
    write,
)

ZOOKEEPER = on("1.0-2.8", SHORT_SESSIONS_UNHARMED)
PAST = 0  # controllers count their epochs from 1


@claim("controller.a-past-controller-makes-no-leaders", evidence=("CTL-10", "REPL-20"),
       api="LeaderAndIsr", versions=every("LeaderAndIsr"), **ZOOKEEPER)  # fmt: skip
def test_a_past_controller_makes_no_leaders(case):
    """LeaderAndIsr with a past controller epoch answers STALE_CONTROLLER_EPOCH and changes no
    leader.
    """
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2), ONE),
        leader_and_isr(
            name, case.version, controller_epoch=PAST, leader=2, leader_epoch=9,
            replicas=[1, 2], broker=1,
        ),
        write(name, TWO),
        look(case, name),
        expect=all_of(
            answer("leader and isr", "error_code").is_(ErrorCode.STALE_CONTROLLER_EPOCH),
            stored("write", 1),
            led_by("look", 1, [1, 2], 0),
        ),
    )  # fmt: skip


@claim("controller.a-past-controller-stops-no-replicas", evidence=("CTL-10",),
       api="StopReplica", versions=every("StopReplica"), **ZOOKEEPER)  # fmt: skip
def test_a_past_controller_stops_no_replicas(case):
    """StopReplica with a past controller epoch answers STALE_CONTROLLER_EPOCH and
    deletes no log.
    """
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2), ONE),
        stop_replica(name, case.version, controller_epoch=PAST, broker=1),
        write(name, TWO),
        read(name),
        expect=all_of(
            answer("stop replica", "error_code").is_(ErrorCode.STALE_CONTROLLER_EPOCH),
            stored("write", 1),
            records("read", "[*].value").is_([ONE, TWO]),
        ),
    )


@claim("controller.a-past-controller-tells-no-metadata", evidence=("CTL-10",),
       api="UpdateMetadata", versions=every("UpdateMetadata"), **ZOOKEEPER)  # fmt: skip
def test_a_past_controller_tells_no_metadata(case):
    """UpdateMetadata with a past controller epoch answers STALE_CONTROLLER_EPOCH and changes no
    metadata.
    """
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2), ONE),
        update_metadata(name, case.version, controller_epoch=PAST, broker=1),
        look(case, name, at=1),
        expect=all_of(
            answer("update", "error_code").is_(ErrorCode.STALE_CONTROLLER_EPOCH),
            led_by("look", 1, [1, 2], 0),
        ),
    )


@claim("controller.an-unknown-broker-cannot-shut-down", evidence=("CTL-24",),
       api="ControlledShutdown", versions=every("ControlledShutdown"), **ZOOKEEPER)  # fmt: skip
def test_an_unknown_broker_cannot_shut_down(case):
    """ControlledShutdown of a broker id that does not exist answers BROKER_NOT_AVAILABLE."""
    return case.scenario(
        controlled_shutdown(77, version=case.version, **at_controller()),
        expect=answer("shutdown", "error_code").is_(ErrorCode.BROKER_NOT_AVAILABLE),
    )


@claim("controller.only-the-controller-shuts-brokers-down", evidence=("CTL-24",),
       api="ControlledShutdown", versions=every("ControlledShutdown"), **ZOOKEEPER)  # fmt: skip
def test_only_the_controller_shuts_brokers_down(case):
    """ControlledShutdown to a broker that is not the controller answers STALE_CONTROLLER_EPOCH."""
    return case.scenario(
        controlled_shutdown(1, version=case.version, **at_another_broker()),
        expect=answer("shutdown", "error_code").is_(ErrorCode.STALE_CONTROLLER_EPOCH),
    )


@claim(
    "controller.a-stale-broker-changes-no-isr",
    evidence=("KIP-497", "KIP-380"),
    api="AlterPartition",
    versions=every("AlterPartition"),
    **on("2.8", SHORT_SESSIONS_UNHARMED),
)
def test_a_stale_broker_changes_no_isr(case):
    """AlterPartition with a wrong broker epoch answers STALE_BROKER_EPOCH and leaves the ISR as it
    is.
    """
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2), ONE),
        alter_partition(name, broker_epoch=1, isr=[1]),
        look(case, name),
        expect=all_of(
            answer("alter", "error_code").is_(ErrorCode.STALE_BROKER_EPOCH),
            led_by("look", 1, [1, 2], 0),
        ),
    )


@claim("controller.brokers-have-no-controller-apis", evidence=("KIP-500", "KIP-631"),
       **on("3.9+", SHORT_SESSIONS_UNHARMED))  # fmt: skip
def test_brokers_have_no_controller_apis(case):
    """A KRaft broker closes a connection that sends LeaderAndIsr and keeps the leader."""
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2), ONE),
        leader_and_isr(
            name, 1, controller_epoch=99, leader=2, leader_epoch=9, replicas=[1, 2], broker=1,
            connection="impostor",
        ),
        look(case, name),
        expect=all_of(
            outcome("leader and isr").is_one_of("closed", "reset"), led_by("look", 1, [1, 2], 0)
        ),
    )  # fmt: skip


@claim("controller.another-takes-over", evidence=("CTL-03", "CTL-05", "CTL-07", "CTL-10"),
       **on("1.0-2.8", SHORT_SESSIONS))  # fmt: skip
def test_another_takes_over(case):
    """When the controller dies, another broker becomes controller, elects leaders and creates
    topics; requests with the old controller epoch answer STALE_CONTROLLER_EPOCH.
    """
    case = EpochsVary(case)
    name, later = case.topic(), case.topic("later")
    return case.scenario(
        a_log(name, (0, 1, 2), ONE),
        kill_broker(0),
        Until(look(case, name, at=1), LEADER, "==", 1, also=(("controller_id", "in", [1, 2]),)),
        Until(look(case, name, "look 2", at=2), LEADER, "==", 1),
        a_log(later, (2, 1), ONE, seen_by=(1, 2)),
        leader_and_isr(
            later, 1, controller_epoch=1, leader=1, leader_epoch=9, replicas=[2, 1], broker=1,
        ),
        write(later, TWO, to=2),
        expect=all_of(
            answer("leader and isr", "error_code").is_(ErrorCode.STALE_CONTROLLER_EPOCH),
            stored("write", 1),
            by_release(
                {"1.0-2.2": answer("look", LEADER).is_(1), "2.8": answer("look", EPOCH).is_(2)}
            ),
        ),
    )  # fmt: skip
