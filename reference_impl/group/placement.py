"""A key belongs to one partition of a coordinator's topic, whose leader is its coordinator.

Java's String.hashCode over UTF-16 units, its absolute value, modulo the partition count. The
absolute value of the smallest int is 0 here, and taking it is not the same as dropping the sign
bit: "my-group" belongs to partition 12 of 50, not to 36 (OFFS-14, OFFS-15; Utils.abs@1.0.2).
"""

from __future__ import annotations

from functools import lru_cache

_INT_MIN = -(1 << 31)


def java_hash(text: str) -> int:
    """String.hashCode: over UTF-16 units, as a signed int32."""
    units = text.encode("utf-16-be", "surrogatepass")
    value = 0
    for high, low in zip(units[::2], units[1::2], strict=True):
        value = (31 * value + (high << 8 | low)) & 0xFFFFFFFF
    return value - (1 << 32) if value >> 31 else value


@lru_cache(maxsize=4096)  # every request asks, and groups are few
def partition_for(key: str, partitions: int) -> int:
    hashed = java_hash(key)
    return (0 if hashed == _INT_MIN else abs(hashed)) % partitions
