"""Of protocols with equal votes the one wins that comes first in the broker's hash map.

The order is Java's or Scala's, not Kafka's, and yet the same on every broker of a release, so it
can be known: a key per protocol name, the smallest wins. Names whose keys are equal stand in the
order of the members' random ids there, and of the members' arrival here.

Observed on all five releases with every pair of eight names; HashMap@java, scala 2.12 and 2.13.
"""

from __future__ import annotations

from collections.abc import Callable

from touchstone.reference_impl.group.placement import java_hash

Order = Callable[[str], int | tuple[int, ...]]  # of equals the smallest wins
_MASK, _SCALA = 0xFFFFFFFF, 0x9E3775CD


def scala_swapped(name: str) -> int:
    """scala.collection.mutable.HashMap of 2.11 and 2.12: sixteen buckets, from the last."""
    swapped = (java_hash(name) * _SCALA & _MASK).to_bytes(4, "big")
    return -(int.from_bytes(swapped, "little") * _SCALA & 15)


def scala_improved(name: str) -> tuple[int, ...]:
    """scala.collection.immutable.HashMap of 2.13: a trie by five bits of the improved hash."""
    h = java_hash(name) & _MASK
    h = h + (~(h << 9) & _MASK) & _MASK
    h ^= h >> 14
    h = h + (h << 4) & _MASK
    h ^= h >> 10
    return tuple(h >> shift & 31 for shift in range(0, 32, 5))


def java_spread(name: str) -> int:
    """java.util.HashMap: sixteen buckets by the hash folded once."""
    h = java_hash(name) & _MASK
    return (h ^ h >> 16) & 15


ORDERS: dict[str, Order] = {
    "scala 2.12": scala_swapped,
    "scala 2.13": scala_improved,
    "java": java_spread,
}
