"""Idempotent producers: sequences, duplicates, epochs (APPEND-17, APPEND-18)."""

from __future__ import annotations

import pytest

from touchstone.reference_impl.log.partition_log import PartitionLog
from touchstone.reference_impl.log.rules import COORDINATOR, LogError
from touchstone.reference_impl.tests.log.test_appending import NOW, a_batch, a_log
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.records import control

LAST = 2**31 - 1
OUT_OF_ORDER = ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def sent(log: PartitionLog, sequence: int, *, epoch: int = 0, count: int = 1, pid: int = 7):
    """The base offset of an append, or the code it was refused with."""
    records = a_batch(
        *[b"v"] * count, producer_id=pid, producer_epoch=epoch, base_sequence=sequence
    )
    try:
        return log.append(records, now=NOW).base_offset
    except LogError as refused:
        return ErrorCode(refused.code)


def test_a_duplicate_answers_with_its_first_offsets():
    log = a_log()
    assert [sent(log, 0, count=3), sent(log, 3), sent(log, 0, count=3)] == [0, 3, 0]
    assert log.log_end_offset == 4


def test_only_the_last_five_batches_are_remembered():
    log = a_log()
    for sequence in range(6):
        sent(log, sequence)
    assert sent(log, 1) == 1
    assert sent(log, 0) == OUT_OF_ORDER


@pytest.mark.parametrize("sequence", [0, 2, 4, 9])
def test_a_sequence_that_does_not_follow_is_refused(sequence):
    log = a_log()
    sent(log, 0, count=3)
    assert sent(log, sequence, count=2) == OUT_OF_ORDER


def test_sequences_wrap_to_zero():
    log = a_log()
    assert sent(log, LAST - 1, count=2) == 0
    assert sent(log, 0) == 2
    assert sent(log, LAST - 1, pid=8, count=4) == 3
    assert sent(log, 2, pid=8) == 7


def test_a_new_epoch_starts_at_zero_and_fences_the_old():
    log = a_log()
    sent(log, 0)
    assert sent(log, 5, epoch=1) == OUT_OF_ORDER
    assert sent(log, 0, epoch=1) == 1
    assert sent(log, 1, epoch=0) == ErrorCode.INVALID_PRODUCER_EPOCH


@pytest.mark.parametrize(
    ("release", "answer"),
    [
        ("1.0", ErrorCode.UNKNOWN_PRODUCER_ID),
        ("2.2", ErrorCode.UNKNOWN_PRODUCER_ID),
        ("2.8", 0),
        ("4.3", 0),
    ],
)
def test_an_unknown_producer_may_start_anywhere_since_2_5(release, answer):
    assert sent(a_log(release), 9) == answer


@pytest.mark.parametrize(
    ("switch", "act", "honest"),
    [
        ("duplicate-appended", lambda log: sent(log, 0), 0),
        ("sequence-gap-accepted", lambda log: sent(log, 9), OUT_OF_ORDER),
        (
            "producer-epoch-not-checked",
            lambda log: sent(log, 0, epoch=-1),
            ErrorCode.INVALID_PRODUCER_EPOCH,
        ),
    ],
)
def test_each_planted_defect_shows(switch, act, honest):
    for switches, same in (((), True), ((switch,), False)):
        log = a_log(switches=switches)
        sent(log, 0)
        assert (act(log) == honest) is same


def test_an_open_transaction_holds_the_last_stable_offset():
    log = a_log()
    log.append(a_batch(), now=NOW)
    log.append(
        a_batch(producer_id=9, producer_epoch=0, base_sequence=0, transactional=True), now=NOW
    )
    assert (log.last_stable_offset, log.high_watermark) == (3, 6)
    with pytest.raises(LogError) as refused:
        log.append(a_batch(producer_id=9, producer_epoch=0, base_sequence=3), now=NOW)
    assert refused.value.code == ErrorCode.INVALID_TXN_STATE


def test_markers_that_all_have_are_not_remembered():
    """Nobody reads the last stable offset here: a log of writers only must not grow in memory."""
    log = a_log()
    who = {"producer_id": 7, "producer_epoch": 0}
    for sequence in range(5):
        log.append(a_batch(b"v", base_sequence=sequence, transactional=True, **who), now=NOW)
        end = control.marker_batch(control.COMMIT, coordinator_epoch=0, timestamp=NOW, **who)
        log.append(end, now=NOW, origin=COORDINATOR)
    assert not log.producers.unreplicated


def test_idle_producers_are_forgotten_unless_a_transaction_is_open():
    log = a_log()
    log.append(a_batch(producer_id=1, producer_epoch=0, base_sequence=0), now=NOW)
    log.append(
        a_batch(producer_id=2, producer_epoch=0, base_sequence=0, transactional=True), now=NOW
    )
    log.producers.forget_idle(NOW + 99, 100)
    assert set(log.producers.producers) == {1, 2}
    log.producers.forget_idle(NOW + 100, 100)
    assert set(log.producers.producers) == {2}
