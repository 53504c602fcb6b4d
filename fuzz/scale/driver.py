"""A run in two stages of tasks: shards are played, then what they complained about is grouped once
for all and the groups are dealt out again, to be made small and replayed. Files and rows are
written here.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import click

from touchstone.fuzz import share
from touchstone.fuzz.account import Account
from touchstone.fuzz.campaign import Result
from touchstone.fuzz.runner import stopwatch
from touchstone.fuzz.scale.tasks import Chore, Job, Played, play_shard, settle_groups
from touchstone.fuzz.triage import Settled, grouped, terminal_lines, write_settled
from touchstone.harness.model.target import Target, Unavailable
from touchstone.harness.spark.shards import shards as spark_shards
from touchstone.harness.targets import file_of, shipped
from touchstone.harness.targets.described import DescribedTarget

FOUND, INCOMPLETE = 1, 3
OWN_BROKER = ("reference", "process")
"""Kinds of targets that each task starts for itself."""


@dataclass(frozen=True)
class Plan:
    """What is asked for: campaigns of a target from a seed, each for `seconds` or for `cases`."""

    target: str
    campaigns: tuple[str, ...]
    seed: int
    seconds: float | None
    cases: int | None
    out: Path
    is_mine: bool = False
    again: tuple[str, ...] = ()  # the command that plays a file again, up to its name


def refuse_shared(target: Target, *, is_shared: bool) -> None:
    """Raise Unavailable for a target that all tasks would play on at once, unless that is meant.
    The brokers of a target file are started by each task where their ports are drawn.
    """
    by_file = isinstance(target, DescribedTarget) and target.draws_ports
    if not (is_shared or by_file or target.kind in OWN_BROKER):
        raise Unavailable(
            f"{target.name} is one target for all shards: cases of one would be answered by what "
            "others left (--shards-share-target if that is meant)"
        )


def named_anywhere(target: str) -> str:
    """A target's name for workers, whose folder is another: the path of a file is absolute."""
    file = file_of(target)
    return target if file is None or target in shipped() else str(file.absolute())


def run_sharded(plan: Plan, master: str, shards: int) -> int:
    """Play, settle, write; the exit code. Raises NotRun where Spark cannot start."""
    elapsed = stopwatch()
    with (
        tempfile.TemporaryDirectory(prefix="fuzz-spark-") as scratch,
        spark_shards(Path(scratch), master) as spark,
    ):
        click.echo(f"{shards} shards on {master}, ready after {elapsed():.1f} s", err=True)
        began = elapsed()
        played = list(chain.from_iterable(spark.run(play_shard, jobs(plan, shards))))
        results, took = merged(played), elapsed() - began
        for result in results.values():
            click.echo(told_of(result, played))
        click.echo(f"played in {took:.1f} s", err=True)
        ones = list(chain.from_iterable(spark.run(settle_groups, chores(plan, results, shards))))
        click.echo(f"settled in {elapsed() - began - took:.1f} s", err=True)
    click.echo(next(write(plan, played, ones, shards).closing_lines()))
    if any(one.died for one in played):
        return INCOMPLETE
    return FOUND if any(one.is_steady for _, one in ones) else 0


def write(
    plan: Plan, played: list[Played], ones: list[tuple[str, Settled]], shards: int
) -> Account:
    """The findings as one machine would write them, and the rows; all told on the way."""
    account = Account(plan.target, plan.seed, plan.out, plan.again)
    for part in played:
        told = share.Played(part.result, gone=part.died, seconds=part.seconds)
        account.played(told, part.shard, shards)
    for campaign in plan.campaigns:
        mine = sorted((one for name, one in ones if name == campaign), key=lambda one: one.cause)
        for number, one in enumerate(mine):
            path = write_settled(one, plan.out / campaign, number)
            click.echo(terminal_lines(one, path))
            click.echo(f"           {account.replay(path)}")
            account.settled(campaign, one, path)
    account.write()
    for part in played:
        if part.died:
            click.echo(f"shard {part.shard}: the target died {part.died}", err=True)
    return account


def jobs(plan: Plan, shards: int) -> list[Job]:
    return [
        Job(
            plan.target, plan.campaigns, plan.seed, shard, shards, plan.seconds, plan.cases,
            plan.is_mine,
        )
        for shard in range(shards)
    ]  # fmt: skip


def merged(played: Iterable[Played]) -> dict[str, Result]:
    """The shards' results as one for each campaign, as one machine would have it."""
    whole: dict[str, Result] = {}
    for one in played:
        mine = whole.setdefault(one.result.campaign, Result(one.result.campaign))
        mine.cases += one.result.cases
        mine.signatures.update(one.result.signatures)
        mine.findings += one.result.findings
    for result in whole.values():
        result.findings.sort(key=lambda finding: (finding.index, finding.oracle))
    return whole


def chores(plan: Plan, results: dict[str, Result], shards: int) -> list[Chore]:
    """The groups of all campaigns, dealt to at most `shards` tasks."""
    groups = [
        (name, tuple(members))
        for name, result in results.items()
        for members in grouped(result.findings).values()
    ]
    dealt = (tuple(groups[number::shards]) for number in range(shards))
    return [Chore(plan.target, mine, plan.is_mine) for mine in dealt if mine]


def told_of(result: Result, played: Iterable[Played]) -> str:
    """A campaign's line of the table; its rate is that of all shards together."""
    seconds = max((one.seconds for one in parts_of(result, played)), default=0.0)
    return (
        f"{result.campaign}: {result.cases} cases, {result.cases / max(seconds, 1e-9):.0f}/s, "
        f"{len(result.signatures)} behaviours, {len(result.findings)} findings"
    )


def parts_of(result: Result, played: Iterable[Played]) -> Iterator[Played]:
    return (one for one in played if one.result.campaign == result.campaign)
