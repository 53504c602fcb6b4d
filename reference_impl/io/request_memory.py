"""A broker holds so many bytes of requests: of those it reads, those that wait and the one in work.

With queued.max.request.bytes a connection whose next request finds no byte free is not read until
others are answered. A request that has begun goes on whatever the total: the limit may be passed by
one request (Kafka's SimpleMemoryPool is not strict), and a peer that stops in the middle of one
holds what its size says until connections.max.idle.ms. Those that waited are read again when a
tenth is free. Without the setting (-1, Kafka's default) nothing is counted.

Source: SocketServer.memoryPool, SimpleMemoryPool and Selector.lowMemThreshold at 4.3.1; observed on
4.3.1: who reads on, who waits, and that a limit below one request's does not start.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from touchstone.reference_impl.wire.framing import KAFKA_LIMIT

if TYPE_CHECKING:
    from touchstone.reference_impl.io.channel import Channel

SETTING, MOST_OF_ONE = "queued.max.request.bytes", "socket.request.max.bytes"
_TENTH = 10


class RequestMemory:
    """The bytes of requests that the connections of one broker hold."""

    def __init__(self, limit: int) -> None:
        self._limit = self._free = limit
        self._held: dict[Channel, int] = {}
        self._waiting: dict[Channel, None] = {}

    @classmethod
    def of(cls, config: Mapping[str, str]) -> RequestMemory | None:
        """None without a limit; ValueError, in Kafka's words, for one below a request's."""
        limit = int(config.get(SETTING, -1))
        if limit <= 0:
            return None
        if limit < int(config.get(MOST_OF_ONE, KAFKA_LIMIT)):
            raise ValueError(f"{SETTING} must be larger or equal to {MOST_OF_ONE}")
        return cls(limit)

    def may_read(self, channel: Channel) -> bool:
        """Whether its bytes may be read; where not, `hold` gives it back when they may."""
        if self._free > 0 or channel in self._held:
            return True
        self._waiting[channel] = None
        return False

    def hold(self, channel: Channel, size: int) -> list[Channel]:
        """It holds so many bytes now. Returns the channels that may be read again."""
        self._free += self._held.pop(channel, 0) - size
        if size:
            self._held[channel] = size
        if not self._waiting or self._free * _TENTH <= self._limit:
            return []
        again, self._waiting = self._waiting, {}
        return [each for each in again if each.open]
