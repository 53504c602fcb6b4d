"""The one pen of a workload: every beginning and every end is a line, in the order they happened.

The order of lines is what a checker knows of time, so a line is written under one lock: the
beginning before anything is sent, the end after it is known. A file that ends in the middle of a
line is a history all the same (harness/model/history.py).
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

from touchstone.harness.model.history import FORMAT, beginning, ending, line, place


class Recorder:
    """Writes a history to `path`; `counts` and `highest` may be looked at meanwhile."""

    def __init__(self, path: Path, promised: dict[str, Any]) -> None:
        self._file = path.open("w", buffering=1, encoding="utf-8")  # it may be read meanwhile
        self._lock = threading.Lock()
        self._began = time.perf_counter()
        self._number = 0
        self._open: dict[int, tuple[str, str, dict[str, Any]]] = {}
        self.counts: Counter[str] = Counter()  # "send ok", and whose: "producer-0 send ok"
        self.highest: dict[str, int] = {}  # partition -> the highest offset somebody was told
        self._write({"history": FORMAT, **promised})

    def begin(self, process: str, do: str, **asked: Any) -> int:
        """Note that this is about to happen; the number to end it with."""
        with self._lock:
            self._number += 1
            number = self._number
            self._open[number] = process, do, asked
            self._write(beginning(number, process, do, {**asked, "at": self._at()}))
        return number

    def end(self, number: int, outcome: str = "ok", **told: Any) -> None:
        with self._lock:
            process, do, asked = self._open.pop(number)
            self.counts[f"{do} {outcome}"] += 1
            self.counts[f"{process} {do} {outcome}"] += 1
            if do == "send" and outcome == "ok":
                where = place(asked["topic"], asked["partition"])
                self.highest[where] = max(self.highest.get(where, -1), told.get("offset", -1))
            self._write(ending(number, outcome, {**told, "at": self._at()}))

    def close(self) -> None:
        with self._lock:
            self._file.close()

    def _at(self) -> int:
        return int((time.perf_counter() - self._began) * 1000)

    def _write(self, row: dict[str, Any]) -> None:
        self._file.write(line(row) + "\n")
