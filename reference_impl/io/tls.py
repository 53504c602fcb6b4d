"""TLS of a listener: its keys and rules, and who its peers are by their certificates.

Files are read when a listener begins, and again when its broker comes back.

Sources: SslTransportLayer, DefaultSslEngineFactory at 2.8.2 and 4.0 (what is asked of whom).
"""

from __future__ import annotations

import ssl
from typing import Any

from touchstone.reference_impl.broker.configs.listener_settings import Listener
from touchstone.reference_impl.broker.security.ssl_principals import Rule, user_of
from touchstone.reference_impl.broker.security.tls_settings import NONE, REQUIRED, TlsSettings
from touchstone.reference_impl.io.tls_stores import (
    choose_suites,
    load_keys,
    load_trusted,
    speak_versions,
)
from touchstone.reference_impl.io.tls_stream import TlsFailed, TlsStream


class TlsListener:
    """The keys and rules of one listener. ValueError for what cannot be read."""

    def __init__(self, settings: TlsSettings, listener: Listener) -> None:
        self.names_users = not listener.sasl and settings.client_auth != NONE
        self.rules: tuple[Rule, ...] = settings.rules
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        speak_versions(self.context, settings.versions)
        if settings.client_auth != NONE:
            required = settings.client_auth == REQUIRED
            self.context.verify_mode = ssl.CERT_REQUIRED if required else ssl.CERT_OPTIONAL
        choose_suites(self.context, settings.suites)
        load_keys(self.context, settings.keys, settings.key_password)
        load_trusted(self.context, settings.trusted, ssl.Purpose.CLIENT_AUTH)


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
