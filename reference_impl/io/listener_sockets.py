"""The listening sockets of one broker, as its core opens and closes them while it runs."""

from __future__ import annotations

import socket
from collections.abc import Callable
from functools import partial

from touchstone.reference_impl.broker.broker import Broker
from touchstone.reference_impl.broker.configs.listener_settings import Listener, ListenerSettings
from touchstone.reference_impl.cluster.endpoints import Address
from touchstone.reference_impl.io.acceptor import Acceptor
from touchstone.reference_impl.io.channel import Channel

_BACKLOG = 512


def bind(host: str, port: int) -> socket.socket:
    """A listening socket; connections wait in its backlog until the loop runs."""
    listener = socket.create_server((host, port), backlog=_BACKLOG)
    listener.setblocking(False)
    return listener


class ListenerSockets:
    def __init__(
        self,
        broker: Broker,
        acceptor: Acceptor,
        channels_of: Callable[[Broker], list[Channel]],
        call: Callable[[Callable[[int], None]], object],
        hang_up: Callable[[Channel, str], None],
    ) -> None:
        """`call(job)` has the loop do it when everybody has what is being answered."""
        self._broker, self._acceptor, self._channels_of = broker, acceptor, channels_of
        self._call, self._hang_up = call, hang_up

    def open(self, listener: Listener, settings: ListenerSettings) -> Address:
        sock = bind(listener.host, listener.port)
        try:
            self._acceptor.open(self._broker, listener, settings, sock)
        except ValueError:
            sock.close()
            raise
        return listener.host, sock.getsockname()[1]

    def close(self, name: str) -> None:
        self._acceptor.shut(self._broker, name)
        for channel in self._channels_of(self._broker):
            if channel.listener == name:
                self._call(partial(self._end, channel))

    def _end(self, channel: Channel, now: int) -> None:
        if channel.open:
            self._hang_up(channel, "its listener is closed")
