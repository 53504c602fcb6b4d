"""Which partition a record goes to: its own, its key's, or the one in favour (PROD-20 to 22).

Keys go by murmur2, so a key keeps its partition whoever produces it (clause PROD-21 has vectors).
Records without a key stay with one partition until its batch is full, then move on (KIP-480);
who makes a partitioner says what picks the next one.
"""

from collections.abc import Callable

_SEED, _M, _R, _MASK = 0x9747B28C, 0x5BD1E995, 24, 0xFFFFFFFF


def murmur2(data: bytes) -> int:
    """Austin Appleby's MurmurHash2 with Kafka's seed, as a signed 32-bit number."""
    h = _SEED ^ len(data)
    whole = len(data) & ~3
    for at in range(0, whole, 4):
        k = int.from_bytes(data[at : at + 4], "little") * _M & _MASK
        k = (k ^ k >> _R) * _M & _MASK
        h = (h * _M & _MASK) ^ k
    if whole != len(data):
        h = (h ^ int.from_bytes(data[whole:], "little")) * _M & _MASK
    h = (h ^ h >> 13) * _M & _MASK
    h ^= h >> 15
    return h - (1 << 32) if h >> 31 else h


def for_key(key: bytes, partitions: int) -> int:
    return (murmur2(key) & 0x7FFFFFFF) % partitions


class Sticky:
    """The favourite partition of each topic; `randrange(n)` gives a number below n."""

    def __init__(self, randrange: Callable[[int], int]):
        self._randrange = randrange
        self._favourite: dict[str, int] = {}

    def current(self, topic: str, available: list[int]) -> int:
        if self._favourite.get(topic) not in available:
            self._favourite[topic] = available[self._randrange(len(available))]
        return self._favourite[topic]

    def move_on(self, topic: str, available: list[int]) -> None:
        """A batch is full: another partition's turn, if there is another."""
        others = [each for each in available if each != self._favourite.get(topic)]
        if others:
            self._favourite[topic] = others[self._randrange(len(others))]
