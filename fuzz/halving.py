"""The few of many that something is about, found by halves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def smallest(suspects: Sequence[T], holds: Callable[[Sequence[T]], bool]) -> Sequence[T]:
    """Return the suspects that are left when it holds of neither half of them; none where it does
    not hold of all of them together.
    """
    if not suspects or not holds(suspects):
        return ()
    while len(suspects) > 1:
        middle = len(suspects) // 2
        found = next((half for half in (suspects[:middle], suspects[middle:]) if holds(half)), None)
        if found is None:
            break
        suspects = found
    return suspects
