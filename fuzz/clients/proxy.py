"""The proxy of a client campaign: answers of an honest broker pass a `Spoiler`.

The campaign looks at the spoiler from outside, whose counters only grow.
"""

from __future__ import annotations

from collections.abc import Sequence

from touchstone.fuzz.clients.faults import Fault, Spoiler
from touchstone.harness.adapters import proxy
from touchstone.harness.adapters.proxy import HOST, Link, framed

__all__ = ["HOST", "Proxy"]


class Proxy(proxy.Proxy):
    """`begin` puts the next fault in force. The first upstream is the broker's plain listener, the
    second, where there is one, its SASL listener.
    """

    def __init__(self, *upstreams: tuple[str, int]) -> None:
        super().__init__(*upstreams)
        self.spoiler = Spoiler(None)

    def __enter__(self) -> Proxy:
        super().__enter__()
        return self

    def begin(self, fault: Fault | None) -> Spoiler:
        """A fresh spoiler for the connections that are made from now on."""
        self.spoiler = Spoiler(fault)
        self.passage = Spoiled(self.spoiler, self.ports)
        return self.spoiler

    @property
    def sasl(self) -> str | None:
        """Where a client logs in; None where nobody can."""
        return f"{HOST}:{self.ports[1]}" if self.ports[1:] else None


class Spoiled:
    """A passage (harness/adapters/proxy.py) whose answers go by a spoiler. A client that came by
    one of the ports is told of that port alone.
    """

    def __init__(self, spoiler: Spoiler, ports: Sequence[int]) -> None:
        self.spoiler, self.ports = spoiler, ports

    def joined(self, link: Link) -> None:
        """Nobody asks."""

    def request(self, link: Link, content: bytes) -> bytes:
        return content

    def answer(self, link: Link, key: int, version: int, content: bytes) -> tuple[bytes, str]:
        return self.spoiler.answer(key, version, framed(content), self.ports[link.upstream])

    def parted(self, link: Link, by: str) -> None:
        """Nobody asks."""
