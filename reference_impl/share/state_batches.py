"""Runs of records with one state and delivery count, as the share coordinator keeps them.

Where two overlap, the one that was delivered more often wins, or of equals the one that is further
on; the rest of the other stays. Records before the start offset are dropped, and neighbours that
say the same become one.

Sources: PersisterStateBatchCombiner@4.3.1.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heapify, heappop, heappush
from typing import NamedTuple

NO_OFFSET = -1


class StateBatch(NamedTuple):
    first: int
    last: int
    count: int  # type: ignore[assignment]  # deliveries; it hides tuple.count
    state: int

    @property
    def rank(self) -> tuple[int, int]:
        return self.count, self.state


def combined(
    known: Iterable[StateBatch], new: Iterable[StateBatch], start: int
) -> list[StateBatch]:
    """Both as one list without overlaps, from `start` on (-1: everything)."""
    left = [each for each in (*known, *new) if start == NO_OFFSET or each.last >= start]
    if start != NO_OFFSET:
        left = [each._replace(first=max(each.first, start)) for each in left]
    if not left:
        return left
    heapify(left)  # and not sorted anew for each merge: batches are as many as a request may hold
    done: list[StateBatch] = []
    one = _popped(left)
    while left:
        other = _popped(left)
        same = one.rank == other.rank
        if other.first <= one.last or (same and other.first == one.last + 1):
            for each in _merged(one, other):
                heappush(left, each)
            one = _popped(left)
        else:
            done.append(one)
            one = other
    return [*done, one]


def _popped(left: list[StateBatch]) -> StateBatch:
    """The first in order; what equals it goes too."""
    one = heappop(left)
    while left and left[0] == one:
        heappop(left)
    return one


def _merged(one: StateBatch, other: StateBatch) -> list[StateBatch]:
    """Two that overlap, `one` the first in order, as runs that overlap less."""
    if one.rank == other.rank:
        return [one._replace(last=max(one.last, other.last))]
    if other.rank < one.rank:
        rest = other._replace(first=one.last + 1)
        return [one, rest] if other.last > one.last else [one]
    # One that names no record would part `one` into itself for ever.
    if other.last + 1 < other.first:
        return [one]
    parts = [other]
    if other.first > one.first:
        parts.append(one._replace(last=other.first - 1))
    if other.last < one.last:
        parts.append(one._replace(first=other.last + 1))
    return parts
