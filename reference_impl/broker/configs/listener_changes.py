"""Listeners come and go, and settings of those that stay change, while their broker runs (KIP-226).

`listeners` is compared by name: one that is named anew is opened, one that is named no more is
closed with its connections, and one whose address changes stays where it is. A release with
ZooKeeper tells clients what `advertised.listeners` says from then on; a broker of KRaft goes on to
advertise what it registered with. That of brokers can go nowhere.

Of a listener that exists its keys may change (`broker/security/listener_keys.py`), and how many
connections it takes. All else that has its prefix is taken and means nothing: it waits for one that
is made. As long as such a setting is not what the broker began with, nothing that listeners share
may be altered.

No socket in here: whoever has them says with `serve_with` how a listener is opened and closed.

Sources: DynamicListenerConfig, DynamicBrokerConfig.processListenerReconfigurable,
KafkaConfig.validateValues at 2.8.2, 3.9.2 and 4.3.1; every message observed on the three.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from touchstone.reference_impl.broker.configs import config_values, config_view
from touchstone.reference_impl.broker.configs.config_values import ValueRefused, in_dynamic_update
from touchstone.reference_impl.broker.configs.listener_settings import (
    ADVERTISED,
    ENABLED_MECHANISMS,
    INTER_BROKER_MECHANISM,
    LISTENERS,
    MAP,
    EndpointsRefused,
    Listener,
    ListenerSettings,
    TwoAlike,
    Unmet,
    advertised_at,
    check_controllers,
    endpoints,
    prefix,
)
from touchstone.reference_impl.cluster import hash_order
from touchstone.reference_impl.cluster.endpoints import Address, Endpoint
from touchstone.reference_impl.security.tls_stores import RELOADED

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker
    from touchstone.reference_impl.cluster.topology import Node

LOG = logging.getLogger("touchstone.server")
OF_LISTENERS = (LISTENERS, ADVERTISED, MAP)
OF_ALL_BROKERS = ("max.connections", "max.connection.creation.rate", "num.network.threads")
OF_ONE = (  # DynamicListenerConfig.ReconfigurableConfigs, without what every broker may share
    ADVERTISED, LISTENERS, MAP, "principal.builder.class", "ssl.protocol", "ssl.provider",
    "ssl.cipher.suites", "ssl.enabled.protocols", "ssl.keymanager.algorithm",
    "ssl.trustmanager.algorithm", "ssl.endpoint.identification.algorithm",
    "ssl.secure.random.implementation", "ssl.client.auth", "ssl.engine.factory.class",
    INTER_BROKER_MECHANISM, "sasl.jaas.config", ENABLED_MECHANISMS, "sasl.kerberos.service.name",
    "sasl.kerberos.kinit.cmd", "sasl.kerberos.ticket.renew.window.factor",
    "sasl.kerberos.ticket.renew.jitter", "sasl.kerberos.min.time.before.relogin",
    "sasl.kerberos.principal.to.local.rules", "sasl.login.refresh.window.factor",
    "sasl.login.refresh.window.jitter", "sasl.login.refresh.min.period.seconds",
    "sasl.login.refresh.buffer.seconds",
)  # fmt: skip
_ONE_PORT = (
    "If you have two listeners on the same port then one needs to be IPv4 and the other IPv6,"
    " listeners: {}, port: {}"
)
_OF_KRAFT = "Advertised listeners cannot be altered when using a Raft-based metadata quorum."
_CHANGEABLE = frozenset((*RELOADED, *OF_ALL_BROKERS))


class Sockets(Protocol):
    def open(self, listener: Listener, settings: ListenerSettings) -> Address:
        """Listen, as one of these; where. OSError or ValueError where that cannot be."""

    def close(self, name: str) -> None:
        """Hang up on whoever came by it."""


class ListenerChanges:
    """What one broker lets be altered about its listeners."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._sockets: Sockets | None = None
        self._began = self.settings()
        # What each listener that was opened since was made of.
        self._opened: dict[str, Mapping[str, str]] = {}

    def serve_with(self, sockets: Sockets) -> None:
        """Listen by these, as it is set: what was altered before may be known again by now."""
        self._sockets, settings = sockets, self.settings()
        if not _same(settings, self._static()):
            node = self._broker.cluster.node(self._broker.id)
            self._become({each.listener for each in node.listeners}, settings, sockets)

    def settings(self) -> dict[str, str]:
        """All that is set for this broker now, but defaults."""
        return self._merged(self._broker.cluster.dynamic_configs)

    def listener(self, name: str) -> Listener | None:
        """The one of this name, where there is one now."""
        found = ListenerSettings.of(self.settings()).listeners
        return next((each for each in found if each.name == name), None)

    def made_of(self, name: str) -> Mapping[str, str]:
        """All settings as they were when the listener was made. A broker of KRaft makes those that
        it is started with before it hears what was altered.
        """
        if name in self._opened:
            return self._opened[name]
        early = self._broker.persona.kraft and name in _names(self._broker.config)
        return self._broker.config if early else self._began

    def merged(self, name: str, configs: Mapping[str, str]) -> dict[str, str]:
        """All that would be set for this broker if `configs` were what is set for `name`: this
        broker, or all by the empty name.
        """
        return self._merged({**self._broker.cluster.dynamic_configs, name: configs})

    def _merged(self, kept: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
        return {**self._static(), **kept.get("", {}), **kept.get(str(self._broker.id), {})}

    def _static(self) -> Mapping[str, str]:
        """A broker of KRaft says what it advertises, also where nobody told it."""
        told = self._broker.config
        if not self._broker.persona.kraft or ADVERTISED in told:
            return told
        return {ADVERTISED: config_view.static_settings(self._broker)[ADVERTISED], **told}

    # --- what is refused ----------------------------------------------------------------------

    def check_listeners(self, settings: Mapping[str, str]) -> None:
        """Whether these are listeners that a broker can have; ValueRefused if not."""
        quirk = self._broker.persona.quirk
        if _same(settings, self._static()):
            return
        told = settings.get(ADVERTISED, "")
        try:
            endpoints(ADVERTISED, told)
        except EndpointsRefused as refused:
            said = f"Error creating broker listeners from '{told}': {refused.cause}"
            raise ValueRefused(said) from None
        text = settings.get(LISTENERS, "")
        shown = f"[{', '.join(text.split(','))}]" if quirk("listeners.are-lists") else text
        try:
            if self._broker.persona.kraft:
                check_controllers(settings)
            ListenerSettings.of(settings)
        except EndpointsRefused as refused:
            said = refused.cause.replace(f"listeners: {text}", f"listeners: {shown}")
            if refused.port and quirk("listeners.share-ports-by-protocol"):
                said = _ONE_PORT.format(shown, refused.port)
            if isinstance(refused, TwoAlike) and not quirk("listeners.are-lists"):
                raise ValueRefused(f"requirement failed: {said}") from None
            raise ValueRefused(f"Error creating broker listeners from '{shown}': {said}") from None
        except Unmet as refused:
            raise ValueRefused(f"requirement failed: {refused}") from None
        except ValueError as refused:
            raise ValueRefused(str(refused)) from None

    def check_values(self, settings: Mapping[str, str]) -> None:
        """Whether what its listeners have of their own means anything; ValueRefused if not."""
        definitions = config_view.broker_definitions(self._broker.persona.release)
        for listener in ListenerSettings.of(self.settings()).listeners:
            for name, value in of_its_own(settings, listener).items():
                if name in definitions:
                    try:
                        config_values.read(definitions[name], value)
                    except ValueRefused as refused:
                        raise in_dynamic_update(refused.message) from None

    def check(self, settings: Mapping[str, str]) -> None:
        """Whether its listeners can go on with all that is to be set; ValueRefused if not."""
        now = self.settings()
        if all(now.get(name) == settings.get(name) for name in (*OF_ONE, *OF_ALL_BROKERS)):
            return
        old, new = ListenerSettings.of(now), ListenerSettings.of(settings)
        kraft, quirk = self._broker.persona.kraft, self._broker.persona.quirk
        if kraft and not quirk("listeners.advertised-are-compared"):
            _check_advertised(_advertised(now, old), new)
        protocols = {each.name: each.protocol for each in new.listeners}
        for listener in old.listeners:
            if listener.name in protocols:
                self._check_fixed(settings, listener)
                if protocols[listener.name] != listener.protocol:
                    raise in_dynamic_update(
                        "Security protocol cannot be updated for existing listener " + listener.java
                    )
        told = _advertised(now, old), _advertised(settings, new)
        if kraft and quirk("listeners.advertised-are-compared") and told[0] != told[1]:
            raise in_dynamic_update(_OF_KRAFT)

    def _check_fixed(self, settings: Mapping[str, str], listener: Listener) -> None:
        """Whether the listener has what its broker was told first, but for what may change."""
        if _fixed(settings, listener) != _fixed(self._broker.config, listener):
            raise in_dynamic_update(
                f"Configs cannot be updated dynamically for existing listener {listener.java},"
                " restart broker or create a new listener for update"
            )

    # --- what is done -------------------------------------------------------------------------

    def apply(self, before: Mapping[str, str]) -> None:
        """Have the listeners that are set now, after those of `before`."""
        settings = self.settings()
        if self._sockets is not None and not _same(before, settings):
            self._become(_names(before), settings, self._sockets)

    def _become(self, old: set[str], settings: Mapping[str, str], sockets: Sockets) -> None:
        new = _names(settings)
        for name in old - new:
            self._opened.pop(name, None)
            sockets.close(name)
        node = self._broker.cluster.node(self._broker.id)
        kept = [each for each in node.listeners if each.listener in new]
        try:
            kept += self._open(new - old, settings, sockets)
        except (OSError, ValueError) as fault:
            LOG.error("a listener cannot be opened: %s", fault)
        else:
            if not self._broker.persona.kraft:
                kept = [self._told(each, node, settings) for each in kept]
        _listen(node, tuple(kept), ListenerSettings.of(settings).inter_broker)
        self._broker.cluster.broker_changed(node.id)

    def _open(
        self, names: set[str], settings: Mapping[str, str], sockets: Sockets
    ) -> list[Endpoint]:
        """Not advertised yet."""
        found, listeners = [], ListenerSettings.of(settings)
        for listener in listeners.listeners:
            if listener.name in names:
                self._opened[listener.name] = settings
                at = sockets.open(listener, listeners)
                found.append(Endpoint(listener.name, listener.protocol, "", -1, at))
        return found

    def _told(self, endpoint: Endpoint, node: Node, settings: Mapping[str, str]) -> Endpoint:
        """As clients are told of it."""
        if settings.get(ADVERTISED) == self._broker.config.get(ADVERTISED):
            told = {each.listener: (each.host, each.port) for each in node.first or node.listeners}
            if ADVERTISED not in settings:
                told.setdefault(endpoint.listener, endpoint.bound)
        else:
            told = advertised_at(settings)
        host, port = told.get(endpoint.listener, ("", -1))
        return endpoint._replace(host=host, port=port or endpoint.bound[1])


def _listen(node: Node, endpoints: tuple[Endpoint, ...], inter_broker: str) -> None:
    """Have these listeners, and one of them for brokers."""
    own = next(each for each in endpoints if each.listener == inter_broker)
    node.first = node.first or node.listeners
    node.host, node.port, node.bound = own.host, own.port, own.bound
    node.endpoints = endpoints


def _same(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """Whether both say the same of listeners."""
    return all(one.get(name) == other.get(name) for name in OF_LISTENERS)


def _names(settings: Mapping[str, str]) -> set[str]:
    return {each.name for each in ListenerSettings.of(settings).listeners}


def _advertised(settings: Mapping[str, str], listeners: ListenerSettings) -> dict[str, Address]:
    """Where clients are sent, by listener."""
    told = advertised_at(settings)
    return told or {each.name: (each.host, each.port) for each in listeners.listeners}


def _check_advertised(old: Mapping[str, Address], new: ListenerSettings) -> None:
    names = [each.name for each in new.listeners]
    if set(old) - set(names):
        shown = (hash_order.immutable_212(each) for each in ([*old], names))
        was, will_be = (f"Set({', '.join(f'ListenerName({n})' for n in each)})" for each in shown)
        raise in_dynamic_update(
            f"Advertised listeners '{was}' must be a subset of listeners '{will_be}'"
        )


def _fixed(settings: Mapping[str, str], listener: Listener) -> dict[str, str]:
    """What a listener keeps as long as it exists."""
    own = of_its_own(settings, listener)
    return {name: value for name, value in own.items() if name not in _CHANGEABLE}


def of_its_own(settings: Mapping[str, str], listener: Listener) -> dict[str, str]:
    """The listener's settings, without its prefix."""
    start = prefix(listener.name)
    return {
        name.removeprefix(start): value
        for name, value in settings.items()
        if name.startswith(start)
    }
