"""A key belongs to one partition of a coordinator's topic, whose leader is its coordinator.

Java's String.hashCode over UTF-16 units, its absolute value, modulo the partition count. The
absolute value of the smallest int is 0 here, and taking it is not the same as dropping the sign
bit: "my-group" belongs to partition 12 of 50, not to 36 (OFFS-14, OFFS-15; Utils.abs@1.0.2).
"""

from __future__ import annotations

import struct
from functools import lru_cache
from operator import mul

_INT_MIN = -(1 << 31)
_MASK = 0xFFFFFFFF
_SHORT = 16  # characters that are sooner added one by one
_POWERS = [1]  # of 31, modulo 2**32, as far as a text was long


def java_hash(text: str, before: int = 0) -> int:
    """String.hashCode: over UTF-16 units, as a signed int32.

    `before` is the hash of what stands before this text in the whole, so that what many texts
    begin with is hashed once.
    """
    if len(text) < _SHORT and text.isascii():
        value = before
        for unit in text.encode():
            value = value * 31 + unit
        return _signed(value)
    encoded = text.encode("utf-16-be", "surrogatepass")
    units = struct.unpack(f">{len(encoded) // 2}H", encoded)
    while len(_POWERS) <= len(units):
        _POWERS.append(_POWERS[-1] * 31 & _MASK)
    own = sum(map(mul, units[::-1], _POWERS))  # Horner's rule, in C
    return _signed(before * _POWERS[len(units)] + own)


def _signed(value: int) -> int:
    value &= _MASK
    return value - (1 << 32) if value >> 31 else value


@lru_cache(maxsize=4096)  # every request asks, and groups are few
def partition_for(key: str, partitions: int) -> int:
    return partition_of_hash(java_hash(key), partitions)


def partition_of_hash(hashed: int, partitions: int) -> int:
    return (0 if hashed == _INT_MIN else abs(hashed)) % partitions
