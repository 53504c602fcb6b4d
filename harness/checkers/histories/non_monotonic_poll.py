"""A consumer moves forward: no poll gives an offset that it was given before, or a lower one.

Within one poll (internal) and from one to the next (external), unless the consumer itself said
where to go on (`seek`). Kafka promises at least once to a group that loses its members; to one
consumer by assignment it promises order.
"""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.harness.checkers.histories.anomaly import Anomaly
from touchstone.harness.checkers.histories.history_index import HistoryIndex
from touchstone.harness.model.history import Operation, place


def check(seen: HistoryIndex) -> Iterator[Anomaly]:
    for operations in seen.by_process.values():
        last: dict[str, tuple[int, Operation]] = {}
        for each in operations:
            if each.do == "seek":
                last.pop(place(each.asked["topic"], each.asked["partition"]), None)
                continue
            for name, rows in each.told.get("records", {}).items():
                for offset, _ in rows:
                    before, poll = last.get(name, (-1, each))
                    if offset <= before:
                        where = "in one poll" if poll is each else "from one poll to the next"
                        text = f"offset {offset} after {before}, {where}"
                        yield Anomaly(name, text, tuple(dict.fromkeys((poll, each), None)))
                    last[name] = (offset, each)
