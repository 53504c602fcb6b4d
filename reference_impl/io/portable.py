"""Windows lacks some calls that Linux and macOS have; this module stands in for them.

Brokers in memory run wherever Python does. Log directories (`--data`) are locked as Kafka locks
them, which needs `fcntl`: where there is none they are refused in words.
"""

from __future__ import annotations

import select
import socket
from collections.abc import Sequence
from typing import IO, Protocol

try:
    import fcntl
    import resource
except ImportError:  # Windows
    fcntl = resource = None  # type: ignore[assignment]  # Windows has neither


class Ends(Protocol):
    """Sockets of which nothing is awaited but their end: the part of `select.poll` in use here."""

    def register(self, sock: socket.socket, events: int) -> None: ...

    def unregister(self, sock: socket.socket) -> None: ...

    def poll(self, timeout_ms: int) -> Sequence[tuple[int, int]]: ...


class Unseen:
    """Sees no end of a connection, for lack of a poll; the next write to the socket does."""

    def register(self, sock: socket.socket, events: int) -> None:
        pass

    def unregister(self, sock: socket.socket) -> None:
        pass

    def poll(self, timeout_ms: int) -> Sequence[tuple[int, int]]:
        return ()


def ends() -> Ends:
    return select.poll() if hasattr(select, "poll") else Unseen()


def send(sock: socket.socket, pieces: Sequence[bytes | memoryview]) -> int:
    """Send, and return how many bytes the socket took; OSError as `socket.send` raises it."""
    if hasattr(sock, "sendmsg"):
        return sock.sendmsg(pieces)
    return sock.send(b"".join(pieces))


def locked(file: IO[bytes]) -> None:
    """Hold a file alone until it is closed. OSError when another process holds it."""
    if fcntl is None:
        raise NotImplementedError("log directories (--data) need a system with fcntl, not Windows")
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def descriptors() -> int | None:
    """How many this process may have; None where nobody says."""
    if resource is None:
        return None
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return None if most == resource.RLIM_INFINITY else most
