"""What was acknowledged can be read ever after.

With acks=all a record is on every in-sync replica before its producer hears of it, so it survives
whatever leaves one of them alive (REPL-*). Lost is a value that nobody ever read although somebody
read its partition to the end after it was acknowledged; also when that end lies below its offset.
A record of a transaction that was committed is held to the same. With acks=1 the promise ends with
the leader; with acks=0 there is none, and such sends carry no offset.
"""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.harness.checkers.histories.anomaly import Anomaly
from touchstone.harness.checkers.histories.history_index import ALL, Drain, HistoryIndex, Move
from touchstone.harness.model.history import Operation, place


def check(seen: HistoryIndex) -> Iterator[Anomaly]:
    for value, send in seen.sends.items():
        if send.outcome != "ok" or value in seen.found or not send.asked.get("acks", ALL):
            continue
        where = place(send.asked["topic"], send.asked["partition"])
        offset = send.told.get("offset", -1)
        drain = next((d for d in seen.drains_of(where) if _owes(d, send, seen)), None)
        move = next((m for m in seen.passing[where] if _left_out(m, send, seen)), None)
        text = f"{value} was acknowledged at offset {offset}, and nobody ever read it"
        if drain is not None:
            last = drain.operation
            if offset >= drain.end:
                text += f": the partition ends at {drain.end}"
        elif move is not None:
            last = move.second
            text += f": {last.process} went from {move.before} to {move.offset}"
        else:
            continue
        excuse = "" if send.asked.get("acks", ALL) == ALL else "acks=1 ends with its leader"
        yield Anomaly(where, text, (send, last), excuse or seen.compaction_of(value, last))


def _left_out(move: Move, send: Operation, seen: HistoryIndex) -> bool:
    """Whether this reader went past the record, which lay below the end that it was shown."""
    transaction = seen.transaction_of(send.asked["value"])
    shown = not move.committed or transaction is None or transaction.committed
    return shown and move.before < send.told.get("offset", -1) < move.offset


def _owes(drain: Drain, send: Operation, seen: HistoryIndex) -> bool:
    """Whether this reading to the end should have met this record."""
    offset = send.told.get("offset", -1)
    if not send.before(drain.operation) or 0 <= offset < drain.start:
        return False
    if not drain.committed:
        return True
    transaction = seen.transaction_of(send.asked["value"])
    if transaction is not None:
        commit = transaction.commit if transaction.committed else None
        done = commit is not None and commit.before(drain.operation)
        return done and offset < drain.end
    return offset < drain.end
