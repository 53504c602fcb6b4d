"""The ends of transactions, as a log meets them: what a control batch says, and what it ended.

A marker is the only record of its batch. It counts for readers at once, for the last stable offset
only when the high watermark has passed it (LOG-28); an abort goes to the index of its segment, so
that readers of committed records know what to leave out.

Sources: EndTransactionMarker, ProducerAppendInfo.appendEndTxnMarker, ProducerStateManager
.lastStableOffset, TransactionIndex.collectAbortedTxns at 2.8.2; KIP-98.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from touchstone.reference_impl.log.files.transaction_index import Aborted
from touchstone.reference_impl.log.segment import Segment, Stored
from touchstone.reference_impl.wire.records import convert
from touchstone.reference_impl.wire.records.control import ABORT, COMMIT, read_key, read_marker


class Marker(NamedTuple):
    aborts: bool
    coordinator_epoch: int


class Ended(NamedTuple):
    """A transaction of one producer in one partition, over."""

    producer_id: int
    first_offset: int
    last_offset: int  # of the marker
    aborted: bool


def marker_of(entry: Stored) -> Marker | None:
    """What a control batch says; None when it is none of a transaction's, or was cleaned out."""
    found = convert.records_of(bytes(entry), 0, 2)
    if not found:
        return None
    kind = read_key(found[0].key).type
    if kind not in (ABORT, COMMIT):
        return None
    _, coordinator_epoch = read_marker(found[0].value or b"")
    return Marker(kind == ABORT, coordinator_epoch)


def aborted_within(segments: Iterable[Segment], first: int, end: int) -> Iterator[Aborted]:
    """Aborted transactions that ended at `first` or later and began before `end`."""
    for segment in segments:
        for each in segment.aborted():
            if each.last_offset >= first and each.first_offset < end:
                yield each
            if each.last_stable_offset >= end:
                return
