"""Ctrl-C and SIGTERM at any instant of a campaign: what was played is judged and written."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from touchstone.fuzz import __main__ as fuzz
from touchstone.fuzz import against, interrupts
from touchstone.fuzz.campaign import Campaign, campaigns, judge
from touchstone.fuzz.engine import Engine
from touchstone.fuzz.outcome import CLOSED
from touchstone.fuzz.triage import grouped

INT, TERM = signal.SIGINT, signal.SIGTERM
CASES = 40
PLANTED = (18, 32, 60)  # APIs about which a complaint is planted


# --- what a signal does ---------------------------------------------------------------------------


@pytest.fixture
def listening() -> Iterator[None]:
    with interrupts.listening():
        yield


@pytest.mark.usefixtures("listening")
@pytest.mark.parametrize("number", [INT, TERM])
def test_where_nothing_is_kept_a_signal_ends_at_once(number):
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(number)


@pytest.mark.usefixtures("listening")
@pytest.mark.parametrize(
    ("numbers", "noted"),
    [
        ((), (False, False)), ((INT,), (True, False)), ((INT, INT), (True, True)),
        ((TERM,), (True, True)), ((INT, TERM), (True, True)),
    ],
)  # fmt: skip
def test_what_is_kept_goes_on_and_may_ask(numbers, noted):
    with interrupts.kept():
        for number in numbers:
            signal.raise_signal(number)
        assert (interrupts.ended(), interrupts.hurried()) == noted


@pytest.mark.usefixtures("listening")
@pytest.mark.parametrize("numbers", [(INT, INT, INT), (INT, TERM, INT), (TERM, TERM)])
def test_who_asks_once_more_is_not_kept_waiting(numbers):
    *first, last = numbers
    with interrupts.kept():
        for number in first:
            signal.raise_signal(number)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(last)


@pytest.mark.usefixtures("listening")
def test_only_a_signal_that_comes_within_it_leaves_a_prompt_region():
    with interrupts.kept():
        signal.raise_signal(INT)
        with interrupts.prompt():
            assert interrupts.ended()
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(INT)


def test_the_handlers_that_were_there_are_there_again():
    before = [signal.getsignal(number) for number in interrupts.ENDS]
    with interrupts.listening(), interrupts.kept():
        signal.raise_signal(INT)
    assert [signal.getsignal(number) for number in interrupts.ENDS] == before
    assert not interrupts.ended()


# --- a campaign of which it is known what was played ----------------------------------------------


@dataclass
class Run:
    """What was played in a run, by its causes with their members, and what it wrote."""

    campaign: Campaign
    out: Path
    played: list[Any] = field(default_factory=list)

    def command(self, *arguments: str) -> Any:
        return CliRunner().invoke(
            fuzz.command,
            [
                "--target",
                "reference@4.3",
                "--cases",
                str(CASES),
                "--out",
                str(self.out),
                *arguments,
            ],
        )

    @property
    def seen(self) -> dict[tuple[str, int], int]:
        found = [
            one
            for planned, outcome in self.played
            for one in judge(self.campaign, planned.sent, outcome, 1, planned.index, planned.faults)
        ]
        return {(c.oracle, c.key): len(members) for c, members in grouped(found).items()}

    @property
    def written(self) -> dict[tuple[str, int], int]:
        members: Counter[tuple[str, int]] = Counter()
        for path in self.out.rglob("*.toml"):
            text = path.read_text()
            row = tomllib.loads(text)
            members[row["oracle"], row["key"]] += int(text.split("one of ")[1].split(",")[0])
        return dict(members)

    @property
    def rows(self) -> dict[tuple[str, int], int]:
        lines = (self.out / "fuzz-rows.jsonl").read_text().splitlines()
        members: Counter[tuple[str, int]] = Counter()
        for row in map(json.loads, lines):
            if row["fuzz"] == "cause":
                members[row["oracle"], row["key"]] += row["members"]
        return dict(members)


@pytest.fixture
def made_run(tmp_path, monkeypatch) -> Iterator[Run]:
    """Of a campaign that complains about some APIs, however they are answered."""

    def planted(sent, outcome):
        return "planted" if sent.key in PLANTED else None

    oracles = {"correlates": planted}
    valid = replace(campaigns()["valid"], watches=(), oracles=oracles, keys=(3, *PLANTED))
    run, play = Run(valid, tmp_path / "out"), Engine.play

    def noting(self, cases):
        for one in play(self, cases):
            run.played.append(one)
            yield one

    monkeypatch.setattr(Engine, "play", noting)
    monkeypatch.setattr(fuzz, "chosen", lambda names: [(run.campaign, None)])
    for module in ("settled", "finding_file"):  # each puts the target in order: half of the time
        monkeypatch.setattr(import_module(f"touchstone.fuzz.triage.{module}"), "REPLAYS", 2)
    before = [signal.signal(number, lambda *_: None) for number in interrupts.ENDS]
    yield run
    for number, handler in zip(interrupts.ENDS, before, strict=True):
        signal.signal(number, handler)


def signalled_at(place: str, times: int, number: int, monkeypatch, *, behind: bool) -> list[str]:
    """Raise the signal when this is called for so many times, before or behind what it does; the
    list names the place once that has happened.
    """
    module, _, path = place.partition(":")
    *holders, name = path.split(".")
    holder: Any = import_module(f"touchstone.fuzz.{module}" if module else "touchstone.fuzz")
    for one in holders:
        holder = getattr(holder, one)
    original: Callable[..., Any] = getattr(holder, name)
    calls, come = [0], []

    def hooked(*arguments: Any, **named: Any) -> Any:
        calls[0] += 1
        hit = calls[0] == times
        if hit and not behind:
            come.append(place)
            signal.raise_signal(number)
        value = original(*arguments, **named)
        if hit and behind:
            come.append(place)
            signal.raise_signal(number)
        return value

    monkeypatch.setattr(holder, name, hooked)
    return come


PLACES = (
    ("share:Where.prepare", 1), ("target_run:play_share", 1), ("engine:Engine._send", 3),
    ("campaign:keep", 20), ("campaign:judge", 9), ("campaign:keep", CASES),
    ("target_run:report", 1), ("triage.settled:settle", 2), ("running:RunningTarget.restore", 2),
    ("triage:played", 1), ("triage:played", 7), ("triage:write_settled", 1),
    ("triage.finding_file:atomically", 4), ("account:Account.settled", 2),
    ("account:Account.write", 1),
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "behind"),
    [
        pytest.param(INT, False, id="INT before"),
        pytest.param(INT, True, id="INT behind", marks=pytest.mark.nightly),
        pytest.param(TERM, False, id="TERM", marks=pytest.mark.nightly),
    ],
)
@pytest.mark.parametrize(("place", "times"), PLACES)
def test_what_was_played_is_written_whenever_a_signal_comes(
    made_run, monkeypatch, place, times, number, behind
):
    come = signalled_at(place, times, number, monkeypatch, behind=behind)
    result = made_run.command()
    assert come == [place], "that instant was not met"
    assert (result.exit_code, "total: " in result.output) == (3, True), result.output
    assert made_run.written == made_run.rows == made_run.seen
    assert not list(made_run.out.rglob(".*")), "a file was cut"


@pytest.mark.slow
def test_who_asks_three_times_while_it_is_written_has_whole_files(made_run, monkeypatch):
    original, calls = os.replace, []

    def thrice(self, target):
        calls.append(target)
        if len(calls) == 2:
            for _ in range(3):
                signal.raise_signal(INT)
        return original(self, target)

    monkeypatch.setattr(Path, "replace", thrice)
    result = made_run.command()
    assert result.exit_code == 3, result.output
    for path in made_run.out.rglob("*.toml"):
        assert "complaint" in tomllib.loads(path.read_text())


class Instant:
    """Raises SIGINT at the n-th call of a function in this thread; counts them where n is 0."""

    def __init__(self, at: int) -> None:
        self.at, self.calls = at, 0

    def __enter__(self) -> Instant:
        sys.setprofile(self._called)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _called(self, frame: object, event: str, argument: object) -> None:
        if event == "call":
            self.calls += 1
            if self.calls == self.at:
                signal.raise_signal(INT)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # sockets left open
@pytest.mark.parametrize("instants", [6, pytest.param(100, marks=pytest.mark.nightly)])
def test_what_was_played_is_written_at_random_instants(made_run, instants):
    seed = random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")
    draw, root = random.Random(seed), made_run.out
    with Instant(0) as whole:
        made_run.command()
    for number in range(instants):
        made_run.out, made_run.played = root / str(number), []
        with Instant(draw.randint(1, whole.calls)) as instant:
            result = made_run.command()
        assert result.exit_code in (0, 1, 3), (seed, instant.at, result.output)
        if made_run.played:
            assert made_run.written == made_run.seen, (seed, instant.at, result.output)


# --- processes that share a campaign --------------------------------------------------------------


@pytest.fixture
def handed_over(made_run, monkeypatch):
    """How many cases two processes say they played, when a signal comes as they are looked at for
    so many times.
    """
    root = made_run.out

    def cases(look: int) -> int:
        monkeypatch.undo()  # a process that is started knows nothing of what was planted here
        made_run.out, made_run.campaign = root / str(look), campaigns()["valid"]
        come = signalled_at("jobs:wait", look, INT, monkeypatch, behind=True)
        result = made_run.command("--campaign", "valid", "--cases", "1000000", "--jobs", "2")
        assert come and result.exit_code == 3, result.output
        lines = (made_run.out / "fuzz-rows.jsonl").read_text().splitlines()
        (row,) = (row for row in map(json.loads, lines) if row["fuzz"] == "shard")
        assert f"valid: {row['executions']} cases" in result.output
        return row["executions"]

    return cases


@pytest.mark.slow
@pytest.mark.parametrize("look", [1, 5, 12])
def test_processes_that_are_started_or_prepare_end_too(handed_over, look):
    assert handed_over(look) >= 0


@pytest.mark.slow
def test_processes_hand_over_what_they_have_played(handed_over):
    """On a machine that is busy they begin to play later."""
    assert any(handed_over(look) for look in (20, 80, 320, 1280))


# --- two targets ----------------------------------------------------------------------------------


COMPARED = (
    ("against:play_both", 1), ("against:play_both", 9), ("against:note", 9),
    ("compared_run:prepared", 1), ("compared_run:report", 1), ("triage:write", 1),
    ("account:Account.write", 1),
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    "behind",
    [
        pytest.param(False, id="before"),
        pytest.param(True, id="behind", marks=pytest.mark.nightly),
    ],
)
@pytest.mark.parametrize(("place", "times"), COMPARED)
def test_what_differed_is_written_whenever_a_signal_comes(
    made_run, monkeypatch, place, times, behind
):
    noted, note = [], against.note

    def differs(found, planned, one, other):
        noted.append(planned)
        note(found, planned, one, replace(other, end=CLOSED))

    monkeypatch.setattr(against, "note", differs)
    come = signalled_at(place, times, INT, monkeypatch, behind=behind)
    result = made_run.command("--against", "reference@4.3", "--cases", "12")
    assert come and result.exit_code == 3, result.output
    files = list(made_run.out.rglob("*.toml"))
    assert sum(made_run.rows.values() if noted else ()) == len(noted)
    assert len(files) == len({path.name for path in files}) and bool(files) == bool(noted)
