"""A target that ends is noticed, told by its cases, and started again where it is ours."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from touchstone.harness.driver import standing
from touchstone.harness.driver.standing import ENDED, SILENT, Standing
from touchstone.harness.model.target import Endpoint, Shape, StartFailed, Unavailable
from touchstone.harness.targets import probe

SHAPE = Shape()


class Fake:
    """A target of one broker; `address` is new with every start."""

    def __init__(self, kind="external", owned=False, starts=True):
        self.kind, self.owned, self.starts = kind, owned, starts
        self.lives, self.up, self.done = 1, True, []
        self.silent = False

    @property
    def endpoint(self):
        return Endpoint((("127.0.0.1", self.lives),))

    def available(self):
        return None if self.up else "connection refused"

    def start(self, shape):
        self.done.append("start")
        if not self.up:
            if not self.starts:
                raise StartFailed("no")
            self.lives, self.up = self.lives + 1, True
        return self.endpoint

    def stop(self):
        self.done.append("stop")
        self.up, self.silent = False, False

    def versions(self, address, seconds):
        if self.silent:
            raise probe.NotReady("silence") from TimeoutError()
        if not self.up or address[1] != self.lives:
            raise probe.NotReady("refused") from ConnectionRefusedError()
        return {}


@pytest.fixture
def target(monkeypatch, request):
    """A target that may be somebody else's; nobody waits long for it."""
    found = Fake(**getattr(request, "param", {}))
    monkeypatch.setattr(probe, "api_versions", found.versions)
    for name in ("STALL_S", "BACK_S", "SANE_S"):
        monkeypatch.setattr(standing, name, 0.0)
    monkeypatch.setattr(standing, "PAUSE_S", 0.0)
    return found


OURS = {"kind": "file", "owned": True}


def test_who_answers_is_alive(target):
    one = Standing(target)
    with one.asked("a", target.endpoint, SHAPE) as watch:
        assert one.end_under(watch, look=True) is None
        target.up = False
        assert one.end_under(watch, look=False) is None, "nobody looked"
    assert one.gone is None


def test_cases_that_lose_their_answers_together_ask_once(target, monkeypatch):
    """All eight come while the target is asked for the first; the next question is for all."""
    one, asked, everybody = Standing(target), [], threading.Barrier(8)
    came = threading.local()

    def perf_counter():
        now = time.perf_counter()
        if not getattr(came, "already", False):
            came.already = True
            everybody.wait(60)
        return now

    def versions(address, seconds):
        asked.append(address)
        return {}

    monkeypatch.setattr(probe, "api_versions", versions)
    clock = SimpleNamespace(perf_counter=perf_counter, sleep=time.sleep)
    monkeypatch.setattr(standing, "time", clock)
    with one.asked("a", target.endpoint, SHAPE) as watch, ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: one.end_under(watch, look=True), range(8)))
    assert found == [None] * 8 and len(asked) == 1
    with one.asked("b", target.endpoint, SHAPE) as watch:
        came.already = True
        assert one.end_under(watch, look=True) is None and len(asked) == 2, "who comes later asks"


def test_who_dies_a_moment_later_is_seen(target, monkeypatch):
    monkeypatch.setattr(standing.time, "sleep", lambda _: setattr(target, "up", False))
    one = Standing(target)
    with one.asked("a", target.endpoint, SHAPE) as watch:
        assert one.end_under(watch, look=True) is None
        assert one.end_under(watch, look=True, late=True).cases == ("a",)


def test_the_end_of_a_strangers_target_is_the_end_of_the_run(target):
    one = Standing(target)
    with one.asked("a", target.endpoint, SHAPE) as watch:
        target.up = False
        death = one.end_under(watch, look=True)
    assert (death.how, death.cases, death.again, death.alone) == (ENDED, ("a",), False, True)
    assert one.gone == "the target ended while a was asked"
    assert not one.returns()


def test_all_who_were_under_way_are_named_and_told(target):
    one = Standing(target)
    cases = [one.asked(f"case-{n}", target.endpoint, SHAPE) for n in range(5)]
    watches = [case.__enter__() for case in cases]
    target.up = False
    death = one.end_under(watches[2], look=True)
    assert len(death.cases) == 5 and not death.alone
    assert one.gone == ("the target ended while case-0, case-1, case-2 and 2 more were asked")
    assert one.end_under(watches[0], look=False) is death, "who lost nothing is told as well"


@pytest.mark.parametrize("target", [OURS], indirect=True)
def test_ours_is_started_again(target):
    one = Standing(target)
    with one.asked("a", target.endpoint, SHAPE) as watch:
        target.up = False
        death = one.end_under(watch, look=True)
        assert death.again and one.gone is None
    with one.asked("a", target.endpoint, SHAPE) as watch:
        assert one.end_under(watch, look=True) is None, "this is another life"
    assert target.done == ["start"], "no cluster is stopped that still serves others"


@pytest.mark.parametrize("target", [OURS], indirect=True)
def test_a_new_life_at_the_same_address_is_another(target):
    """Its port may be fixed."""
    one = Standing(target)
    endpoint = target.endpoint
    with one.asked("a", endpoint, SHAPE) as first:
        target.up = False
        one.end_under(first, look=True)
        target.lives = 1
        with one.asked("b", endpoint, SHAPE) as second:
            assert one.end_under(second, look=True) is None
        assert one.end_under(first, look=False) is not None


@pytest.mark.parametrize("target", [OURS | {"starts": False}], indirect=True)
def test_one_that_does_not_start_again_is_gone(target):
    one = Standing(target)
    with one.asked("a", target.endpoint, SHAPE) as watch:
        target.up = False
        assert not one.end_under(watch, look=True).again
    assert one.gone


@pytest.mark.parametrize("target", [OURS], indirect=True)
def test_there_is_a_bound(target, monkeypatch):
    monkeypatch.setattr(standing, "DEATHS", 2)
    one = Standing(target)
    for left in (True, True, False):
        with one.asked("a", target.endpoint, SHAPE) as watch:
            target.up = False
            assert one.end_under(watch, look=True).again == left


@pytest.mark.parametrize("target", [OURS, {"kind": "process"}], indirect=True)
def test_ours_that_says_nothing_is_stopped_first(target):
    one = Standing(target)
    for left in (True, True, False):
        with one.asked("a", target.endpoint, SHAPE) as watch:
            target.silent = True
            death = one.end_under(watch, look=True)
            assert (death.how, death.again) == (SILENT, left)
    assert target.done == ["stop", "start"] * 2
    often = "; it has ended 3 times"
    assert one.gone == f"the target stopped answering ApiVersions while a was asked{often}"


def test_who_stalls_is_not_given_up_at_once(target, monkeypatch):
    monkeypatch.setattr(standing, "STALL_S", 60.0)
    answers = iter([True, True, False])

    def versions(address, seconds):
        target.silent = next(answers)
        return Fake.versions(target, address, seconds)

    monkeypatch.setattr(probe, "api_versions", versions)
    one = Standing(target)
    with one.asked("a", target.endpoint, SHAPE) as watch:
        assert one.end_under(watch, look=True) is None


def test_a_strangers_target_that_comes_back_has_ended_all_the_same(target, monkeypatch):
    """Somebody restarts it; those who were under way are asked again."""
    monkeypatch.setattr(standing, "BACK_S", 60.0)
    answers = iter([False, False, True])

    def versions(address, seconds):
        target.up = next(answers)
        return Fake.versions(target, address, seconds)

    one = Standing(target)
    with one.asked("a", target.endpoint, SHAPE) as watch:
        monkeypatch.setattr(probe, "api_versions", versions)
        death = one.end_under(watch, look=True)
    assert death is not None and death.again and one.gone is None


def test_who_was_away_for_a_moment_returns(target, monkeypatch):
    monkeypatch.setattr(standing, "BACK_S", 60.0)
    answers = iter(["refused", "refused", None])
    monkeypatch.setattr(target, "available", lambda: next(answers))
    assert Standing(target).returns()


def test_who_stays_away_is_gone_since_the_last_case(target):
    one = Standing(target)
    with one.asked("a", target.endpoint, SHAPE):
        pass
    target.up = False
    assert not one.returns()
    assert one.gone == "the target is gone since a (connection refused)"


@pytest.mark.parametrize("target", [OURS], indirect=True)
def test_an_end_that_nobody_causes_alone_is_told(target):
    one = Standing(target)
    for killer in (True, False):
        with (
            one.asked("a", target.endpoint, SHAPE) as first,
            one.asked("b", target.endpoint, SHAPE),
        ):
            target.up = False
            assert one.end_under(first, look=True).again
        if killer:
            with one.asked("a", target.endpoint, SHAPE) as watch:
                target.up = False
                assert one.end_under(watch, look=True).alone
            assert one.report_lines() == []
            one = Standing(target)
    assert one.report_lines() == [
        "the target ended while a, b were asked; asked alone, none of them ends it"
    ]


@pytest.mark.parametrize("target", [OURS], indirect=True)
def test_who_comes_late_to_an_address_of_an_earlier_life_sees_no_second_end(target, monkeypatch):
    class Kept:
        def __init__(self, address):
            self.address = address

        def use(self):
            return target.up and self.address == target.endpoint.bootstrap[0]

        def has_ended(self):
            return False

    monkeypatch.setattr(standing, "OpenConnection", Kept)
    one, first = Standing(target, watches=True), target.endpoint
    life = one.life
    with one.asked("a", first, SHAPE) as watch, one.asked("b", first, SHAPE):
        target.up = False
        assert one.end_under(watch, look=True).again
        with one.asked("late", first, SHAPE, life=life):
            assert len(one.deaths) == 1


def test_a_target_that_is_not_there_raises_from_nobody(target):
    def unavailable(shape):
        raise Unavailable("no Java")

    target.kind, target.start = "process", unavailable
    one = Standing(target)
    with one.asked("a", target.endpoint, SHAPE) as watch:
        target.up = False
        assert not one.end_under(watch, look=True).again


@pytest.mark.parametrize("target", [OURS], indirect=True)
def test_one_that_is_neither_dead_nor_alive_is_stopped_first(target, monkeypatch):
    """Its process is there and its port is closed."""
    one, begin = Standing(target), target.start
    monkeypatch.setattr(target, "start", lambda shape: begin(shape) if target.done else here)
    here = target.endpoint
    with one.asked("a", here, SHAPE) as watch:
        target.up = False
        assert one.end_under(watch, look=True).again
    assert target.done == ["stop", "start"]


@pytest.mark.parametrize("refused", [(), (0,), (1,), (0, 2)])
def test_a_broker_has_counted_closed_connections_when_it_takes_two_in_turn(refused, monkeypatch):
    """`refused`: which of its first connections it closes, for it is full."""
    asked = []

    def versions(address, seconds):
        asked.append(len(asked))
        if asked[-1] in refused:
            raise probe.NotReady("closed") from ConnectionResetError()
        return {}

    monkeypatch.setattr(probe, "api_versions", versions)
    monkeypatch.setattr(standing, "PAUSE_S", 0.0)
    standing.settle(("127.0.0.1", 1))
    assert len(asked) == max(refused, default=-1) + 3


def test_a_broker_that_stays_full_is_waited_for_so_long_and_no_longer(monkeypatch):
    def versions(address, seconds):
        raise probe.NotReady("closed") from ConnectionResetError()

    monkeypatch.setattr(probe, "api_versions", versions)
    monkeypatch.setattr(standing, "SANE_S", 0.01)
    monkeypatch.setattr(standing, "PAUSE_S", 0.0)
    standing.settle(("127.0.0.1", 1))
