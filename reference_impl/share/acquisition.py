"""A member acquires available records first, then new ones behind the end.

In the mode batch_optimized whole batches of the log go out, even where that is more than was asked
for; in record_limit exactly so many, and the rest of a batch stays Available. Records that were
delivered half as often as they may be are given out in ever smaller numbers, one that is on its
last delivery alone, so that a bad record does not take good ones along (KIP-932).

Sources: SharePartition.acquire@4.3.1; KIP-932, KIP-1206; observed on 4.3.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from touchstone.reference_impl.share.aborted import AcquiredBatch, Span, aborted_spans, without
from touchstone.reference_impl.share.in_flight import ACQUIRED, AVAILABLE, InFlight, Run
from touchstone.reference_impl.share.partition import SharePartition

BATCH_OPTIMIZED, RECORD_LIMIT = 0, 1
_THROTTLED_FROM = 2


class AcquisitionRequest(NamedTuple):
    """A member's request for records."""

    member: str
    exactly: bool  # record_limit
    batch_size: int
    max_records: int


class Read(NamedTuple):
    """The part of the log from `offset` on; `aborted` is None where nobody filters."""

    offset: int
    spans: Sequence[Span]
    aborted: Sequence[tuple[int, int]] | None = None


def acquire(
    share: SharePartition, request: AcquisitionRequest, read: Read, now: int
) -> list[AcquiredBatch]:
    return _Acquisition(share, request, read, now).rows()


class _Acquisition:
    def __init__(
        self, share: SharePartition, request: AcquisitionRequest, read: Read, now: int
    ) -> None:
        self.share, self.request, self.read, self.now = share, request, read, now
        self.limits = share.limits()
        self.throttled_from = max(_THROTTLED_FROM, -(-self.limits.deliveries // 2))
        self.taken: list[AcquiredBatch] = []
        self.count = 0

    def rows(self) -> list[AcquiredBatch]:
        share, spans = self.share, self.read.spans
        if self.request.max_records <= 0 or not spans or spans[-1].last < share.start:
            return []
        most, last = self._room(spans[-1].last)
        if most <= 0:
            return []
        share.archive_missing(self.read.offset, spans[0].first)
        base = self._base(spans[0].first)
        runs = share.between(min(spans[0].first, base), last)
        if runs:
            self._again(runs, base, last, most)
        else:
            self._new(base, last, most)
        if not self.read.aborted:
            return self.taken
        bad = aborted_spans(spans, self.read.aborted)
        for span in bad:
            at = max(0, share.floor(span.first))
            runs = share.between(share.runs[at].first, span.last)
            share.archive(span.first, span.last, runs, ACQUIRED, count=True)
        return without(self.taken, bad)

    def _room(self, last: int) -> tuple[int, int]:
        """The number of records that may be acquired, and the last offset."""
        share = self.share
        most = min(self.request.max_records, self.limits.locks - share.in_flight)
        if most <= 0 and self.read.offset <= share.end:
            most = min(self.request.max_records, share.end - self.read.offset + 1)
            last = min(last, share.end)
        return most, last

    def _base(self, first: int) -> int:
        """The offset at which acquiring begins: not before the start, nor within a run."""
        at = self.share.floor(first)
        if at < 0:
            return max(first, self.share.start)
        run = self.share.runs[at]
        return run.first if run.last >= first else first

    # --- records that are behind the end, or in a gap ----------------------------------------

    def _new(self, first: int, last: int, most: int) -> None:
        share = self.share
        if not share.runs and share.end > first:
            first = share.end
        if most < last - first + 1:
            whole = self._end_of_batch(first + most - 1)
            last = min(whole, last) if share.gap is not None else whole
        rows = self._runs_of(first, last, most)
        if share.runs[0].first == first:
            share.start = first
        share.end = max(share.end, last)
        self._gap_closed(rows[-1].last + 1 if self.request.exactly else last + 1)
        self.taken += rows
        self.count += sum(row.size for row in rows)

    def _end_of_batch(self, offset: int) -> int:
        """The last offset of the batch that holds this one, itself where none does."""
        return next((s.last for s in self.read.spans if s.first <= offset <= s.last), offset)

    def _runs_of(self, first: int, last: int, most: int) -> list[AcquiredBatch]:
        cuts = [first]
        if not self.request.exactly and last - first + 1 > self.request.batch_size:
            for span in self.read.spans:
                if span.first <= last and span.first - cuts[-1] >= self.request.batch_size:
                    cuts.append(span.first)
        ends = [cut - 1 for cut in cuts[1:]] + [last]
        rows = [AcquiredBatch(begin, end, 1) for begin, end in zip(cuts, ends, strict=True)]
        for row in rows:
            self._put(Run(row.first, row.last, self._locked()))
        if self.request.exactly and rows[0].size > most:
            run = self.share.runs[self.share.floor(first)]
            run.split()
            for at, one in run.each.items():
                if at >= first + most:
                    run.each[at] = InFlight(AVAILABLE, one.count - 1)
            self.share.seek = True
            return [rows[0]._replace(last=first + most - 1)]
        return rows

    def _put(self, run: Run) -> None:
        self.share.runs.insert(self.share.floor(run.first) + 1, run)

    def _locked(self) -> InFlight:
        expires = self.now + self.limits.lock_ms
        return InFlight(ACQUIRED, 1, self.request.member, expires)

    def _gap_closed(self, offset: int) -> None:
        share = self.share
        if share.gaps_from is None:
            return
        share.gaps_from = offset if share.gap is not None and offset <= share.gaps_end else None

    # --- records that were in flight before --------------------------------------------------

    def _again(self, runs: Sequence[Run], base: int, last: int, most: int) -> None:
        share, gap = self.share, base
        for run in runs:
            if self.count >= most:
                break
            if share.gap is not None:
                if gap < run.first:
                    self._new(gap, run.first - 1, most - self.count)
                gap = run.last + 1
                if self.count >= most:
                    break
            bad = self._bad(run, last)
            if bad and self.count:
                most = 0
                break
            got = self._take(run, last, most, bad)
            if bad and got:
                most = 0
                break
        if self.count < most and runs[-1].last < last:
            self._new(runs[-1].last + 1, last, most - self.count)
        if self.taken:
            self._gap_closed(self.taken[-1].last + 1)

    def _bad(self, run: Run, last: int) -> bool:
        """Whether something Available in it was delivered so often that it is throttled."""
        first = self.read.spans[0].first
        counts = [
            one.count
            for begin, end, one in run.parts()
            if self.share.is_free(one) and (run.whole is not None or first <= begin and end <= last)
        ]
        return max(counts, default=0) >= self.throttled_from

    def _take(self, run: Run, last: int, most: int, bad: bool) -> int:
        """Acquire of a run what may be had; how many records."""
        first, one = self.read.spans[0].first, run.whole
        left = most - self.count
        part = not run.within(first, last) or bad or (self.request.exactly and run.size > left)
        if one is None or part:
            if one is not None and not self.share.is_free(one):
                return 0
            run.split()
            return self._some(run, last, left)
        if not self.share.is_free(one) or not self.share.give(
            one, self.request.member, self.limits, self.now
        ):
            return 0
        self.taken.append(AcquiredBatch(run.first, run.last, one.count))
        self.count += run.size
        return run.size

    def _some(self, run: Run, last: int, left: int) -> int:
        rows: list[AcquiredBatch] = []
        first, limit, most = self.read.spans[0].first, self.limits.deliveries, None
        got = 0
        for at, one in run.each.items():
            if at < first or at > last or not self.share.is_free(one):
                continue
            if limit > _THROTTLED_FROM and one.count == limit - 1 and got:
                break
            if one.count >= self.throttled_from and most is None:
                most = max(1, len(run.each) >> one.count - self.throttled_from + 1)
            if not self.share.give(one, self.request.member, self.limits, self.now):
                continue
            got += 1
            if rows and rows[-1].last + 1 == at and rows[-1].count == one.count:
                rows[-1] = rows[-1]._replace(last=at)
            else:
                rows.append(AcquiredBatch(at, at, one.count))
            alone = limit > _THROTTLED_FROM and one.count == limit
            if alone or got == most or (self.request.exactly and got == left):
                break
        self.taken += rows
        self.count += got
        return got
