"""A leader proposes another in-sync set to whoever keeps it, and lives with the answer.

Three ways, by release. 1.0 and 2.2 write the state znode themselves, which fails when somebody else
wrote it meanwhile (REPL-15), and announce it later (`isr_changes.py`). 2.8 asks the broker that is
controller, with AlterIsr over its link. KRaft's brokers ask the quorum, which is a node apart and
is called here without a wire. Until there is an answer the proposal stands, and both ISRs count;
without an answer the leader asks again; an answer that its knowledge is old takes the proposal
back, because newer metadata is on its way.

Sources: REPL-14, REPL-15, KIP-497, KIP-841; ReplicationUtils.updateLeaderAndIsr@1.0.2, 2.2.1,
AlterIsrManager@2.8.2, AlterPartitionManager@3.9.2, 4.3.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from touchstone.reference_impl.broker.control import alter_partition
from touchstone.reference_impl.broker.control.alter_partition import AlterPartition
from touchstone.reference_impl.broker.control.cluster_controller import ClusterController
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker
    from touchstone.reference_impl.cluster.replica import Replica

ALTER_PARTITION = 56
RETRY_MS = 50
RECOVERED = 0
# Answers after which the leader waits for what it is to be told; after any other it asks again.
FINAL = frozenset(
    {
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.NEW_LEADER_ELECTED,
        ErrorCode.INVALID_UPDATE_VERSION,
        ErrorCode.INVALID_REQUEST,
        ErrorCode.INELIGIBLE_REPLICA,
        ErrorCode.OPERATION_NOT_ATTEMPTED,
    }
)


def report(broker: Broker, replica: Replica, isr: tuple[int, ...], now: int) -> None:
    """Say that this leader wants this ISR; what comes of it happens to `replica`."""
    if not broker.cluster.reachable(broker.id):
        _again(broker, replica, isr, now)
        return
    nodes = broker.cluster.brokers
    if any(nodes[joining].stopping for joining in set(isr) - set(replica.isr)):
        replica.withdraw()  # its replicas were stopped when it asked to shut down (CTL-24)
        return
    version = broker.persona.quirk("isr.report-version")
    if version is None:
        _write(broker, replica, isr, now)
        return
    body = _body(broker, replica, isr, version)
    epoch = replica.leader_epoch

    def answered(answer: Struct | None, now: int) -> None:
        if replica.is_leader and replica.leader_epoch == epoch and replica.proposed == isr:
            _conclude(broker, replica, isr, answer, now)

    if broker.persona.kraft:
        answered(broker.room(AlterPartition).answer(body, version), now)
    elif (to := broker.metadata.controller_id) < 0:
        _again(broker, replica, isr, now)
    else:
        broker.ask(to, ALTER_PARTITION, version, body, answered, channel="alter-isr")


def _body(broker: Broker, replica: Replica, isr: tuple[int, ...], version: int) -> Struct:
    nodes, own = broker.metadata.brokers, broker.cluster.node(broker.id)
    partition: Struct = {
        "partition_index": replica.index,
        "leader_epoch": replica.leader_epoch,
        "partition_epoch": replica.partition_epoch,
    }
    if version >= alter_partition.FIRST_WITH_EPOCHS:
        partition["new_isr_with_epochs"] = [
            {"broker_id": member, "broker_epoch": nodes[member].epoch} for member in isr
        ]
    else:
        partition["new_isr"] = list(isr)
    topic: Struct = {"partitions": [partition]}
    if version >= alter_partition.FIRST_BY_ID:
        topic |= {"topic_id": replica.topic_id, "topic_name": replica.topic}
        partition["leader_recovery_state"] = RECOVERED
    else:
        topic["topic_name"] = replica.topic
    return {"broker_id": broker.id, "broker_epoch": own.epoch, "topics": [topic]}


def _conclude(
    broker: Broker,
    replica: Replica,
    isr: tuple[int, ...],
    answer: Struct | None,
    now: int,
) -> None:
    row = answer["topics"][0]["partitions"][0] if answer and answer["topics"] else None
    if row is not None and row["error_code"] == ErrorCode.NONE:
        broker.replicas.isr_is(replica, tuple(row["isr"]), row["partition_epoch"], now)
    elif row is not None and row["error_code"] in FINAL:
        replica.withdraw()
    else:
        _again(broker, replica, isr, now)


def _again(broker: Broker, replica: Replica, isr: tuple[int, ...], now: int) -> None:
    epoch = replica.leader_epoch

    def retry(now: int) -> None:
        if replica.is_leader and replica.leader_epoch == epoch and replica.proposed == isr:
            report(broker, replica, isr, now)

    key = ("isr", broker.id, replica.topic, replica.index)
    broker.purgatory.remind(key, now + RETRY_MS, retry)


def _write(broker: Broker, replica: Replica, isr: tuple[int, ...], now: int) -> None:
    """On the znode: only over the version this leader has seen."""
    cluster = broker.cluster
    partition = cluster.partition(replica.topic, replica.index)
    seen = (replica.leader_epoch, replica.partition_epoch)
    if partition is None or (partition.leader_epoch, partition.partition_epoch) != seen:
        replica.withdraw()
        return
    broker.room(ClusterController).active.isr_written(partition, isr)
    broker.replicas.isr_changes.note(replica.topic, replica.index, now)
    broker.replicas.isr_is(replica, tuple(partition.isr), partition.partition_epoch, now)
