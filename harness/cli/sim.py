"""`touchstone sim`: seeds of a simulated cluster under faults, as many as you have patience for.

No socket, no clock: brokers, network and time are simulated, so a seed that breaks a promise breaks
it again with `--seed N`, which prints its trace.
"""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from os import cpu_count

import click
from click.core import ParameterSource

from touchstone.harness.cli import ListsSwitches
from touchstone.harness.names import did_you_mean
from touchstone.reference_impl.broker.faults.switches import SWITCHES
from touchstone.reference_impl.broker.personas import RELEASES, persona
from touchstone.reference_impl.sim.fault_schedule import FAULTS
from touchstone.reference_impl.sim.trial import Trial, trial
from touchstone.reference_impl.sim.workloads import WORKLOADS

HELD, VIOLATED = 0, 1
_MS_PER_HOUR = 3_600_000


@click.command("sim", cls=ListsSwitches)
@click.option("--seeds", default=100, type=click.IntRange(1), help="How many.")
@click.option("--first", default=0, type=click.IntRange(0), help="The first of them.")
@click.option("--seed", type=click.IntRange(0), help="This one alone, with its trace.")
@click.option("--seconds", default=30, type=click.IntRange(1), help="Simulated, under faults.")
@click.option("--brokers", default=3, type=click.IntRange(3, 9), help="And replicas.")
@click.option("--partitions", default=2, type=click.IntRange(1, 100), help="Of the topic.")
@click.option("--release", default="4.3", type=click.Choice(RELEASES),
              help="The Kafka release to be.")  # fmt: skip
@click.option("--fault", "kinds", multiple=True, type=click.Choice(sorted(FAULTS)),
              help="Only these; default all.")  # fmt: skip
@click.option("--workload", default="plain", type=click.Choice(list(WORKLOADS)),
              help="What its clients do.")  # fmt: skip
@click.option("--switch", "switches", multiple=True, metavar="NAME", help="Plant a named defect.")
@click.option("--jobs", default=cpu_count() or 1, type=click.IntRange(1), help="Processes.")
def command(
    seeds: int, first: int, seed: int | None, seconds: int, brokers: int, partitions: int,
    release: str, kinds: tuple[str, ...], workload: str, switches: tuple[str, ...], jobs: int,
) -> None:  # fmt: skip
    """Run a simulated cluster under faults and see whether its promises hold.

    Exit 0: every invariant held for every seed. Exit 1: the seeds that broke one are named.
    """
    for name in switches:
        if name not in SWITCHES:
            hint = did_you_mean(name, SWITCHES)
            raise click.UsageError(f"no switch {name!r}{hint} (touchstone sim -h lists them)")
    needs = WORKLOADS[workload].needs
    if needs and not persona(release).quirk(needs):
        raise click.UsageError(f"Kafka {release} has nothing for the workload {workload}")
    one = partial(
        trial, seconds=seconds, brokers=brokers, partitions=partitions, release=release,
        switches=switches, kinds=kinds or None, workload=workload,
    )  # fmt: skip
    again = _again(click.get_current_context())
    if seed is not None:
        found = one(seed, traced=True)
        for line in found.tail:
            click.echo(line)
        click.echo(_line(found, again))
        sys.exit(VIOLATED if found.violation else HELD)
    trials = _run(one, range(first, first + seeds), jobs, again)
    sys.exit(VIOLATED if any(each.violation for each in trials) else HELD)


def _again(asked: click.Context) -> str:
    """The command that plays one seed of this run, but for its number."""
    words = ["touchstone", "sim"]
    for option in asked.command.params:
        given = asked.get_parameter_source(option.name) is ParameterSource.COMMANDLINE
        if given and option.name not in ("seeds", "first", "seed", "jobs"):
            value = asked.params[option.name]
            for each in value if option.multiple else (value,):
                words += [option.opts[0], str(each)]
    return shlex.join((*words, "--seed"))


def _run(one: Callable[[int], Trial], seeds: range, jobs: int, again: str) -> list[Trial]:
    done, violated = [], 0
    with ProcessPoolExecutor(jobs) as pool:
        for future in as_completed([pool.submit(one, seed) for seed in seeds]):
            found = future.result()
            done.append(found)
            if found.violation:
                violated += 1
                click.echo(_line(found, again))
            if len(done) % 20 == 0 or len(done) == len(seeds):
                told = f"sim: {len(done)} of {len(seeds)} seeds, {violated} violated"
                click.echo(told, err=True)
    hours = sum(each.simulated_ms for each in done) / _MS_PER_HOUR
    writes = sum(each.acknowledged for each in done)
    faults = sum(sum(each.faults.values()) for each in done)
    groups = _figures(sum((Counter(each.groups) for each in done), Counter()))
    click.echo(
        f"{len(done)} seeds, {hours:.1f} simulated hours, {faults:,} faults, {writes:,}"
        f" acknowledged records{groups}: {violated} seeds broke a promise"
    )
    return done


def _figures(groups: Mapping[str, int]) -> str:
    return "".join(f", {count:,} {what}" for what, count in sorted(groups.items()))


def _line(found: Trial, again: str) -> str:
    if found.violation:
        return f"VIOLATED {found.violation}\n  again: {again} {found.seed}"
    faults = ", ".join(f"{count} {kind}" for kind, count in sorted(found.faults.items()))
    return (
        f"seed {found.seed}: held; {found.acknowledged:,} acknowledged, {found.unknown} unknown,"
        f" {found.read:,} read{_figures(found.groups)}; faults: {faults or 'none'};"
        f" trace {found.digest}"
    )
