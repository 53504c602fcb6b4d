"""A read_committed member gets no batches of aborted transactions.

Clients of share groups filter nothing; the broker reads which transactions ended badly and gives
their records to nobody. Markers stay in: a client acknowledges them as gaps.

Sources: SharePartition.fetchAbortedTransactionRecordBatches and
filterRecordBatchesFromAcquiredRecords@4.3.1; KIP-932.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

NO_PRODUCER = -1


class Span(NamedTuple):
    """A batch of the log as far as share groups care."""

    first: int
    last: int
    producer_id: int = NO_PRODUCER
    transactional: bool = False
    aborts: bool = False  # an abort marker


class AcquiredBatch(NamedTuple):
    """A row of the answer: records that its member has now."""

    first: int
    last: int
    count: int  # type: ignore[assignment]  # deliveries, with this one; it hides tuple.count

    @property
    def size(self) -> int:
        return self.last - self.first + 1


def aborted_spans(read: Iterable[Span], transactions: Iterable[tuple[int, int]]) -> list[Span]:
    """The batches of transactions (producer id, first offset) that were aborted."""
    waiting = sorted(transactions, key=lambda each: each[1])
    bad: set[int] = set()
    found = []
    for span in read:
        if span.producer_id == NO_PRODUCER:
            continue
        while waiting and waiting[0][1] <= span.last:
            bad.add(waiting.pop(0)[0])
        if span.aborts:
            bad.discard(span.producer_id)
        elif span.transactional and span.producer_id in bad:
            found.append(span)
    return found


def without(rows: Iterable[AcquiredBatch], spans: Sequence[Span]) -> list[AcquiredBatch]:
    """The rows less the records of these batches."""
    kept: list[AcquiredBatch] = []
    for row in rows:
        first = row.first
        for span in spans:
            if span.last < first or span.first > row.last:
                continue
            if span.first > first:
                kept.append(row._replace(first=first, last=span.first - 1))
            first = span.last + 1
        if first <= row.last:
            kept.append(row._replace(first=first))
    return kept
