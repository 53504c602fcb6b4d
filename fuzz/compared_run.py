"""The same generated cases at two targets: `touchstone fuzz --against T`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import click

from touchstone.fuzz import against
from touchstone.fuzz.campaign import Campaign
from touchstone.fuzz.generator import Generator
from touchstone.fuzz.runner import Link, accepts, stopwatch
from touchstone.fuzz.share import RESTORE_EVERY, Where
from touchstone.fuzz.target_run import FOUND, Bounds, Special, reviving, started
from touchstone.fuzz.targets import served_pairs
from touchstone.harness.model.target import Target, Unavailable


def run_against(
    target: Target, oracle: Target, picked: list[Campaign], bounds: Bounds, special: Special
) -> int:
    """Play the generated campaigns at both targets and say where they part; the exit code."""
    both = (target, oracle)
    sides: list[tuple[Where, Link]] = []
    for each in both:
        if reason := each.available():
            raise Unavailable(reason)
        where = started(each, special).where
        sides.append((where, where.link()))

    def revive() -> bool:
        """Start anew who no longer accepts, and give both what requests name."""
        for number, (each, (where, link)) in enumerate(zip(both, sides, strict=True)):
            if where.address is None or accepts(where.address):
                continue
            again = reviving(each, special)
            if again is None:
                return False
            click.echo(f"{each.name} died and is started again", err=True)
            where = again().where
            link.close()
            link.address = where.address or link.address
            sides[number] = where, link
        for where, link in sides:
            where.prepare(link)
        return True

    ours, theirs = (served_pairs(each.release, each.advertised()) for each in both)
    served = set(theirs)
    common = [pair for pair in ours if pair in served]
    found = 0
    for campaign in picked:
        if campaign.source != "generated":
            continue
        wanted = compared_until(campaign, bounds, sides)
        pairs = [pair for pair in common if pair.key in campaign.keys or not campaign.keys]
        compared = against.compare(
            campaign,
            sides[0][1],
            sides[1][1],
            partial(Generator, pairs),
            seed=bounds.seed,
            wanted=wanted,
            revive=revive,
        )
        click.echo(f"{campaign.name}: {target.name} against {oracle.name}")
        for line in against.report_lines(compared, oracle.release):
            click.echo(line)
        found += len(against.unreviewed(compared, oracle.release))
    for _, link in sides:
        link.close()
    return FOUND if found else 0


def compared_until(
    campaign: Campaign, bounds: Bounds, sides: list[tuple[Where, Link]]
) -> Callable[[against.Comparison], bool]:
    elapsed = stopwatch()
    limit = campaign.cases if bounds.cases is None else bounds.cases

    def wanted(so_far: against.Comparison) -> bool:
        if so_far.cases % RESTORE_EVERY == 0:
            for where, link in sides:  # each says ids of its own, and both get the same frames
                where.prepare(link)
        return elapsed() < bounds.seconds if bounds.seconds is not None else so_far.cases < limit

    return wanted
