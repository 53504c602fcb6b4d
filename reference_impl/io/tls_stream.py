"""TLS between a socket and the frames of its connection, without a socket of its own.

Bytes that came in go through `received`, pieces to be sent through `encrypted`; what the handshake
has to say is in `outgoing`. So whoever has the socket stays the only one that reads, writes and
waits.
"""

from __future__ import annotations

import contextlib
import ssl
from collections.abc import Iterable

_CHUNK = 1 << 16


class TlsFailed(ValueError):
    """The peer speaks no TLS, or not the one that is asked for; `fault` is how `ssl` has it."""

    def __init__(self, said: str, fault: ssl.SSLError | None = None) -> None:
        super().__init__(said)
        self.fault = fault


class TlsStream:
    """One connection's TLS, of either side."""

    def __init__(
        self, context: ssl.SSLContext, *, server_side: bool, server_name: str | None = None
    ) -> None:
        self._in, self._out = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(
            self._in, self._out, server_side=server_side, server_hostname=server_name
        )
        self.ready = False
        self.ended = False  # the peer has said that it will say no more

    def received(self, data: bytes) -> bytes:
        """What the peer said in what came in; TlsFailed, after which `outgoing` has an alert."""
        self._in.write(data)
        found = []
        try:
            self._shake_hands()
            while piece := self._tls.read(_CHUNK):
                found.append(piece)
            self.ended = True
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLError as fault:
            raise TlsFailed(fault.reason or str(fault), fault) from None
        return b"".join(found)

    def _shake_hands(self) -> None:
        if not self.ready:
            self._tls.do_handshake()
            self.ready = True

    def encrypted(self, pieces: Iterable[bytes]) -> tuple[bytes, ...]:
        for piece in pieces:
            if piece:
                self._tls.write(piece)
        return (self._out.read(),)

    def outgoing(self) -> bytes:
        """What TLS itself has to say."""
        return self._out.read()

    def farewell(self) -> bytes:
        if not self.ready:
            return b""
        with contextlib.suppress(ssl.SSLError, ValueError):
            self._tls.unwrap()
        return self._out.read()
