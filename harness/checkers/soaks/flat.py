"""Whether a process's memory stays flat.

A client grows while it warms up: code, buffers, what it learns of the cluster. So the first
quarter of the time is left out, and what is compared are the medians of the second quarter and of
the last one: a leak of one object a record shows, a peak during a fault does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

QUARTERS = 4
LEAST = 2 * QUARTERS  # samples
MOST_GROWTH = 4 << 20  # bytes


def growth(samples: Sequence[int]) -> int | None:
    """Bytes by which the last quarter of the samples lies above the second; None: too few.

    `samples` are bytes at equal intervals.
    """
    if len(samples) < LEAST:
        return None
    size = len(samples) // QUARTERS
    return int(median(samples[-size:]) - median(samples[size : 2 * size]))


def is_flat(samples: Sequence[int], most_growth: int = MOST_GROWTH) -> bool:
    grown = growth(samples)
    return grown is None or grown <= most_growth
