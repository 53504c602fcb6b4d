"""A broker takes so many connections: from an address, on its listener, and altogether.

Two limits, two manners. Beyond max.connections.per.ip (or what the overrides say of that address) a
connection is accepted and closed unheard (WIRE-06). Beyond max.connections, the broker's or the
listener's, nothing is accepted: who comes later waits in the backlog until somebody leaves
(KIP-402; releases before it have no such limit). The settings are read anew each time, because
newer releases change them while they run. No socket in here.

Source: ConnectionQuotas and Acceptor in kafka.network.SocketServer at 1.0.2, 2.8.2, 3.9; observed.
"""

from __future__ import annotations

from collections import Counter

from touchstone.reference_impl.broker.broker import Broker
from touchstone.reference_impl.broker.configs.listener_settings import prefix
from touchstone.reference_impl.io.request_memory import RequestMemory

NO_LIMIT = 2**31 - 1
PER_HOST, OVERRIDES = "max.connections.per.ip", "max.connections.per.ip.overrides"
TOTAL = "max.connections"


class ConnectionQuotas:
    """The open connections of one broker, counted by the peer's address and by listener."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._hosts: Counter[str] = Counter()
        self._listeners: Counter[str] = Counter()
        self.memory = RequestMemory.of(broker.config)

    def has_room(self, listener: str) -> bool:
        """Whether this listener may accept another connection at all."""
        if not self._broker.persona.quirk("connections.limit-waits"):
            return True
        number, own = self._broker.number, prefix(listener) + TOTAL
        room_of_all = self._hosts.total() < number(TOTAL, NO_LIMIT)
        return room_of_all and self._listeners[listener] < number(own, NO_LIMIT)

    def admits(self, host: str) -> bool:
        """Whether this address may have one connection more."""
        return self._hosts[host] < self._most_from(host)

    def taken(self, host: str, listener: str) -> None:
        self._hosts[host] += 1
        self._listeners[listener] += 1

    def given_back(self, host: str, listener: str) -> None:
        """Give a place back, once for each `taken` (WIRE-07)."""
        self._listeners[listener] -= 1
        self._hosts[host] -= 1
        if not self._hosts[host]:
            del self._hosts[host]

    def _most_from(self, host: str) -> int:
        for entry in self._broker.config.get(OVERRIDES, "").split(","):
            name, _, most = entry.strip().rpartition(":")
            if name == host:
                return int(most)
        return self._broker.number(PER_HOST, NO_LIMIT)
