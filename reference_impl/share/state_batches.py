"""Runs of records with one state and delivery count, as the share coordinator keeps them.

Where two overlap, the one that was delivered more often wins, or of equals the one that is further
on; the rest of the other stays. Records before the start offset are dropped, and neighbours that
say the same become one.

Sources: PersisterStateBatchCombiner@4.3.1.
"""

from __future__ import annotations

from collections.abc import Iterable
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
    if len(left) < 2:
        return left
    left = sorted(set(left))
    done: list[StateBatch] = []
    while len(left) > 1:
        one, other = left[0], left[1]
        same = one.rank == other.rank
        if other.first <= one.last or (same and other.first == one.last + 1):
            left = sorted({*left[2:], *_merged(one, other)})
        else:
            done.append(left.pop(0))
    return done + left


def _merged(one: StateBatch, other: StateBatch) -> list[StateBatch]:
    """Two that overlap, `one` the first in order, as runs that overlap less."""
    if one.rank == other.rank:
        return [one._replace(last=max(one.last, other.last))]
    if other.rank < one.rank:
        rest = other._replace(first=one.last + 1)
        return [one, rest] if other.last > one.last else [one]
    parts = [other]
    if other.first > one.first:
        parts.append(one._replace(last=other.first - 1))
    if other.last < one.last:
        parts.append(one._replace(first=other.last + 1))
    return parts
