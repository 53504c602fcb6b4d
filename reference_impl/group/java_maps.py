"""Java and Kafka go through their hash maps in an order that clients can see.

Which partition an assignor moves, and how records and rows are lined up, follows a `HashMap` over
ids or a `TimelineHashMap` (Kafka's own, with snapshots) over members. Both are the same on every
broker, so they are kept here. What shares a bucket comes in the order of arrival, in a
TimelineHashMap in the reverse.

Sources: java.util.HashMap@17; BaseHashTable, SnapshottableHashTable@4.3.1; observed there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from touchstone.reference_impl.group.placement import java_hash

K = TypeVar("K", str, bytes)
A = TypeVar("A")
_MASK = 0xFFFFFFFF
_GOLDEN, _LONG = -7046029254386353131, 0xFFFFFFFFFFFFFFFF


def uuid_hash(raw: bytes) -> int:
    """Uuid.hashCode, as an unsigned int32."""
    both = int.from_bytes(raw[:8], "big") ^ int.from_bytes(raw[8:], "big")
    return both >> 32 ^ both & _MASK


def java_order(keys: Iterable[K], *, capacity: int = 16) -> list[K]:
    """The order in which a java.util.HashMap of that many goes through them.

    `capacity` is what the map was made for; it grows as any other.
    """
    return _in_buckets(
        keys, lambda key: java_hash(key) if isinstance(key, str) else uuid_hash(key), capacity
    )


def partition_order(topic: str, indexes: Iterable[int]) -> list[int]:
    """The order in which a HashMap by TopicPartition goes through these of one topic."""
    hashed = java_hash(topic)
    return _in_buckets(indexes, lambda index: 31 * (31 + index) + hashed, 16)


def place_order(places: Iterable[tuple[bytes, int]], most: int) -> list[tuple[bytes, int]]:
    """The order of a HashSet of (topic id, partition) that once had as many as `most`."""

    def hash_of(place: tuple[bytes, int]) -> int:
        return 31 * (31 + uuid_hash(place[0])) + place[1]

    return _in_buckets(places, hash_of, 16, most)


def _in_buckets(
    keys: Iterable[A], hash_of: Callable[[A], int], capacity: int, most: int = 0
) -> list[A]:
    known = list(keys)
    buckets = 1 << (capacity - 1).bit_length()
    while max(len(known), most) > buckets * 3 // 4:
        buckets *= 2

    def bucket(key: A) -> int:
        h = hash_of(key) & _MASK
        return (h ^ h >> 16) & buckets - 1

    return sorted(known, key=bucket)


def after_copy(before: int, kept: Sequence[int], added: Sequence[int], least: int = 1) -> list[int]:
    """The order of a HashMap of Integers that copied `before` ones, kept these and then got others.

    A copy is only as large as it has to be (Java 17), so small numbers may stand in odd order; that
    of a HashSet has at `least` 16 buckets.
    """
    buckets = 16
    if kept:
        buckets = max(least, 1 << (int(before / 0.75 + 1) - 1).bit_length())
    for size in range(len(kept) + 1, len(kept) + len(added) + 1):
        if size > buckets * 3 // 4:
            buckets *= 2
    return sorted([*sorted(kept), *sorted(added)], key=lambda index: index & buckets - 1)


def timeline_order(keys: Iterable[str]) -> list[str]:
    """The order of a TimelineHashMap that never held more than these."""
    keys = list(keys)
    slots = 2
    while (len(keys)) * 3 / 4 > slots:
        slots *= 2
    shift = 64 - (slots.bit_length() - 1)

    def slot(key: str) -> int:
        return (java_hash(key) * _GOLDEN & _LONG) >> shift

    keys.reverse()
    return sorted(keys, key=slot)
