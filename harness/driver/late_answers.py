"""Answers that come when nobody waits for them any more.

A target that was silent until a deadline may only have been slow. The connections of a few such
questions stay open behind their cases, so that an answer is seen whenever it comes. They are held
by a second descriptor: what the case does to its own is its own affair.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
import weakref
from collections import defaultdict
from collections.abc import Hashable

MOST = 3  # connections of one kind of question


class LateAnswers:
    """Connections on which something was asked and not answered, by what it was."""

    def __init__(self) -> None:
        self._open: dict[Hashable, list[tuple[socket.socket, float]]] = defaultdict(list)
        self._lock = threading.Lock()
        weakref.finalize(self, _end_all, self._open)

    def keep(self, key: Hashable, connection: socket.socket, began: float) -> None:
        """Watch this connection from now on; `began` is when the question was asked."""
        with self._lock, contextlib.suppress(OSError):
            if len(self._open[key]) < MOST:
                self._open[key].append((connection.dup(), began))

    def came(self, key: Hashable) -> float | None:
        """After how many seconds an answer came, if one has; None as long as there is none."""
        with self._lock:
            for one in list(self._open.get(key, ())):
                how = _looked_at(one[0])
                if how == "lost":
                    self._open[key].remove(one)
                    one[0].close()
                elif how == "answered":
                    return time.perf_counter() - one[1]
        return None

    def close(self, key: Hashable) -> None:
        """End the connections of these questions."""
        with self._lock:
            for connection, _ in self._open.pop(key, ()):
                connection.close()

    def end(self) -> None:
        """End all of them."""
        with self._lock:
            _end_all(self._open)


def _end_all(found: dict[Hashable, list[tuple[socket.socket, float]]]) -> None:
    for one in found.values():
        for connection, _ in one:
            connection.close()
    found.clear()


def _looked_at(connection: socket.socket) -> str:
    """What lies on a connection; nothing is taken from it."""
    try:
        connection.setblocking(False)
        return "answered" if connection.recv(1, socket.MSG_PEEK) else "lost"
    except BlockingIOError:
        return "silent"
    except OSError:
        return "lost"
