"""`touchstone join RUN`: the parts that `--shard` made, as if one process had judged each target.

What no part can know is decided here: whether a pin met no case at all, and what the target comes
to. A part that is missing, unfinished or of another run ends it with exit code 3, and its files
stay as they are: every reader refuses them.
"""

from __future__ import annotations

import datetime
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from touchstone.harness import exits, known
from touchstone.harness.cli.values import FOLDER
from touchstone.harness.known import BadPin, Pin, Surprise
from touchstone.harness.model.case_row import Header
from touchstone.harness.results import junit, parts, run_folder, summary
from touchstone.harness.results.jsonl import Writer
from touchstone.harness.results.summary import Report
from touchstone.harness.run import tally
from touchstone.harness.targets import UnknownTarget


@click.command()
@click.argument("run", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--expectations", type=click.Path(exists=True, dir_okay=False, path_type=Path),
              help="The same file as the parts were given.")  # fmt: skip
@click.option("--strict-known", is_flag=True, help="Ignore all accepted divergences.")
@click.option("--allure", type=FOLDER, metavar="DIR",
              help="Write Allure results to DIR too.")  # fmt: skip
@click.option("--pages", metavar="ADDRESS",
              help="With --allure: where this documentation is, {} for a page's path.")  # fmt: skip
def command(
    run: Path, expectations: Path | None, strict_known: bool, allure: Path | None,
    pages: str | None,
) -> None:  # fmt: skip
    """Make one result file of every target in RUN (DIR/<run>) that several processes judged.

    Exit code: the worst of the targets, as of pytest with one process: 0 conforms, 1 a new
    difference, 2 the harness broke, 3 incomplete, also when a part is missing, 4: a pin is wrong.
    """
    if strict_known:
        sys.exit(main(run, None, allure, pages))
    pins = known.load() + (known.load([expectations]) if expectations else [])
    sys.exit(main(run, pins, allure, pages))


def main(
    run: Path, pins: Sequence[Pin] | None = (), allure: Path | None = None,
    pages: str | None = None,
) -> int:  # fmt: skip
    """Joins the parts in `run`; the exit code. `pins` hold for every target beside the pins of its
    target file; None: no pins at all. `allure` is where Allure results are written, `pages` the
    address of our documentation in them.
    """
    if allure is not None:  # before any part is touched: its libraries may be missing
        from touchstone.harness.results import allure as allure_results
    codes: list[int] = []
    told: dict[str, Sequence[Surprise]] = {}
    for name, paths in parts.find(run).items():
        try:
            found = parts.whole(paths)
            if (run / f"{name}.jsonl").exists():
                raise parts.NotWhole(f"{name}.jsonl is there already, beside its parts")
            held = [] if pins is None else [*pins, *_own(found.header)]
        except (parts.NotWhole, BadPin, UnknownTarget) as reason:
            click.echo(f"touchstone join: incomplete: {reason}", err=True)
            codes.append(exits.INCOMPLETE)
            continue
        target = found.header["target"]
        told[target] = _surprises(found, held)
        codes.append(write(run, name, found, told[target]))
        if allure is not None:
            allure_results.write(
                found.header, found.rows, allure, run, made=found.steps, pages=pages
            )
        for path in paths:
            path.unlink()
            parts.manifest_of(path).unlink()
    if codes:
        run_folder.write(run, told)
    else:
        click.echo(f"touchstone join: {run}: no parts in it", err=True)
    return tally.worst(codes)


def _own(header: Header) -> list[Pin]:
    """The pins of the target file that the parts were given."""
    words = list(header.get("arguments") or ())
    if "--target" not in words:
        return []
    return known.of_target(words[words.index("--target") + 1])


def _surprises(found: parts.Whole, pins: Sequence[Pin]) -> list[Surprise]:
    today = datetime.datetime.fromisoformat(found.header["started"]).date()
    whole = found.manifest["whole"]
    return known.surprises(found.rows, list(pins), today, whole=whole)


def write(run: Path, name: str, found: parts.Whole, surprises: Sequence[Surprise]) -> int:
    """The files of one target and what it comes to; its exit code. A disk that takes no more leaves
    the parts, and nothing that looks like a whole. Raises OSError.
    """
    planned = found.header["planned"]
    code = tally.exit_code(found.rows, planned, surprises)
    if exits.BROKE in found.exits:  # an error outside every case
        code = exits.BROKE
    made = [run / f"{name}.{suffix}" for suffix in ("jsonl", "manifest.json", "junit.xml")]
    try:
        with Writer(made[0], found.header) as writer:
            for row in found.rows:
                writer.case(row)
            writer.finish(finished=found.finished, exit_code=code)
        text = json.dumps(found.manifest, indent=1) + "\n"
        made[1].write_text(text, encoding="utf-8")
        junit.write([(found.header, found.rows)], made[2])
    except OSError:
        for path in made:
            path.unlink(missing_ok=True)
        raise
    report = Report(found.header, found.rows, surprises)
    click.echo("\n".join([*summary.lines(report), f"exit {code}: {exits.EXITS[code]}"]))
    return code
