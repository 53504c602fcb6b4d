"""The same generated cases at two targets: `touchstone fuzz --against T`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import click

from touchstone.fuzz import against
from touchstone.fuzz.campaign import Campaign
from touchstone.fuzz.generator import Generator
from touchstone.fuzz.runner import is_alive, stopwatch
from touchstone.fuzz.running import Reach, RunningTarget
from touchstone.fuzz.share import RESTORE_EVERY
from touchstone.fuzz.target_run import FOUND, Bounds
from touchstone.harness.model.target import Target


def run_against(
    target: Target, oracle: Target, picked: list[Campaign], bounds: Bounds, reach: Reach
) -> int:
    """Play the generated campaigns at both targets and say where they part; the exit code."""
    with RunningTarget(target, reach) as one, RunningTarget(oracle, reach) as other:
        served = set(other.pairs())
        common = [pair for pair in one.pairs() if pair in served]
        found = 0
        for campaign in picked:
            if campaign.source != "generated":
                continue
            compared = against.compare(
                campaign,
                one.link,
                other.link,
                partial(Generator, list(campaign.own(common))),
                seed=bounds.seed,
                wanted=compared_until(campaign, bounds, (one, other)),
                revive=partial(revived, (one, other)),
            )
            click.echo(f"{campaign.name}: {target.name} against {oracle.name}")
            for line in against.report_lines(compared, oracle.release):
                click.echo(line)
            found += len(against.unreviewed(compared, oracle.release))
    return FOUND if found else 0


def revived(both: Sequence[RunningTarget]) -> bool:
    """Start anew who no longer accepts, and give both what requests name; False if nobody can."""
    for each in both:
        if each.where.address is None or is_alive(each.where.address):
            continue
        if not each.can_restart:
            return False
        click.echo(f"{each.target.name} died and is started again", err=True)
        each.restart()
    for each in both:
        each.prepare()
    return True


def compared_until(
    campaign: Campaign, bounds: Bounds, both: Sequence[RunningTarget]
) -> Callable[[against.Comparison], bool]:
    elapsed = stopwatch()
    limit = campaign.cases if bounds.cases is None else bounds.cases

    def wanted(so_far: against.Comparison) -> bool:
        if so_far.cases % RESTORE_EVERY == 0:
            for each in both:  # each says ids of its own, and both get the same frames
                each.prepare()
        return elapsed() < bounds.seconds if bounds.seconds is not None else so_far.cases < limit

    return wanted
