"""Which partition a record goes to: its own, its key's, or the one in favour (PROD-20 to 22).

Keys go by murmur2, so a key keeps its partition whoever produces it (clause PROD-21 has vectors).
Records without a key stay with one partition until it took `batch.size` bytes, then move on; every
partition gets as many bytes, or fewer the longer its queue is (KIP-794, adaptive). An application's
own partitioner comes before both.

Sources: BuiltInPartitioner, RoundRobinPartitioner at 4.3.1.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any, NamedTuple, Protocol

from .configs.parsing import register_class

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


class Choices(NamedTuple):
    """What a partitioner may choose from: all partitions of a topic, and those with a leader."""

    all: Sequence[int]
    available: Sequence[int]


class Partitioner(Protocol):
    """An application's own: the partition of a record, before and after serialization."""

    def partition(
        self,
        topic: str,
        key: Any,
        key_bytes: bytes | None,
        value: Any,
        value_bytes: bytes | None,
        choices: Choices,
    ) -> int:
        """A number from 0 on; below 0 is an error of the partitioner."""


class RoundRobin:
    """Every partition in turn, whatever the key."""

    def __init__(self, first: Callable[[], int] = lambda: 0):
        self._first = first  # 1.0's default partitioner begins anywhere, RoundRobinPartitioner at 0
        self._next: dict[str, int] = {}

    def partition(
        self,
        topic: str,
        key: Any,
        key_bytes: bytes | None,
        value: Any,
        value_bytes: bytes | None,
        choices: Choices,
    ) -> int:
        number = self._next.get(topic)
        number = self._first() if number is None else number
        self._next[topic] = number + 1
        among = choices.available or choices.all
        return among[number % len(among)]


register_class("org.apache.kafka.clients.producer.RoundRobinPartitioner", RoundRobin)


class Sticky:
    """The favourite partition of each topic; `randrange(n)` gives a number below n."""

    def __init__(self, randrange: Callable[[int], int], batch_size: int = 16_384):
        self._randrange = randrange
        self._batch_size = max(1, batch_size)
        self._favourite: dict[str, int] = {}
        self._bytes: dict[str, int] = {}

    def current(self, topic: str, choices: Choices) -> int:
        found = self._favourite.get(topic)
        if found is None or found >= len(choices.all):
            found = self._choose(topic, choices, None)
        return found

    def took(
        self,
        topic: str,
        taken: int,
        choices: Choices,
        loads: Callable[[], Sequence[tuple[int, int]] | None] = lambda: None,
        may_switch: Callable[[], bool] = lambda: True,
    ) -> None:
        """So many bytes went to the favourite: another one's turn after `batch_size` of them.

        Nobody `may_switch` while the batch has room; then only twice the size ends its turn.
        """
        total = self._bytes[topic] = self._bytes.get(topic, 0) + taken
        if total < self._batch_size:
            return
        if total >= 2 * self._batch_size or may_switch():
            self._choose(topic, choices, loads())

    def _choose(self, topic: str, choices: Choices, loads: Sequence[tuple[int, int]] | None) -> int:
        if loads is None:
            among = choices.available or choices.all
            found = among[self._randrange(len(among))]
        else:
            found = weighted(loads, self._randrange)
        self._favourite[topic], self._bytes[topic] = found, 0
        return found


def weighted(loads: Sequence[tuple[int, int]], randrange: Callable[[int], int]) -> int:
    """One of these (partition, batches that wait): the fewer wait, the likelier."""
    longest = max(waiting for _, waiting in loads)
    table = list(accumulate(longest + 1 - waiting for _, waiting in loads))
    return loads[bisect_right(table, randrange(table[-1]))][0]


def worth_weighing(loads: Sequence[tuple[int, int]], partitions: int) -> bool:
    """Not with one partition, and not where all wait alike and none was left out."""
    if not loads or partitions < 2:
        return False
    return len(loads) < partitions or len({waiting for _, waiting in loads}) > 1
