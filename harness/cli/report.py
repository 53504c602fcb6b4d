"""`touchstone report RESULTS... --out DIR`: rows into tables, a summary and a page.

The table on stdout needs no Spark and is printed first, so that a machine without Java still sees
its verdicts; what was not run is said in one loud line. Exit codes: 0 the report stands in DIR,
2 the report itself broke, 3 a result file is not whole, or Spark cannot run here.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from touchstone.harness.cli.values import FOLDER
from touchstone.harness.results import fuzz_rows
from touchstone.harness.spark import inputs, plain, session
from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.errors import ErrorCode

WRITTEN, INCOMPLETE, NOT_RUN = 0, 3, 3
LISTED = 20
NAMES = {
    "error_code": {code.value: code.name for code in ErrorCode},
    "api_key": {key: api.name for key, api in API.items()},
}


@click.command()
@click.argument("results", nargs=-1, required=True)
@click.option("--out", type=FOLDER, required=True)
@click.option("--master", default="local[*]", help="Spark's master URL.")
@click.option("--allow-incomplete", is_flag=True, help="Count files that are not whole; say so.")
def command(results: tuple[str, ...], out: Path, master: str, allow_incomplete: bool) -> None:
    """Aggregate RESULTS (files, folders, patterns) into OUT: Parquet tables, a summary, a page.

    Exit code 0: the report stands in OUT, 2: it broke, 3: a result file is not whole, or
    Spark cannot run here (the table is printed all the same).
    """
    sys.exit(main(results, out, master, allow_incomplete))


def main(results: Sequence[str], out: Path, master: str, allow_incomplete: bool) -> int:
    fuzz_files = inputs.find_fuzz(results)
    try:
        files = [inputs.edges(path) for path in inputs.find(results)]
    except inputs.NotResults:
        if not all(inputs.find_fuzz([one]) for one in results):
            raise
        files = []  # a fuzz run alone
    refused = refusals(files, allow_incomplete)
    files = [file for file in files if file.header]
    if files:
        click.echo(plain.table(plain.from_footers(files)))
    for line in fuzz_rows.lines(fuzz_files):
        click.echo(line)
    if refused or not (files or fuzz_files):
        return complain(refused)
    reason = session.why_not()
    if reason:
        return without_spark(files, reason)
    return aggregate(files, out, master, allow_incomplete, fuzz_files)


def refusals(files: Sequence[inputs.ResultFile], allow_incomplete: bool) -> list[inputs.Defect]:
    """What speaks against the input before Spark is asked. A run that two files claim and a file
    without a header cannot be allowed: nothing says what their rows belong to."""
    found = [file.defect for file in files if file.defect]
    if allow_incomplete:
        found = [file.defect for file in files if file.defect and not file.header]
    return found + inputs.clashes(files)


def complain(defects: Sequence[inputs.Defect]) -> int:
    for defect in defects[:LISTED]:
        click.echo(f"touchstone report: refused: {defect}", err=True)
    if len(defects) > LISTED:
        click.echo(f"touchstone report: and {len(defects) - LISTED} more", err=True)
    return INCOMPLETE


def without_spark(files: Sequence[inputs.ResultFile], reason: str) -> int:
    """The judgement stands in the table; what Spark would have checked is checked line by line for
    the newest runs."""
    newest = [run.source for run in plain.newest(files) if not run.source.defect]
    defects = [defect for file in newest if (defect := inputs.examine(file.path))]
    if defects:
        return complain(defects)
    click.echo(f"touchstone report: DASHBOARD NOT RUN: {reason}", err=True)
    return NOT_RUN


def aggregate(
    files: Sequence[inputs.ResultFile], out: Path, master: str, allow_incomplete: bool,
    fuzz_files: Sequence[Path] = (),
) -> int:  # fmt: skip
    from touchstone.harness.spark import (
        report,  # pyspark's door: only here, when Spark is known to be able
    )

    def say(line: str) -> None:
        click.echo(f"touchstone report: {line}", err=True)

    try:
        found = report.write(
            files, out, master=master, allow_incomplete=allow_incomplete, say=say, names=NAMES,
            fuzz_files=fuzz_files,
        )  # fmt: skip
    except report.Refused as refused:
        return complain(refused.defects)
    except session.NotRun as error:
        say(f"DASHBOARD NOT RUN: {error}")
        return NOT_RUN
    say(f"{found['rows']:,} rows of {found['files']} runs: {out / 'index.html'}")
    return INCOMPLETE if any(target["incomplete"] for target in found["targets"]) else WRITTEN
