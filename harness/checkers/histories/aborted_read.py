"""Under read_committed nothing is seen of a transaction that nobody has committed.

KIP-98: what was aborted, and what is still open, is kept from the reader. A commit whose end is
unknown may have happened; one that was never asked for, or was refused, has not.
"""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.harness.checkers.histories.anomaly import Anomaly
from touchstone.harness.checkers.histories.history_index import (
    HistoryIndex,
    Partition,
    Transaction,
)
from touchstone.harness.model.history import Operation


def check(seen: HistoryIndex) -> Iterator[Anomaly]:
    for partition in seen.partitions.values():
        for offset, values in partition.committed_reads.items():
            for value, poll in values.items():
                transaction = seen.transaction_of(value)
                if transaction is None:
                    continue
                why = _not_committed(transaction, poll)
                if why:
                    excuse = _marker_lost(seen, partition, transaction) if seen.unclean else ""
                    text = f"{value} was read at {offset}; its transaction {why}"
                    ends = (transaction.commit, transaction.abort)
                    known = tuple(each for each in ends if each is not None)
                    told = (seen.sends[value], poll, *known)
                    yield Anomaly(partition.name, text, told, excuse)


def _marker_lost(seen: HistoryIndex, partition: Partition, aborted: Transaction) -> str:
    """Return the excuse of an unclean election: it may have lost the marker of this abort, and then
    the next commit of the same producer covers these records too (before KIP-890).
    """
    process = aborted.sends[0].process
    later = (
        other
        for send in partition.sends
        if send.process == process and (other := seen.transaction_of(send.asked["value"]))
        if other.commit is not None and aborted.abort is not None
        if aborted.abort.began < other.commit.began
    )
    return "an unclean election may have lost the abort's marker" if any(later) else ""


def _not_committed(transaction: Transaction, poll: Operation) -> str:
    commit = transaction.commit
    if commit is None:
        return "was aborted" if transaction.abort else "was never ended"
    if commit.outcome == "fail":
        return "was refused its commit"
    if poll.ended < commit.began:
        return "was not committed yet"
    return ""
