"""Sockets, one thread and the wall clock for all brokers of a process.

One loop waits on every listener and connection; the brokers' cores decide, this file carries out.
Per connection one request is in work (WIRE-10): its bytes are read on while no request of it waits
for an answer, and the next frame is handed over only when the last answer has left. A peer that
does not read its answers is therefore never read from. Of what one connection has sent a part is
served, by frames and by the CPU time that they took, then it is somebody else's turn.

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
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from struct import Struct
from typing import Protocol, TypeVar

from touchstone.reference_impl.broker.broker import Broker
from touchstone.reference_impl.broker.configs.listener_changes import ListenerChanges
from touchstone.reference_impl.broker.data.beside_loop import BesideLoop
from touchstone.reference_impl.broker.effects import Ask, Close, Effect, Principal, Reply
from touchstone.reference_impl.io import outgoing, portable
from touchstone.reference_impl.io.acceptor import Acceptor
from touchstone.reference_impl.io.background import LoopSide
from touchstone.reference_impl.io.channel import READ, WRITE, Channel
from touchstone.reference_impl.io.links import Links, PeerConnection
from touchstone.reference_impl.io.listener_sockets import ListenerSockets, bind
from touchstone.reference_impl.wire.framing import FrameError

LOG = logging.getLogger("touchstone.server")
_SIZE = Struct(">i")
_CHUNK, _SOME = 1 << 18, 1 << 15  # bytes of a read: of a frame that has begun, of many small ones
_MOST_HELD, _SMALL = 64, 1 << 12
_LOOK_MS, _LONGEST_MS = 1000, 3_600_000  # what a selector can wait has an end (24 days)
T = TypeVar("T")
# Bytes of a frame that waits for the turn of slow ones; CPU of one whose next waits there, too.
_LONG, _SLOW_S = 1 << 16, 0.002
_FRAMES, _SHARE_S = 16, 0.001  # of one connection in one turn: frames, and CPU after which no more
_BACKLOG_S = 0.01  # CPU of one turn for connections that had their share in an earlier one


class TimedTask(Protocol):
    """A task that the loop does beside the brokers, at the instants that it names."""

    def deadline(self) -> int | None: ...
    def tick(self, now: int) -> None: ...


class Server:
    def __init__(
        self, *, clock: Callable[[], int], before_answers: Callable[[], None] = lambda: None
    ) -> None:
        """`before_answers()` makes durable what the answers that follow it tell of."""
        self._clock = clock
        self._selector = selectors.DefaultSelector()
        self._channels: OrderedDict[Channel, int] = OrderedDict()  # by last use, oldest first
        self._unused: set[Channel] = set()  # where those that never spoke are not idle
        self._acceptor = Acceptor(self._selector, self._accepted, self._look_soon, clock)
        self._muted = portable.ends()  # channels of which nothing is awaited but their end
        self._look_at: int | None = None
        self._brokers: list[Broker] = []
        self._stop = False
        self._ready: dict[Channel, None] = {}  # they have frames left; the longest waiting first
        self._slow: dict[Channel, None] = {}  # their next frame may take long: one in each turn
        self._view = memoryview(bytearray(_CHUNK))
        self._waker, self._wake_end = socket.socketpair()
        self._wake_end.setblocking(False)
        self._waker.setblocking(False)
        self._selector.register(self._wake_end, READ, None)
        self.links = Links(self._perform, clock, self.wake)
        self._frozen: set[Broker] = set()
        self._calls: deque[Callable[[int], None]] = deque()  # by other threads
        self._beside = LoopSide(self.call)
        self.timed_task: TimedTask | None = None
        self._before_answers = before_answers

    # --- set-up ------------------------------------------------------------------------------

    bind = staticmethod(bind)

    def add(self, sockets: Mapping[str, socket.socket], broker: Broker) -> None:
        """Serve the broker on these listening sockets, by the names of its listeners."""
        self._acceptor.add(sockets, broker)
        own = ListenerSockets(broker, self._acceptor, self._channels_of, self.call, self._close)
        broker.room(ListenerChanges).serve_with(own)
        self._brokers = [*self._brokers, broker]
        broker.room(BesideLoop).submit = self._beside.submit
        self.links.add(broker)

    def remove(self, broker: Broker) -> None:
        """Its process is gone: listener and connections are closed, peers hear nothing of it."""
        self.thaw(broker)
        self._acceptor.ignore(broker)
        self._acceptor.remove(broker)
        self._brokers = [each for each in self._brokers if each is not broker]
        for channel in self._channels_of(broker):
            self._close(channel, "the broker is gone")
        self.links.remove(broker.id)

    def freeze(self, broker: Broker) -> None:
        """Its process is stopped: the kernel takes connections and bytes, nobody looks at them."""
        self._frozen.add(broker)
        self._acceptor.ignore(broker)
        for channel in self._channels_of(broker):
            self._watch(channel, 0)

    def thaw(self, broker: Broker) -> None:
        if broker not in self._frozen:
            return
        self._frozen.discard(broker)
        self._acceptor.watch(broker)
        for channel in self._channels_of(broker):
            self._watch(channel, READ | WRITE if channel.outbox else READ)
            self._ready[channel] = None

    def _channels_of(self, broker: Broker) -> list[Channel]:
        return [each for each in (*self._channels, *self._unused) if each.broker is broker]

    def drain(self, broker: Broker) -> None:
        """Serve what its connections have brought by now, before it begins to stop (WIRE-15)."""
        for channel in self._channels_of(broker):
            self._readable(channel)
            while channel.frames and channel.open and not (channel.busy or channel.outbox):
                self._work(channel, its_turn=True)

    def settle(self, broker: Broker, now: int) -> None:
        """Let the broker act on pending changes and send what it can, before it ends."""
        self._tick_brokers(now)
        self._perform(broker.tick(now))
        self.links.deliver(now)

    def call(self, job: Callable[[int], T]) -> Future[T]:
        """`job(now)` in the loop's thread, from any other; the result comes by the Future."""
        future: Future[T] = Future()

        def answer(now: int) -> None:
            try:
                future.set_result(job(now))
            except Exception as fault:  # it is the caller's to deal with
                future.set_exception(fault)

        self._calls.append(answer)
        self.wake()
        return future

    def release_answers(self) -> None:
        """Let go of answers that no fault rule holds back any more; from any thread."""
        self.call(lambda now: [each.fault_injector.release() for each in self._brokers])

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
        """A signal writes to it in order to wake the loop."""
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
                if events & READ:
                    self._readable(item)
            elif item is None:
                self._wake_end.recv(4096)
            else:
                self._acceptor.accept(item)
        now = self._clock()
        while self._calls:
            self._calls.popleft()(now)
        if self.timed_task is not None:
            due = self.timed_task.deadline()
            if due is not None and due <= now:
                self.timed_task.tick(now)
        self._acceptor.tick(now)
        self._tick_brokers(now)
        self.links.deliver(now)
        self._drop_dead(now)
        self._drop_idle(now)
        if self._ready:
            self._work_off()
        if self._slow:
            channel = next(iter(self._slow))
            del self._slow[channel]
            self._work(channel, its_turn=True)

    def _work_off(self) -> None:
        """Serve who has frames left, each once, at least one and then until so much CPU is used:
        who asks now must not wait for all that others have sent.
        """
        until = time.thread_time() + _BACKLOG_S
        for channel in [*self._ready]:
            del self._ready[channel]
            self._work(channel)
            if time.thread_time() > until:
                return

    def _tick_brokers(self, now: int) -> None:
        for broker in self._brokers:
            due = broker.deadline()
            if due is not None and due <= now and broker not in self._frozen:
                self._perform(broker.tick(now))

    def deadline(self) -> int | None:
        """When a broker, a link or the timed task has something to do; None for never."""
        deadlines = [each.deadline() for each in self._brokers if each not in self._frozen]
        deadlines += [self.links.deadline(), self._acceptor.deadline()]
        if self.timed_task is not None:
            deadlines.append(self.timed_task.deadline())
        return min((at for at in deadlines if at is not None), default=None)

    def _patience(self) -> float | None:
        """Seconds until something is due; None when only a peer can bring work."""
        if self._calls or self._slow or self._ready:
            return 0
        due = self.deadline()
        if self._channels:
            channel, used = next(iter(self._channels.items()))
            idle = used + channel.broker.number("connections.max.idle.ms", 600_000)
            due = idle if due is None else min(due, idle)
        if self._look_at is not None:
            due = self._look_at if due is None else min(due, self._look_at)
        return None if due is None else min(max(0, due - self._clock()), _LONGEST_MS) / 1000

    def _accepted(self, channel: Channel) -> None:
        if channel.broker.persona.quirk("connections.unused-ones-are-idle"):
            self._channels[channel] = self._clock()
        else:
            self._unused.add(channel)
        self._selector.register(channel.sock, READ, channel)

    def _readable(self, channel: Channel) -> None:
        waits = channel.busy or channel.outbox or channel.frames or channel.closing
        if waits or not channel.may_read():
            self._watch(channel, channel.events & ~READ)
            return
        try:
            count = channel.sock.recv_into(self._view, _CHUNK if channel.inbox.pending else _SOME)
        except BlockingIOError:
            return
        except OSError as fault:
            self._close(channel, f"cannot read: {fault}")
            return
        if not count:
            self._close(channel, "the peer closed")
            return
        self._unused.discard(channel)
        self._channels[channel] = self._clock()
        self._channels.move_to_end(channel)
        data = bytes(self._view[:count])
        if channel.tls is not None:
            data = self._decrypted(channel, data)
        try:
            channel.frames.extend(channel.inbox.feed(data))
        except FrameError as fault:
            channel.frames.extend(fault.frames)
            channel.closing = True
            LOG.info("connection %d: %s", channel.id, fault)
        if channel.memory is not None:
            self._account(channel)
        self._work(channel)

    def _decrypted(self, channel: Channel, data: bytes) -> bytes:
        """What a peer with TLS said. One that speaks none, or whose certificate names nobody, is
        told by an alert, and its connection ends.
        """
        tls = channel.tls
        if tls is None:
            return data
        known, data, trouble = tls.ready, data, ""
        try:
            data = tls.received(data)
            user = None if known else tls.user()
            if user is not None:
                channel.authenticated(Principal("User", user))
        except ValueError as fault:
            data, trouble = b"", str(fault)
        channel.closing = tls.ended
        said = tls.outgoing()
        if said:
            self._put(channel, (said,))
        if trouble and channel.open:
            self._close(channel, f"TLS failed: {trouble}")
        return data

    def _work(self, channel: Channel, *, its_turn: bool = False) -> None:
        """Hand over frames until one has to wait, none is left, or it is another one's turn. One
        that may take long waits until everybody else was served: who asks little waits for one such
        frame at most. CPU is counted and not time, so a busy machine makes nobody slow.
        """
        if channel.broker in self._frozen:
            return
        channel.working, left = True, _FRAMES
        began = time.thread_time()
        until = began + _SHARE_S
        while channel.frames and not channel.busy and not channel.outbox and channel.open:
            if not its_turn and (channel.slow or len(channel.frames[0]) > _LONG):
                self._slow[channel] = None
                break
            if not left or (began > until and left < _FRAMES):
                self._ready[channel] = None
                break
            its_turn, channel.busy = False, True
            frame = channel.frames.popleft()
            channel.in_work = len(frame)
            try:
                effects = channel.broker.receive(channel, frame, self._clock())
            except Exception:  # a fault of ours ends one connection, never the loop (WIRE-09)
                LOG.exception("connection %d: the broker failed", channel.id)
                self._close(channel, "the broker failed")
                break
            self._perform(effects)
            ended = time.thread_time()
            channel.slow, began, left = ended - began > _SLOW_S, ended, left - 1
        channel.working = False
        if channel.held:
            self._write(channel, ())
        if channel.closing and not (channel.busy or channel.frames or channel.outbox):
            self._close(channel, "nothing more can be read")

    # --- effects -----------------------------------------------------------------------------

    def _perform(self, effects: list[Effect]) -> None:
        self._before_answers()
        for effect in effects:
            if type(effect) is Ask:
                self.links.send(effect)
                continue
            channel = effect.connection
            if type(channel) is not Channel:
                if type(channel) is PeerConnection:
                    self.links.answer(channel, effect.parts if type(effect) is Reply else None)
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
        size = len(parts[0]) if len(parts) == 1 else sum(map(len, parts))
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
        self._put(channel, pieces if channel.tls is None else channel.tls.encrypted(pieces))

    def _put(self, channel: Channel, pieces: tuple[bytes, ...]) -> None:
        """Bytes as they are on the wire; they wait behind those that wait already."""
        try:
            if not outgoing.put(channel, pieces):
                self._watch(channel, channel.events | WRITE)
        except OSError as fault:
            self._close(channel, f"cannot write: {fault}")

    def _flush(self, channel: Channel) -> None:
        try:
            if not outgoing.flush(channel):
                return
        except OSError as fault:
            self._close(channel, f"cannot write: {fault}")
            return
        self._watch(channel, channel.events & ~WRITE)
        self._channels[channel] = self._clock()
        self._channels.move_to_end(channel)
        self._resume(channel)

    def _resume(self, channel: Channel) -> None:
        """Take the next request, if the last one is answered and the answer is out."""
        if channel.memory is not None:
            self._account(channel)
        if channel.busy or channel.outbox or not channel.open:
            return
        if not channel.events & READ and not channel.closing:
            self._watch(channel, channel.events | READ)
        if (channel.frames or channel.closing) and not channel.working:
            self._ready[channel] = None

    def _account(self, channel: Channel) -> None:
        """Its requests came or are done; connections that waited for their bytes are read again."""
        if channel.memory is not None:
            for each in channel.memory.hold(channel, channel.claimed if channel.open else 0):
                self._watch(each, each.events | READ)

    def _watch(self, channel: Channel, events: int) -> None:
        if events == channel.events:
            return
        if not channel.events:
            self._muted.unregister(channel.sock)
            self._selector.register(channel.sock, events, channel)
        elif events:
            self._selector.modify(channel.sock, events, channel)
        else:
            self._selector.unregister(channel.sock)
            self._muted.register(channel.sock, 0)
            self._look_soon()
        channel.events = events

    def _look_soon(self) -> None:
        if self._look_at is None:
            self._look_at = self._clock() + _LOOK_MS

    # --- endings -----------------------------------------------------------------------------

    def _close(self, channel: Channel, reason: str) -> None:
        LOG.debug("connection %d closed: %s", channel.id, reason)
        last: list[bytes] = channel.held  # answers to what came before the end of a pipeline
        if channel.tls is not None and channel.open and not channel.outbox:
            last = [*channel.tls.encrypted(last), channel.tls.farewell()]
        if last:
            with contextlib.suppress(OSError):
                portable.send(channel.sock, last)
            channel.held.clear()
        if channel.events:
            self._selector.unregister(channel.sock)
            channel.events = 0
        elif channel.open:
            self._muted.unregister(channel.sock)
        channel.open = False
        channel.sock.close()
        channel.frames.clear()
        outgoing.drop(channel)
        self._account(channel)
        known = self._channels.pop(channel, None) is not None or channel in self._unused
        self._unused.discard(channel)
        if known:
            self._acceptor.ended(channel)
        channel.broker.closed(channel)

    def _drop_dead(self, now: int) -> None:
        """Channels that are not read show their end only to a poll: a reset is looked for once in a
        while. An orderly end is met in its turn, since its sender may still listen (WIRE-10)."""
        if self._look_at is None or now < self._look_at:
            return
        self._look_at = None
        self._acceptor.take_more()
        ended = dict(self._muted.poll(0))
        for channel in [*self._channels, *self._unused] if ended else ():
            if not channel.events and channel.open and channel.sock.fileno() in ended:
                self._close(channel, "the peer broke the connection")

    def _drop_idle(self, now: int) -> None:
        while self._channels:
            channel, used = next(iter(self._channels.items()))
            if now - used < channel.broker.number("connections.max.idle.ms", 600_000):
                return
            self._close(channel, "idle")

    def close(self) -> None:
        """Let go of everything; for one that never ran."""
        self._shut()

    def _shut(self) -> None:
        self._acceptor.close()
        for channel in [*self._channels, *self._unused]:
            self._close(channel, "the broker stops")
        self._selector.close()
        self._waker.close()
        self._wake_end.close()
