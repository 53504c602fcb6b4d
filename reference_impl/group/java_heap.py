"""Java's PriorityQueue: which of equals comes first follows from how its heap is sifted.

An assignor takes the least loaded process again and again, and many are equally loaded. Python's
`heapq` sifts another way, so it would choose others.

Sources: java.util.PriorityQueue@17.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

T = TypeVar("T")


class JavaHeap(Generic[T]):
    """`key(item)` is what is compared; it may change while the item is out of the heap."""

    def __init__(self, items: Iterable[T], key: Callable[[T], float]) -> None:
        self._key = key
        self._items: list[T] = []
        for item in items:
            self.add(item)

    def __bool__(self) -> bool:
        return bool(self._items)

    def add(self, item: T) -> None:
        items, key = self._items, self._key
        items.append(item)
        at, own = len(items) - 1, key(item)
        while at and own < key(items[(at - 1) // 2]):
            above = (at - 1) // 2
            items[at] = items[above]
            at = above
        items[at] = item

    def poll(self) -> T:
        """The first; IndexError where there is none."""
        items, key = self._items, self._key
        first, last = items[0], items.pop()
        if not items:
            return first
        at, own = 0, key(last)
        while (below := 2 * at + 1) < len(items):
            if below + 1 < len(items) and key(items[below]) > key(items[below + 1]):
                below += 1
            if own <= key(items[below]):
                break
            items[at] = items[below]
            at = below
        items[at] = last
        return first
