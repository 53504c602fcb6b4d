"""A value that was sent once is stored once, if its producer is idempotent.

KIP-98: an idempotent producer's retries carry the sequence of the first try, by which the leader,
and after it every later leader, knows them. A producer without idempotence has no such promise:
its retry after a lost answer may be stored twice, and that is counted, not held against anybody.
"""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.harness.checkers.histories.anomaly import Anomaly
from touchstone.harness.checkers.histories.history_index import HistoryIndex


def check(seen: HistoryIndex) -> Iterator[Anomaly]:
    for value, found in seen.found.items():
        send = seen.sends.get(value)
        if len(found) < 2 or send is None:
            continue
        rows = sorted(found)
        polls = [seen.partitions[name].reads[offset][value] for name, offset in rows]
        where = ", ".join(f"{name} at {offset}" for name, offset in rows)
        excuse = "" if send.asked.get("idempotent") else "its producer is not idempotent"
        yield Anomaly(rows[0][0], f"{value} was read in {where}", (send, *polls), excuse)
