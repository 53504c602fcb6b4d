"""The option `--release` of commands that judge somebody else's target, and the line that says
which release was chosen (harness/run/chosen_release.py).
"""

from __future__ import annotations

import click

from touchstone.harness import shown
from touchstone.harness.model.advertised import HeldAgainst
from touchstone.harness.model.target import Target
from touchstone.harness.run import chosen_release
from touchstone.harness.targets.described import DescribedTarget
from touchstone.harness.targets.external import ExternalTarget

names_release = click.option(
    chosen_release.FLAG, metavar="V", help="What the target wants to be held against, as 4.3."
)


def check(target: Target, release: str | None) -> None:
    """Raise UsageError if this release cannot be named for this target."""
    if release is not None:
        try:
            chosen_release.check(target, release)
        except ValueError as wrong:
            raise click.UsageError(str(wrong)) from wrong


def line(target: Target, against: HeldAgainst) -> str:
    """Return the line that says what a target is held against and why."""
    return shown.line(f"{target.name} is held against Kafka {against.release}: {against.reason}")


def choose(target: Target, release: str | None) -> HeldAgainst | None:
    """Choose the release of somebody else's target and say it; None of one that is ours."""
    if not isinstance(target, ExternalTarget | DescribedTarget):
        return None
    against = chosen_release.choose(target, release)
    target.chosen = against.release
    click.echo(line(target, against), err=True)
    return against


def choose_if_known(target: Target, release: str | None) -> None:
    """Do the same where a user names the release or the target is one to the last version; else say
    that it is compared with none.
    """
    if release is not None or target.release is not None:
        choose(target, release)
    elif isinstance(target, ExternalTarget | DescribedTarget):
        flag, reason = chosen_release.FLAG, chosen_release.choose(target).reason
        told = f"{target.name} is compared with no Kafka, unless {flag} names one: {reason}"
        click.echo(shown.line(told), err=True)
