"""`touchstone verify RUN`: whether a run's files are whole, of one piece, and explained.

A green summary is worth what stands behind it. Before a result is published, compared or kept, this
refuses a run that was cut, put together of several, edited, or that has verdicts which nothing in
it explains (`touchstone.harness.results.verifying`).
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from touchstone.harness import known
from touchstone.harness.judgement import bundle, wording
from touchstone.harness.judgement.bundle import BadBundle, Bundle
from touchstone.harness.known import Pin
from touchstone.harness.model import bounded
from touchstone.harness.model.case_row import Header
from touchstone.harness.results import jsonl, parts, sums, verifying
from touchstone.harness.results.jsonl import BadResults
from touchstone.harness.results.verifying import Files
from touchstone.harness.spark import inputs
from touchstone.harness.targets import UnknownTarget

VERIFIED, REFUSED = 0, 1


@click.command()
@click.argument("run", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--expectations", type=click.Path(exists=True, dir_okay=False, path_type=Path),
              metavar="FILE", multiple=True,
              help="A file of pins that the run was given; repeatable.")  # fmt: skip
def command(run: Path, expectations: tuple[Path, ...]) -> None:
    """Refuse a cut, mixed, edited or unexplained result.

    RUN is the folder of one run (DIR/RUN of `--results DIR`). Each reason is one line on stdout.

    Exit code 0: verified, 1: refused, 3: there is nothing that can be read, 4: there is no such
    folder, or a file of pins is wrong.
    """
    found, refused = read(run, expectations)
    refused += verifying.reasons(found)
    for reason in refused:
        click.echo(f"refused: {reason}")
    cases = wording.counted(sum(len(files.rows) for files in found), "case")
    targets = wording.counted(len(found), "target")
    if refused:
        click.echo(f"{run}: refused: {wording.counted(len(refused), 'reason')}")
        sys.exit(REFUSED)
    click.echo(f"{run}: verified: {cases} of {targets}")
    sys.exit(VERIFIED)


def read(run: Path, expectations: Sequence[Path]) -> tuple[list[Files], list[str]]:
    """The files of every target that is whole, and what is wrong with the others.

    Raises NotResults, BadPin, OSError.
    """
    pins = [*known.load(), *known.load(list(expectations))]
    paths = [path for path in sorted(run.glob("*.jsonl")) if not inputs.is_other(path)]
    if not paths:
        raise inputs.NotResults(f"{run}: no result file (*.jsonl) in it")
    parted = parts.find(run)
    refused = [_of_parts(name, files) for name, files in parted.items()]
    found = []
    for path in paths:
        if any(path in files for files in parted.values()):
            continue
        try:
            results = jsonl.read(path)
        except BadResults as bad:
            refused.append(f"{path.name}:{bad.line}: {bad.reason}")
            continue
        found.append(_files(run, path, results, pins))
    refused += sums.complaints(run, frozenset(path.name for path in paths))
    return found, refused


def _of_parts(name: str, files: Sequence[Path]) -> str:
    try:
        parts.whole(files)
    except parts.NotWhole as reason:
        return f"{name}: parts: {reason}"
    return f"{name}: {wording.counted(len(files), 'part')}, not joined (touchstone join)"


def _files(run: Path, path: Path, results: jsonl.Results, pins: Sequence[Pin]) -> Files:
    stem = path.name.removesuffix(".jsonl")
    report = run / f"{stem}.junit.xml"
    named = [name for row in results.cases if (name := row.get("transcript"))]
    return Files(
        path.name, results, _manifest(parts.manifest_of(path)),
        bounded.data(report) if report.is_file() else None,
        {name: _bundle(run, name) for name in named},
        [*pins, *_own(results.header)],
    )  # fmt: skip


def _manifest(path: Path) -> Mapping[str, Any] | None:
    """What was planned; None where it is missing or is none, which comes to the same."""
    try:
        found = bounded.json_of(bounded.text(path))
    except (FileNotFoundError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _bundle(run: Path, name: str) -> Bundle | str:
    path = run / name
    if not path.resolve().is_relative_to(run.resolve()):
        return "it is outside the run's folder"
    if not path.is_file():
        return "it is missing"
    try:
        return bundle.read(path)
    except BadBundle as bad:
        return str(bad).removeprefix(f"{path}: ")


def _own(header: Header) -> list[Pin]:
    """The pins of the target file that the run was given, where that file is on this machine."""
    words = list(header.get("arguments") or ())
    if "--target" not in words:
        return []
    try:
        return known.of_target(words[words.index("--target") + 1])
    except (UnknownTarget, OSError):
        return []
