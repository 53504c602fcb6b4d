"""What the objects of this process weigh, by type: what a leak makes grow, and nothing else does.

Resident memory is no such measure. A frame whose answer takes 20 MB for a moment has the allocator
map that much; what lives longer and was put between is enough to keep it mapped, so resident memory
climbs in steps with the greatest frame so far, though nothing is held.
"""

from __future__ import annotations

import gc
import sys
from collections import Counter


def object_sizes() -> Counter[str]:
    """Bytes by the name of the type. Objects that the collector tracks, and what only they refer to
    (bytes, numbers, tuples of such); an object in C that hides its parts counts without them.
    """
    gc.collect()
    found: Counter[str] = Counter()
    seen: set[int] = set()
    for tracked in gc.get_objects():
        found[type(tracked).__name__] += sys.getsizeof(tracked)
        untracked = [each for each in gc.get_referents(tracked) if not gc.is_tracked(each)]
        while untracked:
            leaf = untracked.pop()
            if id(leaf) not in seen:
                seen.add(id(leaf))
                found[type(leaf).__name__] += sys.getsizeof(leaf)
                untracked += [part for part in gc.get_referents(leaf) if not gc.is_tracked(part)]
    return found


def growth(before: Counter[str], after: Counter[str], types: int = 5) -> str:
    """`+12.5 MiB bytearray, ...`: the types that grew most."""
    grown = Counter({name: size - before[name] for name, size in after.items()})
    rows = [f"{size / (1 << 20):+.1f} MiB {name}" for name, size in grown.most_common(types)]
    return ", ".join(rows)
