"""A target that dies in a campaign is started again, and who killed it is found and left out.

When a target no longer accepts connections, the cases in flight are the suspects. They are sent to
a target that was just started, then half of them to another, and so on; the one that it does not
outlive, sent alone, is a finding. (A rejected road: each alone from the begin. Whether a target
that hung up is dying is known a second later, and hundreds may have been hung up on.)
Where none of them does it, all that was sent in the last seconds (`ring`) is played again, over as
many connections as before, and made small by halves: a killer may be stored and read later, or need
others beside it. What was sent is in a file before the target is started again; the file of a death
that was explained goes, any other stays.
A request of the same API with the same faults is left out from then on, or a campaign of an hour
would be an hour of starts. A target that others started cannot be started again: there a death
ends the campaign.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from touchstone.fuzz import interrupts, ring
from touchstone.fuzz.campaign import Finding, play
from touchstone.fuzz.engine import Engine
from touchstone.fuzz.halving import smallest
from touchstone.fuzz.lanes import Kind, Planned
from touchstone.fuzz.ring import Sent
from touchstone.fuzz.runner import Link, is_alive, stopwatch

ORACLE = "stays_alive"
HASTY_S = 0.2
"""Seconds for a suspect's answer, which nobody reads."""
ALL_AGAIN_S = 60.0
"""Seconds of a campaign in which what was sent last is played again."""
MOST = 20
"""Deaths after which a campaign ends: what is left of it would be starts."""


@dataclass(frozen=True)
class Unexplained:
    """A death of which no case alone is known to be the cause: how the target ended, the file of
    what it was sent last, and how many frames of it, `together`, end it again; 0: not known.
    """

    said: str
    path: Path | None = None
    together: int = 0

    def __str__(self) -> str:
        again = f"{self.together} frames together end it again" if self.together else ""
        return "; ".join(filter(None, (self.said, again)))


@dataclass
class Deaths:
    """How often a campaign's target died, and of what."""

    campaign: str
    seed: int
    count: int = 0
    killers: dict[Kind, Finding] = field(default_factory=dict)
    unexplained: list[Unexplained] = field(default_factory=list)
    folder: Path | None = None  # for what was sent last
    again_s: float = ALL_AGAIN_S  # that are left

    def note(
        self,
        suspects: Iterable[Planned],
        said: str,
        start: Callable[[], Link],
        sent: Sequence[Sent] = (),
    ) -> None:
        """The target is gone and `said` how; find who did it. `start` starts it anew, without a
        memory, makes what requests name and returns a link to it; it runs afterwards. `sent` is
        what it was sent last.
        """
        self.count += 1
        suspects = list(suspects)
        path = None
        if self.folder is not None and sent:
            path = ring.write(self.folder / f"death-{self.count:02}{ring.SUFFIX}", said, sent)
        together: Sequence[Sent] = ()
        try:
            with interrupts.prompt():
                killer = self._killer(suspects, start)
                if killer is None:
                    together = self._together(sent, start)
                    killer = together[0].planned if len(together) == 1 else None
        except KeyboardInterrupt:
            what = f"{said}, not looked for any further: interrupted"
            self.unexplained.append(Unexplained(what, path))
            return
        if killer is None:
            if together and path is not None:
                ring.write(path, said, together)
            self.unexplained.append(Unexplained(said, path, len(together)))
            return
        if path is not None:
            path.unlink()
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

    def _together(self, sent: Sequence[Sent], start: Callable[[], Link]) -> Sequence[Sent]:
        """The few of these that the target dies of when they are played to a new one; none where it
        outlives all, or where nobody has time to try.
        """
        elapsed = stopwatch()

        def dies(chosen: Sequence[Sent]) -> bool:
            if elapsed() > self.again_s:
                return False
            with start() as link:
                try:
                    with Engine(link.address) as engine:
                        for _ in engine.play(one.planned for one in chosen):
                            pass
                except ConnectionError:
                    return True
                return not is_alive(link.address)

        found = smallest(sent, dies) if self.again_s > 0 else ()
        self.again_s -= elapsed()
        return found

    def _outlives(self, suspects: Sequence[Planned], start: Callable[[], Link]) -> bool:
        with start() as link:
            link.timeout_s = HASTY_S
            try:
                for planned in suspects:
                    play(link, planned.sent)
            except ConnectionError:
                return False
            return is_alive(link.address)
