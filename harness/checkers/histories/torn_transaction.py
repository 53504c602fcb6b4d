"""A transaction is seen whole or not at all, over all its partitions.

Where a reader under read_committed has met one record of a transaction, readings to the end of the
other partitions must have met the rest, and so must who read past one of its offsets. Whether the
commit's end is known does not matter: seen once, it is committed. Nor does the end of a send: one
that a reader of what is not committed has met is in the log.
"""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.harness.checkers.histories.anomaly import Anomaly
from touchstone.harness.checkers.histories.history_index import HistoryIndex
from touchstone.harness.model.history import Operation, place


def check(seen: HistoryIndex) -> Iterator[Anomaly]:
    for name, transaction in seen.transactions.items():
        if transaction.commit is None:
            continue
        there = [send for send in transaction.sends if send.asked["value"] in seen.found_committed]
        if not there:
            continue
        for send in transaction.sends:
            value, where = send.asked["value"], place(send.asked["topic"], send.asked["partition"])
            landing = seen.landing(send, where)
            if landing is None or value in seen.found_committed:
                continue
            last = _passed(seen, where, landing.offset)
            if last is not None:
                text = f"{there[0].asked['value']} of transaction {name} was read,"
                text += f" {value} at {landing.offset} was not"
                told = (there[0], send, transaction.commit, last)
                yield Anomaly(where, text, told, seen.compaction_of(value, last))


def _passed(seen: HistoryIndex, where: str, offset: int) -> Operation | None:
    """Return who under read_committed read past this offset, below which all was decided then."""
    for drain in seen.drains_of(where):
        if drain.committed and drain.start <= offset < drain.end:
            return drain.operation
    for move in seen.passing[where]:
        if move.committed and move.before < offset < move.offset:
            return move.second
    return None
