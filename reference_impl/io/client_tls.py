"""The client's side of TLS: whom it trusts, what it shows, and one connection's handshake.

Source: DefaultSslEngineFactory, SslTransportLayer.handshakeFailure at 4.3.1.
"""

from __future__ import annotations

import ssl

from touchstone.reference_impl.client.configs.parsing import ConfigException
from touchstone.reference_impl.client.connection import ProtocolFault
from touchstone.reference_impl.client.security.errors import SslAuthenticationException
from touchstone.reference_impl.client.security.security_settings import TlsClientSettings
from touchstone.reference_impl.io.tls_stores import (
    choose_suites,
    load_keys,
    load_trusted,
    speak_versions,
)
from touchstone.reference_impl.io.tls_stream import TlsFailed, TlsStream


def client_context(settings: TlsClientSettings) -> ssl.SSLContext:
    """Reads all stores. Raises ConfigException for what cannot be read."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = settings.checks_host
    try:
        speak_versions(context, settings.versions)
        choose_suites(context, settings.suites)
        if settings.keys is not None:
            load_keys(context, settings.keys, settings.key_password)
        load_trusted(context, settings.trusted, ssl.Purpose.SERVER_AUTH)
    except ValueError as fault:
        raise ConfigException(str(fault)) from None
    return context


class ClientTls:
    """What a connection says waits until the broker is believed."""

    def __init__(self, context: ssl.SSLContext, host: str) -> None:
        self._stream = TlsStream(context, server_side=False, server_name=host)
        self._unsaid = b""
        self._answered = False
        self._stream.received(b"")  # our half of the handshake begins it

    def decrypted(self, chunk: bytes) -> bytes:
        """What the broker says. With TLS 1.3 it may refuse us only after the handshake."""
        try:
            found = self._stream.received(chunk)
        except TlsFailed as fault:
            if self._answered:
                raise ProtocolFault(f"TLS: {fault}") from None
            raise SslAuthenticationException("SSL handshake failed") from fault
        self._answered = self._answered or bool(found)
        return found

    def wrapped(self, said: bytes) -> bytes:
        """Bytes for the socket, of what is said and of TLS itself."""
        self._unsaid += said
        if not self._stream.ready:
            return self._stream.outgoing()
        unsaid, self._unsaid = self._unsaid, b""
        return b"".join(self._stream.encrypted((unsaid,)))
