"""Each config of a broker has a value, and a source that this module names.

DescribeConfigs and CreateTopics show the same thing: for each config its value, and its synonyms
in order of precedence: the topic's own override, then the broker setting it falls back to, set
dynamically for this broker, dynamically for all, statically, or by default (KIP-226). Synonyms
count only from the first one that bears the config's own broker name: log.retention.hours decides
retention.ms and yet never shows up in it.

Sources: DynamicBrokerConfig and AdminManager.describeConfigs@2.2.1, ConfigHelper@2.8.2 to 4.3.1;
every table compared with all five releases.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, Protocol

from touchstone.reference_impl.broker.configs import config_values
from touchstone.reference_impl.broker.configs.listener_settings import is_of_a_listener
from touchstone.reference_impl.broker.personas import (
    broker_configs,
    config_rows,
    group_configs,
    topic_configs,
)
from touchstone.reference_impl.broker.personas.config_rows import ConfigDefinition

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.personas.persona import Persona
    from touchstone.reference_impl.cluster.endpoints import Endpoint
    from touchstone.reference_impl.cluster.topology import Cluster

TOPIC, BROKER, ALL_BROKERS, STATIC, DEFAULT, LOGGER = 1, 2, 3, 4, 5, 6  # config sources
SOURCES = (BROKER, ALL_BROKERS, STATIC, DEFAULT)  # of a broker setting, as `Levels` has them
CLIENT_METRICS, GROUP = 7, 8

NOBODY = "nobody"  # a broker that nothing is set for
GENERATED = "-1"  # a broker.id that leaves the choice to ZooKeeper (BRK-18)
HOUR, MINUTE = 3_600_000, 60_000
LONG = 5  # of DescribeConfigs' types
OF_MECHANISMS = (  # DynamicBrokerConfig.ListenerMechanismConfigs
    "sasl.jaas.config", "sasl.login.callback.handler.class", "sasl.login.class",
    "sasl.server.callback.handler.class", "connections.max.reauth.ms",
)  # fmt: skip
RATES = (  # DynamicConfig.Broker
    "leader.replication.throttled.rate",
    "follower.replication.throttled.rate",
    "replica.alter.log.dirs.io.max.bytes.per.second",
)
# What `static_settings` and `dynamic_settings` say beyond what was configured.
_PUT_TOGETHER = frozenset(
    {
        "advertised.listeners", "broker.id", "broker.rack", "listeners", "min.insync.replicas",
        "node.id", "process.roles",
    }
)  # fmt: skip
# A broker setting, and the coarser ones that decide where it is not set, with their factors.
COARSER: dict[str, tuple[tuple[str, int], ...]] = {
    "log.retention.ms": (("log.retention.minutes", MINUTE), ("log.retention.hours", HOUR)),
    "log.retention.minutes": (("log.retention.hours", 60),),
    "log.roll.ms": (("log.roll.hours", HOUR),),
    "log.roll.jitter.ms": (("log.roll.jitter.hours", HOUR),),
    "log.flush.interval.ms": (("log.flush.scheduler.interval.ms", 1),),
}


class Configured(Protocol):
    """Configs are asked of this: a `Broker`, or what is known of one before it begins."""

    @property
    def id(self) -> int: ...

    @property
    def cluster(self) -> Cluster: ...

    @property
    def persona(self) -> Persona: ...

    @property
    def config(self) -> Mapping[str, str]: ...


class ConfiguredNode(NamedTuple):
    """What a broker was told when it was started: who it is, and its settings as text."""

    id: int
    cluster: Cluster
    persona: Persona
    config: Mapping[str, str]

    def number(self, name: str, default: int) -> int:
        """A whole-number broker setting."""
        text = self.config.get(name)
        return default if text is None else int(text)


class Levels(NamedTuple):
    """Everything that is set where a broker setting can be set; the first that has it counts."""

    broker: Mapping[str, str]
    all_brokers: Mapping[str, str]
    static: Mapping[str, str]


class Synonym(NamedTuple):
    name: str
    value: str | None
    source: int


class Entry(NamedTuple):
    name: str
    value: str | None
    source: int
    read_only: bool
    sensitive: bool
    synonyms: tuple[Synonym, ...]
    type_code: int


@cache
def broker_definitions(release: str) -> Mapping[str, ConfigDefinition]:
    return config_rows.read(broker_configs.TABLE, release)


@cache
def topic_definitions(release: str) -> Mapping[str, ConfigDefinition]:
    return config_rows.read(topic_configs.TABLE, release)


@cache
def group_definitions(release: str) -> Mapping[str, ConfigDefinition]:
    return config_rows.read(group_configs.TABLE, release)


# ------------------------------------------------------------------------------ the broker's own


def static_settings(broker: Configured) -> dict[str, str]:
    """The settings that the server.properties of this node would hold."""
    node = broker.cluster.node(broker.id)
    first = node.first or node.listeners
    own = {"broker.id": str(broker.id), "listeners": _listeners(first)}
    if broker.persona.kraft or any(e.bound != (e.host, e.port) for e in first):
        own["advertised.listeners"] = ",".join(str(each) for each in first if each.host)
    if broker.persona.kraft:
        own |= {"node.id": str(broker.id), "process.roles": "broker,controller"}
    if node.rack is not None:
        own["broker.rack"] = node.rack
    settings = {**own, **broker.config}
    if len(broker.cluster.brokers) > 1:  # brokers of one process count on from the first one's
        settings["listeners"] = own["listeners"]
    for name in ("broker.id", "node.id"):  # the first one's, if it was said; others count on
        if broker.config.get(name, GENERATED) != GENERATED:
            settings[name] = str(broker.id)
    return settings


def _listeners(endpoints: Iterable[Endpoint]) -> str:
    return ",".join(f"{e.listener}://{e.bound[0]}:{e.bound[1]}" for e in endpoints)


def dynamic_settings(broker: Configured, entity: str) -> dict[str, str]:
    """Overrides kept for one broker id, or for all brokers under the empty name."""
    kept = dict(broker.cluster.dynamic_configs.get(entity, {}))
    if entity == "" and broker.persona.quirk("configs.cluster-keeps-min-isr"):
        kept.setdefault("min.insync.replicas", broker.config.get("min.insync.replicas", "1"))
    return kept


def _levels(broker: Configured, entity: str | None = None) -> Levels:
    """What is set for this broker, or for the one (or the NOBODY) that is named."""
    whose = str(broker.id) if entity is None else entity
    return Levels(
        dynamic_settings(broker, whose), dynamic_settings(broker, ""), static_settings(broker)
    )


def _synonyms(
    broker: Configured, name: str, levels: Levels, *, coarser_alone: bool = False
) -> tuple[Synonym, ...]:
    """Every level at which `name`, or a coarser setting behind it, is set; unless `coarser_alone`
    those count only behind `name` itself.
    """
    names = (name, *(coarser for coarser, _ in COARSER.get(name, ())))
    definitions = broker_definitions(broker.persona.release)
    defaults = {n: definitions[n].default for n in names if n in definitions}
    found = [
        Synonym(each, settings[each], source)
        for source, settings in zip(SOURCES, (*levels, defaults), strict=True)
        for each in names
        if settings.get(each) is not None
    ]
    while found and found[0].name != name and not coarser_alone:
        found.pop(0)
    return tuple(found)


def setting(broker: Configured, name: str) -> str | None:
    """The present value of a broker setting; None where it is not set and has no default.

    Most heartbeats ask for a few, so the levels are not put together for one name; a coarser
    setting stands in for none here.
    """
    if name in _PUT_TOGETHER:
        synonyms = _synonyms(broker, name, _levels(broker))
        return synonyms[0].value if synonyms else None
    kept = broker.cluster.dynamic_configs
    for level in (kept.get(str(broker.id)), kept.get(""), broker.config):
        value = level.get(name) if level else None
        if value is not None:
            return value
    definition = broker_definitions(broker.persona.release).get(name)
    return None if definition is None else definition.default


def broker_entries(broker: Configured) -> list[Entry]:
    definitions = broker_definitions(broker.persona.release)
    levels = _levels(broker)
    defined = [_broker_entry(broker, definition, levels) for definition in definitions.values()]
    if not broker.persona.quirk("alter.brokers-can-be-altered"):  # before KIP-226 these are all
        return defined
    strange = _unknown(broker, levels)
    return [*defined, *_rates(broker, levels), *_of_listeners(broker, levels), *strange]


def _rates(broker: Configured, levels: Levels) -> Iterable[Entry]:
    """Dynamic settings that are no broker settings are there only while they are set."""
    shown, read_only = broker.persona.quirk("configs.rates-without-definition")
    for name in RATES:
        synonyms = _synonyms(broker, name, levels)
        if synonyms:
            kept = tuple(each._replace(value=each.value if shown else None) for each in synonyms)
            _, value, source = kept[0]
            yield Entry(name, value, source, read_only, not shown, kept, LONG * shown)


def _of_listeners(broker: Configured, levels: Levels) -> Iterable[Entry]:
    """Settings of a single listener are there while they are set, as what stands behind the prefix
    is; what nobody knows may be a secret.
    """
    definitions = broker_definitions(broker.persona.release)
    for name in sorted({name for level in levels for name in level if is_of_a_listener(name)}):
        behind = name.split(".", 3)[3]
        mechanisms = (own for own in OF_MECHANISMS if behind.endswith(own))
        definition = definitions.get(behind) or definitions.get(next(mechanisms, ""))
        secret = definition is None or definition.sensitive
        synonyms = (*_synonyms(broker, name, levels), *_synonyms(broker, behind, levels))
        shown = tuple(each._replace(value=None) for each in synonyms) if secret else synonyms
        kind = definition.type_code if definition else 0
        yield Entry(name, shown[0].value, shown[0].source, True, secret, shown, kind)


def _unknown(broker: Configured, levels: Levels) -> Iterable[Entry]:
    """A name that Kafka has no definition of can be set, for a class that somebody plugs in; its
    value may be a secret, so only that it is set is told (KafkaConfig.maybeSensitive@4.3.1).
    """
    definitions = broker_definitions(broker.persona.release)
    for name in sorted(set().union(*levels) - definitions.keys() - set(RATES)):
        if not is_of_a_listener(name):
            found = _synonyms(broker, name, levels)
            synonyms = tuple(each._replace(value=None) for each in found)
            yield Entry(name, None, synonyms[0].source, True, True, synonyms, 0)


def _broker_entry(broker: Configured, definition: ConfigDefinition, levels: Levels) -> Entry:
    synonyms = _synonyms(broker, definition.name, levels)
    if definition.sensitive:  # of a secret is told where it is set (ConfigHelper.configSynonyms)
        synonyms = tuple(each._replace(value=None) for each in synonyms)
    text = synonyms[0].value if synonyms else None
    return Entry(
        definition.name,
        None if text is None else config_values.printed(definition, text),  # synonyms stay raw
        synonyms[0].source if synonyms else DEFAULT,
        not definition.dynamic,
        definition.sensitive,
        synonyms,
        definition.type_code,
    )


def dynamic_entries(broker: Configured) -> list[Entry]:
    """The entries that are set dynamically for all brokers, as the empty broker name shows them."""
    definitions = broker_definitions(broker.persona.release)
    levels = Levels({}, dynamic_settings(broker, ""), {})
    known = [
        Entry(
            name,
            value,
            ALL_BROKERS,
            False,
            definitions[name].sensitive,
            (Synonym(name, value, ALL_BROKERS),),
            definitions[name].type_code,
        )
        for name, value in levels.all_brokers.items()
        if name in definitions
    ]
    return [*known, *_unknown(broker, levels)]


# ---------------------------------------------------------------------------------- the topics


def topic_defaults(broker: Configured, entity: str | None = None) -> dict[str, str]:
    """The configs of a topic without overrides, by its own names, on this broker or another."""
    definitions, levels = topic_definitions(broker.persona.release), _levels(broker, entity)
    values = ((name, _fallback(d, levels)) for name, d in definitions.items())
    return {name: value for name, value in values if value is not None}


def spread_defaults(broker: Configured) -> None:
    """Tell the cluster what topics have by default: everywhere, and on brokers set apart."""
    cluster, apart = broker.cluster, {}
    for number in cluster.brokers:
        name = str(number)
        kept = _lingering(broker, name)
        if kept or cluster.dynamic_configs.get(name):
            apart[number] = topic_defaults(broker, name) | kept
    cluster.set_topic_defaults(topic_defaults(broker, NOBODY), apart)


def _lingering(broker: Configured, name: str) -> dict[str, str]:
    """What a broker's topics still have by default although it was taken back: in 2.2 what is gone
    is no change, and only a change makes a broker look at its settings.
    """
    if not broker.persona.quirk("configs.removed-defaults-linger"):
        return {}
    given = dynamic_settings(broker, "") | dynamic_settings(broker, name)
    before = broker.cluster.settings_in_force.get(name, {})
    definitions = topic_definitions(broker.persona.release).values()
    topics = {row.synonym: row.name for row in definitions if row.synonym}
    if any(before.get(key) != text for key, text in given.items() if key in topics):
        before = given
    broker.cluster.settings_in_force[name] = before
    return {topics[key]: before[key] for key in before.keys() & topics.keys() - given.keys()}


def _fallback(
    definition: ConfigDefinition, levels: Levels, *, as_written: bool = False
) -> str | None:
    """The value of a topic without one of its own. Hours below 0 are -1 (logRetentionTimeMillis),
    and to who creates a topic under KRaft what they are in ms (ConfigSynonym).
    """
    if definition.synonym is None:
        return definition.default
    for settings in levels:
        said = settings.get(definition.synonym)
        if said is not None:
            return said
    for coarser, unit in COARSER.get(definition.synonym, ()):
        if coarser in levels.static:
            found = int(levels.static[coarser]) * unit
            return str(found if as_written else max(found, -1))
    return definition.default


def topic_entries(
    broker: Configured, overrides: Mapping[str, str], *, as_written: bool = False
) -> list[Entry]:
    """`as_written`: as the controller of KRaft answers who creates a topic, with overrides as the
    client sent them and log.retention.hours as a source; else as Kafka prints their values.
    """
    definitions = topic_definitions(broker.persona.release)
    if not as_written:
        overrides = {
            name: config_values.printed(definitions[name], text)
            for name, text in overrides.items()
            if name in definitions
        }
    levels = _levels(broker)
    return [
        _topic_entry(broker, row, overrides, levels, as_written=as_written)
        for row in definitions.values()
    ]


def _topic_entry(
    broker: Configured,
    definition: ConfigDefinition,
    overrides: Mapping[str, str],
    levels: Levels,
    *,
    as_written: bool,
) -> Entry:
    name = definition.name
    behind: tuple[Synonym, ...] = ()
    if definition.synonym:
        behind = _synonyms(broker, definition.synonym, levels, coarser_alone=as_written)
    if name in overrides:
        behind = (Synonym(name, overrides[name], TOPIC), *behind)
    return Entry(
        name,
        overrides.get(name, _fallback(definition, levels, as_written=as_written)),
        behind[0].source if behind else DEFAULT,
        False,
        definition.sensitive,
        behind,
        definition.type_code,
    )


# ------------------------------------------------------------------- groups, metrics, loggers


def group_entries(broker: Configured, group_id: str = "") -> list[Entry]:
    overrides = broker.cluster.group_configs.get(group_id, {})
    definitions = group_definitions(broker.persona.release).values()
    levels = _levels(broker)
    return [_group_entry(broker, definition, overrides, levels) for definition in definitions]


def _group_entry(
    broker: Configured,
    definition: ConfigDefinition,
    overrides: Mapping[str, str],
    levels: Levels,
) -> Entry:
    name, synonym = definition.name, definition.synonym
    behind = _synonyms(broker, synonym, levels) if synonym and synonym != name else ()
    if not behind:
        behind = (Synonym(synonym or name, definition.default, DEFAULT),)
    if name in overrides:
        behind = (Synonym(name, overrides[name], GROUP), *behind)
    first = behind[0]
    return Entry(name, first.value, first.source, False, False, behind, definition.type_code)


METRICS = {
    "interval.ms": ConfigDefinition("interval.ms", "INT", "300000"),
    "match": ConfigDefinition("match", "LIST", ""),
    "metrics": ConfigDefinition("metrics", "LIST", ""),
}


NO_MORE = (CLIENT_METRICS, False, False, (), 0)  # neither synonyms nor a type


def metrics_entries(broker: Configured, name: str) -> list[Entry]:
    """The entries of a client metrics subscription, over the defaults where those are shown."""
    overrides = broker.cluster.metrics_configs.get(name, {})
    whole = broker.persona.quirk("configs.metrics-have-defaults")
    if whole:
        return [_metrics_entry(row, overrides) for row in METRICS.values()]
    return [Entry(key, overrides[key], *NO_MORE) for key in METRICS if key in overrides]


def _metrics_entry(definition: ConfigDefinition, overrides: Mapping[str, str]) -> Entry:
    name = definition.name
    if name not in overrides:
        return _default_entry(definition)
    behind = (Synonym(name, overrides[name], CLIENT_METRICS),)
    return Entry(name, overrides[name], CLIENT_METRICS, False, False, behind, definition.type_code)


def _default_entry(definition: ConfigDefinition) -> Entry:
    value, synonym = definition.default, definition.synonym
    behind = (Synonym(synonym, value, DEFAULT),) if synonym else ()
    return Entry(definition.name, value, DEFAULT, False, False, behind, definition.type_code)


def logger_entries() -> list[Entry]:
    """The one logger that every broker has."""
    return [Entry("root", "INFO", LOGGER, False, False, (), 0)]


def chosen(entries: Iterable[Entry], names: Iterable[str] | None) -> list[Entry]:
    """The entries that were asked for; None asks for all, unknown names are ignored."""
    if names is None:
        return list(entries)
    wanted = set(names)
    return [entry for entry in entries if entry.name in wanted]
