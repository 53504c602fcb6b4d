"""A consumer moves forward: no poll gives an offset that it was given before, or a lower one.

Within one poll (internal) and from one to the next (external), unless the consumer itself said
where to go on (`seek`) or its group was rebalanced (`join`): then it goes on where the group's
commits say, which may lie behind or ahead. Kafka promises at least once to a group that loses its
members; to one consumer by assignment it promises order.
"""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.harness.checkers.histories.anomaly import Anomaly
from touchstone.harness.checkers.histories.history_index import HistoryIndex


def check(seen: HistoryIndex) -> Iterator[Anomaly]:
    for move in seen.moves:
        if move.first is None or not move.given or move.offset > move.before:
            continue
        within = move.first is move.second
        where = "in one poll" if within else "from one poll to the next"
        text = f"offset {move.offset} after {move.before}, {where}"
        polls = tuple(dict.fromkeys((move.first, move.second), None))
        yield Anomaly(move.place, text, polls, firm=within)
