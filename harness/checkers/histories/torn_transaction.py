"""A transaction is seen whole or not at all, over all its partitions.

Where a reader under read_committed has met one record of a transaction, readings to the end of the
other partitions must have met the rest. Whether the commit's end is known does not matter: seen
once, it is committed.
"""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.harness.checkers.histories.anomaly import Anomaly
from touchstone.harness.checkers.histories.history_index import Drain, HistoryIndex
from touchstone.harness.model.history import Operation, place


def check(seen: HistoryIndex) -> Iterator[Anomaly]:
    for name, transaction in seen.transactions.items():
        if transaction.commit is None:
            continue
        there = [send for send in transaction.sends if send.asked["value"] in seen.found_committed]
        if not there:
            continue
        for send in transaction.sends:
            if send.outcome != "ok" or send.asked["value"] in seen.found_committed:
                continue
            drain = next((d for d in _drains(seen, send) if _passed(d, send)), None)
            if drain is not None:
                text = f"{there[0].asked['value']} of transaction {name} was read,"
                text += f" {send.asked['value']} was not"
                told = (there[0], send, transaction.commit, drain.operation)
                yield Anomaly(drain.place, text, told)


def _drains(seen: HistoryIndex, send: Operation) -> list[Drain]:
    return seen.drains_of(place(send.asked["topic"], send.asked["partition"]))


def _passed(drain: Drain, send: Operation) -> bool:
    if not drain.committed or not send.before(drain.operation):
        return False
    return drain.start <= send.told.get("offset", -1) < drain.end
