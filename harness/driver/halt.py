"""Ends cases that are under way, from another thread: somebody has pressed Ctrl-C.

A case waits in `recv` most of the time, so its connections are shut down; it then comes to its next
step, and ends there. What it has set or harmed is put back by its own hands.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator

from touchstone.harness.driver.line import Line


class Halted(BaseException):
    """A case ends without a verdict; no `except Exception` of a claim sees it."""


class Halt:
    """All cases of one judge, under way or to come."""

    def __init__(self) -> None:
        self.on = False
        self._lock = threading.Lock()
        self._under_way: list[dict[str, Line]] = []

    def check(self, error: type[BaseException] = Halted) -> None:
        """Raises this once somebody has halted."""
        if self.on:
            raise error

    @contextlib.contextmanager
    def reaches(self, lines: dict[str, Line]) -> Iterator[None]:
        """A case with these connections is under way for as long as this lasts."""
        with self._lock:
            self._under_way.append(lines)
        try:
            yield
        finally:
            with self._lock:
                self._under_way[:] = [one for one in self._under_way if one is not lines]

    def halt(self) -> None:
        """End every case at its next step, and its wait at once."""
        self.on = True
        with self._lock:
            found = [line for lines in self._under_way for line in list(lines.values())]
        for line in found:
            with contextlib.suppress(OSError):
                line.socket.shutdown(socket.SHUT_RDWR)
