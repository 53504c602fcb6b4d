"""The same generated cases at two targets: `touchstone fuzz --against T`."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from functools import partial

import click

from touchstone.fuzz import against, interrupts, triage
from touchstone.fuzz.account import STARTING, concluded
from touchstone.fuzz.campaign import Campaign, Result
from touchstone.fuzz.corpus_run import NotPrepared
from touchstone.fuzz.generator import Generator
from touchstone.fuzz.progress import Progress
from touchstone.fuzz.runner import is_alive, stopwatch
from touchstone.fuzz.running import Reach, RunningTarget
from touchstone.fuzz.share import RESTORE_EVERY, Played
from touchstone.fuzz.target_run import FOUND, INCOMPLETE, Bounds, tell
from touchstone.harness.cli import holding
from touchstone.harness.model.target import Target


def run_against(
    target: Target, oracle: Target, picked: list[Campaign], bounds: Bounds, reach: Reach
) -> int:
    """Play the generated campaigns at both targets and say where they part; the exit code."""
    account = bounds.account
    with (
        account.timed(STARTING),
        contextlib.ExitStack() as started,
    ):
        one = started.enter_context(RunningTarget(target, reach))
        other = started.enter_context(RunningTarget(oracle, reach))
        running = started.pop_all()
        holding.choose(oracle, reach.release)
    with running, interrupts.kept(), concluded(account):
        served = set(other.pairs())
        common = [pair for pair in one.pairs() if pair in served]
        empty = 0
        for campaign in picked:
            if campaign.source != "generated":
                continue
            elapsed = stopwatch()
            compared = against.compare(
                campaign,
                one.link,
                other.link,
                partial(Generator, list(campaign.own(common))),
                seed=bounds.seed,
                wanted=compared_until(campaign, bounds, (one, other)),
                revive=partial(revived, (one, other)),
            )
            report(compared, (target, oracle), bounds, elapsed())
            empty += not compared.cases
            if interrupts.ended():
                tell(f"interrupted in {campaign.name}; what it found until then is written")
                return INCOMPLETE
    return FOUND if account.causes else INCOMPLETE if empty else 0


def report(
    compared: against.Comparison, names: tuple[Target, Target], bounds: Bounds, seconds: float
) -> None:
    """Say where the target and the oracle part, and write a file for each new group."""
    target, oracle = names
    click.echo(f"{compared.campaign}: {target.name} against {oracle.name}")
    for line in against.report_lines(compared, oracle.release):
        click.echo(line)
    account = bounds.account
    new = list(against.findings(compared, oracle.release, bounds.seed, (target.name, oracle.name)))
    result = Result(compared.campaign, compared.cases, new)
    account.played(Played(result, seconds=seconds))
    groups = against.unreviewed(compared, oracle.release)
    for number, (finding, times) in enumerate(zip(new, groups.values(), strict=True)):
        path = triage.write(finding, account.out / compared.campaign, number)
        account.cause(compared.campaign, triage.cause_of(finding), finding, path, members=times)
        click.echo(f"  written, to be replayed: {path}")
        click.echo(f"  {account.replay(path)}")
    account.write()


def revived(both: Sequence[RunningTarget]) -> bool:
    """Start anew who no longer accepts, and give both what requests name; False if nobody can."""
    for each in both:
        if each.where.address is None or is_alive(each.where.address):
            continue
        if not each.can_restart:
            return False
        click.echo(f"{each.target.name} died and is started again", err=True)
        each.restart()
    prepared(both)
    return True


def prepared(both: Sequence[RunningTarget]) -> None:
    """Give both what requests name. One on which that cannot be made any more (1.0.2 after a forged
    request of a controller) is started again, and so is the other, which is to know as little.
    Raises NotPrepared.
    """
    try:
        for each in both:
            each.prepare()
    except NotPrepared as problem:
        if not all(one.can_restart for one in both):
            raise NotPrepared(f"{each.target.name}: {problem}") from None
        tell(f"{each.target.name}: {problem}; both are started again")
        for each in both:
            each.restart()
            each.prepare()


def compared_until(
    campaign: Campaign, bounds: Bounds, both: Sequence[RunningTarget]
) -> Callable[[against.Comparison], bool]:
    timed = bounds.seconds is not None
    cases = bounds.cases if bounds.cases is not None or timed else campaign.cases
    progress = Progress(stopwatch(), tell, cases=cases, seconds=bounds.seconds)

    def wanted(so_far: against.Comparison) -> bool:
        if so_far.cases % RESTORE_EVERY == 0:
            with interrupts.prompt():  # each says ids of its own, and both get the same frames
                prepared(both)
        return progress.wanted(so_far)

    return wanted
