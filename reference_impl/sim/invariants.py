"""These invariants hold in a cluster whatever happens, checked while it runs and at its end.

While it runs (`look`): marks are in order; a partition has one leader per epoch; what a leader has
under its high watermark was never anything else (a committed batch stays, at its offset, with its
bytes, whoever leads later). At the end (`settle`), when everything is healed: every acknowledged
record is there once, at the offset its producer was told, a producer's records are in the order in
which it sent them, readers saw nothing that does not exist, and all replicas hold the same bytes.

Sources: REPL-*, APPEND-24, LOG-27; KIP-101, KIP-279 (why truncation must follow epochs).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, NoReturn
from zlib import crc32

from touchstone.reference_impl.log.partition_log import LOG_END
from touchstone.reference_impl.sim.workload import History
from touchstone.reference_impl.wire import records as wire_records

if TYPE_CHECKING:
    from touchstone.reference_impl.cluster.replica import Replica
    from touchstone.reference_impl.cluster.topology import Partition
    from touchstone.reference_impl.log.partition_log import PartitionLog
    from touchstone.reference_impl.sim.cluster import Simulation

TopicPartition = tuple[str, int]
StoredValues = dict[TopicPartition, dict[int, bytes]]  # by offset
_CHUNK = 1 << 20


class InvariantViolation(AssertionError):
    """An invariant does not hold; the message says which, where and when."""


class Invariants:
    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self._leaders: dict[tuple[str, int, int], int] = {}  # (topic, partition, epoch) -> broker
        # Base offset -> checksum of the batch.
        self._committed: dict[TopicPartition, dict[int, int]] = {}
        self._seen_to: dict[tuple[str, int, int, int], int] = {}

    # --- while it runs -------------------------------------------------------------------------

    def look(self) -> None:
        for topic in self._simulation.cluster.topics.values():
            for partition in topic.partitions:
                place = topic.name, partition.index
                for host in self._simulation.hosts.values():
                    replica = None if host.core is None else host.core.replicas.get(*place)
                    if replica is not None:
                        self._look_at(place, host.id, replica)

    def _look_at(self, place: TopicPartition, broker: int, replica: Replica) -> None:
        log = replica.log
        start, stable = log.log_start_offset, log.last_stable_offset
        high, end = log.high_watermark, log.log_end_offset
        if not start <= stable <= high <= end:
            self._broken(place, f"marks of {broker} out of order: {start} {stable} {high} {end}")
        if not replica.is_leader:
            return
        epoch = (*place, replica.leader_epoch)
        other = self._leaders.setdefault(epoch, broker)
        if other != broker:
            self._broken(place, f"{other} and {broker} both led epoch {replica.leader_epoch}")
        known = self._committed.setdefault(place, {})
        seen = (*epoch, broker)
        at = self._seen_to.get(seen, start)
        for base, last, checksum in _batches(log, at, high):
            if known.setdefault(base, checksum) != checksum:
                self._broken(place, f"{broker} has another batch at committed offset {base}")
            at = last + 1
        self._seen_to[seen] = at

    # --- at the end ----------------------------------------------------------------------------

    def settle(self, history: History, topics: Collection[str]) -> StoredValues:
        """`topics` are those of the history; what their partitions hold, by offset."""
        self.look()
        stored: StoredValues = {}
        for topic in self._simulation.cluster.topics.values():
            for partition in topic.partitions:
                place = topic.name, partition.index
                agreed = self._agreed(place, partition)
                if topic.name in topics:
                    stored[place] = agreed
        self._acknowledged(history, stored)
        self._ordered(history, stored)
        self._read(history, stored)
        return stored

    def _agreed(self, place: TopicPartition, partition: Partition) -> dict[int, bytes]:
        """Offset -> value of what the leader has, once every replica is shown to have the same."""
        copies = {}
        first = self._log(place, partition.leader).log_start_offset
        for broker in partition.replicas:
            copies[broker] = _raw(self._log(place, broker), first)
        if sorted(partition.isr) != sorted(partition.replicas):
            self._broken(place, f"not all replicas came back: ISR {partition.isr}")
        self._same_committed(place, copies[partition.leader])
        for broker, copy in copies.items():
            if copy != copies[partition.leader]:
                self._broken(place, f"{broker} holds other bytes than leader {partition.leader}")
        rows = wire_records.read(copies[partition.leader])
        return {row["offset"]: row["value"] for row in rows}

    def _same_committed(self, place: TopicPartition, copy: bytes) -> None:
        have = {base: checksum for base, _, checksum in _batches_of(copy)}
        for base, checksum in self._committed.get(place, {}).items():
            if have.get(base) != checksum:
                self._broken(place, f"the committed batch at {base} is gone or another")

    def _log(self, place: TopicPartition, broker: int) -> PartitionLog:
        if (host := self._simulation.hosts.get(broker)) is None:
            self._broken(place, "nobody leads it when all is healed")
        replica = host.running.replicas.get(*place)
        if replica is None:
            self._broken(place, f"{broker} has no replica when all is healed")
        return replica.log

    def _acknowledged(self, history: History, stored: StoredValues) -> None:
        places: dict[bytes, list[tuple[TopicPartition, int]]] = {}
        for place, rows in stored.items():
            for offset, value in rows.items():
                places.setdefault(value, []).append((place, offset))
        for write in history.writes:
            found = places.get(write.value, [])
            place = write.topic, write.partition
            name = write.value.decode()
            if write.acknowledged and not found:
                self._broken(place, f"acknowledged {name} (offset {write.offset}) is lost")
            if len(found) > 1:
                self._broken(place, f"{name} is there {len(found)} times: {found}")
            if write.acknowledged and write.offset >= 0 and found[0] != (place, write.offset):
                self._broken(
                    place, f"{name} is at {found[0]}, its producer was told {write.offset}"
                )

    def _ordered(self, history: History, stored: StoredValues) -> None:
        for place, rows in stored.items():
            last: dict[str, int] = {}
            for offset in sorted(rows):
                writer, _, number = rows[offset].decode().rpartition("-")
                if int(number) <= last.get(writer, -1):
                    self._broken(place, f"{rows[offset].decode()} at {offset} is out of order")
                last[writer] = int(number)

    def _read(self, history: History, stored: StoredValues) -> None:
        position: dict[tuple[str, TopicPartition], int] = {}
        for read in history.reads:
            place = read.topic, read.partition
            if stored[place].get(read.offset) != read.value:
                self._broken(place, f"{read.consumer} read {read.value!r} at {read.offset}")
            before = position.get((read.consumer, place), -1)
            if read.offset <= before:
                self._broken(place, f"{read.consumer} read {read.offset} after {before}")
            position[read.consumer, place] = read.offset

    def _broken(self, place: TopicPartition, sentence: str) -> NoReturn:
        self.broken(f"{place[0]}-{place[1]}: {sentence}")

    def broken(self, sentence: str) -> NoReturn:
        """A promise does not hold: which seed, when, and what."""
        world = self._simulation.world
        raise InvariantViolation(f"seed {world.seed}, {world.now - world.start} ms, {sentence}")


def _raw(log: PartitionLog, start: int, end: int | None = None) -> bytes:
    """Stored bytes of a log from the batch that holds `start`."""
    parts, at = [], start
    stop = log.log_end_offset if end is None else end
    while at < stop:
        records = log.read(at, _CHUNK, min_one=True, isolation=LOG_END).records
        whole = [(pos, size) for pos, size, _ in wire_records.entries(records)]
        if not whole:
            break
        taken = records[: whole[-1][0] + whole[-1][1]]
        parts.append(taken)
        at = list(_batches_of(taken))[-1][1] + 1
    return b"".join(parts)


def _batches(log: PartitionLog, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """(base offset, last offset, checksum) of whole batches from `start` that end before `end`."""
    for base, last, checksum in _batches_of(_raw(log, start, end)):
        if base >= start and last < end:
            yield base, last, checksum


def _batches_of(data: bytes) -> Iterator[tuple[int, int, int]]:
    for position, size, _ in wire_records.entries(data):
        batch = data[position : position + size]
        base = int.from_bytes(batch[:8], "big")
        yield base, base + int.from_bytes(batch[23:27], "big"), crc32(batch)
