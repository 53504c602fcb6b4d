"""What every step of minimising asks: does the complaint still hold, and may it be asked at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from touchstone.fuzz.script import Script

T = TypeVar("T")


class Spent(Exception):
    """No candidate may be run any more: the best that was found stands."""


class Search:
    """The simplest script so far, and what it cost.

    A candidate is run once, however often it comes up. When `limit` runs are spent the next one
    raises Spent, as `holds` may at any time. (A rejected road: to refuse every candidate from then
    on. Those of a request with thousands of elements are thousands, and each costs as much to
    build: minutes on 60 KB of OffsetDelete.)
    """

    def __init__(self, script: Script, holds: Callable[[Script], bool], limit: int) -> None:
        self.best = script
        self.runs = 0
        self.limit = limit
        self._holds = holds
        self._refused: set[Script] = set()

    def accepts(self, candidate: Script) -> bool:
        """Whether the complaint holds for the candidate, which is then the best. Raises Spent."""
        if candidate == self.best:
            return True
        if candidate in self._refused:
            return False
        if self.runs >= self.limit:
            raise Spent
        self.runs += 1
        if self._holds(candidate):
            self.best = candidate
            return True
        self._refused.add(candidate)
        return False


def smallest(items: Sequence[T], accepts: Callable[[list[T]], bool]) -> list[T]:
    """The items that have to stay: `accepts` says of a subset, in order, whether it is enough.

    All of them are enough. First none is tried, then all but one chunk, in chunks of half, a
    quarter ... of what is left, down to single items. About 2 k log n questions where k of n stay.
    """
    kept = list(items)
    if not kept or accepts([]):
        return []
    size = (len(kept) + 1) // 2
    while True:
        at = 0
        while at < len(kept) and len(kept) > 1:
            rest = kept[:at] + kept[at + size :]
            if rest and accepts(rest):
                kept = rest
            else:
                at += size
        if size == 1:
            return kept
        size = (size + 1) // 2
