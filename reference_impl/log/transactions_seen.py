"""What a cleaner knows of transactions as it walks a log: whose batches and markers count no more.

Records of aborted transactions may go at once. A marker may go when no batch of its transaction was
met on this walk, which can only be after an earlier cleaning took them all; then it waits for its
horizon like a tombstone. A marker that stays keeps its transaction in the cleaned segment's index.

Sources: CleanedTransactionMetadata at 1.0.2, 2.8.2, 3.9; LOG-25, KIP-98.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heapify, heappop

from touchstone.reference_impl.log.files.transaction_index import Aborted
from touchstone.reference_impl.wire.records.batch import BatchHeader


class TransactionsSeen:
    def __init__(self, aborted: Iterable[Aborted]) -> None:
        """`aborted` are those whose records may be met from now on."""
        self._ahead = [(each.first_offset, each) for each in aborted]
        heapify(self._ahead)
        self._aborting: dict[int, tuple[Aborted, bool]] = {}  # by producer; whether batches came
        self._committing: set[int] = set()

    def aborted(self, header: BatchHeader) -> bool:
        """Whether this batch of data belongs to a transaction that was aborted."""
        self._advance(header.last_offset)
        if not header.transactional:
            return False
        found = self._aborting.get(header.producer_id)
        if found is None:
            self._committing.add(header.producer_id)
            return False
        self._aborting[header.producer_id] = (found[0], True)
        return True

    def ended(self, header: BatchHeader, *, aborts: bool) -> tuple[bool, Aborted | None]:
        """Of a marker: (nothing of its transaction was met, what its segment's index needs)."""
        self._advance(header.last_offset)
        if not aborts:
            met = header.producer_id in self._committing
            self._committing.discard(header.producer_id)
            return not met, None
        found = self._aborting.pop(header.producer_id, None)
        if found is None or not found[1]:
            return True, None
        return False, found[0]

    def _advance(self, offset: int) -> None:
        while self._ahead and self._ahead[0][0] <= offset:
            _, aborted = heappop(self._ahead)
            self._aborting[aborted.producer_id] = (aborted, False)
