"""Listeners of brokers: who is accepted, who is refused, and which listener waits.

A listener that may take nobody (max.connections, or the process has no descriptor left) stays
readable, so it is not looked at until a connection ends or a moment is over. Whoever is accepted is
`Server`'s to serve.
"""

from __future__ import annotations

import errno
import logging
import os
import selectors
import socket
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from touchstone.reference_impl.broker.broker import Broker
from touchstone.reference_impl.broker.configs.listener_changes import ListenerChanges
from touchstone.reference_impl.broker.configs.listener_settings import Listener, ListenerSettings
from touchstone.reference_impl.io import portable
from touchstone.reference_impl.io.channel import READ, Channel
from touchstone.reference_impl.io.connection_quotas import ConnectionQuotas
from touchstone.reference_impl.io.connection_rates import ConnectionRates
from touchstone.reference_impl.wire.framing import KAFKA_LIMIT

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.security.jwks_settings import SignedSettings
    from touchstone.reference_impl.broker.security.listener_keys import ListenerKeys
    from touchstone.reference_impl.io.jwks import JwksEndpoint, JwksFile
    from touchstone.reference_impl.io.tls import TlsLayer, TlsListener

_SECURITY = "touchstone.reference_impl.broker.security"
_SASL = f"{_SECURITY}.authenticator"
_TLS = "touchstone.reference_impl.io.tls"
_JWKS = "touchstone.reference_impl.io.jwks"
LOG = logging.getLogger("touchstone.server")
_KEPT_BACK = 32  # descriptors that no connection gets
_NO_MORE = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)  # sockets, for now


class _Late(NamedTuple):
    """Somebody who is accepted, and not served before his listener may go on."""

    sock: socket.socket
    host: str
    until: int


class BoundListener(NamedTuple):
    """A listening socket of a broker, and the listener's name."""

    broker: Broker
    name: str
    sock: socket.socket
    sasl: bool
    tls: TlsListener | None


class Acceptor:
    def __init__(
        self,
        selector: selectors.BaseSelector,
        accepted: Callable[[Channel], None],
        look_soon: Callable[[], None],
        clock: Callable[[], int],
    ) -> None:
        """`look_soon()` has `take_more` called before long."""
        self._selector, self._accepted, self._look_soon = selector, accepted, look_soon
        self._clock = clock
        self._listeners: dict[Broker, tuple[BoundListener, ...]] = {}
        self._quotas: dict[Broker, ConnectionQuotas] = {}
        self._rates: dict[Broker, ConnectionRates] = {}
        self._full: dict[BoundListener, None] = {}  # those that wait for a place
        self._paused: dict[BoundListener, _Late] = {}  # those above the rate of new connections
        self._refused: list[tuple[int, socket.socket]] = []  # closed at that instant, unread
        self._jwks: dict[tuple[int, str], JwksFile | JwksEndpoint] = {}  # by broker and listener
        self._descriptors = portable.descriptors()
        self._exhausted = False  # the machine has no socket left; it was said
        self._numbers = 0

    def add(self, sockets: Mapping[str, socket.socket], broker: Broker) -> None:
        """The broker accepts on these, by the names of its listeners."""
        self._quotas[broker] = ConnectionQuotas(broker)
        settings = ListenerSettings.of(broker.room(ListenerChanges).settings())
        began = ListenerSettings.of(broker.config)
        known = {each.name: each for each in (*began.listeners, *settings.listeners)}
        self._rates[broker] = ConnectionRates(broker, settings)
        for listener in settings.listeners:
            if listener.sasl:
                self._read_token_keys(broker, listener.name)
        self._listeners[broker] = tuple(
            _bound(broker, settings, known[name], sock) for name, sock in sockets.items()
        )
        self.watch(broker)

    def _read_token_keys(self, broker: Broker, listener: str, *, late: bool = False) -> None:
        """Those of a broker that starts again are there still: nobody waits for the new ones.
        ValueError for keys that cannot be read, or that the loop would have to wait for (`late`).
        """
        signed: SignedSettings | None = (
            import_module(_SASL).settings_of(broker, listener).signed_tokens
        )
        if signed is None:
            return
        if late and not signed.jwks.is_file:
            raise ValueError(f"listener {listener}: keys over HTTP are read at the start only")
        place = broker.id, listener
        if place in self._jwks:
            self._jwks[place].refresh()
        else:
            self._jwks[place] = import_module(_JWKS).opened(signed.jwks)
        keys = broker.room(import_module(f"{_SECURITY}.token_keys").TokenKeys)
        keys.add(listener, self._jwks[place])

    def open(
        self, broker: Broker, listener: Listener, settings: ListenerSettings, sock: socket.socket
    ) -> None:
        """The broker accepts by one listener more; ValueError for what cannot be obeyed."""
        if listener.sasl:
            told = broker.room(ListenerChanges).made_of(listener.name)
            sasl = import_module(f"{_SECURITY}.sasl_settings").SaslSettings
            sasl.of(told, listener.name, broker.persona)
            self._read_token_keys(broker, listener.name, late=True)
        bound = _bound(broker, settings, listener, sock)
        self._rates[broker].has(settings)
        self._listeners[broker] = (*self._listeners[broker], bound)
        self._selector.register(sock, READ, bound)

    def shut(self, broker: Broker, name: str) -> None:
        """Nobody can connect by this listener any more."""
        for listener in self._listeners[broker]:
            if listener.name == name:
                self._ignore(listener)
                listener.sock.close()
                if listener.tls is not None:
                    _keys_of(broker).remove(listener.tls)
                if listener.sasl:
                    broker.room(import_module(_SASL).SaslListeners).forget(name)
                if (broker.id, name) in self._jwks:
                    self._jwks.pop((broker.id, name)).close()
        self._listeners[broker] = tuple(x for x in self._listeners[broker] if x.name != name)

    def watch(self, broker: Broker) -> None:
        for listener in self._listeners[broker]:
            self._selector.register(listener.sock, READ, listener)

    def ignore(self, broker: Broker) -> None:
        for listener in self._listeners[broker]:
            self._ignore(listener)

    def _ignore(self, listener: BoundListener) -> None:
        if listener in self._full:  # one that waits for a place is not looked at
            del self._full[listener]
        elif listener in self._paused:
            self._paused.pop(listener).sock.close()
        else:
            self._selector.unregister(listener.sock)

    def remove(self, broker: Broker) -> None:
        """After `ignore`: nobody can connect any more."""
        for listener in self._listeners.pop(broker):
            listener.sock.close()

    def close(self) -> None:
        for listeners in self._listeners.values():
            for listener in listeners:
                listener.sock.close()
        for jwks in self._jwks.values():
            jwks.close()
        held = [late.sock for late in self._paused.values()]
        for sock in [*held, *(sock for _, sock in self._refused)]:
            sock.close()

    def accept(self, listener: BoundListener) -> None:
        """Take whoever waits in the backlog, as long as there is room."""
        broker, name = listener.broker, listener.name
        quotas = self._quotas[broker]
        while True:
            if not quotas.has_room(name):
                self._wait(listener)
                return
            try:
                if not self._has_descriptors(listener):
                    raise OSError(errno.EMFILE, "few descriptors are left")
                sock, address = listener.sock.accept()
            except BlockingIOError:
                self._exhausted = False
                return
            except OSError as fault:
                self._cannot_accept(listener, fault)
                return
            now = self._clock()
            wait = self._rates[broker].accepted(name, now)
            if wait:
                self._paused[listener] = _Late(sock, address[0], now + wait)
                self._selector.unregister(listener.sock)
                return
            self._admit(listener, sock, address[0], now)

    def _admit(self, listener: BoundListener, sock: socket.socket, host: str, now: int) -> None:
        """Serve him, unless his address has too many connections, or too many new ones."""
        broker, name = listener.broker, listener.name
        quotas = self._quotas[broker]
        wait = self._rates[broker].refused(name, host, now)
        if wait:
            LOG.info("throttling a connection from %s for %d ms", host, wait)
            self._refused.append((now + wait, sock))
            return
        if not quotas.admits(host):
            LOG.info("rejected a connection from %s: limit reached", host)
            sock.close()
            return
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        self._numbers += 1
        limit = broker.number("socket.request.max.bytes", KAFKA_LIMIT)
        quotas.taken(host, name)
        channel = Channel(self._numbers, sock, broker, limit, host, quotas.memory, name)
        if listener.tls is not None:
            channel.tls = _tls_layer(listener.tls)
        if listener.sasl:
            _await_authentication(channel)
        self._accepted(channel)

    def deadline(self) -> int | None:
        """When somebody who waits here is served, or closed; None for never."""
        if not (self._paused or self._refused):  # each turn of the loop asks
            return None
        waiting = [late.until for late in self._paused.values()]
        waiting += [until for until, _ in self._refused]
        return min(waiting)

    def tick(self, now: int) -> None:
        if not (self._paused or self._refused):
            return
        for listener, late in [*self._paused.items()]:
            if late.until <= now:
                del self._paused[listener]
                self._selector.register(listener.sock, READ, listener)
                self._admit(listener, late.sock, late.host, now)
        for until, sock in self._refused:
            if until <= now:
                sock.close()
        self._refused = [each for each in self._refused if each[0] > now]

    def _cannot_accept(self, listener: BoundListener, fault: OSError) -> None:
        """Out of descriptors it waits, and that is said once. Else the peer is gone again."""
        if fault.errno not in _NO_MORE:
            LOG.warning("cannot accept: %s", fault)
            return
        if not self._exhausted:
            LOG.warning("cannot accept until a connection ends: %s", fault)
        self._exhausted = True
        self._wait(listener)
        self._look_soon()

    def _has_descriptors(self, listener: BoundListener) -> bool:
        """Whether some are left beside that of another connection: who is connected may still need
        a module that is not loaded, or a file. The system gives out the lowest number that is free.
        """
        if self._descriptors is None:
            return True
        next_one = os.dup(listener.sock.fileno())
        os.close(next_one)
        return next_one < self._descriptors - _KEPT_BACK

    def _wait(self, listener: BoundListener) -> None:
        self._selector.unregister(listener.sock)
        self._full[listener] = None

    def ended(self, channel: Channel) -> None:
        """A connection gives its place back: listeners that waited for one accept again."""
        self._quotas[channel.broker].given_back(channel.peer_host, channel.listener)
        self.take_more()

    def take_more(self) -> None:
        for listener in [*self._full] if self._full else ():
            if self._quotas[listener.broker].has_room(listener.name):
                del self._full[listener]
                self._selector.register(listener.sock, READ, listener)


def _bound(
    broker: Broker, settings: ListenerSettings, listener: Listener, sock: socket.socket
) -> BoundListener:
    """TLS and SASL are loaded only where a listener has them: start-up is a promise (design.md
    section 5).
    """
    between_brokers = listener.name == settings.inter_broker
    tls = _tls_listener(broker, listener, between_brokers) if listener.tls else None
    return BoundListener(broker, listener.name, sock, listener.sasl, tls)


def _keys_of(broker: Broker) -> ListenerKeys:
    return broker.room(import_module(f"{_SECURITY}.listener_keys").ListenerKeys)


def _tls_listener(broker: Broker, listener: Listener, between_brokers: bool) -> TlsListener:
    keys = _keys_of(broker)
    found: TlsListener = import_module(_TLS).TlsListener(
        keys.settings_of(listener.name), listener, between_brokers=between_brokers
    )
    keys.add(found)
    return found


def _tls_layer(listener: TlsListener) -> TlsLayer:
    layer: TlsLayer = import_module(_TLS).TlsLayer(listener)
    return layer


def _await_authentication(channel: Channel) -> None:
    listeners = import_module(_SASL)
    channel.bound_frames(channel.broker.room(listeners.SaslListeners).admit(channel))
