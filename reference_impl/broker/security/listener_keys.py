"""The keys and trusted certificates of listeners change while their broker runs (KIP-226).

IncrementalAlterConfigs of the broker names them with the listener's prefix. They are looked at
before they are kept: a store that cannot be read is refused, and a certificate for somebody else.
New connections have the new keys, those that stand go on with theirs. A file that was replaced is
read again whenever something of this one broker is altered, whatever it is: a release with
ZooKeeper refuses the alteration where it cannot be read, one of KRaft has kept it by then and goes
on with the old keys. What else a listener has (protocols, cipher suites, mechanisms, whether
clients show a certificate) is what it began with, although it may be set.

Which store is read how is the listener's part: it says so with `add`, because nothing is read here.

Sources: DynamicBrokerConfig (processListenerReconfigurable, reloadUpdatedFilesWithoutConfigChange)
and SslFactory.createNewSslEngineFactory at 2.8.2, 3.9.2 and 4.3.1; KIP-978; each answer as the
three gave it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Protocol

from touchstone.reference_impl.broker.configs import config_view
from touchstone.reference_impl.broker.configs.config_values import ValueRefused, in_dynamic_update
from touchstone.reference_impl.broker.configs.listener_changes import ListenerChanges
from touchstone.reference_impl.broker.configs.listener_settings import without_prefix
from touchstone.reference_impl.broker.security.tls_settings import NEW_NAMES, NEW_SUBJECT
from touchstone.reference_impl.security.tls_stores import RELOADED, UnreadableStore

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker

LOG = logging.getLogger("touchstone.server")
_CONFIG = "org.apache.kafka.common.config.ConfigException"
_INVALID = "org.apache.kafka.common.errors.InvalidConfigurationException"
_HANDSHAKE = "javax.net.ssl.SSLHandshakeException"
_FAILED = "Validation of dynamic config update of SSLFactory failed"
Renewal = Callable[[], None]  # puts other keys in force


class RenewableKeys(Protocol):
    """Keys of one listener. Both raise ValueError for keys that cannot be had, or not be shown."""

    def renewal(self, config: Mapping[str, str]) -> Renewal | None:
        """For all settings that are to be; None where the listener's are what they were."""

    def reread(self) -> Renewal | None:
        """For files that were written since; None where none was."""


class AnotherIdentity(ValueError):
    """A certificate that is not for whom the listener's was, or that nobody asked for."""

    java = _CONFIG


class Untrusted(ValueError):
    """A certificate that another broker would not trust."""

    java = _HANDSHAKE


class ListenerKeys:
    """Who renews the keys of one broker's listeners."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._listeners: list[RenewableKeys] = []

    def add(self, listener: RenewableKeys) -> None:
        self._listeners.append(listener)

    def check(self, configs: Mapping[str, str]) -> None:
        """Whether these may be all that is set for this broker; ValueRefused if not."""
        settings = self.settings(configs)
        try:
            self._renewed(settings)
        except ValueError as refused:
            raise in_dynamic_update(_in_java(refused)) from None

    def reread(self, configs: Mapping[str, str]) -> None:
        """Read files again that were replaced, before `configs` are kept; ValueRefused where that
        fails. What they change about is left to `apply`.
        """
        settings = self.settings(configs)
        for each in self._listeners:
            try:
                renewal = None if each.renewal(settings) else each.reread()
            except ValueError as refused:
                raise ValueRefused(_in_java(refused)) from None
            if renewal:
                renewal()

    def apply(self) -> None:
        """What is set holds for connections from now on, and files that were replaced."""
        for renew in self._renewed(self.settings()):
            renew()
        self._reread_files()

    def _reread_files(self) -> None:
        for each in self._listeners:
            try:
                reread = each.reread()
            except ValueError as fault:
                LOG.error("the keys of a listener stay what they are: %s", fault)
            else:
                if reread is not None:
                    reread()

    def _renewed(self, settings: Mapping[str, str]) -> Iterable[Renewal]:
        found = (each.renewal(settings) for each in self._listeners)
        return [renewal for renewal in found if renewal]

    def remove(self, listener: RenewableKeys) -> None:
        self._listeners.remove(listener)

    def settings_of(self, listener: str) -> dict[str, str]:
        """What a listener is made of; of one that was there before, only its keys follow what was
        altered.
        """
        kept = {
            name: text for name, text in self.settings().items() if without_prefix(name) in RELOADED
        }
        return self._known({**self._broker.room(ListenerChanges).made_of(listener), **kept})

    def settings(self, own: Mapping[str, str] | None = None) -> dict[str, str]:
        """All settings of this broker that somebody gave, with `own` as its dynamic ones."""
        kept = self._broker.cluster.dynamic_configs
        if own is None:
            own = kept.get(str(self._broker.id), {})
        return self._known({**self._broker.config, **kept.get("", {}), **own})

    def _known(self, settings: Mapping[str, str]) -> dict[str, str]:
        """Without what the release has never heard of."""
        definitions = config_view.broker_definitions(self._broker.persona.release)
        unknown = tuple(each for each in (NEW_SUBJECT, NEW_NAMES) if each not in definitions)
        return {name: text for name, text in settings.items() if not name.endswith(unknown)}


def _in_java(refused: ValueError) -> str:
    """The exception as Java prints it, without the reasons that only we give."""
    said = refused.said if isinstance(refused, UnreadableStore) else str(refused)
    return f"{_FAILED}: {getattr(refused, 'java', _INVALID)}: {said}"
