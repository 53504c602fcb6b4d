"""The proxy of a client campaign: answers of an honest broker pass a `Spoiler`.

The campaign looks at the spoiler from outside, whose counters only grow.
"""

from __future__ import annotations

from touchstone.fuzz.clients.faults import Fault, Spoiler
from touchstone.harness.adapters import proxy
from touchstone.harness.adapters.proxy import HOST, Link, framed

__all__ = ["HOST", "Proxy"]


class Proxy(proxy.Proxy):
    """`begin` puts the next fault in force."""

    def __init__(self, upstream: tuple[str, int]) -> None:
        super().__init__(upstream)
        self.spoiler = Spoiler(None, 0)

    def __enter__(self) -> Proxy:
        super().__enter__()
        return self

    def begin(self, fault: Fault | None) -> Spoiler:
        """A fresh spoiler for the connections that are made from now on."""
        self.spoiler = Spoiler(fault, self.port)
        self.passage = Spoiled(self.spoiler)
        return self.spoiler


class Spoiled:
    """A passage (harness/adapters/proxy.py) whose answers go by a spoiler."""

    def __init__(self, spoiler: Spoiler) -> None:
        self.spoiler = spoiler

    def joined(self, link: Link) -> None:
        """Nobody asks."""

    def request(self, link: Link, content: bytes) -> bytes:
        return content

    def answer(self, link: Link, key: int, version: int, content: bytes) -> tuple[bytes, str]:
        return self.spoiler.answer(key, version, framed(content))

    def parted(self, link: Link, by: str) -> None:
        """Nobody asks."""
