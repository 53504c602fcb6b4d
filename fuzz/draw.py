"""The draws of a case: `random.Random` with the few methods that generators and mutators use most,
each as one multiplication.

Random's own draw bits again until they fall below the bound, which makes every element equally
likely to the last bit and costs three calls in Python. Here an element of n is favoured by at most
n / 2**53. Equal states give equal draws on every machine and every Python.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache
from typing import TypeVar

T = TypeVar("T")
_MIX = 0x9E3779B97F4A7C15  # 2**64 divided by the golden ratio: neighbours fall far apart


class Draw(random.Random):
    def choice(self, seq: Sequence[T]) -> T:  # type: ignore[override]  # of len() and [] alone
        """Raises IndexError for none to choose from."""
        return seq[int(self.random() * len(seq))]

    def randrange(self, start: int, stop: int | None = None, step: int = 1) -> int:
        """As Random's, for a range that has a number; ValueError for one that has none."""
        if stop is None:
            start, stop = 0, start
        if step != 1 or stop - start > 1 << 48:
            return super().randrange(start, stop, step)
        if stop <= start:
            raise ValueError(f"no number from {start} to below {stop}")
        return start + int(self.random() * (stop - start))

    def randint(self, a: int, b: int) -> int:
        return self.randrange(a, b + 1)


def draw_of(seed: int, name: str, index: int) -> Draw:
    """The draws of case `index` of what is called `name`."""
    return Draw((hash_of(seed, name) + index * _MIX) & (1 << 64) - 1)


@cache
def hash_of(seed: int, name: str) -> int:
    """The same number on every machine, unlike `hash`."""
    return random.Random(f"{seed}/{name}").getrandbits(64)
