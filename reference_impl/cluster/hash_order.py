"""In which order the hash maps of Java and of Scala name their keys.

Kafka writes JSON into ZooKeeper straight from such maps, so the order of keys in a znode is the
order of the map that held them: a function of the keys' hashes, of the map's kind and of how many
there are. Whoever wants to write the same bytes needs the same order; nobody else does.

Sources: scala.collection.immutable.HashMap and mutable.HashTable@2.12, mutable.HashMap@2.13,
java.util.concurrent.ConcurrentHashMap; every order here was seen in znodes of 1.0.2, 2.2.1, 2.8.2.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

MASK = 0xFFFFFFFF
SMALL = 4  # up to here an immutable map of Scala keeps the order in which it was filled
_SCRAMBLE = 0x9E3775CD
Order = Callable[[Collection[str]], list[str]]


def java_hash(text: str) -> int:
    """`String.hashCode`, unsigned, over UTF-16 units."""
    result, units = 0, text.encode("utf-16-be")
    for at in range(0, len(units), 2):
        result = result * 31 + int.from_bytes(units[at : at + 2], "big") & MASK
    return result


def _buckets(count: int) -> int:
    """Both kinds start with 16 buckets and double when three quarters are filled."""
    buckets = 16
    while count * 4 >= buckets * 3:
        buckets *= 2
    return buckets


def _spread(text: str) -> int:
    value = java_hash(text)
    return value ^ value >> 16


def properties(keys: Collection[str]) -> list[str]:
    """`java.util.Properties` since Java 9; keys of one bucket stay as they came."""
    last = _buckets(len(keys)) - 1
    return sorted(keys, key=lambda key: _spread(key) & last)


def mutable_213(keys: Collection[str]) -> list[str]:
    """A mutable map of Scala 2.13; keys of one bucket go by their hash, as signed numbers."""
    last = _buckets(len(keys)) - 1

    def place(key: str) -> tuple[int, int]:
        value = _spread(key)
        return value & last, value - (value >> 31 << 32)

    return sorted(keys, key=place)


def immutable_212(keys: Collection[str]) -> list[str]:
    """An immutable map of Scala 2.12: small ones as they were filled, others by hash, as a trie."""
    if len(keys) <= SMALL:
        return list(keys)

    def path(key: str) -> list[int]:
        value = java_hash(key)
        value = value + (~(value << 9) & MASK) & MASK
        value ^= value >> 14
        value = value + (value << 4) & MASK
        value ^= value >> 10
        return [value >> shift & 31 for shift in range(0, 35, 5)]

    return sorted(keys, key=path)


def mutable_212_numbers(numbers: Sequence[int]) -> list[int]:
    """A mutable map of Scala 2.12 from integers, which is gone through from its last bucket."""
    buckets = 16
    while len(numbers) * 4 > buckets * 3:
        buckets *= 2
    bits = (buckets - 1).bit_length()

    def place(number: int) -> int:
        value = number * _SCRAMBLE & MASK
        value = int.from_bytes(value.to_bytes(4, "big"), "little") * _SCRAMBLE & MASK
        value = (value >> bits | value << 32 - bits) & MASK
        return value >> 32 - bits

    return sorted(numbers, key=place, reverse=True)
