"""A plain socket to a peer that speaks TLS: two ends in this process, and a thread between them.

Everything that the harness and the fuzzers do with a connection (deadlines, selectors, half a
close, a reset) is done with a plain socket, and TLS answers each of these differently: bytes that
`select` does not see, reads that want to write. So a connection that has shaken hands is bridged:
the caller gets one end of a TCP connection on loopback, and one thread, for all bridges of the
process, carries bytes between the other end and TLS. A close of the peer is a close here, a reset
is a reset, and half a close of ours is said to the peer (close_notify, and FIN).
"""

from __future__ import annotations

import contextlib
import selectors
import socket
import ssl
import struct
import threading
from dataclasses import dataclass, field

CHUNK = 256 << 10
MOST = 4 << 20  # bytes that wait for one side before the other is read no more
_RESETS = struct.pack("ii", 1, 0)  # SO_LINGER: a close sends a reset
_WANTS = (ssl.SSLWantReadError, ssl.SSLWantWriteError, BlockingIOError, InterruptedError)


def opened(tls: ssl.SSLSocket) -> socket.socket:
    """A plain socket that carries what this connection says; it is the bridge's from now on."""
    ours, callers = _pair()
    tls.setblocking(False)
    ours.setblocking(False)
    for each in (ours, callers):
        each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    _carrier().take(_Bridge(tls, ours))
    return callers


def _pair() -> tuple[socket.socket, socket.socket]:
    """Two ends of a TCP connection on loopback, which nobody else has got between."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(1)
        callers = socket.socket()
        callers.connect(listener.getsockname())
        while True:
            ours, whose = listener.accept()
            if whose == callers.getsockname():
                return ours, callers
            ours.close()


@dataclass(eq=False, slots=True)
class _Bridge:
    tls: ssl.SSLSocket
    plain: socket.socket
    to_peer: bytearray = field(default_factory=bytearray)
    to_caller: bytearray = field(default_factory=bytearray)
    said_all: bool = False  # the caller has ended its half
    told: bool = False  # and the peer knows
    heard_all: bool = False  # the peer has ended
    wants_write: bool = False  # TLS cannot go on before it has written

    def carry(self) -> bool:
        """Move what can be moved; False when the bridge is done for."""
        try:
            self._from_peer()
            self._from_caller()
            self._to_peer()
            return self._to_caller()
        except OSError:  # the peer has reset it, or TLS is broken, or the caller has gone
            return False

    def _from_peer(self) -> None:
        while not self.heard_all and len(self.to_caller) < MOST:
            try:
                chunk = self.tls.recv(CHUNK)
            except ssl.SSLWantWriteError:
                self.wants_write = True
                return
            except _WANTS:
                return
            except (ssl.SSLZeroReturnError, ssl.SSLEOFError):  # it said goodbye, or did not
                chunk = b""
            self.heard_all = not chunk
            self.to_caller += chunk

    def _from_caller(self) -> None:
        while not self.said_all and len(self.to_peer) < MOST:
            try:
                chunk = self.plain.recv(CHUNK)
            except _WANTS:
                return
            self.said_all = not chunk
            self.to_peer += chunk

    def _to_peer(self) -> None:
        self.wants_write = False
        while self.to_peer:
            try:
                del self.to_peer[: self.tls.send(self.to_peer)]
            except _WANTS:
                self.wants_write = True
                return
        if self.said_all and not self.told:
            self.told = True
            with contextlib.suppress(OSError, ValueError):
                self.tls.unwrap()  # says goodbye, and does not wait for the peer's
                self.heard_all = True  # which has come
            socket.socket.shutdown(self.tls, socket.SHUT_WR)

    def _to_caller(self) -> bool:
        while self.to_caller:
            try:
                del self.to_caller[: self.plain.send(self.to_caller)]
            except _WANTS:
                return True
        return not self.heard_all

    def end(self) -> None:
        """Close both; an end that is no close of the peer's is a reset to the caller."""
        if not self.heard_all:
            with contextlib.suppress(OSError):
                self.plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESETS)
        for each in (self.plain, self.tls):
            with contextlib.suppress(OSError):
                each.close()


class _Carrier(threading.Thread):
    """Carries for every bridge; it ends with the process."""

    def __init__(self) -> None:
        super().__init__(name="touchstone-tls", daemon=True)
        self._selector = selectors.DefaultSelector()
        self._new: list[_Bridge] = []
        self._lock = threading.Lock()
        self._awake, self._waker = socket.socketpair()
        self._awake.setblocking(False)
        self._selector.register(self._awake, selectors.EVENT_READ, None)

    def take(self, bridge: _Bridge) -> None:
        with self._lock:
            self._new.append(bridge)
        self._waker.send(b"w")

    def run(self) -> None:
        while True:
            found = {key.data for key, _ in self._selector.select()}
            if None in found:
                found.remove(None)
                found |= self._begun()
            for bridge in found:
                if bridge.carry():
                    self._watch(bridge)
                else:
                    self._forget(bridge)

    def _begun(self) -> set[_Bridge]:
        with contextlib.suppress(BlockingIOError):
            self._awake.recv(CHUNK)
        with self._lock:
            new, self._new = self._new, []
        return set(new)

    def _watch(self, bridge: _Bridge) -> None:
        reads, writes = selectors.EVENT_READ, selectors.EVENT_WRITE
        peer = reads * (len(bridge.to_caller) < MOST) | writes * bridge.wants_write
        caller = reads * (not bridge.said_all and len(bridge.to_peer) < MOST)
        caller |= writes * bool(bridge.to_caller)
        for side, events in ((bridge.tls, peer), (bridge.plain, caller)):
            known = side in self._selector.get_map()
            if events and not known:
                self._selector.register(side, events, bridge)
            elif events and self._selector.get_key(side).events != events:
                self._selector.modify(side, events, bridge)
            elif not events and known:
                self._selector.unregister(side)

    def _forget(self, bridge: _Bridge) -> None:
        for side in (bridge.tls, bridge.plain):
            if side in self._selector.get_map():
                self._selector.unregister(side)
        bridge.end()


_carriers: list[_Carrier] = []
_starting = threading.Lock()


def _carrier() -> _Carrier:
    """The one of this process, started when the first bridge needs it."""
    with _starting:
        if not _carriers or not _carriers[0].is_alive():  # as in a process that was forked
            _carriers[:] = [_Carrier()]
            _carriers[0].start()
        return _carriers[0]
