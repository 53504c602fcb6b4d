"""The controller accepts or refuses what a leader reports of its in-sync set.

2.8 checks little: the broker's epoch, an older leader epoch, the version of the state znode, and a
report that says nothing new is answered with what is. KRaft also wants the reporter to lead, the
ISR to be replicas with the leader among them, everybody in it to be alive in the very incarnation
the leader fetched for (KIP-841, KIP-903); an epoch from the future means that the asked controller
is behind, NOT_CONTROLLER.

Sources: KIP-497, KIP-704, KIP-841, KIP-903; KafkaController.processAlterIsr@2.8.2,
ReplicationControlManager.alterPartition@3.9.2, 4.3.1; AlterIsr observed on three nodes of 2.8.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.broker.control.cluster_controller import ClusterController
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker
    from touchstone.reference_impl.cluster.topology import Partition

FIRST_BY_ID = 2
FIRST_WITH_EPOCHS = 3
RECOVERED, RECOVERING = 0, 1
UNSAID = -1


class AlterPartition:
    """The controller's side of what leaders report of their in-sync sets."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker

    def answer(self, body: Struct, version: int) -> Struct:
        """The controller's whole answer to the report."""
        if not self._broker.room(ClusterController).here:
            return refusal(ErrorCode.NOT_CONTROLLER)
        node = self._broker.cluster.brokers.get(body["broker_id"])
        if node is None or body["broker_epoch"] < node.epoch:
            return refusal(ErrorCode.STALE_BROKER_EPOCH)
        if self._broker.persona.kraft and body["broker_epoch"] != node.epoch:
            return refusal(ErrorCode.STALE_BROKER_EPOCH)
        return {
            "error_code": ErrorCode.NONE,
            "topics": [self._topic(body, topic, version) for topic in body["topics"]],
        }

    def _eligible(self, member: int, epoch: int) -> bool:
        """Alive, not stopping, and the one whose fetches the leader has seen."""
        node = self._broker.cluster.brokers.get(member)
        if node is None or not node.alive or node.stopping:
            return False
        return epoch in (UNSAID, node.epoch)

    def _topic(self, body: Struct, row: Struct, version: int) -> Struct:
        cluster = self._broker.cluster
        if version >= FIRST_BY_ID:
            topic, unknown = cluster.by_id.get(row["topic_id"]), ErrorCode.UNKNOWN_TOPIC_ID
        else:
            topic, unknown = cluster.topic(row["topic_name"]), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        rows = []
        for wanted in row["partitions"]:
            partition = topic.partition(wanted["partition_index"]) if topic else None
            try:
                if topic is None:
                    raise ApiError(unknown)
                if partition is None:
                    raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
                change = self._kraft if self._broker.persona.kraft else self._zookeeper
                change(body["broker_id"], partition, wanted, version)
            except ApiError as refused:
                rows.append(_refused(wanted["partition_index"], refused.code))
            else:
                rows.append(_done(partition))
        return {"topic_id": row["topic_id"], "topic_name": row["topic_name"], "partitions": rows}

    def _zookeeper(self, leader: int, partition: Partition, row: Struct, version: int) -> None:
        epoch, isr = row["leader_epoch"], row["new_isr"]
        if epoch < partition.leader_epoch:
            raise ApiError(ErrorCode.FENCED_LEADER_EPOCH)
        same = (leader, epoch, isr) == (partition.leader, partition.leader_epoch, partition.isr)
        if same:
            return
        if row["partition_epoch"] != partition.partition_epoch:
            raise ApiError(ErrorCode.INVALID_UPDATE_VERSION)
        partition.leader, partition.leader_epoch = leader, epoch  # as it says, unchecked
        self._broker.room(ClusterController).active.isr_changed(partition, isr)

    def _kraft(self, leader: int, partition: Partition, row: Struct, version: int) -> None:
        epoch, partition_epoch = row["leader_epoch"], row["partition_epoch"]
        if epoch > partition.leader_epoch or partition_epoch > partition.partition_epoch:
            raise ApiError(ErrorCode.NOT_CONTROLLER)
        if epoch < partition.leader_epoch:
            raise ApiError(ErrorCode.FENCED_LEADER_EPOCH)
        if leader != partition.leader:
            raise ApiError(ErrorCode.INVALID_REQUEST)
        if partition_epoch < partition.partition_epoch:
            raise ApiError(ErrorCode.INVALID_UPDATE_VERSION)
        members = _members(row, version)
        isr = [member for member, _ in members]
        recovering = row["leader_recovery_state"] == RECOVERING
        if (
            len(set(isr)) != len(isr)
            or not set(isr) <= set(partition.replicas)
            or leader not in isr
        ):
            raise ApiError(ErrorCode.INVALID_REQUEST)
        if recovering and (len(isr) > 1 or not partition.recovering):
            raise ApiError(ErrorCode.INVALID_REQUEST)
        if any(not self._eligible(*member) for member in members):
            newer = version >= FIRST_BY_ID
            raise ApiError(
                ErrorCode.INELIGIBLE_REPLICA if newer else ErrorCode.OPERATION_NOT_ATTEMPTED
            )
        before = partition.leader_epoch
        self._broker.room(ClusterController).active.isr_changed(partition, isr)
        if partition.leader_epoch != before:  # it finished a reassignment, and another one leads
            newer = version >= FIRST_BY_ID
            raise ApiError(ErrorCode.NEW_LEADER_ELECTED if newer else ErrorCode.FENCED_LEADER_EPOCH)


def refusal(code: int) -> Struct:
    """The answer to a report that is not looked at."""
    return {"error_code": code, "topics": []}


def _refused(index: int, code: int) -> Struct:
    return {
        "partition_index": index,
        "error_code": code,
        "leader_id": 0,
        "leader_epoch": 0,
        "isr": [],
        "leader_recovery_state": RECOVERED,
        "partition_epoch": 0,
    }


def _done(partition: Partition) -> Struct:
    return {
        "partition_index": partition.index,
        "error_code": ErrorCode.NONE,
        "leader_id": partition.leader,
        "leader_epoch": partition.leader_epoch,
        "isr": list(partition.isr),
        "leader_recovery_state": RECOVERING if partition.recovering else RECOVERED,
        "partition_epoch": partition.partition_epoch,
    }


def _members(row: Struct, version: int) -> Sequence[tuple[int, int]]:
    if version >= FIRST_WITH_EPOCHS:
        return [(each["broker_id"], each["broker_epoch"]) for each in row["new_isr_with_epochs"]]
    return [(broker, UNSAID) for broker in row["new_isr"]]
