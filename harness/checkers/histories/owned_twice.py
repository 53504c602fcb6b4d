"""In one generation of a group no two members own the same partition.

A generation is what all its members agreed on: the leader divides once, the coordinator hands out
what it kept (GROUP-18). Two who were given a partition in one generation read it both, commit over
each other, and each believes it was alone. A member that asks again in the same generation is given
what it had.
"""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.harness.checkers.histories.anomaly import Anomaly
from touchstone.harness.checkers.histories.history_index import HistoryIndex
from touchstone.harness.model.history import Operation


def check(seen: HistoryIndex) -> Iterator[Anomaly]:
    owners: dict[tuple[str, int, str], Operation] = {}
    for each in seen.history.of("join"):
        if each.outcome != "ok":
            continue
        group, generation = each.asked["group"], each.told["generation"]
        for name in each.told["partitions"]:
            first = owners.setdefault((group, generation, name), each)
            if first.told["member"] != each.told["member"]:
                text = f"two members of {group} own it in generation {generation}"
                yield Anomaly(name, text, (first, each))
