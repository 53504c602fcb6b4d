"""A log on disk answers like one in memory, whatever is done to it, also after a restart."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from touchstone.reference_impl.broker.data.log_rules import rules_of
from touchstone.reference_impl.broker.personas import persona
from touchstone.reference_impl.io.disk_store import DiskStore, Marks
from touchstone.reference_impl.log.files.transaction_index import Aborted
from touchstone.reference_impl.log.memory_store import MemorySegment
from touchstone.reference_impl.log.partition_log import LOG_END, PartitionLog
from touchstone.reference_impl.log.topic_config import TopicConfig
from touchstone.reference_impl.tests.log.stores import HastyDisk
from touchstone.reference_impl.tests.log.test_appending import NOW
from touchstone.reference_impl.wire.records import LZ4, NONE, build

SETTINGS = replace(TopicConfig(), segment_bytes=3000, index_interval_bytes=200)


@pytest.fixture(autouse=True, params=["files"])
def store():
    """Both stores stand beside each other here."""


class Pair:
    """The same log twice."""

    def __init__(self, folder, settings=SETTINGS, *, first_offsets=False):
        self.settings, self.folder, self.disk = settings, folder, HastyDisk(most_open=2)
        self.first_offsets = first_offsets
        self.said: list[str] = []
        self.memory = self.a_log(None)
        self.disk_log = self.a_log(self.a_store(Marks()))

    def a_store(self, marks):
        return DiskStore(
            self.disk,
            self.folder,
            lambda: self.settings,
            marks=marks,
            say=self.said.append,
            first_offsets=self.first_offsets,
        )

    def a_log(self, store):
        rules = rules_of(persona("4.3"))
        return PartitionLog("t", 0, lambda: self.settings, rules=rules, store=store, now=NOW)

    def both(self, act):
        first, second = act(self.memory), act(self.disk_log)
        assert first == second
        return first

    def reopen(self, *, clean: bool):
        log = self.disk_log
        start = log.log_start_offset
        if clean:
            log.close(NOW)
        else:
            log.store.close()
        marks = Marks(clean, log.recovery_point, start, log.high_watermark)
        self.disk_log = self.a_log(self.a_store(marks))
        assert self.disk_log.log_start_offset == start


def look(log: PartitionLog):
    """All that a reader can ask of a log, some of it everywhere."""
    offsets = range(log.log_start_offset, log.log_end_offset, 7)
    return (
        log.marks(),
        [(s.base_offset, s.size, s.largest_timestamp, s.first_timestamp) for s in log.segments],
        [(s.next_offset, s.index_entries) for s in log.segments],
        [bytes(entry) for s in log.segments for entry in s.entries()],
        [log.read(o, 900, isolation=LOG_END, min_one=o % 2 == 0) for o in offsets],
        [s.position_of(o) for s in log.segments for o in offsets],
        [log.first_offset_at(NOW + stamp) for stamp in range(-5, 3000, 111)],
        log.newest(),
        log.epochs.rows(),
        log.producers.snapshot(),
    )


def random_batch(chance: random.Random, sequence: int) -> bytes:
    values = [chance.randbytes(chance.randrange(90)) for _ in range(chance.randrange(1, 6))]
    rows = [{"value": v, "timestamp": NOW + chance.randrange(2000)} for v in values]
    producer = (
        {"producer_id": 7, "producer_epoch": 0, "base_sequence": sequence}
        if chance.random() < 0.5
        else {}
    )
    return build(2, rows, chance.choice([NONE, NONE, LZ4]), **producer)


def boundaries(log: PartitionLog) -> list[int]:
    firsts = [int.from_bytes(e[:8], "big") for s in log.segments for e in s.entries()]
    return [at for at in firsts if at >= log.log_start_offset] + [log.log_end_offset]


@pytest.mark.parametrize("seed", range(8))
def test_a_thousand_steps_leave_both_alike(tmp_path, seed):
    chance, pair = random.Random(seed), Pair(tmp_path, first_offsets=seed % 2 == 1)
    for step in range(120):
        action = chance.randrange(19)
        end, start = pair.memory.log_end_offset, pair.memory.log_start_offset
        if action < 14:
            known = pair.memory.producers.producers.get(7)
            batch = random_batch(chance, known.last_sequence + 1 if known else 0)
            epoch = step // 30
            pair.both(lambda log, b=batch, e=epoch: log.append(b, now=NOW, leader_epoch=e))
            pair.both(lambda log: log.advance_high_watermark(log.log_end_offset))
        elif action == 14:
            # Within a batch the end would be the cut until a restart, then the batch's start.
            to = chance.choice(boundaries(pair.memory))
            pair.both(lambda log, o=to: log.truncate_to(o, NOW))
        elif action == 15:
            pair.both(lambda log: log.roll(NOW) and None)
        elif action == 16:
            pair.both(lambda log: log.flush(NOW))
        elif action == 17:
            to = chance.randrange(start, end + 1)
            pair.both(lambda log, o=to: log.delete_to(o, NOW))
        else:
            pair.reopen(clean=chance.random() < 0.5)
        if step % 10 == 0:
            pair.both(look)
    pair.both(look)
    pair.reopen(clean=True)
    pair.both(look)
    assert pair.said == []


def test_aborted_transactions_outlive_their_segment_and_a_cut(tmp_path):
    pair = Pair(tmp_path)
    for _ in range(3):
        pair.both(lambda log: log.append(build(2, [b"a", b"b"], NONE, timestamp=NOW), now=NOW))
    first, second = Aborted(1, 0, 1, 2), Aborted(2, 2, 4, 5)
    for aborted in (first, second, second):
        pair.both(lambda log, a=aborted: log.segments[-1].add_aborted(a))
    pair.reopen(clean=True)
    pair.both(lambda log: list(log.segments[-1].aborted()))
    assert list(pair.disk_log.segments[-1].aborted()) == [first, second]
    pair.both(lambda log: log.truncate_to(4, NOW))
    pair.reopen(clean=False)
    assert pair.both(lambda log: list(log.segments[-1].aborted())) == [first]


def test_what_is_removed_stays_on_disk_for_its_readers(tmp_path):
    expired = []
    store = DiskStore(
        HastyDisk(),
        tmp_path,
        lambda: SETTINGS,
        marks=Marks(),
        expire=lambda *word: expired.append(word),
    )
    log = PartitionLog("t", 0, lambda: SETTINGS, store=store, now=NOW)
    for _ in range(40):
        log.append(build(2, [b"x" * 90], NONE, timestamp=NOW), now=NOW)
    oldest = log.segments[0]
    before = list(oldest.entries())
    log.drop_segments(1, NOW)
    ((at, paths),) = expired
    assert at == NOW + SETTINGS.file_delete_delay_ms
    assert [path.name for path in paths] == [
        f"{0:020d}.{kind}.deleted" for kind in ("log", "index", "timeindex")
    ]
    assert list(oldest.entries()) == before
    assert log.log_start_offset == log.segments[0].base_offset > 0


def test_a_compaction_takes_the_place_of_what_it_read(tmp_path):
    pair = Pair(tmp_path)
    for number in range(60):
        batch = build(2, [b"%03d" % number * 20], NONE, timestamp=NOW + number)
        pair.both(lambda log, b=batch: log.append(b, now=NOW))
    for log in (pair.memory, pair.disk_log):
        old = log.segments[:2]
        fresh = log.store.begin_cleaned(old[0].base_offset, NOW)
        for segment in old:
            for number, entry in enumerate(segment.entries()):
                if number % 3 == 0:
                    offset = int.from_bytes(entry[:8], "big")
                    fresh.append(bytes(entry), offset, NOW + offset, NOW)
        log.replace_segments(old, [fresh], NOW)
    pair.both(look)
    pair.reopen(clean=False)
    pair.both(look)
    assert pair.said == [] and not list(tmp_path.glob("*.swap"))


def test_preallocation_shows_while_a_segment_is_written_to(tmp_path):
    pair = Pair(tmp_path, replace(SETTINGS, preallocate=True))
    pair.both(lambda log: log.append(build(2, [b"x"], NONE, timestamp=NOW), now=NOW))
    path = tmp_path / f"{0:020d}.log"
    assert path.stat().st_size == SETTINGS.segment_bytes
    pair.reopen(clean=True)
    assert path.stat().st_size == pair.disk_log.size
    pair.both(look)


def test_memory_segments_count_index_entries_as_files_do():
    segment = MemorySegment(0, NOW, interval=100)
    for offset in range(9):
        segment.append(bytes(60), offset, NOW, NOW)
    assert segment.index_entries == 4
