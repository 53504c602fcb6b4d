"""`touchstone coverage`: what of Kafka is claimed, what is not and why.

Percentages are of what can be covered: untestable, out of scope and deprecated ones do not count.
Claims are found by importing the suites, as pytest does; nothing is run.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import click

from touchstone.checkout import ONLY_HERE, ROOT
from touchstone.harness.cli.values import PERCENT
from touchstone.harness.model import advertised, ledger
from touchstone.harness.model.claim import Claim, claim_of, module_of
from touchstone.harness.model.ledger import Standing
from touchstone.harness.names import did_you_mean
from touchstone.harness.run import stale, state_coverage

CASE = "a case is a claim for one version of its API and one set of parameters, on one release"
COUNTED = ("covered", "implicit", "planned", None)
WORDS = ("covered", "implicit", "planned", "untestable", "out-of-scope", "deprecated", None)


@click.command()
@click.option("--gaps", is_flag=True, help="List every clause and cell that has no claim, and why.")
@click.option("--api", "apis", multiple=True, help="Only these APIs (repeatable).")
@click.option("--area", "areas", multiple=True, help="Only these areas, as TOPIC (repeatable).")
@click.option("--states", is_flag=True, help="Walk the recorded cases: which states were tried.")
@click.option(
    "--jobs",
    type=click.IntRange(1),
    default=2 * (os.cpu_count() or 1),
    help="With --states: parts at once.",
)
@click.option(
    "--fail-under",
    type=PERCENT,
    default=0.0,
    metavar="PERCENT",
    help="With --states: of each table.",
)
@click.option("--json", "as_json", is_flag=True, help="For programs.")
@click.option("--drop-stale", is_flag=True, help="Remove recordings that no claim asks for.")
def command(
    gaps: bool,
    apis: tuple[str, ...],
    areas: tuple[str, ...],
    states: bool,
    jobs: int,
    fail_under: float,
    as_json: bool,
    drop_stale: bool,
) -> None:
    """Which clauses and API versions have claims.

    Exit code 0: everything is classified, 2: something is not, a claim is not acceptable, or a
    recording is of a case that no claim has. With --states 2: less of a table was tried than is
    asked for, or a cell that is said to be out of reach was.
    """
    if drop_stale and ROOT is None:
        raise click.UsageError(f"--drop-stale {ONLY_HERE}")
    if states:
        sys.exit(walk_states(jobs, fail_under))
    claims = all_claims()
    clauses, cells = list(ledger.clauses(claims)), list(ledger.cells(claims))
    require("area", areas, [one.area for one in clauses])
    require("API", apis, [one.area for one in cells])
    clauses = [one for one in clauses if not areas or one.area in areas]
    cells = [one for one in cells if not apis or one.area in apis]
    mistakes = ledger.mistakes(claims, whole=not (apis or areas))
    old = stale.find(claims)
    if drop_stale:
        for one in old:
            stale.drop(one)
            click.echo(f"dropped {one}", err=True)
    else:
        mistakes += [f"stale recording: {one}" for one in old]
    if as_json:
        click.echo(json.dumps(as_data(claims, clauses, cells), indent=1))
    else:
        for line in report(claims, clauses, cells, gaps):
            click.echo(line)
        for mistake in mistakes:
            click.echo(f"mistake: {mistake}", err=True)
    sys.exit(2 if mistakes else 0)


def require(kind: str, names: Iterable[str], known: Iterable[str]) -> None:
    """Raise UsageError for a name that is not known, with one that is near."""
    there = sorted(set(known))
    for name in names:
        if name not in there:
            raise click.UsageError(f"no {kind} {name!r}{did_you_mean(name, there)}")


def walk_states(jobs: int, fail_under: float) -> int:
    """Print what of each state table was tried; the exit code."""
    found = state_coverage.coverage(
        advertised.tables(), jobs, lambda line: click.echo(line, err=True)
    )
    for line in state_coverage.report(found):
        click.echo(line)
    return 2 if any(one.wrong or one.percent < fail_under for one in found) else 0


def all_claims() -> list[Claim]:
    """Every claim of the suites."""
    found = []
    for name in sorted(ledger.test_modules()):
        module = importlib.import_module(module_of(name))
        found += [
            claim
            for thing in vars(module).values()
            if (claim := claim_of(thing)) and claim.where.startswith(f"{name}.")
        ]
    return found


def report(
    claims: list[Claim], clauses: list[Standing], cells: list[Standing], gaps: bool
) -> Iterator[str]:
    suites = Counter(claim.suite for claim in claims)
    yield f"{len(claims)} claims: {', '.join(f'{n} {s}' for s, n in sorted(suites.items()))}"
    every = cases(claims)
    newest = cases(claims, newest=True)
    yield f"{sum(every.values()):,} cases: {by_release(every)} ({CASE})"
    yield f"{sum(newest.values()):,} with --newest, one a claim: {by_release(newest)}"
    yield ""
    yield from _table("clauses", clauses)
    yield ""
    yield from _table("API versions", cells)
    if gaps:
        yield ""
        for one in (*clauses, *cells):
            if one.status != ledger.COVERED:
                yield f"{one.id:<32} {one.status or 'UNCLASSIFIED':<14} {one.reason}"


def cases(claims: Iterable[Claim], *, newest: bool = False) -> dict[str, int]:
    """Release -> how many cases these claims have there; `newest`: one of each that has any."""
    found = dict.fromkeys(advertised.tables(), 0)
    for claim in claims:
        for release, table in advertised.tables().items():
            number = len(claim.cases(release, table))
            found[release] += min(number, 1) if newest else number
    return found


def by_release(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{number:,} on {release}" for release, number in counts.items())


def _table(title: str, standing: list[Standing]) -> Iterator[str]:
    yield f"{title:<32}" + "".join(f"{word or 'unclassified':>14}" for word in WORDS)
    areas: dict[str, list[Standing]] = {}
    for one in standing:
        areas.setdefault(one.area, []).append(one)
    for area, mine in areas.items():
        yield _line(area, mine)
    yield _line("all", standing)


def _line(name: str, standing: Iterable[Standing]) -> str:
    mine = list(standing)
    counted = Counter(one.status for one in mine)
    cells = "".join(f"{counted[word] or '.':>14}" for word in WORDS)
    return f"{name:<26}{percent(mine):>5}%{cells}"


def percent(standing: Iterable[Standing]) -> int:
    """How much of what can be covered is covered by a claim, or implied by all."""
    counted = Counter(one.status for one in standing)
    possible = sum(counted[word] for word in COUNTED)
    return 100 if not possible else 100 * (counted["covered"] + counted["implicit"]) // possible


def as_data(
    claims: list[Claim], clauses: list[Standing], cells: list[Standing]
) -> dict[str, object]:
    def rows(standing: list[Standing]) -> list[dict[str, object]]:
        return [
            {"id": s.id, "area": s.area, "status": s.status, "claims": s.claims, "reason": s.reason}
            for s in standing
        ]

    return {
        "claims": len(claims),
        "cases": cases(claims),
        "newest": cases(claims, newest=True),
        "clauses": rows(clauses),
        "cells": rows(cells),
    }
