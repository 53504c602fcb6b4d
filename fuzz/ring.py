"""What was sent to a target in its last seconds: kept here, outside it, and written when it dies.

A killer may be stored and read later, so the cases in flight are not all that matters. The file is
written before the target is started again: its first line says how the target ended, each other
line is one frame with its connection and how many seconds before the end it was sent.
`touchstone fuzz --replay FILE.jsonl` sends them all again.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from touchstone.fuzz.lanes import Planned
from touchstone.fuzz.oracles import sent_frame
from touchstone.harness.model import bounded
from touchstone.harness.writable import write_whole
from touchstone.reference_impl.wire.apis import API

KEPT_S = 5.0
KEPT_BYTES = 8 << 20
SUFFIX = ".jsonl"


class Sent(NamedTuple):
    """A case on its way: when (monotonic seconds), over which connection."""

    at: float
    connection: int
    planned: Planned


class Ring:
    """The cases of the last KEPT_S seconds, of at most KEPT_BYTES."""

    def __init__(self) -> None:
        self._kept: deque[Sent] = deque()
        self._bytes = 0

    def add(self, at: float, connection: int, planned: Planned) -> None:
        kept = self._kept
        kept.append(Sent(at, connection, planned))
        self._bytes += len(planned.sent.wire)
        while kept and (kept[0].at < at - KEPT_S or self._bytes > KEPT_BYTES):
            self._bytes -= len(kept.popleft().planned.sent.wire)

    def last(self) -> list[Sent]:
        """What was sent, the first first."""
        return list(self._kept)


def write(path: Path, sentence: str, sent: Iterable[Sent]) -> Path:
    """Write how the target ended and what it was sent; return the path."""
    sent = list(sent)
    end = max((one.at for one in sent), default=0.0)
    lines = [json.dumps({"died": sentence, "frames": len(sent)})]
    lines += [json.dumps(_row(one, end)) for one in sent]
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, "\n".join(lines) + "\n")
    return path


def _row(one: Sent, end: float) -> dict[str, object]:
    frame = one.planned.sent
    api = API[frame.key].name if frame.key in API else f"key {frame.key}"
    return {
        "seconds_before": round(end - one.at, 3), "connection": one.connection,
        "case": one.planned.index, "api": api, "version": frame.version,
        "faults": list(one.planned.faults), "wire": frame.wire.hex(),
    }  # fmt: skip


def read(path: Path) -> list[Planned]:
    """The cases of such a file. Raises ValueError for what is none."""
    if path.stat().st_size > bounded.FILE:
        raise ValueError(f"{path}: too long for a file of frames")
    found = []
    for line in path.read_text().splitlines()[1:]:
        row = json.loads(line)
        wire = bytes.fromhex(row["wire"])
        found.append(Planned(row["case"], sent_frame(wire), tuple(row["faults"])))
    return found
