"""A broker's settings change while it runs: these are KIP-226's checks, in Kafka's order.

First what cannot change at all, then what belongs to a listener, then whether each value means
anything, then what belongs to one broker, then what values must keep together. A name that nobody
knows is kept: it may belong to somebody's plug-in.

Sources: DynamicBrokerConfig.validateConfigs at 2.2.1, 2.8.2, 3.9.2; every message observed on
2.2.1, 2.8.2, 3.9.2 and 4.3.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from touchstone.reference_impl.broker.configs import config_values, config_view, requirements
from touchstone.reference_impl.broker.configs.config_values import ValueRefused
from touchstone.reference_impl.broker.configs.listener_changes import (
    OF_ALL_BROKERS,
    OF_ONE,
    ListenerChanges,
)
from touchstone.reference_impl.broker.configs.listener_settings import (
    LISTENERS,
    ListenerSettings,
    without_prefix,
)
from touchstone.reference_impl.cluster import hash_order
from touchstone.reference_impl.security.tls_stores import RELOADED

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker

ALL = ""  # the name of all brokers together
_FIXED = "Cannot update these configs dynamically"
_OF_LISTENERS = (
    "These security configs can be dynamically updated only per-listener using the listener prefix"
)
_OF_ONE = "Cannot update these configs at default cluster level, broker id must be specified"
_KEYS = "touchstone.reference_impl.broker.security.listener_keys"


def check(broker: Broker, name: str, configs: Mapping[str, str]) -> None:
    """Whether `configs` may be all that is set for this broker (or ALL); ValueRefused if not."""
    definitions = config_view.broker_definitions(broker.persona.release)
    known = {key: definitions[key] for key in configs if key in definitions}
    quirk = broker.persona.quirk
    fixed = [key for key, definition in known.items() if not definition.dynamic]
    _none_of(fixed, _FIXED, quirk("alter.sets-print-as"))
    secret = [key for key in known if key in RELOADED]
    _none_of(hash_order.properties(secret), _OF_LISTENERS, quirk("alter.hash-sets-print-as"))
    for key, value in configs.items():
        definition = definitions.get(without_prefix(key))
        if definition is not None and definition.dynamic:
            config_values.read(definition, value)
            if definition.type == "CLASS" and not value.startswith(requirements.KAFKAS_OWN):
                raise ValueRefused(
                    f"Invalid value {value} for configuration {key}:"
                    f" Class {value} could not be found."
                )
    if name == ALL:
        own = [key for key in configs if _is_of_one(key)]
        _none_of(own, _OF_ONE, quirk("alter.sets-print-as"))
    requirements.check(broker, configs)
    listeners = broker.room(ListenerChanges)
    settings = listeners.merged(name, configs)
    listeners.check_listeners(settings)
    listeners.check_values(settings)
    if _has_keys(broker, name):
        broker.room(import_module(_KEYS).ListenerKeys).check(configs)  # loaded for few brokers
    listeners.check(settings)


def check_files(broker: Broker, name: str, configs: Mapping[str, str]) -> None:
    """Where ZooKeeper keeps settings, files of keys that were replaced are read before `configs`,
    which were checked, are kept; ValueRefused where they cannot be read.
    """
    if not broker.persona.kraft and _has_keys(broker, name):
        broker.room(import_module(_KEYS).ListenerKeys).reread(configs)


def keep(broker: Broker, name: str, configs: Mapping[str, str]) -> None:
    """Let `configs`, which were checked, be all that is set for this broker (or ALL)."""
    listeners = broker.room(ListenerChanges)
    before = listeners.settings()
    broker.cluster.dynamic_configs[name] = dict(configs)
    config_view.spread_defaults(broker)
    if _has_keys(broker, name):
        broker.room(import_module(_KEYS).ListenerKeys).apply()
    listeners.apply(before)


def _has_keys(broker: Broker, name: str) -> bool:
    """Whether settings of this one broker are altered, and it has listeners with keys."""
    settings = broker.room(ListenerChanges).settings()
    if name == ALL or LISTENERS not in settings:
        return False
    return any(each.tls for each in ListenerSettings.of(settings).listeners)


def _is_of_one(name: str) -> bool:
    """Whether it can only be set for one broker."""
    base = without_prefix(name)
    if base != name:
        return base not in OF_ALL_BROKERS
    return name in OF_ONE or name in requirements.OF_ONE


def check_start(config: Mapping[str, str], release: str) -> None:
    """Whether each setting that the release knows has a value that means something.

    ValueRefused names the first that has none, as Kafka's start ends with it; what nobody knows may
    belong to somebody's plug-in. Kafka looks at all settings of a broker before it opens anything,
    in an order of its own.
    """
    definitions = config_view.broker_definitions(release) if config else {}
    for name, value in config.items():
        definition = definitions.get(name)
        if definition is not None:
            config_values.read(definition, value)


def _none_of(names: Iterable[str], why: str, printed: str) -> None:
    listed = ", ".join(names)
    if listed:
        raise ValueRefused(f"{why}: {printed.format(listed)}")
