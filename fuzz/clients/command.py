"""The command's half of a client campaign: target, proxy, progress, table, exit code."""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from touchstone.fuzz.clients.campaign import (
    BadFinding,
    NotStarted,
    Players,
    Stage,
    Tally,
    groups,
    load,
    run,
    write,
)
from touchstone.fuzz.clients.faults import askable
from touchstone.fuzz.clients.known import CLIENTS
from touchstone.fuzz.clients.proxy import Proxy
from touchstone.fuzz.corpus_run import create_topics
from touchstone.fuzz.generator import Pair
from touchstone.fuzz.runner import Link, require_loopback, stopwatch
from touchstone.harness.model.target import Shape, Target, Unavailable
from touchstone.reference_impl.wire.apis import API

REPORT_EVERY = 25
CASES = 200


CONFIG = {
    "auto.create.topics.enable": "false",
    "group.initial.rebalance.delay.ms": "0",
    "offsets.topic.num.partitions": "1",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
}
"""Of a target that we start: groups begin at once."""
FOUND, BROKE, INCOMPLETE = 1, 2, 3


@dataclass(frozen=True)
class ClientBounds:
    """What was asked for: cases or seconds, where findings go, or one to play again."""

    seed: int
    cases: int | None
    seconds: float | None
    out: Path
    replay: Path | None


def run_client(target: Target, client: str, bounds: ClientBounds, *, mine: bool) -> int:
    """Start the target and spoil its answers to a client; returns the exit code. Raises Unavailable
    (the target, or the client), StartFailed, NotLoopback.
    """
    for host, _ in getattr(target, "addresses", ()):  # before anything at all goes there
        require_loopback(host, is_mine=mine)
    reason = target.available()
    if reason:
        raise Unavailable(reason)
    players = Players(CLIENTS[client]())
    config = {} if target.kind == "external" else CONFIG
    host, port = target.start(Shape(config=config)).bootstrap[0]
    require_loopback(host, is_mine=mine)
    try:
        with Link(host, port) as link, Proxy((host, port)) as proxy:
            pairs = askable(players.program.keys, target.advertised())
            stage = Stage(players, proxy, topics_on(link), pairs)
            return play_clients(client, stage, bounds)
    except NotStarted as problem:
        click.echo(f"touchstone fuzz: {client} does not start: {problem}", err=True)
        return INCOMPLETE
    except BadFinding as problem:
        click.echo(f"touchstone fuzz: {problem}", err=True)
        return BROKE
    finally:
        players.end()


def play_clients(client: str, stage: Stage, bounds: ClientBounds) -> int:
    """One client's campaign, or one case again; returns the exit code."""
    if bounds.replay is not None:
        return replayed(stage, bounds.replay)
    tally = run(stage, bounds.seed, continuation(client, bounds.cases, bounds.seconds))
    return FOUND if report(tally, client, bounds, stage.pairs) else 0


def topics_on(link: Link) -> Callable[[], str]:
    """Makes a new topic at each call: no case reads what another one left."""
    run_name, numbers = secrets.token_hex(4), itertools.count()

    def fresh() -> str:
        name = f"fuzz-client-{run_name}-{next(numbers)}"
        create_topics(link, {name: False})
        return name

    return fresh


def continuation(client: str, cases: int | None, seconds: float | None) -> Callable[[Tally], bool]:
    """What says before each case whether to go on, and reports progress."""
    elapsed = stopwatch()

    def wanted(tally: Tally) -> bool:
        if tally.cases and tally.cases % REPORT_EVERY == 0:
            rate = tally.cases / elapsed()
            click.echo(f"{client}: {tally.cases} cases, {rate:.1f}/s, {counts(tally)}", err=True)
        if seconds is not None and cases is None:
            return elapsed() < seconds
        return tally.cases < (CASES if cases is None else cases)

    return wanted


def counts(tally: Tally) -> str:
    kinds = ", ".join(f"{count} {kind}" for kind, count in tally.kinds.most_common())
    return f"{kinds}; {tally.unsteady} unsteady, {len(tally.found)} findings"


def report(tally: Tally, client: str, bounds: ClientBounds, pairs: Sequence[Pair]) -> int:
    """Print the table and write a file for each group of findings; returns how many there are."""
    click.echo(
        f"{client}: {tally.cases} cases, answers of {len(tally.pairs)} (API, version) pairs"
        f" spoiled, {counts(tally)}"
    )
    if tally.cases >= len(pairs):  # each pair had its turn
        click.echo(f"  never asked: {versions_of(set(pairs) - tally.pairs) or 'none'}")
    found = groups(tally.found)
    for number, members in enumerate(found):
        one = members[0]
        path = write(one, client, bounds.seed, bounds.out / f"client-{client}", number)
        click.echo(f"  {len(members):4} x {one.verdict.kind}: {one.fault.sentence}")
        click.echo(f"         {one.verdict.words[:160]}; case {one.index} in {path.name}")
    return len(found)


def versions_of(pairs: Iterable[Pair]) -> str:
    """By API, its versions: "Produce 3 4, Fetch 4"."""
    by_key: dict[int, list[int]] = {}
    for pair in sorted(pairs, key=lambda one: (one.key, one.version)):
        by_key.setdefault(pair.key, []).append(pair.version)
    return ", ".join(f"{API[key].name} {' '.join(map(str, v))}" for key, v in by_key.items())


def replayed(stage: Stage, path: Path) -> int:
    """Play a stored case again; returns the exit code."""
    fault = load(path)
    verdict, spoiler = stage.play(fault)
    click.echo(f"{path.stem}: {fault.sentence}: {verdict.kind} {verdict.words}")
    click.echo(f"  {spoiler.fired} answers spoiled")
    return FOUND if verdict.is_finding else 0
