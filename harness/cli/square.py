"""`touchstone square`: the same scenarios as (our client, Kafka's) on (our broker, Kafka's)."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from touchstone.harness.adapters import adapter_file
from touchstone.harness.cli import holding
from touchstone.harness.cli.coverage import all_claims
from touchstone.harness.cli.following import follows
from touchstone.harness.cli.logging_in import logs_in
from touchstone.harness.cli.values import FOLDER, SECONDS
from touchstone.harness.exits import BROKE, CONFORMED, DIFFERENT, INCOMPLETE
from touchstone.harness.judgement.verdict import BROKEN, DIVERGES
from touchstone.harness.results import square as tables
from touchstone.harness.run import square
from touchstone.harness.run.square import Corner, ScenarioRow
from touchstone.harness.targets import matrix, parse

NEWEST = "4.3"


@click.command()
@click.option(
    "--release",
    "releases",
    multiple=True,
    metavar="V",
    help=f"Of both brokers ({NEWEST}), or what --broker T is held against; repeatable.",
)
@click.option("--client", "clients", multiple=True, metavar="NAME",
              help="In place of ours and Kafka's own; repeatable.")  # fmt: skip
@click.option("--broker", "brokers", multiple=True, metavar="T",
              help="In place of ours and Kafka's, of the release; repeatable.")  # fmt: skip
@click.option("--deadline", type=SECONDS, default=20.0, metavar="S", help="Seconds per step.")
@follows
@logs_in
@click.option("--out", type=FOLDER,
              help="Write square.json and square.html there.")  # fmt: skip
def command(
    releases: tuple[str, ...], clients: tuple[str, ...], brokers: tuple[str, ...],
    deadline: float, out: Path | None,
) -> None:  # fmt: skip
    """Tell by whom a difference is: each scenario runs as two clients on two brokers.

    Exit code 0: all corners conform, 1: one differs, 2: the harness broke, 3: not all could be
    judged.
    """
    squares: list[list[ScenarioRow]] = []
    named = [matrix.persona(one).name for one in releases or (NEWEST,)]
    asked = bool(releases)
    for corners in [_corners(one, clients, brokers, deadline, asked=asked) for one in named]:
        found = square.rows(all_claims(), corners, lambda line: click.echo(line, err=True))
        squares.append(found)
        for line in tables.lines(found):
            click.echo(line)
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        (out / "square.html").write_text(tables.html(squares), encoding="utf-8")
        (out / "square.json").write_text(json.dumps(_rows(squares), indent=1) + "\n")
        click.echo(f"touchstone square: {out / 'square.html'}", err=True)
    sys.exit(_exit_code(squares))


def _corners(
    release: str, clients: tuple[str, ...], brokers: tuple[str, ...], deadline: float, *,
    asked: bool,
) -> list[Corner]:  # fmt: skip
    """Each client on each broker; nothing is started yet. Raises UnknownTarget. A broker that runs
    is held against the release if it is `asked` for, else against the one that it is most like.
    Ends the program if one that was named is not there, or refuses the login: no corner is left.
    """
    whose = clients or ("touchstone", square.kafkas_client(release))
    where = brokers or (f"reference@{release}", f"kafka@{release}")
    found = []
    for target in map(parse, where):
        if brokers and (reason := target.available()):
            why = reason.removeprefix(f"{target.name}: ")
            click.echo(f"not run: {target.name}: {why}", err=True)
            sys.exit(INCOMPLETE)
        against = holding.choose(target, release if asked else None)
        found += [
            Corner(adapter_file.find(client), target, nonce=f"square/{client}",
                   deadline_s=deadline, release=None if against is None else against.release)
            for client in whose
        ]  # fmt: skip
    return found


def _rows(squares: list[list[ScenarioRow]]) -> list[dict[str, object]]:
    return [
        {"area": row.area, "case": row.case, "client": client, "broker": broker,
         "verdict": cell.verdict, "reason": cell.reason, "suspect": row.suspect}
        for rows in squares for row in rows
        for (client, broker), cell in row.cells.items()
    ]  # fmt: skip


def _exit_code(squares: list[list[ScenarioRow]]) -> int:
    cells = [cell for rows in squares for row in rows for cell in row.cells.values()]
    if any(cell.verdict == BROKEN for cell in cells):
        return BROKE
    if any(cell.verdict == DIVERGES for cell in cells):
        return DIFFERENT
    return CONFORMED if cells and all(cell.conforms for cell in cells) else INCOMPLETE
