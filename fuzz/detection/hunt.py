"""One hunt: campaigns with all oracles and watches on a broker, until something complains.

Five campaigns in turn: `frames` under every watch, then the frozen corpus held against what real
Kafka did, then `valid`, `fields` and `records`. A hunt without a planted defect is clean: in it
nothing may complain.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from touchstone.fuzz.campaign import Campaign, Result, campaigns, run
from touchstone.fuzz.cases import corpus
from touchstone.fuzz.corpus_run import prepare
from touchstone.fuzz.detection.planted import target_file
from touchstone.fuzz.generator import Generator
from touchstone.fuzz.preparation import prepare as prepare_world
from touchstone.fuzz.runner import Link, stopwatch
from touchstone.fuzz.targets import SMALL_CLUSTER, recorded_for, served_pairs
from touchstone.fuzz.watches import WATCHES
from touchstone.fuzz.watches.watch import Watched
from touchstone.fuzz.watches.watching import Watching
from touchstone.fuzz.world import World
from touchstone.harness.model.target import Shape, Target
from touchstone.harness.targets import parse

ORDER = ("frames", "corpus", "valid", "fields", "records")
RESTORE_EVERY = 5000
LEAST_CASES = 1500  # on a busy machine seconds say little


@dataclass
class Hunt:
    """What one hunt came to. `complaints` are (who, sentence), none where nothing was found."""

    switches: tuple[str, ...]
    complaints: list[tuple[str, str]]
    cases: int = 0
    seconds: float = 0.0
    figures: dict[str, str] | None = None

    @property
    def by(self) -> str:
        return self.complaints[0][0] if self.complaints else ""


def hunt(
    switches: Iterable[str], *, seconds: float, seed: int = 1, all_of_it: bool = False
) -> Hunt:
    """`seconds` for each generated campaign. It ends at the first complaint, unless `all_of_it`."""
    found, elapsed = Hunt(tuple(switches), []), stopwatch()
    with tempfile.TemporaryDirectory(prefix="touchstone-hunt-") as folder:
        target = parse(str(target_file(Path(folder), found.switches)))
        try:
            endpoint = target.start(Shape(config=SMALL_CLUSTER))
            watched = Watched(endpoint, target.advertised())
            for name in ORDER:
                if all_of_it or not found.complaints:
                    _campaign(campaigns()[name], target, watched, found, seconds, seed, all_of_it)
        except (ConnectionError, TimeoutError) as gone:
            found.complaints.append(("alive", f"it accepts no connections or answers none: {gone}"))
        finally:
            target.stop()
    found.seconds = elapsed()
    return found


def _campaign(
    campaign: Campaign, target: Target, watched: Watched, found: Hunt, seconds: float, seed: int,
    all_of_it: bool,
) -> None:  # fmt: skip
    if campaign.name == "frames":
        campaign = replace(campaign, watches=tuple(WATCHES))
    result, elapsed = Result(campaign.name), stopwatch()
    pairs, worlds = served_pairs(target.release, target.advertised()), [World()]
    with Link(*watched.address) as link:
        if campaign.source == "corpus":
            prepare(link, corpus())
        watching = Watching(campaign.watches, watched, lambda: result.played(link.tally.sent))

        def wanted(so_far: Result) -> bool:
            if campaign.source != "corpus" and so_far.cases % RESTORE_EVERY == 0:
                worlds[0] = prepare_world(link, target.advertised(), ours=True)
            if not all_of_it and (so_far.findings or watching.complaints):
                return False
            if campaign.source == "corpus":
                return True
            return elapsed() < seconds or so_far.cases < LEAST_CASES

        try:
            with watching:
                run(
                    campaign,
                    link,
                    lambda draw: Generator(pairs, draw, worlds[0]),
                    seed=seed,
                    wanted=wanted,
                    recorded=recorded_for(target) if campaign.source == "corpus" else None,
                    result=result,
                )
                link.close()
                found_already = bool(result.findings or watching.complaints)
                watching.last_look = all_of_it or not found_already  # looks cost seconds
        finally:  # of a target that died too
            found.cases += result.cases
    found.complaints += [
        (one.oracle, f"{one.sentence} ({one.wire.hex()[:80]})") for one in result.findings
    ]
    found.complaints += [(one.watch, one.sentence) for one in watching.complaints]
    found.figures = (found.figures or {}) | {
        f"{campaign.name}: {k}": v for k, v in watching.figures.items()
    }
