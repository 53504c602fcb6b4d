"""`touchstone nemesis`: many clients use a cluster while its brokers are harmed; what was kept?

One cluster serves all runs; each run has its topic, its seed and its history in the output folder,
which `touchstone history` judges again at any time. The exit code is a run's: 0 every promise was
kept, 1 one was broken, 2 the harness broke, 3 nothing could be concluded (a fault that cannot be
inflicted here, or did not bite).
"""

from __future__ import annotations

import json
import signal
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import click

from touchstone.harness.checkers.histories import CONFORMS, DIVERGES, INCONCLUSIVE
from touchstone.harness.cli import explained
from touchstone.harness.cli.history import anomalies, row, summary
from touchstone.harness.cli.logging_in import logs_in
from touchstone.harness.cli.values import FOLDER, SECONDS, pairs
from touchstone.harness.driver.workload import Broken, NotReady, Plan
from touchstone.harness.model.target import Endpoint, Shape, StartFailed, Target, Unavailable
from touchstone.harness.names import did_you_mean
from touchstone.harness.nemesis import campaign, faults
from touchstone.harness.nemesis.fault_target import FaultTarget
from touchstone.harness.targets import parse
from touchstone.harness.targets.isolation import ISOLATIONS, Isolable, Isolations
from touchstone.harness.targets.per_shape import PerShape
from touchstone.harness.targets.release import Release

BROKE, INTERRUPTED = 2, 143
ACKS = ("-1", "0", "1")
# Brokers of this process have links and a clock that can be turned; disks they need like any other.
_ISOLATIONS_OF = {"process": set(ISOLATIONS), "reference": {"disks"}}
_TRANSACTIONS = (22, 24, 26)  # InitProducerId, AddPartitionsToTxn, EndTxn
# What lets a cluster notice a dead or slow broker while a run of some seconds is still on.
_FAST_ISR = {"replica.lag.time.max.ms": "3000", "min.insync.replicas": "2",
           "group.initial.rebalance.delay.ms": "0"}  # fmt: skip
# Fifty partitions each, to be made and to be elected anew, are nothing that a history looks at.
_SMALL = {"offsets.topic.num.partitions": "5", "transaction.state.log.num.partitions": "5"}
_KRAFT = {"broker.session.timeout.ms": "3000", "broker.heartbeat.interval.ms": "500"}
_ZOOKEEPER = {"zookeeper.session.timeout.ms": "4000"}


def some_faults(ctx: click.Context, parameter: click.Parameter, text: str) -> tuple[str, ...]:
    """Read a,b,c; the callback of an option that names faults."""
    names = tuple(name.strip() for name in text.split(","))
    known = (*sorted(faults()), campaign.NONE)
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known)
            raise click.BadParameter(f"no fault {name!r}{hint}; there are {', '.join(known)}")
    return names


def _acks(ctx: click.Context, parameter: click.Parameter, text: str) -> tuple[int, ...]:
    words = [word.strip() for word in text.split(",")]
    for word in words:
        if word not in ACKS:
            raise click.BadParameter(f"{word!r} is none of {', '.join(ACKS)}")
    return tuple(map(int, words))


@click.command(
    epilog=explained("Faults", {name: f.SENTENCE for name, f in sorted(faults().items())})
)
@click.option("--target", "word", required=True, metavar="T", help="As for pytest suites/.")
@click.option(
    "--fault", "names", default="kill", callback=some_faults, help="One, or several: a,b,c."
)
@click.option(
    "--seconds", type=SECONDS, default=8.0, help="Of one run, without its reading to the end."
)
@click.option("--runs", default=1, type=click.IntRange(1), help="Seeds seed, seed+1 ...")
@click.option("--seed", default=0, help="Of the first run.")
@click.option("--brokers", default=3, type=click.IntRange(1), help="Of the cluster.")
@click.option("--partitions", default=3, type=click.IntRange(1), help="Of each run's topic.")
@click.option("--producers", default=3, type=click.IntRange(0), help="Without transactions.")
@click.option("--acks", default="-1", callback=_acks, help="The producers' in turn, as in -1,1.")
@click.option(
    "--config", "settings", multiple=True, metavar="K=V", callback=pairs, help="Broker setting."
)
@logs_in
@click.option("--out", default="nemesis", type=FOLDER, help="For histories.")
def command(word: str, names: tuple[str, ...], settings: dict[str, str], **options: Any) -> None:
    """Run clients against a target while its brokers are harmed, and judge what they were told.

    Exit code 0: every promise was kept, 1: one was broken, 2: the harness broke, 3: nothing could
    be concluded.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(INTERRUPTED))  # faults undo themselves
    target = grounded(word, names)
    try:
        sys.exit(main(target, names, settings, **options))
    finally:
        target.stop()


def grounded(word: str, names: tuple[str, ...]) -> Target:
    """The target, started on what the faults need where it has brokers to be started."""
    target = parse(word)
    needed = sorted(
        {
            name
            for name in _wanted(target, names).values()
            if ISOLATIONS[name]().unsupported() is None
        }
    )
    if needed and isinstance(target, Isolable):
        target.isolate(lambda: Isolations([ISOLATIONS[name]() for name in needed]))
    return target


def _wanted(target: Target, names: tuple[str, ...]) -> dict[str, str]:
    """The isolation that each fault needs of brokers that this target starts, by the fault."""
    can = _ISOLATIONS_OF.get(target.kind, set())
    needs = {name: faults()[name].ISOLATION for name in names if name != campaign.NONE}
    return {fault: need for fault, need in needs.items() if need in can}


def main(
    target: Target, names: tuple[str, ...], settings: dict[str, str], *, seconds: float, runs: int,
    seed: int, brokers: int, partitions: int, producers: int, acks: tuple[int, ...], out: Path,
) -> int:  # fmt: skip
    cluster, wanted = started(target, names, brokers, settings)
    if cluster is None or not wanted:
        return 3
    out.mkdir(parents=True, exist_ok=True)
    verdicts: Counter[str] = Counter()
    for number in range(seed, seed + runs):
        name = f"{target.name.replace(':', '-')}-{'-'.join(wanted)}-{number}"
        topic = "".join(c if c.isalnum() else "-" for c in f"nemesis-{name}")
        plan = Plan(
            bootstrap_of(cluster.endpoint), (topic,), target.name, number, partitions=partitions,
            replication=min(3, brokers), producers=producers,
            transactional=int(all(key in target.advertised() for key in _TRANSACTIONS)),
            acks=acks, release=target.release,
        )  # fmt: skip
        path = out / f"{name}.history.jsonl"
        try:
            outcome = campaign.run(cluster, plan, wanted, seconds, path, _progress)
        except NotReady as fault:
            verdicts[INCONCLUSIVE] += 1
            click.echo(f"{INCONCLUSIVE}  seed {number}: {fault}")
            continue
        except Broken as fault:
            click.echo(f"BROKEN  {name}: {fault}: {fault.__cause__!r}", err=True)
            return BROKE
        verdicts[outcome.verdict] += 1
        _show(number, outcome)
        _keep(out, outcome)
    total = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items())
    click.echo(f"{target.name}: {runs} runs under {', '.join(wanted)}: {total}; {out}")
    if verdicts[DIVERGES]:
        return 1
    return 3 if verdicts[INCONCLUSIVE] or len(wanted) < len(names) else 0


def started(
    target: Target, names: tuple[str, ...], brokers: int, settings: dict[str, str]
) -> tuple[FaultTarget | None, list[str]]:
    """The cluster, and which of these faults it can be harmed by; None where it does not start.
    What is missing is said.
    """
    try:
        reason = target.available()
        endpoint = None if reason else target.start(shape_of(target, brokers, settings))
    except (Unavailable, StartFailed) as error:
        reason, endpoint = str(error), None
    if endpoint is None:
        why = (reason or "").removeprefix(f"{target.name}: ")
        click.echo(f"not run: {target.name}: {why}")
        return None, []
    cluster = FaultTarget(target.kind, endpoint)
    refused = campaign.unsupported(names, cluster)
    for name, need in _wanted(target, names).items():  # what the machine lacks says more
        if name in refused:
            refused[name] = ISOLATIONS[need]().unsupported() or refused[name]
    for name, why in refused.items():
        click.echo(f"UNSUPPORTED  {name} on {target.name}: {why}")
    return cluster, [name for name in names if name not in refused]


def bootstrap_of(endpoint: Endpoint) -> tuple[str, ...]:
    return tuple(f"{host}:{port}" for host, port in endpoint.bootstrap)


def shape_of(target: Target, brokers: int, settings: dict[str, str]) -> Shape:
    if target.kind == "external":
        return Shape(brokers=brokers)
    lively = {**_SMALL, **(_FAST_ISR if brokers > 2 else {})}
    version = target.kafka.version if isinstance(target, PerShape) else target.release
    lively |= _KRAFT if version is None or Release(version).kraft else _ZOOKEEPER
    return Shape(brokers=brokers, config={**lively, **settings})


def _progress(word: str) -> None:
    click.echo(f"    {word}", err=True)


def _show(number: int, outcome: campaign.Outcome) -> None:
    word = f"{outcome.verdict}  seed {number}: {summary(outcome.report).split(': ', 1)[1]}"
    click.echo(f"{word}; {len(outcome.bites)} faults")
    if outcome.verdict != CONFORMS:
        for reason in (*outcome.why_not, *anomalies(outcome.report, 5)):
            click.echo(f"  {reason}")


def _keep(out: Path, outcome: campaign.Outcome) -> None:
    """One line a run, for whoever counts nights."""
    line = {
        "history": outcome.path.name, **row(outcome.report), "verdict": outcome.verdict,
        "bites": [str(bite) for bite in outcome.bites],
    }  # fmt: skip
    with (out / "runs.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
