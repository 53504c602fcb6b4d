"""Which case a watch complained about: the cases between two of its looks, played again.

A watch that `repeats` looks at what one case can change. When it complains, the cases that were
drawn since its last good look are played to the target, which was put in order; half of them if
it complains again, and so on. A few thousand cases are some twenty trials of seconds each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from touchstone.fuzz.campaign import Campaign, Finding, planned_cases, play
from touchstone.fuzz.engine import Engine
from touchstone.fuzz.generator import Generator
from touchstone.fuzz.halving import smallest
from touchstone.fuzz.lanes import Planned
from touchstone.fuzz.runner import stopwatch
from touchstone.fuzz.running import RunningTarget
from touchstone.fuzz.share import Share
from touchstone.fuzz.watches import WATCHES
from touchstone.fuzz.watches.watch import NotWatched, Wrong
from touchstone.fuzz.watches.watching import Complaint
from touchstone.fuzz.world import World

IN_FLIGHT = 512
"""Cases that were drawn before a good look, and may have been read behind it."""
LONGEST_S = 90.0
"""Seconds for which one is looked for."""


def culprit(
    complaint: Complaint, campaign: Campaign, running: RunningTarget, share: Share
) -> Finding | None:
    """Return the case that the watch complains about when it is played alone; None where there is
    none, or it is not found in LONGEST_S. Raises ConnectionError of a target that dies of it.
    """
    elapsed, told = stopwatch(), [complaint.sentence]
    first, last = max(0, complaint.cases[0] - IN_FLIGHT), complaint.cases[1]

    def suspects(world: World) -> list[Planned]:
        cases = planned_cases(
            campaign, lambda draw: Generator(share.dealt, draw, world), share.seed, first=first
        )
        return [case for case, _ in zip(cases, range(first, last), strict=False)]

    def complains(indexes: Sequence[int]) -> bool:
        if elapsed() > LONGEST_S:
            return False
        return _complains(complaint.watch, running, suspects, set(indexes), told)

    found = smallest(range(first, last), complains)
    if len(found) != 1:
        return None
    (planned,) = [case for case in suspects(running.prepare()) if case.index in found]
    return Finding(
        campaign.name, complaint.watch, f"after this case, played alone: {told[0]}", "changed",
        share.seed, planned.index, planned.faults, planned.sent.wire,
    )  # fmt: skip


def _complains(
    name: str,
    running: RunningTarget,
    suspects: Callable[[World], list[Planned]],
    indexes: set[int],
    told: list[str],
) -> bool:
    """Play these cases to the target, put in order; whether the watch complains then."""
    assert running.watched is not None
    watch, cases = WATCHES[name](), suspects(running.prepare())
    chosen = [case for case in cases if case.index in indexes]
    try:
        watch.before(running.watched)
        if len(chosen) == 1:
            play(running.link, chosen[0].sent)
        else:
            with Engine(running.address) as engine:
                for _ in engine.play(chosen):
                    pass
        said = watch.check(0.0)
    except Wrong as wrong:
        said = str(wrong)
    except NotWatched:
        return False
    finally:
        watch.close()
    if said:
        told[0] = said
    return bool(said)
