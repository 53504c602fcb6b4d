"""Which lines and branches of the reference broker a case was the first to run.

From Python 3.12 on `sys.monitoring` tells of a line once and is then disabled there, so that what
is known costs nothing: nine tenths of plain speed and more. A branch is told of until both ways
were taken, or one of them BORED times in a row.

On 3.11 a trace function does the same as well as it can: a function is watched line by line until
it has shown nothing new BORED times. A rejected road: coverage.py, which is faster at collecting
and has no way to say what one case of thousands added, short of reading all of its data each time.

One of these is active in a process at a time.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Protocol

from touchstone import reference_impl

FOLDER = str(Path(reference_impl.__file__).parent)
BORED = 64
NewPlaces = frozenset[Hashable]
NOTHING: NewPlaces = frozenset()
TraceFunction = Callable[[FrameType, str, Any], Any]


class Novelty(Protocol):
    def new_places(self) -> NewPlaces:
        """What was run for the first time since this was asked last."""
        ...

    def forget(self) -> None:
        """All is new again: for telling what one case alone runs."""
        ...

    def stop(self) -> None: ...


def novelty(folder: str = FOLDER) -> Novelty:
    """Watch the code of a folder from now on, in the way of this Python."""
    return Monitored(folder) if sys.version_info >= (3, 12) else Traced(folder)


class Monitored:
    """By `sys.monitoring`."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._fresh: set[Hashable] = set()
        self._ways: dict[tuple[CodeType, int], list[int]] = {}  # destinations, or how often one
        self._monitoring: Any = sys.monitoring  # type: ignore[attr-defined,unused-ignore]  # 3.12
        self._tool = self._monitoring.COVERAGE_ID
        self._disable = self._monitoring.DISABLE
        events = self._monitoring.events
        self._monitoring.use_tool_id(self._tool, "touchstone fuzz")
        self._monitoring.register_callback(self._tool, events.LINE, self._line)
        self._monitoring.register_callback(self._tool, events.BRANCH, self._branch)
        self._monitoring.set_events(self._tool, events.LINE | events.BRANCH)
        self._monitoring.restart_events()  # what was disabled when this was used before

    def _line(self, code: CodeType, line: int) -> object:
        if code.co_filename.startswith(self._folder):
            self._fresh.add((code.co_filename, line))
        return self._disable

    def _branch(self, code: CodeType, offset: int, destination: int) -> object:
        if not code.co_filename.startswith(self._folder):
            return self._disable
        way = self._ways.get((code, offset))
        if way is None:
            self._ways[code, offset] = [destination, 1]
            self._fresh.add((code, offset, destination))
            return None
        if destination != way[0]:
            self._fresh.add((code, offset, destination))
            return self._disable
        way[1] += 1
        return self._disable if way[1] >= BORED else None

    def new_places(self) -> NewPlaces:
        if not self._fresh:
            return NOTHING
        fresh, self._fresh = self._fresh, set()
        return frozenset(fresh)

    def forget(self) -> None:
        self._fresh.clear()
        self._ways.clear()
        self._monitoring.restart_events()

    def stop(self) -> None:
        self._monitoring.set_events(self._tool, 0)
        self._monitoring.free_tool_id(self._tool)


class Traced:
    """By `sys.settrace`, line by line where something new may still come."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._fresh: set[Hashable] = set()
        self._seen: set[tuple[str, int]] = set()
        self._patience: dict[CodeType, int] = {}
        self._before = sys.gettrace()
        sys.settrace(self._call)

    def _call(self, frame: FrameType, event: str, arg: Any) -> TraceFunction | None:
        code = frame.f_code
        patience = self._patience.get(code)
        if patience is None:
            patience = BORED if code.co_filename.startswith(self._folder) else 0
        if patience:
            self._patience[code] = patience - 1
            return self._line
        self._patience[code] = 0
        return None

    def _line(self, frame: FrameType, event: str, arg: Any) -> TraceFunction:
        if event == "line":
            place = frame.f_code.co_filename, frame.f_lineno
            if place not in self._seen:
                self._seen.add(place)
                self._fresh.add(place)
                self._patience[frame.f_code] = BORED
        return self._line

    def new_places(self) -> NewPlaces:
        if not self._fresh:
            return NOTHING
        fresh, self._fresh = self._fresh, set()
        return frozenset(fresh)

    def forget(self) -> None:
        self._fresh.clear()
        self._seen.clear()
        self._patience.clear()

    def stop(self) -> None:
        sys.settrace(self._before)
