"""`touchstone causes RESULTS`: what a run's differences come to, without judging anything again.

Causes are found from rows alone, so result files of any day and of anybody are told as today's
Touchstone tells them.
"""

from __future__ import annotations

from collections.abc import Sequence

import click

from touchstone.harness import shown
from touchstone.harness.judgement import wording
from touchstone.harness.judgement.causes import Cause
from touchstone.harness.results import causes_json, run_folder
from touchstone.harness.results.summary import LIGHT, cases, headline
from touchstone.harness.spark import inputs


@click.command()
@click.argument("results", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="All of it as JSON, as in causes.json.")
def command(results: tuple[str, ...], as_json: bool) -> None:
    """Tell the causes of RESULTS (a run's folder or its files), the gravest first.

    Exit code 0: told, 3: a file cannot be read or is not whole, 4: it is not there.
    """
    reports = run_folder.named(inputs.find(results))
    if as_json:
        click.echo(causes_json.dumps(reports), nl=False)
        return
    for report in reports:
        click.echo(shown.line(headline(report)))
        _list(report.causes.grave)
        if light := report.causes.light:
            click.echo(f"{LIGHT}:")
            _list(light)


def _list(found: Sequence[Cause]) -> None:
    for number, cause in enumerate(found, 1):
        text = f"{wording.title(cause)}: {wording.sentence(cause)}"
        told = (wording.effect(cause), cases(cause), wording.behind(cause))
        click.echo(shown.line(f"{number:>4}. {text} ({'; '.join(filter(None, told))})"))
