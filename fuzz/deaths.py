"""A target that dies in a campaign is started again, and who killed it is found and left out.

When a target no longer accepts connections, the cases in flight are the suspects. They are sent to
a target that was just started, then half of them to another, and so on; the one that it does not
outlive, sent alone, is a finding. (A rejected road: each alone from the begin. Whether a target
that hung up is dying is known a second later, and hundreds may have been hung up on.)
A request of the same API with the same faults is left out from then on, or a campaign of an hour
would be an hour of starts. A target that others started cannot be started again: there a death
ends the campaign.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from touchstone.fuzz import interrupts
from touchstone.fuzz.campaign import Finding, play
from touchstone.fuzz.lanes import Kind, Planned
from touchstone.fuzz.runner import Link, is_alive

ORACLE = "stays_alive"
HASTY_S = 0.2
"""Seconds for a suspect's answer, which nobody reads."""
MOST = 20
"""Deaths after which a campaign ends: what is left of it would be starts."""


@dataclass
class Deaths:
    """How often a campaign's target died, and of what."""

    campaign: str
    seed: int
    count: int = 0
    killers: dict[Kind, Finding] = field(default_factory=dict)
    unexplained: list[str] = field(default_factory=list)

    def note(self, suspects: Iterable[Planned], said: str, start: Callable[[], Link]) -> None:
        """The target is gone and `said` how; find who did it. `start` starts it anew, without a
        memory, makes what requests name and returns a link to it; it runs afterwards.
        """
        self.count += 1
        suspects = list(suspects)
        try:
            with interrupts.prompt():
                killer = self._killer(suspects, start)
        except KeyboardInterrupt:
            self.unexplained.append(f"{said}, not looked for any further: interrupted")
            return
        if killer is None:
            self.unexplained.append(said)
            return
        sentence = f"the target died of this frame, in the campaign and when sent alone: {said}"
        self.killers[killer.kind] = Finding(
            self.campaign, ORACLE, sentence, "died", self.seed, killer.index, killer.faults,
            killer.sent.wire,
        )  # fmt: skip
        with contextlib.suppress(KeyboardInterrupt), interrupts.prompt():
            start().close()

    @property
    def too_many(self) -> bool:
        return self.count >= MOST

    def _killer(self, suspects: list[Planned], start: Callable[[], Link]) -> Planned | None:
        """The one that the target dies of when it is sent alone; None where it dies of none, or of
        several together only.
        """
        if not suspects:
            start().close()
            return None
        if self._outlives(suspects, start):
            return None
        while len(suspects) > 1:
            half = suspects[: len(suspects) // 2]
            suspects = suspects[len(half) :] if self._outlives(half, start) else half
            if len(suspects) == 1 and self._outlives(suspects, start):
                return None
        return suspects[0]

    def _outlives(self, suspects: Sequence[Planned], start: Callable[[], Link]) -> bool:
        with start() as link:
            link.timeout_s = HASTY_S
            try:
                for planned in suspects:
                    play(link, planned.sent)
            except ConnectionError:
                return False
            return is_alive(link.address)
