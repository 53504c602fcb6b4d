"""Who shares a target, who has it alone, and in which order work is handed out. No test waits for
time: threads tell one another where they are.
"""

from __future__ import annotations

import threading

import pytest

from touchstone.harness.driver import side_by_side
from touchstone.harness.driver.side_by_side import Pool, Sharing

LONG_S = 60.0  # for what happens at once, on any machine


class Guest:
    """A thread that takes a turn, says so, and ends it when it is told to."""

    def __init__(self, turn):
        self.inside, self.leave, self.left = (threading.Event() for _ in range(3))
        self.thread = threading.Thread(target=self._stay, args=(turn,), daemon=True)
        self.thread.start()

    def _stay(self, turn):
        with turn:
            self.inside.set()
            self.leave.wait(LONG_S)
        self.left.set()

    def came(self):
        return self.inside.wait(LONG_S)

    def waits(self):
        return not self.inside.wait(0.02)

    def goes(self):
        self.leave.set()
        assert self.left.wait(LONG_S)


def test_many_share_and_one_is_alone():
    sharing = Sharing()
    first, second = Guest(sharing.shared()), Guest(sharing.shared())
    assert first.came() and second.came()
    lonely = Guest(sharing.alone())
    assert lonely.waits()
    first.goes()
    assert lonely.waits()
    second.goes()
    assert lonely.came()
    other = Guest(sharing.alone())
    assert other.waits()
    lonely.goes()
    assert other.came()
    other.goes()


def test_who_wants_it_alone_is_not_overtaken():
    sharing = Sharing()
    first = Guest(sharing.shared())
    assert first.came()
    lonely = Guest(sharing.alone())
    assert lonely.waits()
    late = Guest(sharing.shared())
    assert late.waits()
    first.goes()
    assert lonely.came() and late.waits()
    lonely.goes()
    assert late.came()
    late.goes()


def test_those_who_share_agree_on_a_key():
    switched = []
    sharing = Sharing(switched.append)
    first = Guest(sharing.shared("a"))
    assert first.came()
    same, other = Guest(sharing.shared("a")), Guest(sharing.shared("b"))
    assert same.came() and other.waits()
    first.goes()
    assert other.waits()
    same.goes()
    assert other.came() and switched == ["a", "b"]
    other.goes()
    with sharing.alone("c"):
        assert switched[-1] == "c"


def test_a_turn_that_is_only_taken_if_it_is_free():
    sharing = Sharing()
    with sharing.if_free() as free, sharing.if_free() as second:
        assert free and not second
        late = Guest(sharing.shared())
        assert late.waits()
    assert late.came()
    with sharing.if_free() as free:
        assert not free
    late.goes()


def test_a_case_that_fails_ends_its_turn():
    sharing = Sharing()
    for turn in (sharing.shared, sharing.alone):
        with pytest.raises(ZeroDivisionError), turn():
            raise ZeroDivisionError
    with sharing.alone():
        pass


def test_work_is_begun_in_its_order_and_told_as_it_is_asked_for():
    begun = []
    pool = Pool([(key, lambda key=key: begun.append(key)) for key in "abcd"], jobs=1)
    for key in "dbca":
        pool.result(key)
    assert begun == list("abcd")
    assert "a" in pool and "z" not in pool


def test_so_many_at_a_time():
    meet = threading.Barrier(3, timeout=LONG_S)

    def piece():
        meet.wait()

    pool = Pool([(key, piece) for key in range(3)], jobs=3)
    for key in range(3):
        pool.result(key)


def test_what_a_piece_raises_is_raised_to_who_asks():
    def wrong():
        raise ZeroDivisionError("mine")

    pool = Pool([("wrong", wrong), ("right", lambda: None)], jobs=2)
    pool.result("right")
    with pytest.raises(ZeroDivisionError, match="mine"):
        pool.result("wrong")


def test_few_pieces_are_done_again_one_by_one_when_all_others_are_done():
    events, gate = [], threading.Event()

    def twice(key):
        def first():
            events.append(key)
            return lambda again: events.append(f"{key} again")

        return first

    def late():
        gate.wait(LONG_S)
        events.append("late")

    pool = Pool([("a", twice("a")), ("b", twice("b")), ("late", late)], jobs=3)
    while len(events) < 2:
        pass
    assert sorted(events) == ["a", "b"]
    gate.set()
    for key in ("b", "a", "late"):
        pool.result(key)
    assert events[2] == "late" and sorted(events[3:]) == ["a again", "b again"]


def test_what_is_done_again_is_told_when_the_run_takes_too_long(monkeypatch):
    class Clock:
        now = 0.0

        def perf_counter(self):
            return self.now

    clock, late = Clock(), []
    monkeypatch.setattr(side_by_side, "time", clock)
    monkeypatch.setattr(side_by_side, "RUN_S", 25.0)
    monkeypatch.setattr(side_by_side, "AGAIN_S", 5.0)

    def second(told):
        late.append(told.late)
        clock.now += 6.0

    def first():
        clock.now += 4.0
        return second

    pool = Pool([(key, first) for key in "abc"], jobs=1)
    for key in "abc":
        pool.result(key)
    assert late == [False, False, False], "12 s for the first ones leave 13 s"
    monkeypatch.setattr(side_by_side, "RUN_S", 0.0)
    pool = Pool([("a", lambda: second), ("b", lambda: second)], jobs=1)
    pool.result("b")
    assert late[-2:] == [False, True], "at least 5 s"


def test_much_is_done_again_side_by_side_and_what_is_left_of_it_alone(monkeypatch):
    monkeypatch.setattr(side_by_side, "FEW", 2)
    meet, told = threading.Barrier(3, timeout=LONG_S), []

    def alone(turn):
        told.append(turn)

    def beside(turn):
        assert not turn.alone
        meet.wait()
        return alone

    pool = Pool([(key, lambda: beside) for key in range(3)], jobs=3)
    for key in range(3):
        pool.result(key)
    assert told == [side_by_side.Turn(alone=True, late=False)] * 3


def test_who_waits_is_told_now_and_then():
    gate, told = threading.Event(), []

    def tell():
        told.append(1)
        gate.set()

    pool = Pool([("a", lambda: gate.wait(LONG_S) and None)], jobs=1)
    pool.wait("a", tell, every_s=0.0)
    assert told


def test_what_is_closed_begins_nothing_more():
    begun, gate = [], threading.Event()
    busy = threading.Event()

    def first():
        busy.set()
        gate.wait(LONG_S)

    pool = Pool([("a", first), ("b", lambda: begun.append("b"))], jobs=1)
    assert busy.wait(LONG_S)
    pool.close(0.0)
    gate.set()
    pool.result("a")
    pool.close(LONG_S)
    assert not begun


def test_the_first_of_each_kind_is_done_again_before_the_second(monkeypatch):
    monkeypatch.setattr(side_by_side, "FEW", 0)
    order = []

    def first(key):
        return lambda: lambda again: order.append(key)

    keys = ["x-a1", "x-a2", "y-a3", "x-b1", "y-b2", "y-c1", "x-a4"]
    pool = Pool(
        [(key, first(key)) for key in keys], jobs=1, retry_group=lambda key: (key[0], key[2])
    )
    for key in keys:
        pool.result(key)
    assert order == ["x-a1", "x-b1", "x-a2", "x-a4", "y-c1", "y-b2", "y-a3"]


def test_several_keys_have_room_at_a_time():
    sharing = Sharing(room=2)
    first, second, same = (Guest(sharing.shared(key)) for key in "aba")
    assert first.came() and second.came() and same.came()
    assert set(sharing.keys) == {"a", "b"}
    third = Guest(sharing.shared("c"))
    assert third.waits()
    second.goes()
    assert third.came()
    for guest in (first, same, third):
        guest.goes()


def test_who_is_alone_with_one_key_leaves_room_for_others():
    sharing = Sharing(room=2)
    first, other = Guest(sharing.shared("a")), Guest(sharing.shared("b"))
    assert first.came() and other.came()
    lonely = Guest(sharing.alone("a"))
    late = Guest(sharing.shared("a"))
    assert lonely.waits() and late.waits()
    more = Guest(sharing.shared("b"))
    assert more.came(), "it is not alone with b"
    first.goes()
    assert lonely.came() and late.waits()
    lonely.goes()
    assert late.came()
    for guest in (late, other, more):
        guest.goes()


def test_what_may_better_be_begun_later_is():
    begun, postponed = [], {"first"}
    work = [(key, lambda key=key: begun.append(key)) for key in ("first", "second", "third")]

    def later(key):
        return key in postponed and len(begun) < 1

    pool = Pool(work, 1, postponed=later)
    for key, _ in work:
        pool.result(key)
    assert begun == ["second", "first", "third"]


def test_where_all_had_better_be_begun_later_the_first_is():
    begun = []
    work = [(key, lambda key=key: begun.append(key)) for key in ("first", "second")]
    pool = Pool(work, 1, postponed=lambda key: True)
    for key, _ in work:
        pool.result(key)
    assert begun == ["first", "second"]
