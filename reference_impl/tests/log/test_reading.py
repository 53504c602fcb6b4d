"""What a log gives its readers: slices, lookups by time, epochs, what is left after a delete."""

from __future__ import annotations

import pytest

from touchstone.reference_impl.log.by_time import NOTHING_SO_NEW
from touchstone.reference_impl.log.epochs import LeaderEpochs
from touchstone.reference_impl.log.partition_log import LAST_STABLE, LOG_END
from touchstone.reference_impl.log.rules import LogError
from touchstone.reference_impl.tests.log.test_appending import NOW, a_batch, a_log
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.records import LZ4, build, read

SIZE = len(a_batch())


def three_batches(**config):
    log = a_log(**config)
    for _ in range(3):
        log.append(a_batch(), now=NOW)
    return log


def at(*stamps: int, codec: int = 0) -> bytes:
    return build(2, [{"value": b"v", "timestamp": NOW + stamp} for stamp in stamps], codec)


@pytest.mark.parametrize(("offset", "first"), [(0, 0), (1, 0), (2, 0), (3, 3), (5, 3), (8, 6)])
def test_a_read_begins_with_the_batch_that_holds_the_offset(offset, first):
    assert read(three_batches().read(offset, 10_000).records)[0]["offset"] == first


@pytest.mark.parametrize("size", [0, 1, SIZE - 1, SIZE, SIZE + 1, 2 * SIZE, 5 * SIZE])
def test_a_read_ends_where_its_bytes_end(size):
    assert len(three_batches().read(0, size).records) == min(size, 3 * SIZE)


def test_the_first_batch_comes_whole_when_asked():
    assert len(three_batches().read(4, 1, min_one=True).records) == SIZE
    cut = three_batches().read(4, 1)
    assert (len(cut.records), cut.first_incomplete) == (1, True)


@pytest.mark.parametrize("offset", [-1, 10])
def test_offsets_outside_are_refused(offset):
    with pytest.raises(LogError) as refused:
        three_batches().read(offset, 100)
    assert refused.value.code == ErrorCode.OFFSET_OUT_OF_RANGE


def test_a_read_stays_within_a_segment():
    log = three_batches(segment_bytes=2 * SIZE)
    assert [view.base_offset for view in log.segment_views()] == [0, 6]
    assert len(log.read(0, 10_000).records) == 2 * SIZE
    assert log.readable(0, LOG_END) == (0, True)
    assert log.readable(6, LOG_END) == (SIZE, False)


def test_read_committed_stops_before_an_open_transaction():
    log = a_log()
    log.append(a_batch(), now=NOW)
    log.append(
        a_batch(producer_id=9, producer_epoch=0, base_sequence=0, transactional=True), now=NOW
    )
    assert len(log.read(0, 10_000, isolation=LAST_STABLE).records) == SIZE
    assert log.read(3, 10_000, isolation=LAST_STABLE).records == b""
    assert len(log.read(0, 10_000).records) > SIZE


@pytest.mark.parametrize("codec", [0, LZ4])
@pytest.mark.parametrize(
    ("stamp", "offset"), [(0, 0), (10, 0), (11, 1), (30, 1), (31, 4), (40, 4), (41, -1)]
)
def test_a_lookup_by_time_is_the_first_record_not_older(codec, stamp, offset):
    log = a_log(segment_bytes=200)
    for stamps in ((10, 30, 20), (5, 40, 40), (25,)):
        log.append(at(*stamps, codec=codec), now=NOW)
    assert log.first_offset_at(NOW + stamp).offset == offset


def test_the_newest_record_is_the_first_of_the_newest():
    log = a_log()
    assert log.newest() == NOTHING_SO_NEW
    for stamps in ((10, 30, 20), (5, 40, 40), (40,)):
        log.append(at(*stamps), now=NOW)
    assert log.newest()[:2] == (NOW + 40, 4)


def test_deleting_moves_the_start_and_drops_whole_segments():
    log = three_batches(segment_bytes=2 * SIZE)
    assert log.delete_to(4) == 4
    assert [view.base_offset for view in log.segment_views()] == [0, 6]
    assert read(log.read(4, 10_000).records)[0]["offset"] == 3
    assert log.first_offset_at(NOW).offset == 4
    assert log.delete_to(7) == 7
    assert [view.base_offset for view in log.segment_views()] == [6]
    assert log.delete_to(2) == 7


@pytest.mark.parametrize(
    ("asked", "answer"),
    [(-1, (-1, -1)), (0, (0, 0)), (1, (1, 5)), (2, (1, 5)), (3, (3, 9)), (4, (-1, -1))],
)
def test_an_epoch_ends_where_the_next_begins(asked, answer):
    epochs = LeaderEpochs()
    epochs.assign(1, 0)
    epochs.assign(3, 5)
    assert epochs.end_offset(asked, 9) == answer


def test_a_newer_assignment_removes_what_it_contradicts():
    epochs = LeaderEpochs()
    for epoch, start in ((1, 0), (2, 5), (4, 5)):
        epochs.assign(epoch, start)
    assert epochs.end_offset(2, 9) == (1, 5)
    assert [epochs.epoch_at(offset) for offset in (0, 4, 5)] == [1, 1, 4]
