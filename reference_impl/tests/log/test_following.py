"""A follower's log: the leader's bytes as they are, and the ways back from a wrong turn."""

from __future__ import annotations

import pytest

from touchstone.reference_impl.log.rules import LogError
from touchstone.reference_impl.tests.log.test_appending import NOW, a_batch, a_log
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.records import build, read


def fetched(log, offset: int = 0) -> bytes:
    return log.read(offset, 1 << 20, isolation="log end").records


def a_pair(*epochs: int, **config: object):
    """A leader with three records in each epoch, and an empty follower."""
    leader = a_log(**config)
    for epoch in epochs:
        leader.become_leader(epoch)
        leader.append(a_batch(), now=NOW, leader_epoch=epoch)
    return leader, a_log(**config)


def catch_up(leader, follower) -> None:
    while follower.log_end_offset < leader.log_end_offset:
        assert follower.append_as_follower(fetched(leader, follower.log_end_offset), now=NOW)


def test_the_bytes_the_epochs_and_the_producers_are_the_leaders():
    leader, follower = a_pair(0, 2)
    batch = a_batch(producer_id=7, producer_epoch=0, base_sequence=0)
    leader.append(batch, now=NOW, leader_epoch=2)
    catch_up(leader, follower)
    assert fetched(follower) == fetched(leader)
    assert follower.epochs.rows() == [(0, 0), (2, 3)]
    assert follower.producers.producers == leader.producers.producers
    assert (follower.log_end_offset, follower.high_watermark) == (9, 0)


def test_what_is_cut_off_is_left_for_the_next_fetch():
    leader, follower = a_pair(0, 0)
    records = fetched(leader)
    assert follower.append_as_follower(records[:-1], now=NOW) == len(records) // 2
    assert follower.append_as_follower(records[:40], now=NOW) == 0
    assert follower.log_end_offset == 3


def test_a_broken_batch_is_not_kept():
    leader, follower = a_pair(0)
    records = bytearray(fetched(leader))
    records[-1] ^= 1
    with pytest.raises(LogError) as refused:
        follower.append_as_follower(bytes(records), now=NOW)
    assert refused.value.code == ErrorCode.CORRUPT_MESSAGE
    assert follower.log_end_offset == 0


def test_what_is_there_already_is_not_taken_twice():
    leader, follower = a_pair(0)
    catch_up(leader, follower)
    with pytest.raises(LogError):
        follower.append_as_follower(fetched(leader), now=NOW)
    assert follower.log_end_offset == 3


def test_an_empty_log_begins_below_its_start_when_that_lies_within_a_batch():
    leader, follower = a_pair(0)
    leader.delete_to(1)
    follower.begin_again_at(1, NOW)
    follower.append_as_follower(fetched(leader, 1), now=NOW)
    assert (follower.log_start_offset, follower.log_end_offset) == (0, 3)


def test_old_formats_follow_too():
    leader, follower = a_log("1.0", message_format_version="0.10.0"), a_log("1.0")
    leader.append(build(1, [b"a", b"b"], timestamp=NOW), now=NOW)
    catch_up(leader, follower)
    assert [row["value"] for row in read(fetched(follower))] == [b"a", b"b"]


def test_the_high_watermark_of_a_leader_only_grows_and_stays_within_the_log():
    leader, follower = a_pair(0, 0)
    catch_up(leader, follower)
    assert follower.advance_high_watermark(4)
    assert not follower.advance_high_watermark(3)
    assert follower.high_watermark == 4
    assert follower.advance_high_watermark(99) and follower.high_watermark == 6
    follower.follow_high_watermark(5)
    assert follower.high_watermark == 5


@pytest.mark.parametrize(
    ("offset", "end", "epochs"),
    [(6, 6, [(0, 0), (2, 3)]), (4, 4, [(0, 0), (2, 3)]), (3, 3, [(0, 0)]), (0, 0, [])],
)
def test_a_truncation_takes_records_epochs_and_marks_along(offset, end, epochs):
    leader, follower = a_pair(0, 2)
    catch_up(leader, follower)
    follower.follow_high_watermark(6)
    assert follower.truncate_to(offset, NOW) == (end < 6)
    assert (follower.log_end_offset, follower.high_watermark) == (end, end)
    assert follower.epochs.rows() == epochs
    whole = end // 3 * 3
    assert [row["offset"] for row in read(fetched(follower))] == list(range(whole))


def test_an_epoch_that_begins_at_the_end_goes_though_no_record_does():
    leader, _ = a_pair(0)
    leader.become_leader(5)
    assert leader.epochs.rows() == [(0, 0), (5, 3)]
    assert not leader.truncate_to(3, NOW)
    assert leader.epochs.rows() == [(0, 0)]


def test_a_truncation_reaches_over_segments_and_forgets_producers():
    size = len(a_batch()) + 1
    leader, follower = a_pair(0, 0, segment_bytes=size)
    leader.append(a_batch(producer_id=7, producer_epoch=0, base_sequence=0), now=NOW)
    catch_up(leader, follower)
    assert [s.base_offset for s in follower.segments] == [0, 3, 6]
    follower.truncate_to(3, NOW)
    assert [(s.base_offset, s.size) for s in follower.segments] == [(0, size - 1), (3, 0)]
    assert not follower.producers.producers
    catch_up(leader, follower)
    assert fetched(follower, 6) == fetched(leader, 6)


def test_a_log_that_begins_again_knows_nothing_of_before():
    leader, follower = a_pair(0, 2)
    catch_up(leader, follower)
    follower.begin_again_at(40, NOW)
    marks = (follower.log_start_offset, follower.high_watermark, follower.log_end_offset)
    assert marks == (40, 40, 40)
    assert follower.epochs.rows() == [] and follower.size == 0
