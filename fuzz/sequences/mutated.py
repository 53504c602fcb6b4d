"""Script after script with mutations, for ever: case i is drawn from (seed, i) and the scripts that
the campaign begins with.

Every FOURTH case is a walk of a machine as it is: its table says whether the target still does what
it should after what it was sent.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence

from touchstone.fuzz.generator import harmful
from touchstone.fuzz.machines.walked_scripts import WalkedScript, WalkedScripts
from touchstone.fuzz.script import Script, renamed
from touchstone.fuzz.sequences.arrange import bare
from touchstone.fuzz.sequences.mutations import Mutation
from touchstone.fuzz.sequences.scripted import Case
from touchstone.fuzz.sequences.sources import Load

FOURTH = 4
TRIES = 20
"""To draw a stored script that does the target no harm."""


class Sequences:
    """What a campaign of sequences draws from: walks of machines, or scripts of files."""

    def __init__(
        self, walks: WalkedScripts, stored: Sequence[Load], mutations: Mapping[str, Mutation]
    ) -> None:
        self.walks, self.mutations = walks, mutations
        self.stored = stored
        self.cells = {machine: cells for machine, cells in walks.cells().items() if cells}

    def cases(self, seed: int, faults: tuple[int, int]) -> Iterator[Case]:
        index = 0
        while self.cells or self.stored:
            draw = random.Random(f"{seed}/sequences/{index}")
            if index % FOURTH == FOURTH - 1 and self.cells:
                walked = self.walk(draw, seed, index, 0)
                yield Case(index, walked.script, (), walked)
            else:
                yield self.case(draw, seed, index, draw.randint(*faults))
            index += 1

    def case(self, draw: random.Random, seed: int, index: int, count: int) -> Case:
        script = self.script(draw, seed, index, 0)
        others = [self.script(draw, seed, index, n + 1) for n in range(draw.randint(1, 2))]
        names = []
        for _ in range(count):
            name = draw.choice(list(self.mutations))
            changed = self.mutations[name](script, draw, others)
            if changed != script and not any(harmful(step.wire) for step in changed.steps):
                script = changed
                names.append(name)
        return Case(index, bare(script), tuple(names) or ("nothing",))

    def script(self, draw: random.Random, seed: int, index: int, part: int) -> Script:
        """One that nobody has played under these names."""
        for _ in range(TRIES if self.stored else 0):
            script = draw.choice(self.stored)()
            if script.steps and not any(harmful(step.wire) for step in script.steps):
                return renamed(script, f"-{self.walks.word}{seed}-{index}-{part}")
        return bare(self.walk(draw, seed, index, part).script) if self.cells else Script(())

    def walk(self, draw: random.Random, seed: int, index: int, part: int) -> WalkedScript:
        name = draw.choice(list(self.cells))
        machine = next(one for one in self.walks.there() if one.name == name)
        goal = draw.choice(self.cells[machine.name])
        return self.walks.one(machine, goal, draw, f"{self.walks.word}{seed}-{index}-{part}")
