"""Targets that lie about one thing each, to prove that a checker or the driver notices.

A liar stands between the harness and honest answers (a broker behind it, or a stored transcript)
and corrupts exactly one property. Each names who must catch it: a checker, or an ending that the
driver must survive ("hung", "closed"). A test runs every liar, and another insists that every
checker has one; so a checker that cannot fail cannot be added. The lies are in `misbehaviour`, and
in `hostile` those that no checker is for: what asks them must end in time, unharmed.

The honest side is an Upstream: a function from a request frame to the answer's frame.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time
from collections.abc import Callable
from typing import Any

from touchstone.harness.model.target import Address, Endpoint
from touchstone.harness.model.transcript import Transcript
from touchstone.harness.targets.hostile import HOSTILE
from touchstone.harness.targets.misbehaviour import LIARS, HangUp, Liar, Turn, sized
from touchstone.reference_impl.wire import headers
from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.schema import Struct

__all__ = ["HOSTILE", "LIARS", "Liar", "LyingServer", "broker", "stored"]

Upstream = Callable[[bytes], bytes | None]


class LyingServer:
    """Serves one liar on a loopback port, 0 for a free one, until it is stopped."""

    def __init__(self, liar: Liar | None, upstream: Callable[[], Upstream], port: int = 0) -> None:
        self.liar, self.upstream = liar, upstream
        self.memory: dict[str, Any] = {}
        self.sockets: list[socket.socket] = []
        self.listener = socket.create_server(("127.0.0.1", port))
        self.address: Address = self.listener.getsockname()[:2]
        self.thread = threading.Thread(target=self._accept, daemon=True)
        self.thread.start()

    @property
    def endpoint(self) -> Endpoint:
        return Endpoint((self.address,))

    def __enter__(self) -> LyingServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        for one in (self.listener, *self.sockets):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        self.thread.join(5)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.sockets.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        upstream = self.upstream()
        with contextlib.suppress(OSError, HangUp):
            while True:
                frame = _frame(connection)
                if frame is None:
                    break
                self._send(connection, self._reply(frame, upstream(frame)))
        connection.close()
        if isinstance(upstream, Behind):
            upstream.close()

    def _send(self, connection: socket.socket, data: bytes) -> None:
        """All at once, byte by byte where the lie is slowness, or again and again."""
        if self.liar is None or not self.liar.drip_s:
            connection.sendall(data)
            while self.liar is not None and self.liar.endless:
                connection.sendall(data)
            return
        for byte in data:
            connection.sendall(bytes((byte,)))
            time.sleep(self.liar.drip_s)

    def _reply(self, frame: bytes, honest: bytes | None) -> bytes:
        spoiled = None if self.liar is None else self.liar.lie(_turn(frame, honest, self.memory))
        if spoiled is None:
            return b"" if honest is None else sized(honest)
        raw = self.liar is not None and self.liar.raw
        return b"".join(spoiled if raw else map(sized, spoiled))


def _turn(frame: bytes, honest: bytes | None, memory: dict[str, Any]) -> Turn:
    key, version = struct.unpack_from(">hh", frame)
    request: Struct = {}
    with contextlib.suppress(ValueError):
        request = headers.decode_request(frame).body
    return Turn(frame, honest, API[key].name if key in API else "", version, request, memory)


def _frame(connection: socket.socket) -> bytes | None:
    head = _exactly(connection, 4)
    return None if head is None else _exactly(connection, struct.unpack(">i", head)[0])


def _exactly(connection: socket.socket, count: int) -> bytes | None:
    chunks = bytearray()
    while len(chunks) < count:
        chunk = connection.recv(count - len(chunks))
        if not chunk:
            return None
        chunks += chunk
    return bytes(chunks)


# honest sides


def broker(address: Address) -> Callable[[], Upstream]:
    """Honest answers of a running broker; one connection to it per connection to the liar."""
    return lambda: Behind(address)


class Behind:
    """The connection to the broker behind a liar (an Upstream)."""

    def __init__(self, address: Address) -> None:
        self.connection = socket.create_connection(address, 10)

    def __call__(self, frame: bytes) -> bytes | None:
        self.connection.sendall(sized(frame))
        if _wants_no_answer(frame):
            return None
        answer = _frame(self.connection)
        if answer is None:
            raise HangUp
        return answer

    def close(self) -> None:
        self.connection.close()


def stored(transcript: Transcript) -> Callable[[], Upstream]:
    """Honest answers of a stored transcript, to the frames that it holds.

    A frame that is not in it ends the connection: whoever replays must use the same nonce.
    """
    answers: dict[bytes, bytes | None] = {}
    for trip in transcript.round_trips:
        if trip.sent is not None:
            answers[trip.sent.raw] = trip.received.raw if trip.received else None

    def ask(frame: bytes) -> bytes | None:
        if frame not in answers or (answers[frame] is None and not _wants_no_answer(frame)):
            raise HangUp
        return answers[frame]

    return lambda: ask


def _wants_no_answer(frame: bytes) -> bool:
    if frame[:2] != b"\0\0":
        return False
    try:
        return headers.decode_request(frame).body["acks"] == 0
    except ValueError:
        return False
