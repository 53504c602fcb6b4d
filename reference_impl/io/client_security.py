"""What the connections of one client have in common: their TLS context, and how they log in."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from touchstone.reference_impl.client.security.authenticator import SaslAuthenticator
from touchstone.reference_impl.client.security.mechanisms import OAuthBearer
from touchstone.reference_impl.client.security.security_settings import (
    PLAINTEXT,
    SecuritySettings,
)
from touchstone.reference_impl.io.client_tls import ClientTls, client_context

if TYPE_CHECKING:
    from touchstone.reference_impl.io.bearer_tokens import BearerTokens

_TOKENS = "touchstone.reference_impl.io.bearer_tokens"  # brings an HTTP client, which few need


class ClientSecurity:
    """`draw` gives a number of [0, 1). Raises ConfigException for stores that cannot be read."""

    def __init__(self, draw: Callable[[], float], settings: SecuritySettings = PLAINTEXT) -> None:
        self._draw, self._sasl = draw, settings.sasl
        self._new_client = settings.sasl.new_client if settings.sasl else None
        self.context: ssl.SSLContext | None = None
        self.tokens: BearerTokens | None = None  # from a file or a server
        if settings.tls is not None:
            self.context = client_context(settings.tls)
        if settings.sasl is not None and settings.sasl.tokens is not None:
            source = settings.sasl.tokens
            tokens: BearerTokens = import_module(_TOKENS).BearerTokens(source, None)
            self.tokens = tokens
            self._new_client = lambda: OAuthBearer(tokens.token, source.extensions)

    def authenticator(self) -> SaslAuthenticator | None:
        """What a new connection has to do before it is used."""
        sasl = self._sasl
        if sasl is None or self._new_client is None:
            return None
        return SaslAuthenticator(sasl.mechanism, self._new_client, self._draw)

    def tls(self, host: str) -> ClientTls | None:
        """The TLS of a new connection to this host."""
        return None if self.context is None else ClientTls(self.context, host)
