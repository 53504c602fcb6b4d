"""The tables as Hypothesis models: one rule takes an action, and the answer must be the cell's.

Hypothesis chooses the actions and makes a failing sequence of them short; everything else is the
machine's. `model_of` gives a state machine class for one machine and one target, which pytest runs
through its `TestCase`.
"""

from __future__ import annotations

import random
from itertools import count
from typing import Any

from hypothesis import strategies
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from touchstone.fuzz.machines.machine import Machine
from touchstone.fuzz.machines.walk import Model, Ranges
from touchstone.fuzz.sequences.judge import as_expected
from touchstone.fuzz.sequences.player import Player, played


def model_of(
    machine: Machine, player: Player, ranges: Ranges, release: str
) -> type[RuleBasedStateMachine]:
    """A class whose runs each play one sequence of actions over connections of their own. Fails
    with what was not as expected.
    """
    names = count()
    word = player.nonce()

    class Run(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            name = f"{word}-{next(names)}"
            self.model = Model(machine, ranges, release, random.Random(0), name)
            self.session = player.session()
            self.sent = 0
            self._play()

        @precondition(lambda self: bool(self.model.available()))
        @rule(data=strategies.data())
        def act(self, data: Any) -> None:
            action = data.draw(strategies.sampled_from(self.model.available()), "action")
            self.model.take(action)
            self._play()

        def _play(self) -> None:
            """Play what the model has said, and hold the answers so far against its table."""
            for step in self.model.steps[self.sent :]:
                self.session.play(step)
            self.sent = len(self.model.steps)
            wrong = as_expected(played(self.model.script, self.session))
            assert wrong is None, wrong

        def teardown(self) -> None:
            self.session.close()

    Run.__name__ = Run.__qualname__ = f"{machine.name}_run"
    return Run
