"""The frozen corpus as a campaign: its cases one after another, held against what was recorded."""

from __future__ import annotations

from collections.abc import Callable

from touchstone.fuzz.campaign import Campaign, Result, run
from touchstone.fuzz.cases import corpus
from touchstone.fuzz.corpus_run import GROUP_KEYS, prepare
from touchstone.fuzz.generator import Generator
from touchstone.fuzz.neighbours import listing
from touchstone.fuzz.progress import Progress
from touchstone.fuzz.runner import Link, stopwatch
from touchstone.fuzz.share import Played
from touchstone.fuzz.targets import recorded_for
from touchstone.harness.model.target import Target


def play_frozen(
    campaign: Campaign, target: Target, link: Link, seed: int, tell: Callable[[str], object]
) -> Played:
    """Play all of it, until its end, the target's (`gone` says which) or a Ctrl-C; `tell` gets a
    line every two seconds. The seed only names the findings.
    """
    prepare(link, corpus())
    recorded = recorded_for(target)
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
    played.connects, played.seconds = link.tally.connects, elapsed()
    return played
