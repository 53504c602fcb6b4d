"""A broker has endpoints: a listener's name, its security protocol, and where clients find it.

A client is told of each broker the endpoint of the listener over which it asks, so that whoever
came in through one door is never sent to another (KIP-103, SEC-07).

Sources: KIP-103; org.apache.kafka.common.security.auth.SecurityProtocol at 1.0.2 to 4.0.
"""

from __future__ import annotations

from typing import NamedTuple

PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL = "PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"
PROTOCOLS = (PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL)  # by their number on the wire
Address = tuple[str, int]


class Endpoint(NamedTuple):
    """`host` and `port` are what clients are told, `bound` is where the broker listens."""

    listener: str
    protocol: str
    host: str
    port: int
    bound: Address

    def __str__(self) -> str:
        return f"{self.listener}://{self.host}:{self.port}"


class Reachable:
    """Where a broker listens and is found; its fields are those of `topology.Node`."""

    __slots__ = ()
    host: str
    port: int
    bound: Address | None
    endpoints: tuple[Endpoint, ...]
    first: tuple[Endpoint, ...]

    @property
    def listens(self) -> Address:
        return self.bound or (self.host, self.port)

    @property
    def listeners(self) -> tuple[Endpoint, ...]:
        own = Endpoint(PLAINTEXT, PLAINTEXT, self.host, self.port, self.listens)
        return self.endpoints or (own,)

    @property
    def advertised(self) -> tuple[Endpoint, ...]:
        """Of the listeners those that clients are told of."""
        return tuple(each for each in self.listeners if each.host)

    def at(self, listener: str) -> Address | None:
        """Where clients of that listener find it; None where it does not have one to tell."""
        if not self.endpoints:
            return (self.host, self.port) if listener == PLAINTEXT else None
        for each in self.endpoints:
            if each.listener == listener:
                return (each.host, each.port) if each.host else None
        return None
