"""What a KRaft quorum decided, from its records to the registry's plain values (`image.py`).

Records are applied in the order of the metadata log, or of a snapshot and what follows it; those of
a metadata transaction (KIP-868) count when it ends. The log may hold a few records at its end that
the quorum never committed: nobody can tell from one node's files, and Kafka's own recovery keeps
them as well.

Sources: the image package (TopicsDelta, ConfigurationsDelta, AclsDelta, ...) and
PartitionRegistration.merge at 3.9.2 and 4.3.1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from touchstone.reference_impl.cluster.image import FORMAT
from touchstone.reference_impl.cluster.scram_credentials import NAMES, ScramCredential
from touchstone.reference_impl.wire.embedded import cluster_metadata as records
from touchstone.reference_impl.wire.schema import Message, Struct

NO_LEADER_CHANGE = -2
TOPIC, BROKER, CLIENT_METRICS, GROUP = 2, 4, 16, 32  # ConfigResource.Type
_RESERVED_DIRECTORIES = 100  # ids below it name no directory: unassigned, lost, migrating
_SETTINGS = {BROKER: "dynamic_configs", GROUP: "group_configs", CLIENT_METRICS: "metrics_configs"}
_CHANGED = {  # a partition's cell: the field that changes it
    "isr": "isr",
    "replicas": "replicas",
    "adding": "adding_replicas",
    "removing": "removing_replicas",
    "elr": "eligible_leader_replicas",
    "last_known_elr": "last_known_elr",
    "directories": "directories",
}


class QuorumImage:
    def __init__(self) -> None:
        self.features: dict[str, int] = {}
        self._names: dict[bytes, str] = {}
        self._partitions: dict[bytes, dict[int, Struct]] = {}
        self._configs: dict[int, dict[str, dict[str, str]]] = {}
        self._scram: dict[str, dict[str, str]] = {}
        self._quotas: dict[tuple[tuple[str, str | None], ...], dict[str, float]] = {}
        self._acls: dict[bytes, tuple[int | str, ...]] = {}
        self._tokens: dict[str, Struct] = {}
        self._next_producer_id = 0
        self._pending: list[tuple[Message, Struct]] | None = None  # of a transaction that is open

    def apply(self, schema: Message, body: Struct) -> None:
        """Take one record; KeyError where it is about a topic that there is not."""
        if schema is records.BEGIN_TRANSACTION:
            self._pending = []
        elif schema is records.ABORT_TRANSACTION:
            self._pending = None
        elif schema is records.END_TRANSACTION:
            ended, self._pending = self._pending or [], None
            for each in ended:
                self.apply(*each)
        elif self._pending is not None:
            self._pending.append((schema, body))
        else:
            _APPLY[schema.name](self, body)

    def image(self, cluster_id: str, epoch: int, end: int) -> dict[str, Any]:
        """The registry of this cluster; no broker epoch below the log's `end` was given out yet."""
        topics = {}
        configs = self._configs.get(TOPIC, {})
        for topic_id, name in self._names.items():
            rows = self._partitions[topic_id]
            topics[name] = {
                "id": topic_id.hex(),
                "configs": configs.get(name, {}),
                "partitions": [_cells(index, rows[index], epoch) for index in sorted(rows)],
            }
        return {
            "format": FORMAT,
            "cluster_id": cluster_id,
            "controller_epoch": epoch,
            "next_broker_epoch": end,
            "next_producer_id": self._next_producer_id,
            "acls": [list(row) for row in self._acls.values()],
            "scram": self._scram,
            "quotas": [[list(map(list, who)), values] for who, values in self._quotas.items()],
            "features": self.features,
            "delegation_tokens": list(self._tokens.values()),
            "topics": topics,
            **{name: self._configs.get(kind, {}) for kind, name in _SETTINGS.items()},
        }

    def elsewhere(self, broker: int, directory: bytes) -> set[tuple[str, int]]:
        """Partitions of this broker that lie in another of its log directories (KIP-858)."""
        return {
            (self._names[topic_id], index)
            for topic_id, rows in self._partitions.items()
            for index, row in rows.items()
            for replica, home in zip(row["replicas"], row["directories"], strict=False)
            if replica == broker
            and home != directory
            and int.from_bytes(home, "big") >= _RESERVED_DIRECTORIES
        }

    # --- records ----------------------------------------------------------------------------

    def _topic(self, body: Struct) -> None:
        self._names[body["topic_id"]] = body["name"]
        self._partitions[body["topic_id"]] = {}

    def _remove_topic(self, body: Struct) -> None:
        del self._partitions[body["topic_id"]]
        self._configs.get(TOPIC, {}).pop(self._names.pop(body["topic_id"]), None)

    def _partition(self, body: Struct) -> None:
        row = {cell: list(body.get(field) or ()) for cell, field in _CHANGED.items()}
        row |= {name: body[name] for name in ("leader", "leader_epoch", "partition_epoch")}
        self._partitions[body["topic_id"]][body["partition_id"]] = row

    def _change_partition(self, body: Struct) -> None:
        row = self._partitions[body["topic_id"]][body["partition_id"]]
        for cell, field in _CHANGED.items():
            if body.get(field) is not None:
                row[cell] = list(body[field])
        if body["leader"] != NO_LEADER_CHANGE:
            row["leader"] = body["leader"]
            row["leader_epoch"] += 1
        row["partition_epoch"] += 1

    def _clear_elr(self, body: Struct) -> None:
        """Of one topic, or of all where none is named (ClearElrRecord, KIP-966)."""
        for topic_id, rows in self._partitions.items():
            if body["topic_name"] in ("", self._names[topic_id]):
                for row in rows.values():
                    row["elr"], row["last_known_elr"] = [], []

    def _config(self, body: Struct) -> None:
        resources = self._configs.setdefault(body["resource_type"], {})
        settings = resources.setdefault(body["resource_name"], {})
        if body["value"] is not None:
            settings[body["name"]] = body["value"]
            return
        settings.pop(body["name"], None)
        if not settings:
            del resources[body["resource_name"]]

    def _feature(self, body: Struct) -> None:
        self.features[body["name"]] = body["feature_level"]
        if not body["feature_level"]:
            del self.features[body["name"]]

    def _quota(self, body: Struct) -> None:
        who = tuple((row["entity_type"], row["entity_name"]) for row in body["entity"])
        values = self._quotas.setdefault(who, {})
        if body["remove"]:
            values.pop(body["key"], None)
        else:
            values[body["key"]] = body["value"]
        if not values:
            del self._quotas[who]

    def _producer_ids(self, body: Struct) -> None:
        self._next_producer_id = body["next_producer_id"]

    def _credential(self, body: Struct) -> None:
        made = ScramCredential(*(body[name] for name in ScramCredential._fields))
        self._scram.setdefault(body["name"], {})[NAMES[body["mechanism"]]] = str(made)

    def _remove_credential(self, body: Struct) -> None:
        held = self._scram.get(body["name"], {})
        held.pop(NAMES[body["mechanism"]], None)
        if not held:
            self._scram.pop(body["name"], None)

    def _acl(self, body: Struct) -> None:
        fields = (
            "resource_type", "pattern_type", "resource_name", "principal", "host", "operation",
            "permission_type",
        )  # fmt: skip
        self._acls[body["id"]] = tuple(body[name] for name in fields)

    def _remove_acl(self, body: Struct) -> None:
        self._acls.pop(body["id"], None)

    def _token(self, body: Struct) -> None:
        self._tokens[body["token_id"]] = {
            "id": body["token_id"],
            "owner": _user(body["owner"]),
            "requester": _user(body["requester"]),
            "renewers": [_user(each) for each in body["renewers"]],
            "issued": body["issue_timestamp"],
            "ends": body["max_timestamp"],
            "expires": body["expiration_timestamp"],
        }

    def _remove_token(self, body: Struct) -> None:
        self._tokens.pop(body["token_id"], None)


_APPLY: Mapping[str, Callable[[QuorumImage, Struct], None]] = {
    records.TOPIC.name: QuorumImage._topic,
    records.REMOVE_TOPIC.name: QuorumImage._remove_topic,
    records.PARTITION.name: QuorumImage._partition,
    records.PARTITION_CHANGE.name: QuorumImage._change_partition,
    records.CLEAR_ELR.name: QuorumImage._clear_elr,
    records.CONFIG.name: QuorumImage._config,
    records.FEATURE_LEVEL.name: QuorumImage._feature,
    records.CLIENT_QUOTA.name: QuorumImage._quota,
    records.PRODUCER_IDS.name: QuorumImage._producer_ids,
    records.USER_SCRAM_CREDENTIAL.name: QuorumImage._credential,
    records.REMOVE_USER_SCRAM_CREDENTIAL.name: QuorumImage._remove_credential,
    records.ACCESS_CONTROL_ENTRY.name: QuorumImage._acl,
    records.REMOVE_ACCESS_CONTROL_ENTRY.name: QuorumImage._remove_acl,
    records.DELEGATION_TOKEN.name: QuorumImage._token,
    records.REMOVE_DELEGATION_TOKEN.name: QuorumImage._remove_token,
}


def _cells(index: int, row: Struct, epoch: int) -> Struct:
    left = {name: value for name, value in row.items() if name != "directories"}
    return {"index": index, "controller_epoch": epoch, **left}


def _user(principal: str) -> list[str]:
    kind, _, name = principal.partition(":")
    return [kind, name]
