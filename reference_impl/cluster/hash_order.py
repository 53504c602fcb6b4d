"""The hash maps of Java and of Scala name their keys in an order that this module computes.

Kafka writes JSON into ZooKeeper straight from such maps, so the order of keys in a znode is the
order of the map that held them: a function of the keys' hashes, of the map's kind and of how many
there are. Whoever wants to write the same bytes needs the same order; nobody else does.

Sources: scala.collection.immutable.HashMap, mutable.HashTable, mutable.FlatHashTable,
convert.Wrappers and util.hashing.MurmurHash3@2.12, mutable.HashMap@2.13,
java.util.concurrent.ConcurrentHashMap; every order here was seen in znodes of 1.0.2, 2.2.1, 2.8.2.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

MASK = 0xFFFFFFFF
SMALL = 4  # up to here an immutable map of Scala keeps the order in which it was filled
_SCRAMBLE = 0x9E3775CD


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


def copied_map(keys: Collection[str]) -> list[str]:
    """A `java.util.HashMap` made of another one: it has no more buckets than it needs."""
    buckets = 1
    while buckets < int(len(keys) / 0.75 + 1):
        buckets *= 2
    return sorted(properties(keys), key=lambda key: _spread(key) & buckets - 1)


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
    return sorted(numbers, key=lambda number: _slot(number, bits), reverse=True)


def set_212(hashes: Sequence[int]) -> list[int]:
    """A mutable set of Scala 2.12: the places in `hashes`, the order of filling, as it has them."""
    table: list[int | None] = [None] * 32
    for place in range(len(hashes)):
        _fill(table, hashes, place)
        if place + 1 >= len(table) * 450 // 1000:
            kept, table = table, [None] * (2 * len(table))
            for each in kept:
                if each is not None:
                    _fill(table, hashes, each)
    return [place for place in table if place is not None]


def _fill(table: list[int | None], hashes: Sequence[int], place: int) -> None:
    at = _slot(hashes[place], (len(table) - 1).bit_length())
    while table[at] is not None:
        at = (at + 1) % len(table)
    table[at] = place


def _slot(value: int, bits: int) -> int:
    """The slot among 2**bits, in a mutable table of Scala 2.12."""
    value = _swapped(value)
    return ((value >> bits | value << 32 - bits) & MASK) >> 32 - bits


def _swapped(value: int) -> int:
    value = value * _SCRAMBLE & MASK
    return int.from_bytes(value.to_bytes(4, "big"), "little") * _SCRAMBLE & MASK


# ------------------------------------------------------------------- hashes of maps, Scala 2.12


def partition_hash(topic: str, index: int) -> int:
    """`TopicPartition.hashCode`."""
    return (31 * (31 + index) + java_hash(topic)) & MASK


def wrapped_map_hash(cells: Mapping[str, str | int]) -> int:
    """The hash of an immutable map seen as one of Java's."""
    return sum(_hash(key) ^ _hash(value) for key, value in cells.items()) & MASK


def map_hash(cells: Mapping[str, str | int]) -> int:
    """`MurmurHash3.mapHash`: the same in whatever order it was filled."""
    added, xored, multiplied = 0, 0, 1
    for key, value in cells.items():
        pair = _avalanche(_mixed(_mixed(0xCAFEBABE, _hash(key)), _hash(value)) ^ 2)
        added, xored, multiplied = added + pair & MASK, xored ^ pair, multiplied * (pair or 1)
    mixed = _mixed(_mixed(java_hash("Map"), added), xored)
    return _avalanche(mixed ^ _scrambled(multiplied & MASK) ^ len(cells))


def _hash(cell: str | int) -> int:
    return java_hash(cell) if isinstance(cell, str) else cell & MASK


def _mixed(value: int, data: int) -> int:
    return _rotated(value ^ _scrambled(data), 13) * 5 + 0xE6546B64 & MASK


def _scrambled(data: int) -> int:
    return _rotated(data * 0xCC9E2D51 & MASK, 15) * 0x1B873593 & MASK


def _rotated(value: int, by: int) -> int:
    return (value << by | value >> 32 - by) & MASK


def _avalanche(value: int) -> int:
    value = (value ^ value >> 16) * 0x85EBCA6B & MASK
    value = (value ^ value >> 13) * 0xC2B2AE35 & MASK
    return value ^ value >> 16
