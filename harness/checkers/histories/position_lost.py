"""A position that a consumer reached by reading stays in the log.

While nothing is removed from a partition's beginning and no unclean leader is elected, everything
below the position was once below a high watermark, so no leader can answer OFFSET_OUT_OF_RANGE.
(Where a workload removes records, it says so by a `seek` before it polls again.)
"""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.harness.checkers.histories.anomaly import Anomaly
from touchstone.harness.checkers.histories.history_index import HistoryIndex

OUT_OF_RANGE = "OFFSET_OUT_OF_RANGE"


def check(seen: HistoryIndex) -> Iterator[Anomaly]:
    for each in seen.history.of("poll"):
        if each.told.get("error") == OUT_OF_RANGE:
            for name, offset in each.told.get("positions", {}).items():
                yield Anomaly(name, f"position {offset} is out of range", (each,))
