"""The option `--follow` of commands that talk to a cluster (harness/targets/reach.py)."""

from __future__ import annotations

import click

from touchstone.harness.targets import reach


def _follow(ctx: click.Context, parameter: click.Parameter, given: bool) -> None:
    reach.follow(given)


follows = click.option(
    reach.FLAG, is_flag=True, expose_value=False, callback=_follow,
    help="Also ask brokers on other machines that only the target names.",
)  # fmt: skip
