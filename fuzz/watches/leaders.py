"""Nobody is elected: one controller, one leader and one epoch from the campaign's begin to its end.

A broker that loses its session, its controller or its mind for a moment is elected anew, which
ApiVersions does not show. Leader epochs are in Metadata from version 7 on (2.1), the controllers'
epoch in DescribeQuorum (KRaft).
"""

from __future__ import annotations

from typing import Any

from touchstone.fuzz.watches.topics import create, delete
from touchstone.fuzz.watches.watch import CANARY, Played, Watch, Watched, name_of

TOPIC = f"{CANARY}-leaders"
QUORUM = {"topics": [{"topic_name": "__cluster_metadata", "partitions": [{"partition_index": 0}]}]}


class Leaders(Watch):
    every_s = 2.0

    def before(self, target: Watched) -> None:
        self.target, self.asker = target, target.asker()
        self.version = 7 if target.serves("Metadata", 7) else 1
        self.quorum = target.serves("DescribeQuorum", 0)
        create(self.asker, TOPIC)
        self.first = self._look()
        self.looks = 1

    def _look(self) -> dict[str, Any]:
        body: dict[str, Any] = {"topics": [{"name": TOPIC}], "allow_auto_topic_creation": False}
        told = self.asker.ask("Metadata", self.version, body)
        seen: dict[str, Any] = {"brokers": sorted(row["node_id"] for row in told["brokers"])}
        if not self.quorum:  # in KRaft, Metadata names any broker as the controller
            seen["controller"] = told["controller_id"]
        for topic in told["topics"]:
            if topic["error_code"]:
                seen[topic["name"]] = name_of(topic["error_code"])
            for row in topic["partitions"]:
                seen[topic["name"]] = (row["leader_id"], row.get("leader_epoch"), row["isr_nodes"])
        if self.quorum:
            row = self.asker.ask("DescribeQuorum", 0, QUORUM)["topics"][0]["partitions"][0]
            seen["quorum"] = (row["leader_id"], row["leader_epoch"], row["error_code"])
        return seen

    def check(self, now: float) -> str | None:
        seen = self._look()
        self.looks += 1
        changed = {name: value for name, value in seen.items() if self.first.get(name) != value}
        if changed:
            was = {name: self.first.get(name) for name in changed}
            return f"at the begin {was}, now {changed}"
        return None

    def after(self, now: float, played: Played) -> str | None:
        complaint = self.check(now)
        delete(self.asker, TOPIC)
        return complaint

    def figures(self) -> str:
        return f"{self.looks} looks, {self.first}"
