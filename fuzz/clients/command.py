"""The command's half of a client campaign: target, proxy, progress, table, exit code."""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Callable
from pathlib import Path

import click

from touchstone.fuzz.clients.campaign import Players, Stage, Tally, groups, load, run, write
from touchstone.fuzz.clients.known import CLIENTS
from touchstone.fuzz.clients.proxy import Proxy
from touchstone.fuzz.corpus_run import create_topics
from touchstone.fuzz.runner import Link, stopwatch

REPORT_EVERY = 25
CASES = 200


def play_clients(
    client: str, link: Link, *, seed: int, cases: int | None, seconds: float | None, out: Path,
    replay: Path | None,
) -> int:  # fmt: skip
    """Run one client's campaign against the broker at the other end of the link, or play one case
    again; returns how many groups of findings there are. Raises Unavailable, NotStarted.
    """
    players = Players(CLIENTS[client]())
    with Proxy(link.address) as proxy:
        stage = Stage(players, proxy, topics_on(link))
        try:
            if replay is not None:
                return replayed(stage, replay)
            tally = run(stage, seed, continuation(client, cases, seconds))
        finally:
            players.end()
    return report(tally, client, seed, out)


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


def report(tally: Tally, client: str, seed: int, out: Path) -> int:
    """Print the table and write a file for each group of findings; returns how many there are."""
    spoiled = len({key for key, _ in tally.pairs})
    click.echo(f"{client}: {tally.cases} cases on {spoiled} APIs, {counts(tally)}")
    found = groups(tally.found)
    for number, members in enumerate(found):
        one = members[0]
        path = write(one, client, seed, out / f"client-{client}", number)
        click.echo(f"  {len(members):4} x {one.verdict.kind}: {one.fault.sentence}")
        click.echo(f"         {one.verdict.words[:160]}; case {one.index} in {path.name}")
    return len(found)


def replayed(stage: Stage, path: Path) -> int:
    """Play a stored case again: 1 for a finding, else 0."""
    fault = load(path)
    verdict, spoiler = stage.play(fault)
    click.echo(f"{path.stem}: {fault.sentence}: {verdict.kind} {verdict.words}")
    click.echo(f"  {spoiler.fired} answers spoiled")
    return int(verdict.is_finding)
