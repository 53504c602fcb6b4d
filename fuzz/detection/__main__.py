"""`python -m touchstone.fuzz.detection`: how many of the planted defects the fuzzer finds.

`--clean SECONDS` hunts on a broker without a defect instead: whatever complains is a false alarm.
Exit code 0: enough were found, or nothing complained; 1 otherwise.
"""

from __future__ import annotations

import sys

import click

from touchstone.fuzz.detection.hunt import Hunt, hunt
from touchstone.fuzz.detection.planted import DEFECTS

ENOUGH = 36  # of the 40 that were planted first


@click.command("detection")
@click.option("--only", multiple=True, metavar="SWITCH", help="These defects; all by default.")
@click.option("--seconds", default=8.0, help="For each generated campaign of a defect.")
@click.option("--clean", type=float, metavar="SECONDS", help="No defect, so many seconds.")
@click.option("--seed", default=1)
def command(only: tuple[str, ...], seconds: float, clean: float | None, seed: int) -> None:
    """Plant one defect after another and say who finds it."""
    if clean is not None:
        sys.exit(report_clean(hunt((), seconds=clean / 4, seed=seed, all_of_it=True)))
    found, tried, spent = 0, 0, 0.0
    for group, switches in DEFECTS.items():
        for switch in switches:
            if only and switch not in only:
                continue
            result = hunt((switch,), seconds=seconds, seed=seed)
            found, tried, spent = found + bool(result.by), tried + 1, spent + result.seconds
            told = f"{result.by}: {result.complaints[0][1]}" if result.by else "NOT FOUND"
            click.echo(f"{group:12} {switch:40} {result.seconds:5.1f} s  {told[:150]}")
    click.echo(f"{found} of {tried} planted defects found in {spent / 60:.1f} minutes")
    sys.exit(0 if only or found >= ENOUGH else 1)


def report_clean(result: Hunt) -> int:
    for name, figures in (result.figures or {}).items():
        click.echo(f"  {name}: {figures}")
    for who, sentence in result.complaints:
        click.echo(f"FALSE ALARM {who}: {sentence}")
    click.echo(
        f"clean: {result.cases} cases in {result.seconds / 60:.1f} minutes,"
        f" {len(result.complaints)} false alarms"
    )
    return 1 if result.complaints else 0


if __name__ == "__main__":
    command()
