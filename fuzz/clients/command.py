"""The command's half of a client campaign: target, proxy, progress, table, exit code."""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
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
from touchstone.fuzz.clients.proxy import Proxy
from touchstone.fuzz.clients.session import Program, program_of
from touchstone.fuzz.corpus_run import create_topics
from touchstone.fuzz.generator import Pair
from touchstone.fuzz.runner import Link, require_loopback, stopwatch
from touchstone.harness.adapters import adapter_file
from touchstone.harness.model.target import Shape, Target, Unavailable
from touchstone.reference_impl.wire.apis import API

REPORT_EVERY_S = 10.0
CASES = 200
CLIENTS_AT_A_TIME = 4
"""They wait more than they work. Each may take the memory that its program is allowed."""
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
    """What was asked for: cases or seconds, where findings go, or one to play again; how many
    clients play at a time.
    """

    seed: int
    cases: int | None
    seconds: float | None
    out: Path
    replay: Path | None
    jobs: int


def run_client(target: Target, word: str, bounds: ClientBounds, *, mine: bool) -> int:
    """Start the target and spoil its answers to the client that a word names; returns the exit
    code. Raises Unavailable (the target, or the client), UnknownTarget, StartFailed, NotLoopback.
    """
    for host, _ in getattr(target, "addresses", ()):  # before anything at all goes there
        require_loopback(host, is_mine=mine)
    reason = target.available()
    if reason:
        raise Unavailable(reason)
    program = program_of(adapter_file.find(word))
    client = Path(word).name.removesuffix(adapter_file.FILE)
    config = {} if target.kind == "external" else CONFIG
    host, port = target.start(Shape(config=config)).bootstrap[0]
    require_loopback(host, is_mine=mine)
    pairs = askable(program.keys, target.advertised())
    try:
        with ExitStack() as opened:
            stages = [
                opened.enter_context(stage(program, (host, port), pairs))
                for _ in range(bounds.jobs)
            ]
            return play_clients(client, stages, bounds)
    except NotStarted as problem:
        click.echo(f"touchstone fuzz: {client} does not start: {problem}", err=True)
        return INCOMPLETE
    except BadFinding as problem:
        click.echo(f"touchstone fuzz: {problem}", err=True)
        return BROKE


@contextmanager
def stage(program: Program, broker: tuple[str, int], pairs: Sequence[Pair]) -> Iterator[Stage]:
    """Where one client plays at a time; its process ends with it."""
    players = Players(program)
    with Link(*broker) as link, Proxy(broker) as proxy, closing(players):
        yield Stage(players, proxy, topics_on(link), pairs)


def play_clients(client: str, stages: Sequence[Stage], bounds: ClientBounds) -> int:
    """One client's campaign, or one case again; returns the exit code."""
    if bounds.replay is not None:
        return replayed(stages[0], bounds.replay)
    tally = run(stages, bounds.seed, continuation(client, bounds.cases, bounds.seconds))
    found = report(tally, client, bounds, stages[0].pairs)
    if tally.interrupted:
        click.echo(f"touchstone fuzz: {client}: interrupted", err=True)
        return INCOMPLETE
    return FOUND if found else 0


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
    most = CASES if cases is None and seconds is None else cases
    told = 0.0

    def wanted(tally: Tally) -> bool:
        nonlocal told
        now = elapsed()
        if tally.cases and now - told >= REPORT_EVERY_S:
            told = now
            of = "" if most is None else f" of {most}"
            left = [] if most is None else [(most - tally.cases) * now / tally.cases]
            left += [] if seconds is None else [seconds - now]
            click.echo(
                f"{client}: {tally.cases}{of} cases, {now / tally.cases:.1f} s each,"
                f" {min(left) / 60:.0f} min left: {counts(tally)}",
                err=True,
            )
        return (seconds is None or now < seconds) and (most is None or tally.begun < most)

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
