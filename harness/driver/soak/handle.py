"""The other end of `load.py`: starts it, hears what it says, asks it to finish."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable
from typing import Any

from touchstone.harness.adapters.process import END, Process
from touchstone.harness.adapters.program import Program
from touchstone.harness.driver.soak.plan import SoakPlan
from touchstone.harness.targets import reach

PROGRAM = "touchstone.harness.driver.soak.load"
FINISH_S = 300.0
CPU_S = 24 * 3600


class LoadFailed(Exception):
    """The program ended by itself, or a thread of it failed: a mistake of ours."""


class Handle:
    """`say` is called with each line as it comes, and `over` is set when there will be no more."""

    def __init__(self, plan: SoakPlan, say: Callable[[dict[str, Any]], None]) -> None:
        self.over = threading.Event()
        self.last: dict[str, Any] = {}
        self._say = say
        program = Program((sys.executable, "-m", PROGRAM, plan.dump()))
        self._process = Process(program, self._hear, CPU_S)
        self._process.say(json.dumps(reach.client_properties(plan.bootstrap)))

    def __enter__(self) -> Handle:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.end()

    def note(self, what: str) -> None:
        """A fault begins or ends: the faults stand in the result."""

    def resident(self) -> int:
        """Bytes that the client's process holds now."""
        return self._process.resident()

    def finish(self) -> dict[str, Any]:
        """The last line. Raises LoadFailed."""
        self._process.say("finish")
        self.over.wait(FINISH_S)
        if not self.over.is_set():
            raise LoadFailed(f"it did not end in {FINISH_S:.0f} s")
        if self.last.get("fault") or not self.last.get("finished"):
            raise LoadFailed(self.last.get("fault") or self._process.how_it_ended())
        return self.last

    def _hear(self, line: str) -> None:
        if line == END:
            self.over.set()
            return
        self.last = json.loads(line)
        self._say(self.last)
