"""`touchstone bisect CLAIM`: which version of Apache Kafka changed what a claim asks about."""

from __future__ import annotations

import sys

import click

from touchstone.harness import shown
from touchstone.harness.exits import CONFORMED, DIFFERENT, INCOMPLETE
from touchstone.harness.extras import need
from touchstone.harness.model import advertised
from touchstone.harness.model.claim import Claim
from touchstone.harness.names import did_you_mean
from touchstone.harness.run import bisection, detection
from touchstone.harness.run.asked_versions import AskedVersions
from touchstone.harness.targets import matrix, released
from touchstone.harness.targets.release import number


@click.command()
@click.argument("claim", metavar="CLAIM")
@click.option(
    "--from",
    "first",
    metavar="X",
    help="The oldest version [default: the oldest with a persona that has the claim].",
)
@click.option("--to", "last", metavar="Y", help="The newest version [default: the newest].")
def command(claim: str, first: str | None, last: str | None) -> None:  # fmt: skip
    """Name the version of Apache Kafka that changed the answer to CLAIM, patches included.

    CLAIM is the id of a claim (`touchstone coverage`, `touchstone releases A B` name them), or one
    of its cases, as ID[v3]. Real Kafka is started, some seven versions one after the other, so this
    needs Java, and Maven for versions that were not run before. X and Y are versions, as 3.6.2, or
    3.6, which is its newest patch.

    The same scenario is sent to each: that of the claim's newest case which both ends serve. Its
    answer on X is the old one. By halving the rest it is found which version was the first that
    answers otherwise.

    Exit code 0: a version was named, 1: X and Y answer alike, 3: one of them could not be asked,
    or there is no such case, 4: a version or a claim is not there.
    """
    need("pytest")
    known = detection.functions()
    id = claim.partition("[")[0]
    if id not in known:
        raise click.UsageError(f"no claim about brokers is called {id}{did_you_mean(id, known)}")
    made, function = known[id]
    check_case(made, claim)
    versions = chosen(made, first, last)
    several = AskedVersions(made, function, claim, versions)
    try:
        click.echo(shown.line(several.choose()))
        found = bisection.first_change(versions, several.ask, _say)
    except bisection.Undecided as undecided:
        click.echo(shown.block(f"not found: {undecided}"))
        sys.exit(DIFFERENT if undecided.alike else INCOMPLETE)
    finally:
        several.stop()
    for line in several.lines(found):
        click.echo(shown.line(line))
    click.echo(f"{several.count} of {len(versions)} versions were asked")
    sys.exit(CONFORMED)


def _say(version: str, answer: str) -> None:
    click.echo(shown.line(f"  {version:<8}{answer}"))


def check_case(claim: Claim, name: str) -> None:
    """Raise UsageError for a case that a claim has on no release with a persona."""
    tables = advertised.tables().items()
    cases = list(dict.fromkeys(one.id for table in tables for one in claim.cases(*table)))
    if name not in (claim.id, *cases):
        there = ", ".join(cases)
        raise click.UsageError(f"no case of {claim.id} is called {name}; there are {there}")


def chosen(claim: Claim, first: str | None, last: str | None) -> list[str]:
    """Return the versions from the first to the last, oldest first. Raise UsageError, and
    UnknownRelease for a version that is not there.
    """
    oldest = _oldest(claim) if first is None else _version(first)
    newest = max(released.known(), key=number) if last is None else _version(last)
    if number(oldest) >= number(newest):
        raise click.UsageError(f"--from {oldest} is not before --to {newest}")
    every = sorted({*released.known(), oldest, newest}, key=number)
    return every[every.index(oldest) : every.index(newest) + 1]


def _version(word: str) -> str:
    found = released.find(word)
    if found.folder is not None:
        raise click.UsageError(f"{word} is a folder of jars, and no version between two others")
    return found.version


def _oldest(claim: Claim) -> str:
    """Return the oldest version with a persona that a claim is for."""
    for release in matrix.releases():
        if claim.cases(release.name, advertised.table(release.name)):
            return release.version
    raise click.UsageError(f"{claim.id} has a case on no release")
