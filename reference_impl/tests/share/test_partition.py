"""Share partitions as values: who gets what, what acknowledging makes of it, where the window is.

The numbers are those that 4.3.1 answered to the same requests.
"""

from __future__ import annotations

import pytest

from touchstone.reference_impl.share.aborted import AcquiredBatch, Span, aborted_spans, without
from touchstone.reference_impl.share.acquisition import AcquisitionRequest, Read, acquire
from touchstone.reference_impl.share.checks import (
    ACCEPT,
    GAP,
    REJECT,
    RELEASE,
    RENEW,
    AcknowledgementBatch,
    AcknowledgementRules,
    faulty,
)
from touchstone.reference_impl.share.in_flight import ACQUIRED, TRANSITIONS, Do, InFlight, State
from touchstone.reference_impl.share.partition import Limits, SharePartition
from touchstone.reference_impl.share.state_batches import StateBatch
from touchstone.reference_impl.wire.errors import ErrorCode as E

LIMITS = Limits(2000, 5, 30_000, True)
LOCK = LIMITS.lock_ms


class World:
    """A log of batches, given by the offsets they begin at and the one after the last."""

    def __init__(self, *ends: int, limits: Limits = LIMITS, start: int = 0, **how):
        self.spans = [Span(a, b - 1) for a, b in zip(ends, ends[1:], strict=False)]
        self.limits, self.now = limits, 0
        self.share = SharePartition(start, lambda: self.limits, **how)

    def fetch(self, member="m", *, most=500, size=500, exactly=False, aborted=None):
        if not self.share.can_acquire():
            return []
        offset = self.share.next_offset()
        spans = [span for span in self.spans if span.last >= offset]
        wish = AcquisitionRequest(member, exactly, size, most)
        return [
            tuple(row) for row in acquire(self.share, wish, Read(offset, spans, aborted), self.now)
        ]

    def ack(self, *runs, member="m", good=True):
        batches = [AcknowledgementBatch(first, last, types) for first, last, *types in runs]
        change = self.share.acknowledge(member, batches, self.now)
        if change.refusal is not None:
            return change.refusal.code
        self.share.settle(change, good, self.now)
        return E.NONE

    def release(self, member="m"):
        change = self.share.release(member)
        self.share.settle(change, True, self.now)
        return [tuple(row) for row in change.rows]


@pytest.mark.parametrize(("at", "to"), list(TRANSITIONS))
def test_states_go_where_the_table_says(at, to):
    one, cell = InFlight(at, 1), TRANSITIONS.peek(at, to)
    assert one.turn(to, limit=5) is (cell.do is Do.GO)
    assert one.state is cell.to


def test_only_acquired_records_end():
    ends = {State.ACKNOWLEDGED, State.ARCHIVED}
    goes = [(at, to) for (at, to), cell in TRANSITIONS.items() if cell.do is Do.GO]
    assert {at for at, to in goes if to in ends} == {ACQUIRED}
    assert not {at for at, _ in goes} & ends


def test_a_pending_record_does_not_change():
    one = InFlight(ACQUIRED, 1, "m", 99)
    assert one.begin(State.ACKNOWLEDGED, 5) and not one.turn(State.ARCHIVED, 5)
    one.settle(False, now=10)
    assert (one.state, one.member, one.expires) == (ACQUIRED, "m", 99)
    assert one.begin(State.ACKNOWLEDGED, 5)
    one.settle(False, now=99)  # its lock ended meanwhile
    assert (one.state, one.member) == (State.AVAILABLE, "")


def test_everything_is_acquired_once():
    world = World(0, 2, 3)
    assert world.fetch() == [(0, 2, 1)]
    assert world.fetch("n") == [] and world.fetch() == []


def test_batches_go_out_whole():
    world = World(0, 3, 5)
    assert world.fetch(most=2) == [(0, 2, 1)]
    assert world.fetch(most=1) == [(3, 4, 1)]


def test_runs_hold_as_many_as_asked_for():
    assert World(0, 2, 4, 5, 8).fetch(size=3) == [(0, 3, 1), (4, 7, 1)]
    assert World(0, 2, 3, 5).fetch(size=1) == [(0, 1, 1), (2, 2, 1), (3, 4, 1)]


def test_record_limit_is_exact():
    world = World(0, 5)
    assert world.fetch(most=2, exactly=True) == [(0, 1, 1)]
    assert world.fetch("n", most=2, exactly=True) == [(2, 3, 1)]
    assert world.fetch(most=9, exactly=True) == [(4, 4, 1)]


@pytest.mark.parametrize("kind", [ACCEPT, REJECT, GAP])
def test_what_is_done_moves_the_start(kind):
    world = World(0, 3)
    world.fetch()
    assert world.ack((0, 2, kind)) == E.NONE
    assert (world.share.start, world.share.end, world.share.runs) == (3, 3, [])
    assert world.fetch() == []


def test_released_records_come_again():
    world = World(0, 3)
    world.fetch()
    assert world.ack((0, 2, ACCEPT, RELEASE, REJECT)) == E.NONE
    assert world.share.start == 1
    assert world.fetch("n") == [(1, 1, 2)]


def test_faults_take_everything_back():
    world = World(0, 2, 4)
    world.fetch()
    world.ack((3, 3, RELEASE))
    done = world.share.done
    assert world.ack((0, 1, ACCEPT), (2, 3, ACCEPT)) == E.INVALID_RECORD_STATE
    assert world.share.done == done
    assert world.ack((0, 2, RELEASE)) == E.NONE


def test_what_is_not_written_is_taken_back():
    world = World(0, 2)
    world.fetch()
    assert world.ack((0, 1, ACCEPT), good=False) == E.NONE
    assert world.share.start == 0 and world.share.done == 0
    assert world.ack((0, 1, ACCEPT)) == E.NONE


def test_members_acknowledge_what_they_have():
    world = World(0, 3)
    assert world.ack((0, 0, ACCEPT)) == E.INVALID_RECORD_STATE  # nobody has anything
    world.fetch()
    assert world.ack((0, 2, ACCEPT), member="n") == E.INVALID_RECORD_STATE
    assert world.ack((1, 1, ACCEPT), member="n") == E.INVALID_RECORD_STATE
    assert world.ack((0, 5, ACCEPT)) == E.INVALID_REQUEST
    assert world.ack((7, 8, ACCEPT)) == E.INVALID_REQUEST
    world.ack((0, 1, ACCEPT))
    assert world.ack((0, 1, RELEASE)) == E.NONE  # before the start nothing is looked at


def test_locks_end():
    world = World(0, 3)
    world.fetch()
    assert world.share.deadline() == LOCK
    world.now = LOCK
    assert world.share.expire(LOCK) == [StateBatch(0, 2, 1, State.AVAILABLE)]
    assert world.ack((0, 2, ACCEPT)) == E.INVALID_RECORD_STATE
    assert world.fetch("n") == [(0, 2, 2)]


def test_locks_are_renewed():
    world = World(0, 3)
    world.fetch()
    world.now = 10
    assert world.ack((0, 2, RENEW)) == E.NONE
    assert world.share.deadline() == LOCK + 10
    world.now = 20
    assert world.ack((1, 1, RENEW)) == E.NONE
    assert world.share.deadline() == LOCK + 10
    assert [row.first for row in world.share.expire(LOCK + 10)] == [0, 2]
    world.limits = LIMITS._replace(renews=False)
    assert world.ack((1, 1, RENEW)) == E.INVALID_RECORD_STATE


def test_deliveries_have_a_limit():
    world = World(0, 1, 2, limits=LIMITS._replace(deliveries=2))
    assert world.fetch(most=1) == [(0, 0, 1)]
    world.ack((0, 0, RELEASE))
    assert world.fetch(most=1) == [(0, 0, 2)]
    world.ack((0, 0, RELEASE))
    assert world.share.start == 1
    assert world.fetch() == [(1, 1, 1)]


def test_bad_records_come_in_few():
    world = World(0, 8, limits=LIMITS._replace(deliveries=4))
    for wanted in [(0, 7, 1), (0, 7, 2), (0, 3, 3), (0, 0, 4), (1, 1, 4)]:
        assert world.fetch() == [wanted]
        world.ack((wanted[0], wanted[1], RELEASE))


def test_only_so_many_are_in_flight():
    world = World(0, 60, 120, 180, limits=LIMITS._replace(locks=100))
    assert world.fetch() == [(0, 119, 1)]
    assert not world.share.can_acquire()
    world.ack((0, 59, ACCEPT))
    assert world.fetch() == [(120, 179, 1)]


def test_what_a_member_has_is_released():
    world = World(0, 2, 4)
    world.fetch(most=2)
    world.fetch("n")
    assert world.release() == [(0, 1, 1, State.AVAILABLE)]
    assert world.fetch("n") == [(0, 1, 2)]


def test_the_log_begins_later():
    world = World(0, 2, 4)
    world.fetch()
    world.ack((1, 1, RELEASE))
    world.share.log_begins_at(3)
    assert (world.share.start, world.share.end) == (3, 3)
    assert world.ack((0, 3, ACCEPT)) == E.NONE
    assert world.share.start == 3  # what was acquired before holds the window until it is back
    assert {row.state for row in world.share.expire(LOCK)} == {State.ARCHIVED}
    assert world.share.advance() and world.share.start == 4


def test_missing_records_are_passed_over():
    world = World(0, 2, 4)
    world.fetch()
    world.ack((0, 3, RELEASE))
    world.spans = [Span(2, 3)]  # compaction took the others
    assert world.fetch() == [(2, 3, 2)]
    world.ack((2, 3, ACCEPT))
    assert world.share.start == 4


def test_a_state_is_taken_up():
    rows = [StateBatch(2, 3, 1, State.AVAILABLE), StateBatch(6, 7, 1, State.ACKNOWLEDGED)]
    world = World(0, 2, 4, 6, 8, 9, start=0, batches=rows)
    assert world.share.end == 7 and world.share.next_offset() == 0
    assert world.fetch() == [(0, 1, 1), (2, 3, 2), (4, 5, 1), (8, 8, 1)]
    world.ack((0, 5, ACCEPT), (8, 8, ACCEPT))
    assert world.share.start == 9


def test_aborted_records_are_nobodys():
    read = [
        Span(0, 1, 7, True),
        Span(2, 2),
        Span(3, 3, 7, False, True),
        Span(4, 4, 7, True),
    ]
    bad = aborted_spans(read, [(7, 0)])
    assert [span.first for span in bad] == [0]
    assert without([AcquiredBatch(0, 4, 1)], bad) == [AcquiredBatch(2, 4, 1)]
    assert without([AcquiredBatch(0, 9, 1)], [Span(0, 0), Span(4, 5), Span(9, 9)]) == [
        AcquiredBatch(1, 3, 1),
        AcquiredBatch(6, 8, 1),
    ]
    world = World(0, 2, 3)
    assert world.fetch(aborted=[(7, 0)]) == [(0, 2, 1)]


@pytest.mark.parametrize(
    ("runs", "wrong"),
    [
        ([(0, 1, [1])], False),
        ([(0, 1, [1]), (1, 2, [1])], False),
        ([(2, 1, [1])], True),
        ([(0, 2, [1]), (1, 2, [1])], True),
        ([(0, 1, [])], True),
        ([(0, 2, [1, 1])], True),
        ([(0, 0, [5])], True),
        ([(0, 0, [-1])], True),
        ([(0, 0, [4])], True),
    ],
)
def test_runs_are_checked(runs, wrong):
    batches = [AcknowledgementBatch(*each) for each in runs]
    assert faulty(batches, AcknowledgementRules(True, False)) is wrong


def test_renewals_need_their_flag():
    renewal = [AcknowledgementBatch(0, 0, [RENEW])]
    assert not faulty(renewal, AcknowledgementRules(True, True))
    assert faulty(renewal, AcknowledgementRules(False, True))
