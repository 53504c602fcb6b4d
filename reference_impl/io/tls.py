"""TLS of a listener: its keys and rules, and who its peers are by their certificates.

Files are read when a listener begins, when its broker comes back, and when its settings change
(`broker/security/listener_keys.py`).

Sources: SslTransportLayer, DefaultSslEngineFactory at 2.8.2 and 4.0 (what is asked of whom).
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from touchstone.reference_impl.broker.configs.listener_settings import Listener
from touchstone.reference_impl.broker.security.listener_keys import AnotherIdentity, Untrusted
from touchstone.reference_impl.broker.security.ssl_principals import Rule, user_of
from touchstone.reference_impl.broker.security.tls_settings import (
    NONE,
    REQUIRED,
    TlsSettings,
    told_of_keys,
)
from touchstone.reference_impl.io.tls_handshakes import shake_hands
from touchstone.reference_impl.io.tls_stores import (
    Shown,
    check_same,
    choose_suites,
    load_keys,
    load_trusted,
    speak_versions,
)
from touchstone.reference_impl.io.tls_stream import TlsFailed, TlsStream

_NO_TRUST = (
    "Cannot add SSL truststore to an existing listener for which no truststore was configured."
)


class TlsListener:
    """The keys and rules of one listener; `config` is all that is set for its broker. ValueError
    for what cannot be read.
    """

    def __init__(
        self, config: Mapping[str, str], listener: Listener, *, between_brokers: bool = False
    ) -> None:
        """`between_brokers`: whether other brokers would have to trust its certificate."""
        settings = TlsSettings.of(config, listener)
        self.names_users = not listener.sasl and settings.client_auth != NONE
        self.rules: tuple[Rule, ...] = settings.rules
        self._listener, self._between_brokers = listener, between_brokers
        self._told = told_of_keys(config, listener)
        self._keys = _Keys(settings)

    @property
    def context(self) -> ssl.SSLContext:
        return self._keys.context

    def renewal(self, config: Mapping[str, str]) -> Callable[[], None] | None:
        told = told_of_keys(config, self._listener)
        if told == self._told:
            return None
        return self._renewal(self._keys.settings.renewed(config, self._listener), told)

    def reread(self) -> Callable[[], None] | None:
        if not self._keys.were_rewritten():
            return None
        return self._renewal(self._keys.settings, self._told)

    def _renewal(self, settings: TlsSettings, told: tuple[str | None, ...]) -> Callable[[], None]:
        """What puts these in force. ValueError for keys that cannot be read or are another's."""
        old, new = self._keys, _Keys(settings, fit=False)
        subject, names = settings.new_subject, settings.new_names
        check_same(old.shown, new.shown, subject=subject, names=names)
        if old.settings.trusted is None and settings.trusted is not None:
            raise AnotherIdentity(_NO_TRUST)
        if self._between_brokers and trust_one_another(old, old):
            check_trust(old, new)
        return partial(self._become, new, told)

    def _become(self, keys: _Keys, told: tuple[str | None, ...]) -> None:
        self._keys, self._told = keys, told


class _Keys:
    """Keys and trusted certificates as they were read.

    `fit`: whether a key that is another certificate's is refused. Kafka does not look, and later no
    handshake succeeds; whoever starts a broker here is told.
    """

    def __init__(self, settings: TlsSettings, *, fit: bool = True) -> None:
        self.settings, self._written, self._fit = settings, _written(settings), fit
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        if settings.client_auth != NONE:
            required = settings.client_auth == REQUIRED
            self.context.verify_mode = ssl.CERT_REQUIRED if required else ssl.CERT_OPTIONAL
        self.shown = self._fill(self.context, ssl.Purpose.CLIENT_AUTH)

    def as_client(self) -> ssl.SSLContext:
        """For who shows these keys to another broker, by whatever name it has."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        self._fill(context, ssl.Purpose.SERVER_AUTH)
        return context

    def _fill(self, context: ssl.SSLContext, purpose: ssl.Purpose) -> Shown:
        settings = self.settings
        speak_versions(context, settings.versions)
        choose_suites(context, settings.suites)
        shown = load_keys(context, settings.keys, settings.key_password, fit=self._fit)
        load_trusted(context, settings.trusted, purpose)
        return shown

    def were_rewritten(self) -> bool:
        """Whether a file is newer, or older, than it was; one that is gone is not."""
        now = _written(self.settings)
        return any(at not in (None, was) for at, was in zip(now, self._written, strict=True))


def _written(settings: TlsSettings) -> tuple[int | None, ...]:
    """When each file of these settings was written, in ns; None for one that does not exist."""
    stores = (settings.keys, settings.trusted)
    paths = [Path(each.path) for each in stores if each is not None and each.path is not None]
    return tuple(path.stat().st_mtime_ns if path.exists() else None for path in paths)


def check_trust(one: _Keys, other: _Keys) -> None:
    """Whether each side trusts the other, as SslEngineValidator tries it; Untrusted if not."""
    shake_hands(one.context, other.as_client())
    shake_hands(other.context, one.as_client())


def trust_one_another(one: _Keys, other: _Keys) -> bool:
    """Kafka would not have begun with keys that it does not trust itself; here nobody needs to."""
    try:
        check_trust(one, other)
    except Untrusted:
        return False
    return True


class TlsLayer(TlsStream):
    """One connection's TLS."""

    def __init__(self, listener: TlsListener) -> None:
        super().__init__(listener.context, server_side=True)
        self._listener = listener

    def user(self) -> str | None:
        """Whose certificate the peer has shown, where that says who it is. TlsFailed where no rule
        knows its name.
        """
        if not (self.ready and self._listener.names_users):
            return None
        certificate: dict[str, Any] | None = self._tls.getpeercert()
        if not certificate:
            return None
        try:
            return user_of(certificate["subject"], self._listener.rules)
        except ValueError as nobody:
            raise TlsFailed(str(nobody)) from None
