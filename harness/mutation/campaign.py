"""Mutants against cases: each in a process of its own, until one case differs.

This process imports the pair and the suites, reads Kafka's answers, and forks: a child plants one
mutant and asks the cases that run the changed function, the quickest first. What a case rests on is
its verdict as in any run, so a mutant is killed where a user's report would be red.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from touchstone.harness.mutation import planting
from touchstone.harness.mutation.operators import Mutant, Source
from touchstone.harness.mutation.reach import Reach
from touchstone.harness.mutation.settings import Values
from touchstone.harness.mutation.subjects import Subject

KILLED, SURVIVED, HANGS, UNREACHED = "killed", "survived", "hangs", "unreached"
TIMES_SLOWER, LEAST_S = 10, 60.0
"""A mutant hangs when its cases take so many times as long as they did without it, and this long at
the least: beside others on a busy machine."""

_FORK = get_context("fork")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a mutant is: its room, module and the text of it, or the values of a release."""

    room: str
    module: str
    source: Source | Values

    def readers(self, mutant: Mutant) -> list[planting.Place]:
        """The functions that show the mutant: the one that is changed, or those that read it."""
        if isinstance(self.source, Values):
            return self.source.readers(mutant)
        return [(self.module, mutant.function)]


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a mutant. `asked` cases of the `reached` ones that run its function; `by` is
    the one that differed, with what its verdict says.
    """

    mutant: Mutant
    room: str
    outcome: str
    asked: int
    reached: int
    seconds: float
    by: str = ""
    reason: str = ""


def measured(subject: Subject, parts: int, tell: Callable[[str], None]) -> Reach:
    """Which cases run which functions, asked in so many processes side by side."""
    found = Reach()
    readers = {}
    for part in range(parts):
        reader, writer = _FORK.Pipe(duplex=False)
        process = _FORK.Process(target=_measure, args=(writer, subject, part, parts))
        process.start()
        writer.close()
        readers[reader] = process
    while readers:
        for one in wait(list(readers), timeout=10) or ():
            assert isinstance(one, Connection)
            try:
                id, seconds, places = one.recv()
            except EOFError:
                readers.pop(one).join()
                continue
            found.seconds[id] = seconds
            if places is None:
                found.strangers.append(id)
            else:
                found.places[id] = places
        tell(f"{len(found.seconds)} cases measured")
    return found


def _measure(writer: Connection, subject: Subject, part: int, parts: int) -> None:
    _quietly()
    for one in subject.measure(part, parts):
        writer.send(one)
    writer.close()
    os._exit(0)


class Campaign:
    """Judges mutants of a subject; made once everything is imported."""

    def __init__(self, subject: Subject, found: Reach, most_s: float) -> None:
        """`most_s`: of one mutant's cases, as long as they took without it."""
        self.subject, self.reach, self.most_s = subject, found, most_s
        self.wall_s = 0.0  # of the last run
        judge = subject.judge()
        self.cases = {case.id: (case, function) for case, function in subject.cases(judge)}
        subject.prepare(judge)  # here, it is done once

    def run(self, mutants: Sequence[tuple[Place, Mutant]], jobs: int) -> Iterator[Result]:
        """Each mutant's result as it comes, so many of them at a time."""
        began = time.monotonic()
        waiting, running = list(reversed(mutants)), dict[int, _Running]()
        while waiting or running:
            while waiting and len(running) < jobs:
                place, mutant = waiting.pop()
                one = _Running(self, place, mutant)
                if one.process is None:
                    yield one.result()
                else:
                    running[one.process.sentinel] = one
            late = min((one.until for one in running.values()), default=0.0) - time.monotonic()
            ended = wait([*running, *(one.reader for one in running.values())], max(late, 0.0))
            for sentinel, one in list(running.items()):
                if one.reader in ended or sentinel in ended or one.late():
                    del running[sentinel]
                    yield one.result()
            self.wall_s = time.monotonic() - began

    def chosen(self, place: Place, mutant: Mutant) -> tuple[list[str], int]:
        """The cases to ask, and how many run the function. What was measured of an older tree may
        name cases that are gone.
        """
        known = self.reach.cases(*place.readers(mutant))
        reached = [id for id in known if id in self.cases]
        chosen: list[str] = []
        seconds = 0.0
        for id in reached:
            seconds += self.reach.seconds[id]
            if chosen and seconds > self.most_s:
                break
            chosen.append(id)
        return chosen, len(reached)

    def ask(self, place: Place, mutant: Mutant, ids: Sequence[str]) -> tuple[str, int, str, str]:
        """In a process of its own: plant, and ask until one differs."""
        if isinstance(place.source, Values):
            place.source.plant(mutant)
        else:
            self.subject.plant(place.module, place.source, mutant)
        judge = self.subject.judge()
        try:
            for asked, id in enumerate(ids, 1):
                case, function = self.cases[id]
                if red := self.subject.red(function, case, judge):
                    return KILLED, asked, id, red
            return SURVIVED, len(ids), "", ""
        finally:
            judge.close()


class _Running:
    """A mutant that is being asked."""

    def __init__(self, campaign: Campaign, place: Place, mutant: Mutant) -> None:
        self.mutant, self.place = mutant, place
        ids, self.reached = campaign.chosen(place, mutant)
        self.began = time.monotonic()
        usual = sum(campaign.reach.seconds[id] for id in ids)
        self.until = self.began + max(LEAST_S, TIMES_SLOWER * usual)
        self.process: BaseProcess | None = None
        if ids:
            self.reader, writer = _FORK.Pipe(duplex=False)
            self.process = _FORK.Process(target=_ask, args=(writer, campaign, place, mutant, ids))
            self.process.start()
            writer.close()

    def late(self) -> bool:
        return time.monotonic() >= self.until

    def result(self) -> Result:
        """What it came to; ends its process."""
        outcome, asked, by, reason = UNREACHED, 0, "", ""
        if self.process is not None:
            outcome = HANGS
            if self.reader.poll():
                try:
                    outcome, asked, by, reason = self.reader.recv()
                except EOFError:
                    outcome, reason = KILLED, "its process ended"
            self.process.kill()
            self.process.join()
            self.reader.close()
        seconds = time.monotonic() - self.began
        return Result(
            self.mutant, self.place.room, outcome, asked, self.reached, seconds, by, reason
        )


def _ask(
    writer: Connection, campaign: Campaign, place: Place, mutant: Mutant, ids: Sequence[str]
) -> None:
    _quietly()
    writer.send(campaign.ask(place, mutant, ids))
    writer.close()
    os._exit(0)


def _quietly() -> None:
    """A harmed broker says much, and its log lines are not this command's."""
    sys.stdout.flush()
    nothing = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(nothing, descriptor)
