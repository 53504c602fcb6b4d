"""Topics of a case about one broker are placed on it, where the cluster has several.

A claim about one broker asks that broker, so what it asks about must live there. A request that
leaves the placement to the cluster is sent with an assignment that names the broker; whatever else
stands in it stays, and a request that Kafka would refuse anyway is sent as it is.

Source: ReplicationControlManager and AdminManager at 1.0.2 to 4.3.1: an assignment needs counts of
-1 and answers with the counts it comes to.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MOST_PARTITIONS = 1000  # above which a claim is about the number, not about where they are


class Placement:
    """The partitions that one case has asked for, all on one broker."""

    def __init__(self, broker: int) -> None:
        self.broker = broker
        self._partitions: dict[str, int] = {}

    def request(self, api: str, body: Any) -> Any:
        """The same request with its new partitions on the broker."""
        if not body.get("topics"):
            return body
        if api == "CreateTopics":
            return {**body, "topics": [self._created(topic) for topic in body["topics"]]}
        if api == "CreatePartitions":
            return {**body, "topics": [self._added(topic) for topic in body["topics"]]}
        return body

    def _created(self, topic: Mapping[str, Any]) -> Mapping[str, Any]:
        count = topic.get("num_partitions")
        if topic.get("assignments") or topic.get("replication_factor") != 1:
            return topic
        if not isinstance(count, int) or not 0 < count <= MOST_PARTITIONS:
            return topic
        self._partitions.setdefault(str(topic["name"]), count)
        rows = [{"partition_index": n, "broker_ids": [self.broker]} for n in range(count)]
        return {**topic, "num_partitions": -1, "replication_factor": -1, "assignments": rows}

    def _added(self, topic: Mapping[str, Any]) -> Mapping[str, Any]:
        known, count = self._partitions.get(str(topic.get("name"))), topic.get("count")
        if topic.get("assignments") or known is None or not isinstance(count, int):
            return topic
        if not known < count <= MOST_PARTITIONS:
            return topic
        rows = [{"broker_ids": [self.broker]} for _ in range(count - known)]
        return {**topic, "assignments": rows}
