"""Which settings of a broker with listeners may change while it runs (KIP-226).

A listener's keys may (`broker/security/listener_keys.py`), and how many connections it takes. All
else that has its prefix is taken and means nothing to a listener that exists: it waits for one that
is made. As long as such a setting is not what the broker began with, nothing that listeners share
may be altered.

Sources: DynamicListenerConfig, DynamicBrokerConfig.processListenerReconfigurable at 2.8.2, 3.9.2
and 4.3.1; every message observed on the three.
"""

from __future__ import annotations

from collections.abc import Mapping

from touchstone.reference_impl.broker.configs import config_values, config_view
from touchstone.reference_impl.broker.configs.config_values import ValueRefused, in_dynamic_update
from touchstone.reference_impl.broker.configs.config_view import Configured
from touchstone.reference_impl.broker.configs.listener_settings import (
    ADVERTISED,
    ENABLED_MECHANISMS,
    INTER_BROKER_MECHANISM,
    LISTENERS,
    MAP,
    Listener,
    ListenerSettings,
    prefix,
)
from touchstone.reference_impl.security.tls_stores import RELOADED

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
_CHANGEABLE = frozenset((*RELOADED, *OF_ALL_BROKERS))


class ListenerChanges:
    """What one broker lets be altered about its listeners."""

    def __init__(self, broker: Configured) -> None:
        self._broker = broker

    def merged(self, name: str, configs: Mapping[str, str]) -> dict[str, str]:
        """All that would be set for this broker if `configs` were what is set for `name`: this
        broker, or all by the empty name.
        """
        return self._merged({**self._broker.cluster.dynamic_configs, name: configs})

    def _merged(self, kept: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
        return {**self._broker.config, **kept.get("", {}), **kept.get(str(self._broker.id), {})}

    def check_values(self, settings: Mapping[str, str]) -> None:
        """Whether what its listeners have of their own means anything; ValueRefused if not."""
        definitions = config_view.broker_definitions(self._broker.persona.release)
        for listener in self._listeners():
            for name, value in of_its_own(settings, listener).items():
                if name in definitions:
                    try:
                        config_values.read(definitions[name], value)
                    except ValueRefused as refused:
                        raise in_dynamic_update(refused.message) from None

    def check(self, settings: Mapping[str, str]) -> None:
        """Whether its listeners can go on with all that is to be set; ValueRefused if not."""
        now = self._merged(self._broker.cluster.dynamic_configs)
        if any(now.get(name) != settings.get(name) for name in (*OF_ONE, *OF_ALL_BROKERS)):
            for listener in self._listeners():
                self._check_fixed(settings, listener)

    def _check_fixed(self, settings: Mapping[str, str], listener: Listener) -> None:
        """Whether the listener has what it began with, but for what may change."""
        if _fixed(settings, listener) != _fixed(self._broker.config, listener):
            raise in_dynamic_update(
                f"Configs cannot be updated dynamically for existing listener {listener.java},"
                " restart broker or create a new listener for update"
            )

    def _listeners(self) -> tuple[Listener, ...]:
        return ListenerSettings.of(self._broker.config).listeners


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
