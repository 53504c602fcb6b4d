"""What a turn tells: a rate, a broker's processor time for each deed, a generator's share."""

from __future__ import annotations

import contextlib

import pytest

from touchstone.harness.bench import turn
from touchstone.harness.bench.contest import Options
from touchstone.harness.bench.turn import Meter, Turn, contest, processor_seconds


@pytest.fixture
def proc(tmp_path):
    def process(pid: int, user: int, system: int) -> None:
        (tmp_path / str(pid)).mkdir(exist_ok=True)
        head = f"{pid} (a name) of its own) S 1 2 3 4 5 6 7 8 9 10"
        (tmp_path / str(pid) / "stat").write_text(f"{head} {user} {system} 9999 9999\n")

    process.root = tmp_path
    return process


def test_processor_time_is_of_all_processes_and_of_the_kernel(proc, monkeypatch):
    monkeypatch.setattr(turn.os, "sysconf", lambda name: 100)
    proc(7, 150, 50)
    proc(8, 1, 99)
    assert processor_seconds([7, 8], proc.root) == 3.0


def test_who_cannot_be_asked_has_no_figure(proc):
    assert processor_seconds([7], proc.root) is None
    assert processor_seconds([], proc.root) is None


def test_a_turn_is_what_was_spent_since_it_began(monkeypatch):
    spent = iter([3.0, 3.5])
    monkeypatch.setattr(turn, "processor_seconds", lambda pids: next(spent))
    monkeypatch.setattr(turn.time, "monotonic", iter([10.0, 12.0]).__next__)
    monkeypatch.setattr(turn.time, "process_time", iter([1.0, 2.0]).__next__)
    assert Meter([1]).turn(100) == Turn(50.0, 5.0, 0.5)


def test_a_contest_takes_the_best_of_each_side(monkeypatch):
    @contextlib.contextmanager
    def broker(name, pids):
        yield name, pids

    turns = {
        "ours": [Turn(10.0, 4.0, 0.1), Turn(20.0, 2.0, 0.2)],
        "theirs": [Turn(40.0, 1.0, 0.9), Turn(5.0, 8.0, 0.5)],
    }
    monkeypatch.setattr(turn, "our_broker", lambda options: broker("ours", 1))
    monkeypatch.setattr(turn, "peer_broker", lambda peer: broker("theirs", [2, 3]))
    asked = []

    def measure(bootstrap, pids):
        asked.append((bootstrap, pids))
        return turns[bootstrap].pop()

    rate, cpu = contest(Options(rounds=2), "peer", "groups", "what", "commit", measure)
    assert asked == [("ours", [1]), ("theirs", [2, 3])] * 2
    assert (rate.ours, rate.theirs, rate.unit, rate.ratio) == (20.0, 40.0, "commits/s", 0.5)
    assert rate.notes == {"busy": [0.2, 0.9]}
    assert (cpu.ours, cpu.theirs, cpu.unit, cpu.ratio) == (2.0, 1.0, "ms CPU/commit", 0.5)


def test_where_nobody_tells_only_the_rate_is_left(monkeypatch):
    monkeypatch.setattr(turn, "our_broker", lambda o: contextlib.nullcontext(("ours", 1)))
    monkeypatch.setattr(turn, "peer_broker", lambda p: contextlib.nullcontext(("theirs", [])))
    measure = lambda bootstrap, pids: Turn(1.0, None, 0.0)  # noqa: E731
    assert len(list(contest(Options(rounds=1), "p", "b", "w", "deed", measure))) == 1
