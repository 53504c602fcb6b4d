"""`touchstone compare RESULTS...`: targets side by side, by suite and by cause; two runs of one
target also by what the later one brought.

Reads rows and nothing else, so targets may have been judged on other machines and other days. A
file that is not whole is refused: half a target beside a whole one would look better than it is.
"""

from __future__ import annotations

from pathlib import Path

import click

from touchstone.harness.cli.values import FOLDER
from touchstone.harness.results import run_folder, side_by_side
from touchstone.harness.spark import inputs


@click.command()
@click.argument("results", nargs=-1, required=True)
@click.option("--out", type=FOLDER,
              help="Write compare.md and compare.html there.")  # fmt: skip
def command(results: tuple[str, ...], out: Path | None) -> None:
    """Show the targets of RESULTS (files, folders, patterns) side by side, as Markdown.

    Where they were not asked alike, it says in what. Of several runs of one target it shows what
    is new since the run before, what is fixed, and what is no longer judged.

    Exit code 0: done, 3: a file cannot be read or is not whole, 4: it is not there.
    """
    reports = run_folder.named(inputs.find(results))
    text = side_by_side.markdown(reports)
    click.echo(text, nl=False)
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        (out / "compare.md").write_text(text, encoding="utf-8")
        (out / "compare.html").write_text(side_by_side.html(reports), encoding="utf-8")
        click.echo(f"touchstone compare: {out / 'compare.html'}", err=True)
