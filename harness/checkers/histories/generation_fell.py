"""The generations of a group only rise.

Whoever joins after another one was inside is in that one's generation or in a later one, wherever
the coordinator moved meanwhile: a generation counts when it is kept (GROUP-18, GROUP-30), and it is
kept before anybody is told the share that he has in it. One that fell lets commits of long ago pass
for new ones.
"""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.harness.checkers.histories.anomaly import Anomaly
from touchstone.harness.checkers.histories.history_index import HistoryIndex


def check(seen: HistoryIndex) -> Iterator[Anomaly]:
    for each in seen.history.of("join"):
        newest = seen.newest_join[each.number]
        if each.outcome == "ok" and newest is not None:
            before, now = newest.told["generation"], each.told["generation"]
            if now < before:
                text = f"generation {now} came after {before}"
                yield Anomaly(each.asked["group"], text, (newest, each))
