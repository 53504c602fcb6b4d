"""What the owner of a cluster has set, and how its answers would read had he set nothing.

Recorded clusters have Kafka's defaults. Somebody else's has a file of settings, and each is seen
in answers: its value, a `config_source` of 4, one synonym more, the partitions of a topic that asks
for -1. So the settings are read when a run begins, each with where it is from, and what follows
from them is exchanged with what follows from the default: a value for the other, 4 for 5. An answer
that does not follow from the owner's settings then reads as one that does not follow from Kafka's:
who tells a default where a file has a value is seen like who does the opposite.

A feature is the owner's choice as well. In a cluster whose voters can change (kraft.version 1)
ApiVersions has a row for it, and voters have directories.

Pure. Sources: ConfigHelper, AdminManager and DynamicBrokerConfig.brokerConfigSynonyms at 1.0.2 to
4.3.1; KafkaConfigSchema.resolveEffectiveTopicConfig and ServerTopicConfigSynonyms (KRaft);
KIP-226, KIP-853.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from touchstone.harness.model.target import Setting
from touchstone.reference_impl.wire.schema import Struct

TOPIC, BROKER = 2, 4  # kinds of config resources
FILE, DEFAULT = 4, 5  # sources of a setting
OWNERS = (2, 3, FILE)  # those that its owner has chosen, the first counts
QUORUM_FEATURE, DYNAMIC_VOTERS = "kraft.version", 1
NO_DIRECTORY, SOME_DIRECTORY = bytes(16), b"\xff" * 16
PARTITIONS, ROLES = "num.partitions", "process.roles"
MECHANISMS = "sasl.enabled.mechanisms"
BY_DEFAULT = -1  # partitions of a topic that takes as many as its broker's setting says

# Settings that stand for one another, the first counts (DynamicBrokerConfig).
FAMILIES: tuple[tuple[str, ...], ...] = (
    ("log.retention.ms", "log.retention.minutes", "log.retention.hours"),
    ("log.roll.ms", "log.roll.hours"),
    ("log.roll.jitter.ms", "log.roll.jitter.hours"),
    ("log.flush.interval.ms", "log.flush.scheduler.interval.ms"),
)
IN_MS = {".minutes": 60_000, ".hours": 3_600_000}
# The setting of a broker behind that of a topic, where it is not its name after "log.".
BEHIND: Mapping[str, str] = {
    **{name: name for name in (
        "min.insync.replicas", "unclean.leader.election.enable", "compression.type",
        "compression.gzip.level", "compression.lz4.level", "compression.zstd.level",
    )},
    **{name: f"log.cleaner.{name}" for name in (
        "delete.retention.ms", "max.compaction.lag.ms", "min.compaction.lag.ms",
    )},
    "file.delete.delay.ms": "log.segment.delete.delay.ms",
    "flush.messages": "log.flush.interval.messages",
    "flush.ms": "log.flush.interval.ms",
    "max.message.bytes": "message.max.bytes",
    "min.cleanable.dirty.ratio": "log.cleaner.min.cleanable.ratio",
    "segment.index.bytes": "log.index.size.max.bytes",
    "segment.jitter.ms": "log.roll.jitter.ms",
    "segment.ms": "log.roll.ms",
}  # fmt: skip
# Kafka's defaults, for a release that does not tell them (1.0).
DEFAULTS = {
    "log.retention.hours": "168", "log.roll.hours": "168", "log.segment.bytes": "1073741824",
    "log.roll.jitter.hours": "0", "message.max.bytes": "1000012", "num.io.threads": "8",
    "num.network.threads": "3", PARTITIONS: "1", MECHANISMS: "GSSAPI",
}  # fmt: skip
# What Kafka itself writes where a feature is finalized (ActivationRecordsGenerator at 4.3.1).
KAFKAS = {"min.insync.replicas": ("eligible.leader.replicas.version", (3, "1"))}
# Settings that every cluster has: where it is, and what few brokers can do.
EVERYBODYS = frozenset(
    {
        "advertised.listeners", "broker.id", "broker.rack", "controller.listener.names",
        "controller.quorum.bootstrap.servers", "controller.quorum.voters",
        "group.initial.rebalance.delay.ms", "inter.broker.listener.name",
        "listener.security.protocol.map", "listeners", "log.dir", "log.dirs", "node.id",
        "offsets.topic.replication.factor", ROLES,
        "share.coordinator.state.topic.min.isr",
        "share.coordinator.state.topic.replication.factor", "transaction.state.log.min.isr",
        "transaction.state.log.replication.factor", "zookeeper.connect",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Owned:
    """One setting of an owner: its value in force as answers show it, by source what he has
    written, and Kafka's default.
    """

    value: str | None
    written: tuple[tuple[int, str | None], ...]
    default: str | None


@dataclass(frozen=True)
class Owner:
    """The settings of one owner by their names, and what else answers show of his choices.

    `of_1_0`: topics do not tell from where they have a value. `kraft`: the controller, which
    answers CreateTopics, looks at all settings of a family. `quorum`: the level of kraft.version.
    """

    settings: Mapping[str, Owned] = field(default_factory=dict)
    of_1_0: bool = False
    kraft: bool = False
    quorum: int = 0

    @property
    def needed(self) -> bool:
        """Whether any answer reads differently here."""
        return bool(self.settings) or self.quorum > 0

    @property
    def partitions(self) -> tuple[int, int] | None:
        """How many partitions a topic gets by default, here and from Kafka; None where as many."""
        owned = self.settings.get(PARTITIONS)
        if owned is None or owned.value is None or owned.default in (None, owned.value):
            return None
        return int(owned.value), int(owned.default or 1)

    def without(self, names: Iterable[str]) -> Owner:
        """The same but for these settings, which the scenario's cluster has as well."""
        gone = frozenset(names)
        kept = {name: owned for name, owned in self.settings.items() if name not in gone}
        return replace(self, settings=kept)

    def to_json(self) -> dict[str, Any]:
        rows = {
            name: [owned.value, [list(pair) for pair in owned.written], owned.default]
            for name, owned in self.settings.items()
        }
        return {"settings": rows, "of_1_0": self.of_1_0, "kraft": self.kraft, "quorum": self.quorum}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Owner:
        rows = {
            name: Owned(value, tuple((source, text) for source, text in written), default)
            for name, (value, written, default) in stored["settings"].items()
        }
        return cls(rows, stored["of_1_0"], stored["kraft"], stored["quorum"])

    def answer(self, body: Struct, by_default: frozenset[str]) -> Struct:
        """A decoded message of the cluster as it would read without its owner's choices.
        `by_default`: topics that have as many partitions as the owner's setting says.
        """
        if not isinstance(body, Mapping):
            return body
        out = dict(body)
        if self.settings and isinstance(results := out.get("results"), list):
            out["results"] = [self._described(one) for one in results]
        if isinstance(topics := out.get("topics"), list):
            out["topics"] = [self._topic(one, by_default) for one in topics]
        if MECHANISMS in self.settings and isinstance(told := out.get("mechanisms"), list):
            out["mechanisms"] = self._mechanisms(told)
        if self.quorum and out.get("supported_features") and "finalized_features" in out:
            out["finalized_features"] = self._features(out["finalized_features"])
        return out

    # topics

    def _topic(self, row: Any, by_default: frozenset[str]) -> Any:
        if not isinstance(row, Mapping):
            return row
        out = dict(row)
        if self.settings and isinstance(configs := out.get("configs"), list):
            out["configs"] = [self._config(one, TOPIC, created=True) for one in configs]
        if self.partitions is not None and out.get("name") in by_default:
            out |= self._counted(out, *self.partitions)
        if self.quorum and isinstance(parts := out.get("partitions"), list):
            out["partitions"] = [_with_voters(one) for one in parts]
        return out

    def _counted(self, topic: Mapping[str, Any], here: int, kafkas: int) -> dict[str, Any]:
        """Its partitions where it is described, or their number, exchanged."""
        if "num_partitions" in topic:
            count = topic["num_partitions"]
            return {"num_partitions": {here: kafkas, kafkas: here}.get(count, count)}
        rows = topic.get("partitions")
        if not isinstance(rows, list) or not all(_describes(one) for one in rows):
            return {}
        rows = sorted(rows, key=lambda one: one["partition_index"])
        count = {here: kafkas, kafkas: here}.get(len(rows), len(rows))
        more = [rows[-1] | {"partition_index": index} for index in range(len(rows), count)]
        return {"partitions": [*rows[:count], *more]}

    # settings

    def _described(self, result: Any) -> Any:
        rows = result.get("configs") if isinstance(result, Mapping) else None
        kind = result.get("resource_type") if isinstance(result, Mapping) else None
        if not isinstance(rows, list) or kind not in (TOPIC, BROKER) or not result["resource_name"]:
            return result  # of all brokers: what is set while they run, and no more
        return {**result, "configs": [self._config(one, kind, created=False) for one in rows]}

    def _config(self, row: Any, kind: int, *, created: bool) -> Any:
        """One setting of a topic or broker with its source, value and synonyms exchanged."""
        if not isinstance(row, Mapping) or not {"config_source", "is_default"} & row.keys():
            return row  # of a request
        first = row["name"] if kind == BROKER else BEHIND.get(row["name"], f"log.{row['name']}")
        family = next((one for one in FAMILIES if first in one), (first,))
        entries = list(self._entries(family))
        looked_at = entries if created and self.kraft else _from(first, entries)
        if not (looked_at if kind == BROKER else entries):
            return row
        source, setting, _ = (looked_at or entries)[0]
        if not looked_at or kind == TOPIC and self.of_1_0:
            source = DEFAULT
        value, default = self._values(setting, family, kind)
        if created and self.kraft and kind == TOPIC:
            value = _in_ms(setting, self.settings[setting].value, as_written=True)
        out, shown = dict(row), (_source(row), row["value"])
        if shown == (source, value):
            out |= _sourced(row, DEFAULT) | {"value": default}
        elif shown == (DEFAULT, default):
            out |= _sourced(row, source) | {"value": value}
        if row.get("synonyms"):
            out["synonyms"] = _synonyms(row["synonyms"], first, entries)
        return out

    def _entries(self, family: Sequence[str]) -> Iterator[tuple[int, str, str | None]]:
        """What the owner has written of these settings, the first counts: source, name, value."""
        known = [(name, self.settings[name]) for name in family if name in self.settings]
        for source in OWNERS:
            for name, owned in known:
                yield from ((source, name, text) for at, text in owned.written if at == source)

    def _values(
        self, setting: str, family: Sequence[str], kind: int
    ) -> tuple[str | None, str | None]:
        """What is shown where this setting of the owner counts, and where Kafka's default does."""
        owned = self.settings[setting]
        if kind == BROKER:
            return owned.value, owned.default
        known = ((name, self.settings[name].default if name in self.settings
                  else DEFAULTS.get(name)) for name in family)  # fmt: skip
        default = next((_in_ms(name, text) for name, text in known if text is not None), None)
        return _in_ms(setting, owned.value), default

    def _mechanisms(self, told: list[str]) -> list[str]:
        """What SaslHandshake tells of a listener without SASL as well: those of the setting."""
        owned = self.settings[MECHANISMS]
        here, kafkas = (
            [word.strip() for word in (text or "").split(",")]
            for text in (owned.value, owned.default)
        )
        if sorted(told) == sorted(here):
            return kafkas
        return here if sorted(told) == sorted(kafkas) else told

    # features

    def _features(self, rows: Any) -> Any:
        """Without the row of the quorum's level; with it where it is missing."""
        level = {"max_version_level": self.quorum, "min_version_level": self.quorum}
        row = {"name": QUORUM_FEATURE, **level}
        if not isinstance(rows, list):
            return rows
        at = next((at for at, one in enumerate(rows) if row.items() <= one.items()), None)
        return [*rows, row] if at is None else [*rows[:at], *rows[at + 1 :]]


class TopicsByDefault:
    """The topics of one case that get as many partitions as their broker's setting says: those of
    which a request says so, and those that Metadata makes.
    """

    def __init__(self) -> None:
        self._counted: set[str] = set()
        self._found: set[str] = set()

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self._found - self._counted)

    def count(self, names: Iterable[str]) -> None:
        """These have a number of partitions of their own."""
        self._counted.update(names)

    def learn(self, api: str, version: int, body: Any) -> None:
        """From a request with all names in it. Before version 4 Metadata makes what it asks for."""
        rows = (body.get("topics") or ()) if isinstance(body, Mapping) else ()
        named = [row for row in rows if isinstance(row, Mapping) and row.get("name")]
        if api == "Metadata" and (version < 4 or body.get("allow_auto_topic_creation")):
            self._found.update(row["name"] for row in named if not row["name"].startswith("__"))
        elif api == "CreateTopics":
            for row in named:
                free = row.get("num_partitions") == BY_DEFAULT and not row.get("assignments")
                (self._found if free else self._counted).add(row["name"])


def of(settings: Mapping[str, Setting], finalized: Mapping[str, int]) -> Owner:
    """What the owner has chosen of a cluster that tells these settings and finalized features."""
    found = {
        name: Owned(one.value, written, one.default or DEFAULTS.get(name))
        for name, one in settings.items()
        if name not in EVERYBODYS and (written := _owners(name, one.written, finalized))
    }
    level, roles = finalized.get(QUORUM_FEATURE, 0), settings.get(ROLES)
    return Owner(
        found,
        of_1_0=not any(one.default for one in settings.values()),
        kraft=bool(roles is not None and roles.value),
        quorum=level if level == DYNAMIC_VOTERS else 0,
    )


def _owners(
    name: str, written: tuple[tuple[int, str | None], ...], finalized: Mapping[str, int]
) -> tuple[tuple[int, str | None], ...]:
    """What an owner has written of this setting, without what Kafka has."""
    feature, kafkas = KAFKAS.get(name, ("", None))
    return tuple(pair for pair in written if not (finalized.get(feature) and pair == kafkas))


def _in_ms(name: str, text: str | None, *, as_written: bool = False) -> str | None:
    """A value as topics show it, who know no hours. Less than none is none, but for who creates a
    topic under KRaft, which is told so many hours below 0.
    """
    times = next((ms for end, ms in IN_MS.items() if name.endswith(end)), 1)
    if text is None or times == 1:
        return text
    found = int(text) * times
    return str(found if as_written else max(found, -1))


def _from(
    name: str, entries: list[tuple[int, str, str | None]]
) -> list[tuple[int, str, str | None]]:
    """Those from the first of this name on: what DescribeConfigs looks at."""
    at = next((at for at, entry in enumerate(entries) if entry[1] == name), len(entries))
    return entries[at:]


def _source(row: Mapping[str, Any]) -> int:
    if "is_default" in row and "config_source" not in row:  # version 0
        return DEFAULT if row["is_default"] else FILE
    return int(row.get("config_source", DEFAULT))


def _sourced(row: Mapping[str, Any], source: int) -> dict[str, Any]:
    if "config_source" in row:
        return {"config_source": source}
    return {"is_default": source == DEFAULT}


def _synonyms(
    rows: list[Struct], name: str, entries: list[tuple[int, str, str | None]]
) -> list[Struct]:
    """Without what the owner has written, and with it where it should be and is not."""
    if not any(row["name"] == name and row["source"] != 1 for row in rows):
        return rows  # none is shown before the first of this name
    owners = [{"name": of, "value": text, "source": source} for source, of, text in entries]
    plain = [{word: row[word] for word in ("name", "value", "source")} for row in rows]
    kept = [row for row, seen in zip(rows, plain, strict=True) if seen not in owners]
    missing = [one for one in owners if one not in plain]
    of_topic = [row for row in kept if row["source"] == 1]
    rest = [row for row in kept if row["source"] != 1]
    first = next((at for at, row in enumerate(rest) if row["name"] == name), len(rest))
    return [*of_topic, *missing, *rest[first:]]


def _describes(part: Any) -> bool:
    return isinstance(part, Mapping) and "replica_nodes" in part and "partition_index" in part


def _with_voters(part: Any) -> Any:
    """A partition of the metadata log, whose voters have directories where they can change."""
    voters = part.get("current_voters") if isinstance(part, Mapping) else None
    if not isinstance(voters, list):
        return part
    return {**part, "current_voters": [_placed(one) for one in voters]}


def _placed(voter: Struct) -> Struct:
    if "replica_directory_id" not in voter:
        return voter
    there = voter["replica_directory_id"] != NO_DIRECTORY
    return voter | {"replica_directory_id": NO_DIRECTORY if there else SOME_DIRECTORY}
