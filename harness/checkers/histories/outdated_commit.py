"""No commit is taken from a generation that is over.

A member that names its generation is fenced by it (OFFS-05): once somebody is inside a later one,
what the earlier one commits is refused, however late its request arrives. A commit that names no
generation promises nothing here.
"""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.harness.checkers.histories.anomaly import Anomaly
from touchstone.harness.checkers.histories.history_index import HistoryIndex


def check(seen: HistoryIndex) -> Iterator[Anomaly]:
    for each in seen.history.of("store"):
        newest = seen.newest_join[each.number]
        generation = each.asked.get("generation", -1)
        if each.outcome == "ok" and newest is not None and generation >= 0:
            now = newest.told["generation"]
            if generation < now:
                text = f"a commit of generation {generation} was taken in generation {now}"
                yield Anomaly(each.asked["group"], text, (newest, each))
