"""Sockets, one thread and the wall clock for all brokers of a process.

One loop waits on every listener and connection; the brokers' cores decide, this file carries out.
Per connection one request is in work (WIRE-10): its bytes are read on while no request of it waits
for an answer, and the next frame is handed over only when the last answer has left. A peer that
does not read its answers is therefore never read from, which is all the back-pressure there is.

Kept here because they are about connections, not requests: the frame limit (WIRE-18), idle
connections (WIRE-22), connection limits (WIRE-06), graceful stop.
"""

from __future__ import annotations

import contextlib
import logging
import selectors
import socket
import time
from collections import OrderedDict, deque
from struct import Struct

from reference_impl.broker.broker import Broker
from reference_impl.broker.effects import Ask, Close, Connection, Effect, Reply
from reference_impl.io.links import Links, PeerConnection
from reference_impl.wire.framing import KAFKA_LIMIT, FrameError, Frames

LOG = logging.getLogger("touchstone.server")
_SIZE = Struct(">i")
_CHUNK = 1 << 18
_BACKLOG = 512
_MOST_PIECES = 512  # below what one writev takes anywhere (IOV_MAX is 1024 on Linux)
_MOST_HELD, _SMALL = 64, 1 << 12
READ, WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE


def wall_clock() -> int:
    return time.time_ns() // 1_000_000


class Channel(Connection):
    """A connection with its socket, the frames that wait and the bytes that did not fit."""

    __slots__ = (
        "broker",
        "busy",
        "closing",
        "events",
        "frames",
        "held",
        "inbox",
        "outbox",
        "sock",
        "working",
    )

    def __init__(
        self, number: int, sock: socket.socket, broker: Broker, limit: int, peer: str
    ) -> None:
        super().__init__(number, peer)
        self.sock = sock
        self.broker = broker
        self.inbox = Frames(limit)
        self.frames: deque[bytes] = deque()
        self.outbox: deque[memoryview] = deque()
        self.held: list[bytes] = []  # answers that leave with the next one, in one system call
        self.working = False  # its frames are being handed over right now
        self.busy = False  # a request is in work; with bytes in the outbox its answer is not out
        self.closing = False
        self.events = READ

    @property
    def open(self) -> bool:
        return self.sock.fileno() >= 0


class Server:
    def __init__(self, *, clock=wall_clock) -> None:
        self._clock = clock
        self._selector = selectors.DefaultSelector()
        self._channels: OrderedDict[Channel, int] = OrderedDict()  # by last use, oldest first
        self._per_host: dict[str, int] = {}
        self._listeners: list[socket.socket] = []
        self._brokers: list[Broker] = []
        self._numbers = 0
        self._stop = False
        self._ready: deque[Channel] = deque()
        self._buffer = bytearray(_CHUNK)
        self._view = memoryview(self._buffer)
        self._waker, self._wake_end = socket.socketpair()
        self._wake_end.setblocking(False)
        self._waker.setblocking(False)
        self._selector.register(self._wake_end, READ, None)
        self.links = Links(self._perform, clock)
        self.links.wake = self.wake

    # --- set-up ------------------------------------------------------------------------------

    @staticmethod
    def bind(host: str, port: int) -> socket.socket:
        """A listening socket; connections wait in its backlog until the loop runs."""
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
            listener.listen(_BACKLOG)
        except OSError:
            listener.close()
            raise
        listener.setblocking(False)
        return listener

    def add(self, listener: socket.socket, broker: Broker) -> None:
        self._listeners.append(listener)
        self._brokers.append(broker)
        self.links.add(broker)
        self._selector.register(listener, READ, broker)

    def stop(self) -> None:
        """Ask the loop to end; safe from another thread and from a signal handler."""
        self._stop = True
        self.wake()

    def wake(self) -> None:
        """Have the loop look at once, from another thread."""
        with contextlib.suppress(OSError):
            self._waker.send(b"\0")

    @property
    def waker(self) -> socket.socket:
        """Something a signal can write to in order to wake the loop."""
        return self._waker

    # --- the loop ----------------------------------------------------------------------------

    def run(self) -> None:
        try:
            while not self._stop:
                self._turn()
        finally:
            self._shut()

    def _turn(self) -> None:
        for key, events in self._selector.select(self._patience()):
            item = key.data
            if type(item) is Channel:
                if events & WRITE:
                    self._flush(item)
                if events & READ and not item.closing:
                    self._readable(item)
            elif item is None:
                self._wake_end.recv(4096)
            else:
                self._accept(key.fileobj, item)
        now = self._clock()
        for broker in self._brokers:
            due = broker.deadline()
            if due is not None and due <= now:
                self._perform(broker.tick(now))
        self.links.deliver(now)
        self._drop_idle(now)
        while self._ready:
            self._work(self._ready.popleft())

    def _patience(self) -> float | None:
        """Seconds until something is due; None when only a peer can bring work."""
        deadlines = [broker.deadline() for broker in self._brokers]
        deadlines.append(self.links.deadline())
        due = min((at for at in deadlines if at is not None), default=None)
        if self._channels:
            channel, used = next(iter(self._channels.items()))
            idle = used + channel.broker.number("connections.max.idle.ms", 600_000)
            due = idle if due is None else min(due, idle)
        return None if due is None else max(0, due - self._clock()) / 1000

    def _accept(self, listener: socket.socket, broker: Broker) -> None:
        while True:
            try:
                sock, address = listener.accept()
            except BlockingIOError:
                return
            except OSError as fault:  # out of descriptors, or the peer is gone again
                LOG.warning("cannot accept: %s", fault)
                return
            host = address[0]
            most = broker.number("max.connections.per.ip", 2**31 - 1)
            total = broker.number("max.connections", 2**31 - 1)
            if self._per_host.get(host, 0) >= most or len(self._channels) >= total:
                LOG.info("rejected a connection from %s: limit reached", host)
                sock.close()
                continue
            sock.setblocking(False)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            self._numbers += 1
            limit = broker.number("socket.request.max.bytes", KAFKA_LIMIT)
            channel = Channel(self._numbers, sock, broker, limit, host)
            self._channels[channel] = self._clock()
            self._per_host[host] = self._per_host.get(host, 0) + 1
            self._selector.register(sock, READ, channel)

    def _readable(self, channel: Channel) -> None:
        if channel.busy or channel.outbox:
            self._watch(channel, channel.events & ~READ)
            return
        try:
            count = channel.sock.recv_into(self._buffer)
        except BlockingIOError:
            return
        except OSError as fault:
            self._close(channel, f"cannot read: {fault}")
            return
        if not count:
            self._close(channel, "the peer closed")
            return
        self._channels[channel] = self._clock()
        self._channels.move_to_end(channel)
        try:
            channel.frames.extend(channel.inbox.feed(bytes(self._view[:count])))
        except FrameError as fault:
            channel.frames.extend(fault.frames)
            channel.closing = True
            LOG.info("connection %d: %s", channel.id, fault)
        self._work(channel)

    def _work(self, channel: Channel) -> None:
        """Hand over frames until one has to wait, or none is left."""
        channel.working = True
        while channel.frames and not channel.busy and not channel.outbox and channel.open:
            channel.busy = True
            frame = channel.frames.popleft()
            try:
                effects = channel.broker.receive(channel, frame, self._clock())
            except Exception:  # a fault of ours ends one connection, never the loop (WIRE-09)
                LOG.exception("connection %d: the broker failed", channel.id)
                self._close(channel, "the broker failed")
                break
            self._perform(effects)
        channel.working = False
        if channel.held:
            self._write(channel, ())
        if channel.closing and not (channel.busy or channel.frames or channel.outbox):
            self._close(channel, "a frame of an impossible size")

    # --- effects -----------------------------------------------------------------------------

    def _perform(self, effects: list[Effect]) -> None:
        for effect in effects:
            if type(effect) is Ask:
                self.links.send(effect)
                continue
            channel = effect.connection
            if type(channel) is PeerConnection:
                parts = effect.parts if type(effect) is Reply else None
                self.links.answer(channel, parts)
                continue
            if not channel.open:
                continue  # the peer is gone (WIRE-17)
            if type(effect) is Reply:
                self._send(channel, effect.parts)
            elif type(effect) is Close:
                self._close(channel, effect.reason)
            else:
                channel.busy = False
                self._resume(channel)

    def _send(self, channel: Channel, parts: tuple[bytes, ...]) -> None:
        """Answer and read on. While more frames of a pipeline are at hand, small answers are held
        back and leave together: one write instead of many, in the same order."""
        size = sum(map(len, parts))
        pieces = (_SIZE.pack(size), *parts)
        if channel.working and channel.frames and size < _SMALL and len(channel.held) < _MOST_HELD:
            channel.held += pieces
        else:
            self._write(channel, pieces)
        channel.busy = False
        self._resume(channel)

    def _write(self, channel: Channel, pieces: tuple[bytes, ...]) -> None:
        """Send what was held and `pieces`; what does not fit follows when the peer reads."""
        if channel.held:
            pieces = (*channel.held, *pieces)
            channel.held.clear()
        try:
            sent = channel.sock.sendmsg(pieces[:_MOST_PIECES])
        except BlockingIOError:
            sent = 0
        except OSError as fault:
            self._close(channel, f"cannot write: {fault}")
            return
        for piece in pieces:
            if sent < len(piece):
                channel.outbox.append(memoryview(piece)[sent:])
            sent = max(0, sent - len(piece))
        if channel.outbox:
            self._watch(channel, channel.events | WRITE)

    def _flush(self, channel: Channel) -> None:
        outbox = channel.outbox
        while outbox:
            try:
                sent = channel.sock.send(outbox[0])
            except BlockingIOError:
                return
            except OSError as fault:
                self._close(channel, f"cannot write: {fault}")
                return
            if sent < len(outbox[0]):
                outbox[0] = outbox[0][sent:]
                return
            outbox.popleft()
        self._watch(channel, channel.events & ~WRITE)
        self._channels[channel] = self._clock()
        self._channels.move_to_end(channel)
        self._resume(channel)

    def _resume(self, channel: Channel) -> None:
        """Take the next request, if the last one is answered and the answer is out."""
        if channel.busy or channel.outbox or not channel.open:
            return
        if not channel.events & READ and not channel.closing:
            self._watch(channel, channel.events | READ)
        if (channel.frames or channel.closing) and not channel.working:
            self._ready.append(channel)

    def _watch(self, channel: Channel, events: int) -> None:
        if events == channel.events:
            return
        if not channel.events:
            self._selector.register(channel.sock, events, channel)
        elif events:
            self._selector.modify(channel.sock, events, channel)
        else:
            self._selector.unregister(channel.sock)
        channel.events = events

    # --- endings -----------------------------------------------------------------------------

    def _close(self, channel: Channel, reason: str) -> None:
        LOG.debug("connection %d closed: %s", channel.id, reason)
        if channel.held:  # answers to what came before the end of a pipeline
            with contextlib.suppress(OSError):
                channel.sock.sendmsg(channel.held)
            channel.held.clear()
        if channel.events:
            self._selector.unregister(channel.sock)
            channel.events = 0
        channel.sock.close()
        channel.frames.clear()
        channel.outbox.clear()
        if self._channels.pop(channel, None) is not None:
            host = channel.peer_host
            self._per_host[host] -= 1
            if not self._per_host[host]:
                del self._per_host[host]
        channel.broker.closed(channel)

    def _drop_idle(self, now: int) -> None:
        while self._channels:
            channel, used = next(iter(self._channels.items()))
            if now - used < channel.broker.number("connections.max.idle.ms", 600_000):
                return
            self._close(channel, "idle")

    def _shut(self) -> None:
        for listener in self._listeners:
            listener.close()
        for channel in list(self._channels):
            self._close(channel, "the broker stops")
        self._selector.close()
        self._waker.close()
        self._wake_end.close()
