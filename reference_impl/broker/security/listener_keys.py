"""The keys and trusted certificates of listeners change while their broker runs (KIP-226).

IncrementalAlterConfigs of the broker names them with the listener's prefix. They are looked at
before they are kept: a store that cannot be read is refused, and a certificate for somebody else.
New connections have the new keys, those that stand go on with theirs. A file that was replaced
counts as changed whenever a setting of a listener is altered. What else a listener has (protocols,
cipher suites, whether clients show a certificate) is what it began with, although it may be set.

Which store is read how is the listener's part: it says so with `add`, because nothing is read here.

Sources: DynamicBrokerConfig, SslFactory.createNewSslEngineFactory at 2.8.2 and 4.0; seen on 4.3.1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from touchstone.reference_impl.broker.configs.config_values import ValueRefused
from touchstone.reference_impl.security.tls_stores import UnreadableStore

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker

# With all settings that are to be: ValueError as Kafka refuses them, or what puts them in force.
Renewal = Callable[[Mapping[str, str]], Callable[[], None]]
_CONFIG = "org.apache.kafka.common.config.ConfigException"
_INVALID = "org.apache.kafka.common.errors.InvalidConfigurationException"


class AnotherIdentity(ValueError):
    """A certificate that is not for whom the listener's was, or that nobody asked for."""


class ListenerKeys:
    """Who renews the keys of one broker's listeners."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._renewals: list[Renewal] = []

    def add(self, renewal: Renewal) -> None:
        self._renewals.append(renewal)

    def check(self, configs: Mapping[str, str]) -> None:
        """Whether these may be all that is set for this broker; ValueRefused if not."""
        for renewal in self._renewals:
            try:
                renewal(self.settings(configs))
            except ValueError as refused:
                raise ValueRefused(
                    f"Invalid value {_CONFIG}: Validation of dynamic config update of SSLFactory"
                    f" failed: {_in_java(refused)} for configuration Invalid dynamic configuration"
                ) from None

    def apply(self) -> None:
        """What is set holds for connections from now on."""
        for renewal in self._renewals:
            renewal(self.settings())()

    def settings(self, own: Mapping[str, str] | None = None) -> dict[str, str]:
        """All settings of this broker that somebody gave, with `own` as its dynamic ones."""
        kept = self._broker.cluster.dynamic_configs
        if own is None:
            own = kept.get(str(self._broker.id), {})
        return {**self._broker.config, **kept.get("", {}), **own}


def _in_java(refused: ValueError) -> str:
    """The exception as Java prints it, without the reasons that only we give."""
    said = refused.said if isinstance(refused, UnreadableStore) else str(refused)
    kind = _CONFIG if isinstance(refused, AnotherIdentity) else _INVALID
    return f"{kind}: {said}"
