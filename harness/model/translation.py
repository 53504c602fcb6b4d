"""What a scenario calls things, and what the cluster at hand calls them.

A scenario speaks of brokers 0, 1 and 2, of racks a, b and c, of partition 0 of an internal topic,
and of session timeouts that its own cluster allows. Somebody else's cluster numbers its brokers as
it likes, has other racks or none, spreads internal topics over fifty partitions, and allows no
session below six seconds. So requests are translated on the way out and answers on the way back:
claims, expectations and recordings keep one form, and a transcript still holds the bytes that
crossed the socket.

Broker ids are exchanged as a permutation: scenario broker i is `nodes[i]`, and an id that the
scenario uses for a broker that does not exist stays one that does not exist. Racks go by their
order. A scenario without racks sees none, whatever the brokers have.

Pure. Sources: field names of the request and response schemas; BrokerMetadataManager and
GroupMetadataManager.partitionFor at 4.3.1 (the partition of a key is its Java hash modulo the
number of partitions).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from touchstone.harness.model.owner import Owner
from touchstone.reference_impl.wire.schema import Struct

# Fields whose integers are broker ids, in whatever request or response they stand.
NODE_FIELDS = frozenset(
    {
        "adding_replicas", "broker_id", "broker_ids", "candidate_id", "controller_id",
        "eligible_leader_replicas", "isr", "isr_nodes", "last_known_elr", "leader", "leader_id",
        "new_isr", "node_id", "offline_replicas", "preferred_read_replica", "preferred_successors",
        "removing_replicas", "replica_id", "replica_nodes", "replicas", "voter_id",
    }
)  # fmt: skip
BROKER_RESOURCES = (4, 8)  # BROKER and BROKER_LOGGER are named by the broker's id
NO_OWNER = Owner()
NO_LEADER = {"leader_id": 0, "leader_epoch": 0}  # what ShareFetch writes where it tells no leader
# Fields that tell a group's settings.
GROUP_SETTING_FIELDS = {
    "heartbeat_interval_ms": ("consumer.heartbeat.interval.ms", "share.heartbeat.interval.ms"),
    "acquisition_lock_timeout_ms": ("share.record.lock.duration.ms",),
}
REPLICA_LISTS = ("leader.replication.throttled.replicas", "follower.replication.throttled.replicas")
_TOPIC_NAMES = ("name", "topic", "topic_name")
FIRST, _IDS = 0, ("node_id", "broker_id")  # the scenario's only broker; how lists of brokers say it
_PARTITION_FIELDS = ("partition", "partition_index", "index")
# Where a message names a broker: "broker 1", "Local controller 1", "replica 1", "node id 1", ...
_QUOTED_NODE = re.compile(
    r"(?P<word>\b(?:[Bb]roker|[Cc]ontroller|[Rr]eplica|[Nn]ode|[Ll]eader|[Vv]oter)"
    r"(?: id| ID)?[ :=]+|\bbroker id, expected )(?P<id>\d+)\b"
)
_QUOTED_LIST = re.compile(
    r"(?P<word>\b(?:(?:[Bb]rokers?|[Rr]eplicas?|ISR)[^\[\]]{0,40}\[|replica assignment: ))"
    r"(?P<ids>\d+(?:, ?\d+)*)(?=\]| for|\.?$)"
)


@dataclass(frozen=True)
class Translation:
    """How one cluster's words stand for a scenario's; empty where they are the same.

    `nodes[i]` is the id of scenario broker i. `racks` maps the cluster's racks to the scenario's
    (None: the scenario has no racks). `partitions` maps an internal topic to the partition that is
    the scenario's partition 0. `configs` maps a setting to {value sent: value of the scenario}, for
    values that had to be raised. `alone`: the scenario is about one broker, the cluster has more,
    which the scenario does not see. `counts`: topics that have more partitions here than the
    scenario knows of, each with its count there. `owner`: what its owner has set; `by_default` are
    topics that have as many partitions as he says.
    """

    nodes: tuple[int, ...] = ()
    racks: Mapping[str, str | None] = field(default_factory=dict)
    partitions: Mapping[str, int] = field(default_factory=dict)
    configs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    alone: bool = False
    counts: Mapping[str, int] = field(default_factory=dict)
    owner: Owner = NO_OWNER
    by_default: frozenset[str] = frozenset()

    @property
    def needed(self) -> bool:
        """Whether anything is called differently here."""
        plain = self.nodes == tuple(range(len(self.nodes)))
        words = self.racks or self.partitions or self.configs or self.counts
        return not plain or self.alone or bool(words) or self.owner.needed

    @cached_property
    def _to_target(self) -> dict[int, int]:
        """Scenario id -> the cluster's id, for ids that are not the same; a permutation."""
        found = {number: node for number, node in enumerate(self.nodes) if number != node}
        taken = set(self.nodes)
        free = [number for number in range(len(self.nodes)) if number not in taken]
        strangers = sorted(node for node in taken if node >= len(self.nodes))
        return found | dict(zip(strangers, free, strict=True))

    @cached_property
    def _to_scenario(self) -> dict[int, int]:
        return {node: number for number, node in self._to_target.items()}

    def to_json(self) -> dict[str, Any] | None:
        """None when nothing is called differently."""
        if not self.needed:
            return None
        return {
            "nodes": list(self.nodes), "racks": dict(self.racks),
            "partitions": dict(self.partitions),
            "configs": {name: dict(values) for name, values in self.configs.items()},
            "alone": self.alone, **({"counts": dict(self.counts)} if self.counts else {}),
            **({"owner": self.owner.to_json()} if self.owner.needed else {}),
            **({"by_default": sorted(self.by_default)} if self.by_default else {}),
        }  # fmt: skip

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Translation:
        return cls(
            nodes=tuple(stored["nodes"]),
            racks=stored["racks"],
            partitions=stored["partitions"],
            configs=stored["configs"],
            alone=stored["alone"],
            counts=stored.get("counts", {}),
            owner=Owner.from_json(stored["owner"]) if "owner" in stored else NO_OWNER,
            by_default=frozenset(stored.get("by_default", ())),
        )

    def node(self, number: int) -> int:
        """The cluster's id of a scenario's broker."""
        return self._to_target.get(number, number)

    def number(self, node: int) -> int:
        """The scenario's number of a cluster's broker."""
        return self._to_scenario.get(node, node)

    def request(self, body: Struct) -> Struct:
        """A request body in the cluster's words."""
        racks = {ours: theirs for theirs, ours in self.racks.items() if ours is not None}
        words = _Words(self._to_target, racks, self.partitions, {}, quoted=False)
        found: Struct = _walked(body, words)
        return found

    def answer(self, body: Struct) -> Struct:
        """A decoded message of the cluster in the scenario's words."""
        words = _Words(self._to_scenario, self.racks, self.partitions, self.configs, quoted=True)
        found: Struct = _walked(body, words)
        found = _only_known(found, self.counts) if self.counts else found
        found = self.owner.answer(found, self.by_default) if self.owner.needed else found
        return _only_first(found, len(self.nodes)) if self.alone else found


@dataclass(frozen=True, slots=True)
class _Words:
    """One direction of a translation."""

    nodes: Mapping[int, int]
    racks: Mapping[str, str | None]
    partitions: Mapping[str, int]
    configs: Mapping[str, Mapping[str, str]]
    quoted: bool


def _only_known(answer: Struct, counts: Mapping[str, int]) -> Struct:
    """An answer whose topics are described without the partitions that the scenario does not know
    of; what is not told with its replicas was asked for.
    """
    topics = answer.get("topics") if isinstance(answer, Mapping) else None
    if not isinstance(topics, list):
        return answer
    return {**answer, "topics": [_counted(topic, counts) for topic in topics]}


def _counted(topic: Any, counts: Mapping[str, int]) -> Any:
    rows = topic.get("partitions") if isinstance(topic, Mapping) else None
    if not isinstance(rows, list) or topic.get("name") not in counts:
        return topic
    most = counts[topic["name"]]
    kept = [row for row in rows if "replica_nodes" not in row or row["partition_index"] < most]
    return {**topic, "partitions": kept}


def _only_first(answer: Struct, brokers: int) -> Struct:
    """An answer without the brokers that the scenario does not know of."""
    if not isinstance(answer, Mapping):
        return answer
    out = dict(answer)
    if isinstance(out.get("brokers"), list):
        out["brokers"] = [row for row in out["brokers"] if FIRST in (row.get(w) for w in _IDS)]
    if out.get("controller_id") in range(brokers):
        out["controller_id"] = FIRST
    return out


def _walked(value: Any, words: _Words) -> Any:
    if isinstance(value, Mapping):
        return _struct(value, words)
    if isinstance(value, list):
        return [_walked(one, words) for one in value]
    if isinstance(value, tuple):
        return tuple(_walked(one, words) for one in value)
    return value


def _struct(value: Mapping[str, Any], words: _Words) -> dict[str, Any]:
    out = {name: _field(name, inner, words) for name, inner in value.items()}
    kind = out.get("resource_type")
    if kind in BROKER_RESOURCES:
        out["resource_name"] = _digits(out["resource_name"], words.nodes)
    if out.get("name") in REPLICA_LISTS and isinstance(out.get("value"), str):
        out["value"] = _replica_list(out["value"], words.nodes)
    sent = words.configs.get(str(out.get("name")), {}).get(str(out.get("value")))
    if sent is not None:
        out["value"] = sent
    for topic in (out.get(name) for name in _TOPIC_NAMES):
        if isinstance(topic, str) and topic in words.partitions:
            return _exchanged(out, words.partitions[topic])
    return out


def _field(name: str, value: Any, words: _Words) -> Any:
    if name == "current_leader" and value == NO_LEADER:
        return value
    if name in GROUP_SETTING_FIELDS:
        meant = (
            words.configs.get(setting, {}).get(str(value)) for setting in GROUP_SETTING_FIELDS[name]
        )
        return next((int(one) for one in meant if one is not None), value)
    if name in NODE_FIELDS:
        return _nodes(value, words)
    if name in ("rack", "rack_id") and isinstance(value, str):
        return words.racks.get(value, value)
    if words.quoted and isinstance(value, str) and name.endswith("error_message"):
        return _message(value, words.nodes)
    return _walked(value, words)


def _nodes(value: Any, words: _Words) -> Any:
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return words.nodes.get(value, value)
    if isinstance(value, list | tuple) and all(isinstance(one, int) for one in value):
        return [words.nodes.get(one, one) for one in value]
    return _walked(value, words)


def _digits(value: Any, nodes: Mapping[int, int]) -> Any:
    if isinstance(value, str) and value.isdigit():
        return str(nodes.get(int(value), int(value)))
    return value


def _replica_list(value: str, nodes: Mapping[int, int]) -> str:
    """ "PARTITION:BROKER,PARTITION:BROKER" with its brokers translated; "*" has none."""
    pairs = [pair.partition(":") for pair in value.split(",")]
    return ",".join(f"{part}{colon}{_digits(node, nodes)}" for part, colon, node in pairs)


def _message(text: str, nodes: Mapping[int, int]) -> str:
    if not nodes:
        return text
    text = _QUOTED_NODE.sub(lambda m: f"{m['word']}{_digits(m['id'], nodes)}", text)
    return _QUOTED_LIST.sub(
        lambda m: m["word"] + ", ".join(_digits(one.strip(), nodes) for one in m["ids"].split(",")),
        text,
    )


def _exchanged(topic: dict[str, Any], place: int) -> dict[str, Any]:
    """The struct of an internal topic with partitions 0 and `place` exchanged."""

    def other(number: Any) -> Any:
        return {0: place, place: 0}.get(number, number)

    out = dict(topic)
    for name, rows in topic.items():
        if not isinstance(rows, list):
            continue
        if rows and all(isinstance(row, int) for row in rows) and name.startswith("partition"):
            out[name] = [other(row) for row in rows]
        elif rows and all(isinstance(row, dict) for row in rows):
            out[name] = [
                row | {word: other(row[word]) for word in _PARTITION_FIELDS if word in row}
                for row in rows
            ]
    return out


def java_hash(text: str) -> int:
    """String.hashCode of Java: over UTF-16 units, in 32 bits, signed."""
    found = 0
    data = text.encode("utf-16-be")
    for at in range(0, len(data), 2):
        found = (31 * found + (data[at] << 8 | data[at + 1])) & 0xFFFFFFFF
    return found - (1 << 32) if found >= 1 << 31 else found


def partition_of(key: str, partitions: int) -> int:
    """The partition of an internal topic that holds a group or transactional id."""
    found = java_hash(key)
    return 0 if found == -(1 << 31) else abs(found) % partitions
