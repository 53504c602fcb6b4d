"""How a run that keeps what it has is ended from outside: by its first SIGINT or SIGTERM.

That one is a KeyboardInterrupt wherever the main thread is: pytest then closes the run, as after
Ctrl-C. Later ones do nothing, for files are then being written and brokers stopped. A program that
was started in the background of a shell script hears of Ctrl-C as well: there SIGINT is ignored
until somebody asks for it.
"""

from __future__ import annotations

import contextlib
import signal
from types import FrameType
from typing import Any

ENDS = (signal.SIGINT, signal.SIGTERM)


class Interruption:
    """The handlers of both signals, from `listen` to `forget`."""

    def __init__(self) -> None:
        self._before: dict[signal.Signals, Any] = {}

    def listen(self) -> None:
        """Only the main thread may, and only it is interrupted; elsewhere nothing changes."""
        with contextlib.suppress(ValueError):  # what Python says to another thread
            self._before = {number: signal.signal(number, self._end) for number in ENDS}

    def ignore(self) -> None:
        """From here on nothing is interrupted. Processes that are started do not inherit it."""
        for number in self._before:
            signal.signal(number, _nothing)

    def forget(self) -> None:
        """The handlers that were there before."""
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before = {}

    def _end(self, number: int, frame: FrameType | None) -> None:
        self.ignore()
        raise KeyboardInterrupt


def _nothing(number: int, frame: FrameType | None) -> None:
    return None
