"""`touchstone pin RESULTS`: what a run showed, as accepted divergences, one per cause.

A pin is a promise to look again: it names every place in which each case differs, expires, and
makes a run fail as soon as it no longer says the truth. What a file of pins already explains is
kept with its reason; the rest is added and wants a reason by a person.
"""

from __future__ import annotations

import datetime
from pathlib import Path

import click

from touchstone.harness import known
from touchstone.harness.cli.values import FILE
from touchstone.harness.judgement import wording
from touchstone.harness.results import run_folder
from touchstone.harness.results.summary import Report
from touchstone.harness.spark import inputs
from touchstone.harness.writable import write_whole


@click.command()
@click.argument("results", nargs=-1, required=True)
@click.option("--out", type=FILE, metavar="FILE",
              help="Write the pins there; those in it that still hold stay.")  # fmt: skip
@click.option("--reason", default=known.UNREVIEWED, help="Why the new ones are accepted.")
def command(results: tuple[str, ...], out: Path | None, reason: str) -> None:
    """Write pins for every difference of RESULTS (a run's folder or its files).

    Give the file to a run with `pytest --pyargs touchstone.suites --expectations FILE`, or name it
    in the target's file, as `pins = "FILE"`. Exit code 0: done, 3: a file cannot be read or is not
    whole, 4: it is not there, or FILE holds something else than pins.
    """
    reports = run_folder.named(inputs.find(results))
    old = known.load([out]) if out is not None and out.is_file() else []
    rows = [row for report in reports for row in report.rows]
    pins = known.updated(rows, old, _day(reports), reason)
    text = known.dumps(pins)
    if out is None:
        click.echo(text, nl=False)
    else:
        write_whole(out, text)
    cases = sum(len(how.cases) for pin in pins for how in pin.how)
    told = f"{wording.counted(len(pins), 'pin')} for {wording.counted(cases, 'case')}"
    use = "" if out is None else f": {wording.suites('--expectations', out)}"
    click.echo(f"touchstone pin: {told}{use}", err=True)


def _day(reports: list[Report]) -> datetime.date:
    """The day of the newest run: pins live from then on."""
    return max(datetime.datetime.fromisoformat(one.header["started"]).date() for one in reports)
