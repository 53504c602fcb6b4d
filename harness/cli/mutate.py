"""`touchstone mutate`: small defects made by rule in our pair, and which of them no case sees."""

from __future__ import annotations

import json
import os
import random
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

import click

from touchstone.harness.cli.values import PERCENT, Finite, Output
from touchstone.harness.mutation import campaign, planting
from touchstone.harness.mutation.campaign import (
    HANGS,
    KILLED,
    SURVIVED,
    UNREACHED,
    Campaign,
    Place,
    Result,
)
from touchstone.harness.mutation.operators import Mutant
from touchstone.harness.mutation.reach import Reach
from touchstone.harness.mutation.settings import Values
from touchstone.harness.mutation.subjects import SUBJECTS, Subject
from touchstone.harness.writable import write_whole
from touchstone.reference_impl.broker.personas import RELEASES

CAUGHT = (KILLED, HANGS)
LITTLE = 1
OUTCOMES = (KILLED, HANGS, SURVIVED, UNREACHED)


@click.command("mutate")
@click.argument("rooms", nargs=-1, metavar="[ROOM]...")
@click.option("--of", "role", default="broker", type=click.Choice(list(SUBJECTS)),
              help="Whom to harm.", show_default=True)  # fmt: skip
@click.option("--release", default="4.3", type=click.Choice(RELEASES),
              help="What the broker is.")  # fmt: skip
@click.option("--sample", type=click.IntRange(1), help="So many mutants by chance; default all.")
@click.option("--seed", default=0, type=click.IntRange(0), help="Of that chance.")
@click.option("--seconds", default=30.0, type=Finite(min=1),
              help="Of cases for each mutant, as long as they take without it.")  # fmt: skip
@click.option("--jobs", default=3 * (os.cpu_count() or 1), type=click.IntRange(1),
              help="Mutants at a time.")  # fmt: skip
@click.option("--out", type=Output(folder=False),
              help="Keep a JSON line for each mutant.")  # fmt: skip
@click.option("--reach", "kept", type=Output(folder=False),
              help="Keep which cases run which function, or read it.")  # fmt: skip
@click.option("--fail-under", type=PERCENT, default=0.0, metavar="PERCENT",
              help="Of all mutants, and of each room.")  # fmt: skip
def command(
    rooms: tuple[str, ...], role: str, release: str, sample: int | None, seed: int, seconds: float,
    jobs: int, out: Path | None, kept: Path | None, fail_under: float,
) -> None:  # fmt: skip
    """Plant small defects in the reference broker or client, one at a time, and see whether a case
    differs.

    ROOM is a package or module of reference_impl, as log or broker.security or client; default all
    that the broker, or the client, consists of. The rooms quirks and defaults are values of the
    broker's release: what a neighbouring release has in their place. Exit 0: done; 1: less was
    caught than --fail-under asks for.
    """
    subject = SUBJECTS[role](release)
    mutants = _mutants(rooms or subject.rooms, subject)
    if not mutants:
        raise click.UsageError(f"nothing in {', '.join(rooms)} can be changed")
    if sample is not None and sample < len(mutants):
        mutants = random.Random(seed).sample(mutants, sample)
    click.echo(f"{len(mutants)} mutants of the {role}, {release}, {jobs} at a time", err=True)
    found = _reach(subject, jobs, kept)
    results = []
    played = Campaign(subject, found, seconds)
    for one in played.run(mutants, jobs):
        results.append(one)
        _tell(one, len(results), len(mutants))
    if out is not None:
        write_whole(out, "".join(f"{json.dumps(_row(one))}\n" for one in results))
    for line in _table(results):
        click.echo(line)
    click.echo(f"{3600 * len(results) / played.wall_s:,.0f} mutants an hour")
    little = [room for room, rate in _rates(results).items() if rate < fail_under]
    sys.exit(LITTLE if little else 0)


def _mutants(rooms: Iterable[str], subject: Subject) -> list[tuple[Place, Mutant]]:
    """Every mutant of these rooms. Raises UsageError for one that does not exist."""
    found = []
    for room in rooms:
        if room in subject.tables:
            names = [name for one in subject.rooms for name in planting.modules(one)]
            values = Values(room, subject.release, names)
            found += [(Place(room, room, values), mutant) for mutant in values.mutants]
            continue
        try:
            names = planting.modules(room)
        except ModuleNotFoundError as error:
            raise click.UsageError(f"no room {room!r} in the reference pair: {error}") from error
        for name in names:
            if not name.removeprefix(f"{planting.PAIR}.").startswith(subject.left_out):
                place = Place(room, name, planting.source(name))
                found += [(place, mutant) for mutant in place.source.mutants]
    return found


def _reach(subject: Subject, jobs: int, kept: Path | None) -> Reach:
    if kept is not None and kept.exists():
        try:
            return Reach.read(kept.read_text("utf-8"))
        except ValueError as error:
            raise click.UsageError(f"{kept} is no measure of cases: {error}") from error
    found = campaign.measured(subject, jobs, lambda line: click.echo(line, err=True))
    if kept is not None:
        write_whole(kept, found.written())
    return found


def _row(one: Result) -> dict[str, object]:
    row = asdict(one)
    return row.pop("mutant") | row


def _tell(one: Result, done: int, of: int) -> None:
    """A survivor with what ran it; the others are counted."""
    if one.outcome in CAUGHT:
        return
    ran = f"{one.asked} of {one.reached} cases that run it" if one.reached else "no case runs it"
    click.echo(f"[{done}/{of}] {one.outcome}: {one.mutant} ({ran})")


def _rates(results: Sequence[Result]) -> dict[str, float]:
    """Percent caught, in all and of each room."""
    rates = {}
    for room in ("total", *dict.fromkeys(one.room for one in results)):
        here = [one.outcome in CAUGHT for one in results if room in ("total", one.room)]
        rates[room] = 100 * sum(here) / len(here)
    return rates


def _table(results: Sequence[Result]) -> list[str]:
    lines = [
        "",
        f"{'room':<28}{'mutants':>9}"
        + "".join(f"{one:>11}" for one in OUTCOMES)
        + f"{'caught':>9}",
    ]
    for room, rate in _rates(results).items():
        counts = Counter(one.outcome for one in results if room in ("total", one.room))
        told = "".join(f"{counts[one]:>11}" for one in OUTCOMES)
        lines.append(f"{room:<28}{counts.total():>9}{told}{rate:>8.1f}%")
    return lines
