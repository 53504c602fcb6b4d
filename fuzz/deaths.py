"""A target that dies in a campaign is started again, and who killed it is found and left out.

When a target no longer accepts connections, the cases in flight are the suspects. Each is sent
alone to a target that was just started; the one that it does not outlive is a finding, seen twice.
A request of the same API with the same faults is left out from then on, or a campaign of an hour
would be an hour of starts. A target that others started cannot be started again: there a death
ends the campaign.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from touchstone.fuzz.campaign import Finding, play
from touchstone.fuzz.engine import Kind, Planned
from touchstone.fuzz.outcome import KEPT
from touchstone.fuzz.runner import Link, accepts

ORACLE = "stays_alive"
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
        with start() as link:
            killer = next((one for one in suspects if not self._outlives(one, link)), None)
        if killer is None:
            self.unexplained.append(said)
            return
        sentence = "the target died of this frame, in the campaign and when sent alone"
        self.killers[killer.kind] = Finding(
            self.campaign, ORACLE, sentence, "died", self.seed, killer.index, killer.faults,
            killer.sent.wire,
        )  # fmt: skip
        start().close()

    @property
    def too_many(self) -> bool:
        return self.count >= MOST

    def _outlives(self, planned: Planned, link: Link) -> bool:
        try:
            outcome = play(link, planned.sent)
        except ConnectionError:
            return False
        return outcome.end == KEPT or accepts(link.address)
