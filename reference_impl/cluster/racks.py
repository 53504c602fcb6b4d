"""New partitions get their replicas exactly as Kafka places them.

Two algorithms, because Kafka has had two. Releases with ZooKeeper walk one ring of brokers with a
start index and a growing shift (`assign`, `continue_assignment`); KRaft controllers deal replicas
out rack by rack in stripes (`StripedPlacer`). Both are functions of their inputs plus a source of
randomness that arrives as an argument, so that a known start gives a known table: the clauses quote
such tables, and real jars confirm them.

Not here: who is alive, what a request may say, which error code an answer carries. A placement
that cannot be made raises `PlacementError` whose `kind` names the reason and whose text is what
Kafka tells the client.

Sources: TOPIC-10..33; kafka.admin.AdminUtils@1.0.2, 2.2.1, 2.8.2 (tables compared with these jars);
StripedReplicaPlacer@3.9.2, 4.3.1 (likewise).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

Assignment = list[list[int]]
T = TypeVar("T")


class RandomSource(Protocol):
    def randrange(self, stop: int, /) -> int: ...


class PlacementError(ValueError):
    """`kind`: "partitions", "replication", "racks" or "assignment"."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message


@dataclass(frozen=True, slots=True)
class EligibleBroker:
    """A broker that may hold replicas."""

    id: int
    rack: str | None = None
    fenced: bool = False


# ------------------------------------------------------------------ the ring (ZooKeeper releases)


def assign(
    brokers: Sequence[EligibleBroker],
    partitions: int,
    replication: int,
    *,
    random: RandomSource | None = None,
    start: int = -1,
    shift: int | None = None,
    first_partition: int = -1,
) -> Assignment:
    """Replica lists for `partitions` new partitions, the first of which has id `first_partition`.

    `start` >= 0 fixes the start index, and the shift with it unless `shift` says otherwise;
    else both are drawn, the start index first. Seats must be sorted by id (TOPIC-17).
    """
    _check_counts(len(brokers), partitions, replication)
    racks = {broker.id: broker.rack for broker in brokers}
    if None in racks.values() and set(racks.values()) != {None}:
        raise PlacementError(
            "racks", "Not all brokers have rack information for replica rack aware assignment."
        )
    rack_aware = None not in racks.values()
    ring = alternate(racks) if rack_aware else [broker.id for broker in brokers]
    start, shift = _start_and_shift(len(ring), random, start, shift)
    table: Assignment = []
    for partition in range(max(0, first_partition), max(0, first_partition) + partitions):
        if partition > 0 and partition % len(ring) == 0:
            shift += 1
        first = (partition + start) % len(ring)
        if rack_aware:
            table.append(_spread_over_racks(ring, racks, first, shift, replication))
        else:
            table.append(_follow_the_ring(ring, first, shift, replication))
    return table


def _check_counts(brokers: int, partitions: int, replication: int) -> None:
    """In this order, so that (0 partitions, RF 0) reports the partitions (TOPIC-14)."""
    if partitions <= 0:
        raise PlacementError("partitions", "Number of partitions must be larger than 0.")
    if replication <= 0:
        raise PlacementError("replication", "Replication factor must be larger than 0.")
    if replication > brokers:
        raise PlacementError(
            "replication",
            f"Replication factor: {replication} larger than available brokers: {brokers}.",
        )


def _start_and_shift(
    brokers: int, random: RandomSource | None, start: int, shift: int | None
) -> tuple[int, int]:
    if start >= 0:
        return start, start if shift is None else shift
    if random is None:
        raise TypeError("without a start index, a source of randomness must be given")
    drawn = random.randrange(brokers)
    return drawn, random.randrange(brokers) if shift is None else shift


def _index(first: int, shift: int, j: int, brokers: int) -> int:
    """TOPIC-19. Only for replicas after the first, hence never for one broker."""
    return (first + 1 + (shift + j) % (brokers - 1)) % brokers


def _follow_the_ring(ring: Sequence[int], first: int, shift: int, replication: int) -> list[int]:
    followers = (_index(first, shift, j, len(ring)) for j in range(replication - 1))
    return [ring[first], *(ring[i] for i in followers)]


def _spread_over_racks(
    ring: Sequence[int], racks: dict[int, str | None], first: int, shift: int, replication: int
) -> list[int]:
    """TOPIC-25 and 26: walk on, accepted or not; a rack repeats only once every rack has one."""
    rack_count = len(set(racks.values()))
    replicas = [ring[first]]
    taken = {racks[ring[first]]}
    k = 0
    while len(replicas) < replication:
        broker = ring[_index(first, shift * rack_count, k, len(ring))]
        k += 1
        new_rack = racks[broker] not in taken or len(taken) == rack_count
        # Kafka adds "or every broker has one", out of reach while RF <= brokers.
        if new_rack and broker not in replicas:
            replicas.append(broker)
            taken.add(racks[broker])
    return replicas


def alternate(racks: dict[int, str | None]) -> list[int]:
    """Take one broker of each rack in turn, racks by name, brokers by id, spent racks left out."""
    by_rack: dict[str, list[int]] = {}
    for broker in sorted(racks):
        by_rack.setdefault(racks[broker] or "", []).append(broker)
    queues = [iter(by_rack[name]) for name in sorted(by_rack, key=_utf16)]
    ring: list[int] = []
    while queues:
        dealt = [(queue, next(queue, None)) for queue in queues]
        ring += [broker for _, broker in dealt if broker is not None]
        queues = [queue for queue, broker in dealt if broker is not None]
    return ring


def _utf16(text: str) -> bytes:
    """Java compares strings by UTF-16 code units, not by code points."""
    return text.encode("utf-16-be", "surrogatepass")


def continue_assignment(
    brokers: Sequence[EligibleBroker], existing: Sequence[Sequence[int]], total: int
) -> Assignment:
    """Replica lists for the partitions that bring a topic from `len(existing)` to `total`.

    The walk starts at the first broker whose id is at least partition 0's first replica, or at
    the first broker where there is none, and goes on with the next partition id (TOPIC-33).
    """
    leader = existing[0][0]
    start = next((i for i, broker in enumerate(brokers) if broker.id >= leader), 0)
    return assign(
        brokers,
        total - len(existing),
        len(existing[0]),
        start=start,
        first_partition=len(existing),
    )


def without_racks(brokers: Iterable[EligibleBroker]) -> list[EligibleBroker]:
    """What auto-creation does when a broker has no rack: nobody has one (TOPIC-03)."""
    brokers = list(brokers)
    if all(broker.rack is not None for broker in brokers):
        return brokers
    return [EligibleBroker(broker.id, None, broker.fenced) for broker in brokers]


# ----------------------------------------------------------------------------- stripes (KRaft)


def _shuffle(items: list[T], random: RandomSource) -> None:
    """java.util.Collections.shuffle's order of draws, so that equal draws give equal tables."""
    for size in range(len(items), 1, -1):
        j = random.randrange(size)
        items[size - 1], items[j] = items[j], items[size - 1]


class _Deal:
    """Brokers of one rack in one state, dealt in a circle; a new epoch starts one place further."""

    def __init__(self, brokers: Iterable[int], random: RandomSource) -> None:
        self.brokers = sorted(brokers)
        self.offset = random.randrange(len(self.brokers)) if self.brokers else 0
        self.index = 0
        self.epoch = 0

    def next(self, epoch: int) -> int | None:
        if not self.brokers:
            return None
        if epoch != self.epoch:
            self.epoch, self.index = epoch, 0
            self.offset = (self.offset + 1) % len(self.brokers)
        if self.index >= len(self.brokers):
            return None
        broker = self.brokers[(self.index + self.offset) % len(self.brokers)]
        self.index += 1
        return broker


class _Rack:
    def __init__(self, brokers: Sequence[EligibleBroker], random: RandomSource) -> None:
        self.fenced = _Deal((each.id for each in brokers if each.fenced), random)
        self.unfenced = _Deal((each.id for each in brokers if not each.fenced), random)

    def next(self, epoch: int) -> int | None:
        broker = self.unfenced.next(epoch)
        return self.fenced.next(epoch) if broker is None else broker

    def shuffle(self, random: RandomSource) -> None:
        _shuffle(self.fenced.brokers, random)
        _shuffle(self.unfenced.brokers, random)


class StripedPlacer:
    """Places replicas: racks in a circle, brokers in circles within racks.

    A broker without a rack counts to a rack of its own name, "none", which sorts first; mixed
    racks are therefore no error here.
    """

    def __init__(self, brokers: Sequence[EligibleBroker], random: RandomSource) -> None:
        self.random = random
        self.total = len(brokers)
        self.unfenced = sum(not broker.fenced for broker in brokers)
        by_rack: dict[str | None, list[EligibleBroker]] = {}
        for broker in brokers:
            by_rack.setdefault(broker.rack, []).append(broker)
        names = sorted(by_rack, key=lambda name: (name is not None, _utf16(name or "")))
        self.members = [_Rack(by_rack[name], random) for name in names]
        self.circle = list(self.members)
        self.offset = random.randrange(len(names)) if names else 0
        self.epoch = 0

    def place(self, partitions: int, replication: int, *, cordons: bool = False) -> Assignment:
        """`cordons`: log directories can be cordoned (4.3), so refusals mention that too."""
        if replication <= 0:
            raise PlacementError(
                "replication",
                f"Invalid replication factor {replication}: "
                "the replication factor must be positive.",
            )
        if self.unfenced == 0:
            cordoned = ", or have all their log directories cordoned" if cordons else ""
            raise PlacementError("replication", f"All brokers are currently fenced{cordoned}.")
        if replication > self.total:
            cordoned = " or some brokers have all their log directories cordoned" if cordons else ""
            raise PlacementError(
                "replication",
                f"The target replication factor of {replication} cannot be reached because only "
                f"{self.total} broker(s) are registered{cordoned}.",
            )
        return [self._one(replication) for _ in range(partitions)]

    def _one(self, replication: int) -> list[int]:
        if self.epoch == self.unfenced and self.unfenced > 1:
            _shuffle(self.circle, self.random)
            for rack in self.members:
                rack.shuffle(self.random)
            self.epoch = 0
        if self.offset == len(self.circle):
            self.offset = 0
        first_rack, leader = self._leader()
        replicas = [leader]
        skip: int | None = first_rack  # the leader's rack sits out its first turn
        at = self.offset
        while len(replicas) < replication:
            if at == skip:
                skip = None
            else:
                broker = self.circle[at].next(self.epoch)
                if broker is not None:
                    replicas.append(broker)
            at = (at + 1) % len(self.circle)
        self.epoch += 1
        self.offset += 1
        return replicas

    def _leader(self) -> tuple[int, int]:
        """The first rack from here that has somebody to lead; only unfenced brokers may."""
        at = self.offset
        while True:
            broker = self.circle[at].unfenced.next(self.epoch)
            if broker is not None:
                return at, broker
            at = (at + 1) % len(self.circle)
