"""TLS of a listener: its keys and rules, and who its peers are by their certificates.

Files are read when a listener begins, when its broker comes back, and when its settings change.

Sources: SslTransportLayer, DefaultSslEngineFactory at 2.8.2 and 4.0 (what is asked of whom).
"""

from __future__ import annotations

import ssl
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from touchstone.reference_impl.broker.configs.listener_settings import Listener
from touchstone.reference_impl.broker.security.listener_keys import AnotherIdentity
from touchstone.reference_impl.broker.security.ssl_principals import Rule, user_of
from touchstone.reference_impl.broker.security.tls_settings import NONE, REQUIRED, TlsSettings
from touchstone.reference_impl.io.tls_stores import (
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
    """The keys and rules of one listener. ValueError for what cannot be read."""

    def __init__(self, settings: TlsSettings, listener: Listener) -> None:
        self.names_users = not listener.sasl and settings.client_auth != NONE
        self.rules: tuple[Rule, ...] = settings.rules
        self._settings, self._listener = settings, listener
        self._written = _written(settings)  # when its files were
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        speak_versions(self.context, settings.versions)
        if settings.client_auth != NONE:
            required = settings.client_auth == REQUIRED
            self.context.verify_mode = ssl.CERT_REQUIRED if required else ssl.CERT_OPTIONAL
        choose_suites(self.context, settings.suites)
        self._chain = load_keys(self.context, settings.keys, settings.key_password)
        load_trusted(self.context, settings.trusted, ssl.Purpose.CLIENT_AUTH)

    def renewal(self, told: TlsSettings) -> Callable[[], None]:
        """What puts the keys that it is told in force. ValueError, in Kafka's words, for keys that
        cannot be read or are another's.
        """
        old = self._settings
        wanted = old._replace(keys=told.keys, key_password=told.key_password, trusted=told.trusted)
        if wanted == old and _written(wanted) == self._written:
            return lambda: None
        if old.trusted is None and wanted.trusted is not None:
            raise AnotherIdentity(_NO_TRUST)
        found = TlsListener(wanted, self._listener)
        check_same(self._chain, found._chain)
        return partial(self._become, found)

    def _become(self, other: TlsListener) -> None:
        self.context, self._chain = other.context, other._chain
        self._settings, self._written = other._settings, other._written


def _written(settings: TlsSettings) -> tuple[int, ...]:
    """When each file of these settings was written, in ns; 0 for one that is not there."""
    stores = (settings.keys, settings.trusted)
    paths = [Path(each.path) for each in stores if each is not None and each.path is not None]
    return tuple(path.stat().st_mtime_ns if path.exists() else 0 for path in paths)


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
