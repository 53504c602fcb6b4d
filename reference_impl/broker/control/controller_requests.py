"""A broker checks the epochs of a request before it believes a ZooKeeper controller.

Three numbers guard it: the controller's epoch (an older one is of a controller that was replaced),
this broker's own epoch (an older one was meant for its predecessor, KIP-380; -1 does not say), and
per partition the leader epoch. LeaderAndIsr, StopReplica and UpdateMetadata share the first two.

Sources: CTL-10, REPL-20; KIP-380; KafkaApis.isBrokerEpochStale and ReplicaManager@1.0.2, 2.2.1,
2.8.2; observed on three nodes of the three, with requests of our own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker

UNSAID = -1


class ControllerRequests:
    """What a broker remembers of the controllers that gave it orders."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker

    def check_broker_epoch(self, epoch: int) -> None:
        """Raise ApiError where the request was meant for an earlier registration of this broker."""
        own = self._broker.cluster.node(self._broker.id).epoch
        if epoch in (UNSAID, own):
            return
        if epoch < own:
            raise ApiError(ErrorCode.STALE_BROKER_EPOCH)
        if not self._broker.persona.quirk("controller.may-know-newer-broker-epochs"):
            raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR)

    def check_controller_epoch(self, epoch: int) -> None:
        """Raise ApiError for a controller that was replaced; remember a newer one."""
        if epoch < self._broker.controller_epoch:
            raise ApiError(ErrorCode.STALE_CONTROLLER_EPOCH)
        self._broker.controller_epoch = epoch


def by_topic(body: Struct, grouped: str, flat: str) -> list[tuple[str, Struct]]:
    """(topic, partition row) however the version groups them; the row of a topic adds its id."""
    rows = [(row["topic_name"], row) for row in body[flat] or ()]
    for topic in body[grouped] or ():
        for row in topic["partition_states"]:
            rows.append((topic["topic_name"], {**row, "topic_id": topic.get("topic_id")}))
    return rows
