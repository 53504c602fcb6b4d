"""Script after script of some machines, for ever: case i is drawn from (seed, i) alone.

Consecutive cases take the machines in turn, and each machine's cells in turn, so that a campaign of
a few hundred cases has tried every (state, action) of each. A case has so many faults as its
campaign says: a fault changes the bytes of the step that the case was drawn for, and what follows
is expected to be answered as if a refused request had never been (`fuzz.sequences.judge`).
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from touchstone.fuzz.generator import harmful
from touchstone.fuzz.machines.machine import Machine
from touchstone.fuzz.machines.walk import Model, Ranges, cells_of, walk
from touchstone.fuzz.mutators import Mutate
from touchstone.fuzz.script import Script

STEPS = 16
"""Of a script, the opening ones included."""
Cell = tuple[StrEnum, StrEnum]


@dataclass(frozen=True)
class WalkedScript:
    """A script with where it came from: what each step did (None: opening), and the faults."""

    machine: Machine
    script: Script
    trail: tuple[Cell | None, ...]
    faults: tuple[str, ...]
    step: int  # the one that it was drawn for, which a fault changes


@dataclass(frozen=True)
class WalkedScripts:
    """Machines as a target has them. `word` keeps the names of one run from those of another."""

    machines: Sequence[Machine]
    ranges: Ranges
    release: str
    word: str = ""
    listener: str = "PLAINTEXT"

    def there(self) -> list[Machine]:
        """Those of which the target serves at least half of the actions."""
        return [
            machine
            for machine in self.machines
            if machine.listener == self.listener
            and 2 * len(machine.served(self.ranges)) >= len(machine.acts)
        ]

    def cells(self) -> dict[str, list[Cell]]:
        """The cells that can be tried, by machine."""
        return {
            machine.name: cells_of(machine, self.ranges, self.release) for machine in self.there()
        }

    def walked(
        self, seed: int, mutators: Mapping[str, Mutate], faults: tuple[int, int]
    ) -> Iterator[tuple[int, WalkedScript]]:
        """(index, case) for ever; nothing where no machine is there."""
        machines, cells = self.there(), self.cells()
        index = 0
        while machines:
            turn, place = divmod(index, len(machines))
            machine = machines[place]
            goals = cells[machine.name]
            draw = random.Random(f"{seed}/{machine.name}/{index}")
            goal, name = goals[turn % len(goals)], f"{self.word}{seed}-{index}"
            count = draw.randint(*faults)
            one = self.one(machine, goal, draw, name, broken=count > 0)
            for _ in range(count):
                one = faulty(one, mutators, draw)
            yield index, one
            index += 1

    def one(
        self, machine: Machine, goal: Cell, draw: random.Random, name: str, *, broken: bool = False
    ) -> WalkedScript:
        """A walk through a cell, whose request is to be broken or not."""
        model = Model(machine, self.ranges, self.release, draw, name)
        step = walk(model, goal, STEPS, broken=broken)
        return WalkedScript(machine, model.script, tuple(model.trail), (), step)

    def again(self, machine: Machine, actions: Sequence[StrEnum], name: str) -> WalkedScript | None:
        """A walk of these actions; None where one of them cannot be asked."""
        model = Model(machine, self.ranges, self.release, random.Random(0), name)
        for action in actions:
            if action not in model.available():
                return None
            model.take(action)
        return WalkedScript(machine, model.script, tuple(model.trail), (), len(model.steps) - 1)


def faulty(one: WalkedScript, mutators: Mapping[str, Mutate], draw: random.Random) -> WalkedScript:
    """With one more fault in the step that it was drawn for. One that would harm the target is not
    put in, but the step counts as broken: the walk goes on as if it had been refused.
    """
    step = one.script.steps[one.step]
    name = draw.choice(list(mutators))
    wire = mutators[name](step.wire, draw)
    if harmful(wire):
        wire = step.wire
    changed = replace(step, wire=wire, faults=(*step.faults, name), again=())
    steps = (*one.script.steps[: one.step], changed, *one.script.steps[one.step + 1 :])
    return replace(one, script=replace(one.script, steps=steps), faults=(*one.faults, name))
