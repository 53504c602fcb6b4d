"""`touchstone soak`: our client works for an hour while brokers are harmed; what did it keep?

Unlike `touchstone nemesis`, which judges brokers by short histories, this judges the client, by
what it sees itself: idempotent producers, a reader of the whole log, and groups of two protocols
that commit. The exit code is a run's: 0 every promise was kept, 1 one was broken, 2 the harness
broke, 3 nothing could be concluded.
"""

from __future__ import annotations

import json
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from touchstone.harness.checkers.histories import CONFORMS, DIVERGES
from touchstone.harness.cli.logging_in import logs_in
from touchstone.harness.cli.nemesis import (
    BROKE,
    INTERRUPTED,
    bootstrap_of,
    grounded,
    some_faults,
    started,
)
from touchstone.harness.cli.values import FOLDER, SECONDS
from touchstone.harness.driver.soak.handle import LoadFailed
from touchstone.harness.driver.soak.plan import SoakPlan
from touchstone.harness.model.target import Target
from touchstone.harness.nemesis import soak
from touchstone.reference_impl.client.defects import DEFECTS

HEARTBEAT = 68  # ConsumerGroupHeartbeat
BROKERS = 3


@click.command()
@click.option("--target", "word", default="kafka@4.3", metavar="T", help="As for pytest suites/.")
@click.option("--fault", "wanted", default="kill,pause,partition", callback=some_faults,
              help="One, or several: a,b,c.")  # fmt: skip
@click.option("--seconds", type=SECONDS, default=3600.0, help="Without the reading to the end.")
@click.option("--seed", default=0, help="Of what is sent, who leaves and who is harmed.")
@click.option("--rate", default=300, type=click.IntRange(1), help="Records a second.")
@click.option("--partitions", default=6, type=click.IntRange(1), help="Of the topic.")
@click.option("--defect", "defects", multiple=True, type=click.Choice(sorted(DEFECTS)),
              metavar="NAME", help="Plant it in the client, to see a soak fail.")  # fmt: skip
@logs_in
@click.option("--out", default="soak", type=FOLDER, help="For the result.")
def command(word: str, wanted: tuple[str, ...], **options: Any) -> None:
    """Have our client produce and consume for an hour while brokers are harmed.

    Idempotent producers, a reader of the whole log and groups of both protocols work in a process
    of their own on three brokers. Nothing acknowledged may be lost, nothing duplicated, order is
    kept, groups skip nothing, and the memory of that process stays flat. OUT/soak.json has all of
    it. Exit code 0: every promise was kept, 1: one was broken, 2: the harness broke, 3: nothing
    could be concluded.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(INTERRUPTED))  # faults undo themselves
    target = grounded(word, wanted)
    try:
        sys.exit(main(target, wanted, **options))
    finally:
        target.stop()


def main(
    target: Target, names: tuple[str, ...], *, seconds: float, seed: int, rate: int,
    partitions: int, defects: tuple[str, ...], out: Path,
) -> int:  # fmt: skip
    cluster, wanted = started(target, names, BROKERS, {})
    if cluster is None or len(wanted) < len(names):
        return 3
    plan = SoakPlan(
        bootstrap_of(cluster.endpoint),
        "soak",
        seed,
        partitions=partitions,
        rate=rate,
        defects=defects,
    )
    if HEARTBEAT not in target.advertised():
        plan = replace(plan, protocols=("classic",))
    click.echo(f"{target.name}: seed {seed}, {seconds:.0f} s, {rate} records/s, {', '.join(names)}")
    try:
        result = soak.run(cluster, plan, names, seconds, target.name, click.echo)
    except LoadFailed as fault:
        click.echo(f"BROKEN  {fault}", err=True)
        return BROKE
    out.mkdir(parents=True, exist_ok=True)
    (out / "soak.json").write_text(json.dumps(result.row(), indent=1) + "\n", encoding="utf-8")
    click.echo(result.summary())
    for text in (*result.problems[:20], *result.missed):
        click.echo(f"  {text}")
    return {CONFORMS: 0, DIVERGES: 1}.get(result.verdict, 3)
