"""The adapter of our own client with a mutant, or under a hook that notes which functions it runs.

The environment says which: `PLANTED` is the JSON of a module and a mutant's number, `MEASURED` a
file that gets a line of JSON for each place, when it runs first.
"""

from __future__ import annotations

import importlib
import json
import os
import runpy
import sys
import threading
from collections.abc import Mapping
from types import CodeType, FrameType
from typing import TextIO

from touchstone.harness.mutation import planting
from touchstone.harness.mutation.planting import Place

PLANTED, MEASURED = "TOUCHSTONE_MUTANT", "TOUCHSTONE_MEASURED"
ADAPTER = "touchstone.harness.adapters.programs.touchstone_"
ROOMS = ("client",)


class _Notes:
    """Writes each place once, at once: nobody knows when the process is going to be ended."""

    def __init__(self, known: Mapping[CodeType, Place], into: TextIO) -> None:
        self._left, self._into = dict(known), into

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        place = self._left.pop(frame.f_code, None) if event == "call" else None
        if place is not None:
            self._into.write(json.dumps(place) + "\n")


def main() -> None:
    if planted := os.environ.get(PLANTED):
        module, number = json.loads(planted)
        importlib.import_module(module)
        source = planting.source(module)
        planting.plant(module, source, source.mutants[number])
    if path := os.environ.get(MEASURED):
        places = planting.functions(name for room in ROOMS for name in planting.modules(room))
        notes = _Notes(places, open(path, "a", buffering=1))  # noqa: SIM115 - of the process
        threading.setprofile(notes)
        sys.setprofile(notes)
    runpy.run_module(ADAPTER, run_name="__main__")


if __name__ == "__main__":
    main()
