"""Compaction keeps the last record of each key, its offset and its producers, whatever comes."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from touchstone.reference_impl.broker.defects import plant
from touchstone.reference_impl.log.cleaner import Cleaning
from touchstone.reference_impl.log.dirtiness import dirty_part
from touchstone.reference_impl.log.partition_log import PartitionLog
from touchstone.reference_impl.log.rules import COORDINATOR, Rules
from touchstone.reference_impl.log.topic_config import TopicConfig
from touchstone.reference_impl.tests.log import stores
from touchstone.reference_impl.wire import records
from touchstone.reference_impl.wire.records import batch as v2
from touchstone.reference_impl.wire.records.control import ABORT, COMMIT, marker_batch

NOW = 1_700_000_000_000
DAY = 86_400_000
COMPACT = {"cleanup_policy": ("compact",), "min_cleanable_dirty_ratio": 0.0}


class ALog:
    """A compacted log that is cleaned by hand, and what it was told."""

    def __init__(self, *, horizons=True, rules=None, switches=frozenset(), **settings):
        self.config = replace(TopicConfig(), **COMPACT, **settings)
        self.horizons, self.switches = horizons, switches
        store = stores.chosen[-1](lambda: self.config)
        self.log = PartitionLog(
            "t", 0, lambda: self.config, store=store, now=NOW, rules=rules or Rules()
        )
        self.now = NOW

    def write(self, *pairs, at=None, compression=0, **batch):
        stamp = self.now if at is None else at
        rows = [{"key": key, "value": value} for key, value in pairs]
        data = records.build(2, rows, compression, timestamp=stamp, **batch)
        self.log.append(data, now=self.now)
        self.log.advance_high_watermark(self.log.log_end_offset)
        return self

    def end(self, kind, producer=1):
        marker = marker_batch(
            kind, producer_id=producer, producer_epoch=0, coordinator_epoch=0, timestamp=self.now
        )
        self.log.append(marker, now=self.now, origin=COORDINATOR)
        self.log.advance_high_watermark(self.log.log_end_offset)
        return self

    def close(self):
        """What came so far is in closed segments."""
        self.log.roll(self.now)
        return self

    def clean(self, *, pieces=None, room=1 << 20):
        self.now += 1
        dirty = dirty_part(self.log, self.config, self.now)
        cleaning = Cleaning(
            self.log, dirty, self.config, self.now,
            horizons=self.horizons, room=room,
        )  # fmt: skip
        plant(cleaning, self.switches)
        for piece, _ in enumerate(cleaning.run()):
            if piece == pieces:
                break
        return self

    def read(self):
        """(offset, key, value) of everything that is left."""
        entries = (entry for segment in self.log.segments for entry in segment.entries())
        return [
            (row["offset"], row["key"], row["value"])
            for entry in entries
            for row in records.read(bytes(entry))
        ]

    def batches(self):
        entries = (entry for segment in self.log.segments for entry in segment.entries())
        return [v2.read_header(bytes(entry)) for entry in entries]


def a_log(**how):
    return ALog(**how)


def test_the_last_record_of_each_key_stays_where_it_was():
    log = a_log().write((b"a", b"1"), (b"b", b"1")).write((b"a", b"2")).close().clean()
    assert log.read() == [(1, b"b", b"1"), (2, b"a", b"2")]
    first, _ = log.batches()
    assert (first.base_offset, first.last_offset_delta, first.records_count) == (0, 1, 1)
    assert log.log.log_start_offset == 0 and log.log.cleaned_to == 3


def test_the_active_segment_is_left_alone():
    log = a_log().write((b"a", b"1")).close().write((b"a", b"2")).write((b"a", b"3")).clean()
    assert [value for _, _, value in log.read()] == [b"1", b"2", b"3"]


def test_a_clean_log_is_not_dirty_any_more():
    log = a_log().write((b"a", b"1")).write((b"a", b"2")).close().clean()
    assert not dirty_part(log.log, log.config, log.now).worth_it(log.config)
    log.write((b"a", b"3")).close()
    dirty = dirty_part(log.log, log.config, log.now)
    assert dirty.first == 2 and dirty.worth_it(log.config) and 0 < dirty.ratio < 1
    assert [value for _, _, value in log.clean().read()] == [b"3"]


def test_tombstones_stay_until_their_horizon_and_then_go():
    log = a_log(delete_retention_ms=DAY).write((b"a", b"1")).write((b"a", None)).close().clean()
    (marked,) = log.batches()
    assert marked.delete_horizon == log.now + DAY
    log.write((b"b", b"1")).close().clean()
    assert (1, b"a", None) in log.read(), "its time has not come"
    log.now += DAY
    log.write((b"c", b"1")).close().clean()
    assert [key for _, key, _ in log.read()] == [b"b", b"c"]


def test_before_horizons_tombstones_go_by_the_age_of_what_was_clean():
    log = a_log(horizons=False, delete_retention_ms=0)
    log.write((b"a", b"1")).write((b"a", None)).close().clean()
    assert log.batches()[0].delete_horizon is None and log.read() == [(1, b"a", None)]
    log.write((b"b", b"1")).close().clean()
    assert [key for _, key, _ in log.read()] == [b"b"]


def test_the_last_batch_of_a_producer_stays_without_records():
    own = {"producer_id": 7, "producer_epoch": 0}
    log = a_log().write((b"a", b"1"), base_sequence=0, **own)
    log.write((b"a", b"2"), base_sequence=1, **own).write((b"a", b"3")).close().clean()
    assert log.read() == [(2, b"a", b"3")]
    empty = log.batches()[0]
    assert (empty.base_offset, empty.records_count, empty.base_sequence) == (1, 0, 1)


def test_aborted_records_go_at_once_and_markers_later():
    own = {"producer_id": 1, "producer_epoch": 0, "transactional": True}
    log = a_log(delete_retention_ms=0).write((b"a", b"0"))
    log.write((b"a", b"1"), base_sequence=0, **own).end(ABORT)
    log.write((b"b", b"1"), base_sequence=1, **own).end(COMMIT).close()
    assert log.log.segments[0].aborted()
    log.clean()
    data = [row for row in log.read() if row[1] in (b"a", b"b")]
    assert data == [(0, b"a", b"0"), (3, b"b", b"1")]
    assert [b.base_offset for b in log.batches() if b.control] == [2, 4]
    assert log.log.segments[0].aborted(), "a marker that stays keeps its transaction known"
    for _ in range(2):  # the first notices that nothing is left and gives it a horizon
        log.write((b"c", b"1")).close().clean()
    assert [b.base_offset for b in log.batches() if b.control] == [4]
    assert not log.log.segments[0].aborted()


def test_nothing_of_an_open_transaction_is_touched():
    own = {"producer_id": 1, "producer_epoch": 0, "transactional": True}
    log = a_log().write((b"a", b"1")).write((b"a", b"2")).close()
    log.write((b"a", b"3"), base_sequence=0, **own).close()
    assert dirty_part(log.log, log.config, log.now).end == 2
    assert [value for _, _, value in log.clean().read()] == [b"2", b"3"]


def test_what_does_not_fit_into_the_map_waits_for_the_next_cleaning():
    log = a_log()
    for number in range(6):
        log.write((b"%d" % (number % 3), b"%d" % number))
    log.close().clean(room=2)
    assert log.log.cleaned_to == 2 and len(log.read()) == 6
    log.clean()
    assert [value for _, _, value in log.read()] == [b"3", b"4", b"5"]


def test_small_segments_become_one_and_large_ones_do_not():
    log = a_log(segment_bytes=300)
    for number in range(8):
        log.write((b"%d" % number, b"ten bytes.")).close()
    log.clean()
    sizes = [segment.size for segment in log.log.segments]
    assert len(sizes) == 4 and all(size <= 300 for size in sizes)
    assert len(log.read()) == 8


def test_a_log_that_changes_under_a_cleaning_ends_it():
    log = a_log()
    for value in (b"x", b"y", b"z"):
        log.write((b"a", value * (1 << 18))).close()
    cleaning = Cleaning(
        log.log, dirty_part(log.log, log.config, log.now), log.config, log.now
    ).run()  # fmt: skip
    next(cleaning)
    log.log.truncate_to(1, log.now)
    assert list(cleaning) == [] and log.log.log_end_offset == 1
    assert log.read() == [(0, b"a", b"x" * (1 << 18))]
    assert log.log.cleaned_to == 0


@pytest.mark.parametrize("seed", range(6))
def test_whatever_is_written_a_reader_ends_with_the_same_table(seed):
    """The model: replaying what is left gives the same values as replaying everything."""
    chance, table = random.Random(seed), {}
    log = a_log(delete_retention_ms=50, segment_bytes=900, horizons=bool(seed % 2))
    for _ in range(120):
        log.now += chance.randrange(20)
        match chance.randrange(8):
            case 0:
                log.close()
            case 1:
                log.clean()
            case _:
                rows = [
                    (b"%d" % chance.randrange(9), chance.choice((None, b"%d" % log.now)))
                    for _ in range(chance.randrange(1, 4))
                ]
                log.write(*rows, compression=chance.choice((0, 0, 1)))
                table.update(rows)
    log.close().clean()
    replayed = {}
    offsets = [offset for offset, _, _ in log.read()]
    for _, key, value in log.read():
        replayed[key] = value
    assert {k: v for k, v in replayed.items() if v} == {k: v for k, v in table.items() if v}
    assert offsets == sorted(set(offsets))


def test_the_planted_defects_are_defects():
    dropped = a_log(switches=frozenset({"compaction-drops-last-value"}))
    assert dropped.write((b"a", b"1")).write((b"a", b"2")).close().clean().read() == []
    kept = a_log(switches=frozenset({"tombstone-kept-forever"}), delete_retention_ms=0)
    kept.write((b"a", None)).close().clean().write((b"b", b"1")).close().clean()
    assert (0, b"a", None) in kept.read()
