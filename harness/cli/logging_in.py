"""The option `--command-config` of commands that talk to a cluster (harness/targets/login.py)."""

from __future__ import annotations

from pathlib import Path

import click

from touchstone.harness import shown
from touchstone.harness.targets import command_config, reach


def _logs_in(ctx: click.Context, parameter: click.Parameter, path: Path | None) -> None:
    for line in command_config.obey(path):
        click.echo(shown.line(line), err=True)


logs_in = click.option(
    reach.COMMAND_CONFIG, metavar="FILE", expose_value=False,
    type=click.Path(exists=True, dir_okay=False, path_type=Path), callback=_logs_in,
    help=f"Kafka's client properties: how to log in to a cluster ({command_config.VARIABLE}).",
)  # fmt: skip
