"""The frozen corpus as a campaign: its cases one after another, held against what was recorded."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from touchstone.fuzz import interrupts
from touchstone.fuzz.campaign import Campaign, Result, run
from touchstone.fuzz.cases import corpus
from touchstone.fuzz.corpus_run import GROUP_KEYS
from touchstone.fuzz.generator import Generator
from touchstone.fuzz.neighbours import listing
from touchstone.fuzz.progress import Progress
from touchstone.fuzz.runner import stopwatch
from touchstone.fuzz.running import RunningTarget
from touchstone.fuzz.share import Played
from touchstone.fuzz.targets import recorded_for


def play_frozen(
    campaign: Campaign, running: RunningTarget, seed: int, tell: Callable[[str], object]
) -> Played:
    """Play all of it, until its end, the target's (`gone` says which) or a Ctrl-C; `tell` gets a
    line every two seconds. The seed only names the findings. Raises NotPrepared.
    """
    link = running.link
    # What was recorded was recorded of a target that nobody had sent anything.
    running.unharmed(partial(running.restore, campaign), tell)
    recorded = recorded_for(running.target)
    if recorded and len(listing(link)[0]) > 1:  # another broker may coordinate a group
        groups = {case.name for case in corpus() if case.key in GROUP_KEYS}
        recorded = {name: shown for name, shown in recorded.items() if name not in groups}
    played = Played(Result(campaign.name))
    elapsed = stopwatch()
    progress = Progress(elapsed, tell, cases=None, seconds=None)
    try:
        run(
            campaign,
            link,
            lambda draw: Generator([], draw),
            seed=seed,
            wanted=progress.wanted,
            recorded=recorded,
            result=played.result,
        )
    except KeyboardInterrupt:
        played.result.interrupted = True
    except ConnectionError as gone:
        played.gone = str(gone)
    played.result.interrupted |= interrupts.ended()
    played.connects, played.seconds = link.tally.connects, elapsed()
    return played
