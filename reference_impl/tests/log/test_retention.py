"""What retention may drop, segment by segment, and what it must leave."""

from __future__ import annotations

from dataclasses import replace

import pytest

from touchstone.reference_impl.log.partition_log import PartitionLog
from touchstone.reference_impl.log.retention import retain
from touchstone.reference_impl.log.topic_config import TopicConfig
from touchstone.reference_impl.tests.log import stores
from touchstone.reference_impl.wire.records import build

HOUR = 3_600_000
NOW = 1_700_000_000_000
SIZE = 78


def a_log(*ages, high_watermark=None, **settings):
    """A log with one segment per age, each record so many ms old."""
    config = replace(TopicConfig(), segment_ms=0, **settings)
    store = stores.chosen[-1](lambda: config)
    log = PartitionLog("t", 0, lambda: config, store=store, now=NOW)
    for at, age in enumerate(ages):
        log.append(build(2, [b"ten bytes."], timestamp=NOW - age), now=NOW - age)
        if at + 1 < len(ages):
            log.roll(NOW)
    log.advance_high_watermark(log.log_end_offset if high_watermark is None else high_watermark)
    return log, config


def left(log, config, now=NOW):
    retain(log, config, now)
    return log.log_start_offset, [segment.base_offset for segment in log.segments]


@pytest.mark.parametrize(
    "ages, start",
    [
        ((3 * HOUR, 2 * HOUR, 0), 2),
        ((3 * HOUR, 0, 2 * HOUR), 1),  # the young one keeps what lies behind it
        ((HOUR, 0), 0),  # just as old as allowed
        ((-HOUR, 2 * HOUR, 0), 0),  # from the future
    ],
)
def test_segments_that_are_too_old_go_from_the_front(ages, start):
    log, config = a_log(*ages, retention_ms=HOUR)
    assert left(log, config)[0] == start


def test_when_all_are_too_old_an_empty_one_is_left():
    log, config = a_log(3 * HOUR, 2 * HOUR, retention_ms=HOUR)
    assert left(log, config) == (2, [2])
    assert log.size == 0 and log.log_end_offset == 2
    assert left(log, config, NOW + 9 * HOUR) == (2, [2]), "an empty segment is no loss"
    log.append(build(2, [b"more"], timestamp=NOW), now=NOW)
    assert log.log_end_offset == 3


def test_nothing_from_the_high_watermark_on_goes():
    log, config = a_log(3 * HOUR, 3 * HOUR, 3 * HOUR, high_watermark=1, retention_ms=HOUR)
    assert left(log, config) == (1, [1, 2])


def test_negative_limits_keep_everything():
    log, config = a_log(9 * HOUR, 8 * HOUR, 0, retention_ms=-1, retention_bytes=-1)
    assert left(log, config) == (0, [0, 1, 2])


@pytest.mark.parametrize("kept, start", [(2 * SIZE, 2), (2 * SIZE + 1, 1), (9 * SIZE, 0), (0, 4)])
def test_as_much_as_was_asked_for_is_kept(kept, start):
    log, config = a_log(3, 2, 1, 0, retention_ms=-1, retention_bytes=kept)
    assert left(log, config)[0] == start


def test_segments_below_the_log_start_go_and_the_one_that_holds_it_stays():
    log, config = a_log(3, 2, 1, 0, retention_ms=-1)
    log.log_start_offset = 3  # as a checkpoint says it, whose segments are still there
    assert left(log, config) == (3, [3])


def test_without_the_delete_policy_only_the_log_start_counts():
    settings = {"cleanup_policy": ("compact",), "retention_ms": 1, "retention_bytes": 1}
    config = replace(TopicConfig(), segment_ms=0, **settings)
    log, _ = a_log(3 * HOUR, 2 * HOUR, 0, retention_ms=-1)
    assert left(log, config) == (0, [0, 1, 2])


def test_a_segment_without_times_is_as_old_as_its_last_write():
    log, config = a_log(0, 0, retention_ms=HOUR)
    for segment in log.segments:
        assert segment.largest_timestamp == NOW
    log.append(build(2, [b"x"], timestamp=-1), now=NOW)
    assert left(log, config, NOW + HOUR)[0] == 0
