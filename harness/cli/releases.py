"""`touchstone releases A B`: what changed between two releases of Kafka, from recordings alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from touchstone.harness import shown
from touchstone.harness.extras import need
from touchstone.harness.model.case import Case, run_case
from touchstone.harness.model.case_row import CaseRow
from touchstone.harness.model.claim import Claim
from touchstone.harness.names import did_you_mean
from touchstone.harness.results import releases, rows
from touchstone.harness.run import detection
from touchstone.harness.run.judge import Judge, judge_for
from touchstone.harness.targets import matrix

TEXT, MARKDOWN, JSON = "text", "markdown", "json"


@click.command()
@click.argument("before", metavar="A")
@click.argument("after", metavar="B")
@click.option("--for", "areas", metavar="AREA,...", help="Suites or APIs alone, as produce,fetch.")
@click.option("--format", "form", type=click.Choice((TEXT, MARKDOWN, JSON)), default=TEXT)
def command(before: str, after: str, areas: str | None, form: str) -> None:
    """Tell what Kafka B answers otherwise than Kafka A, by area: each cause with both answers and
    the claim that shows it. A and B are recorded releases, as 2.8 3.9; nothing is started.

    Exit code 0: told, 4: a release is not recorded, or an area is none.
    """
    need("pytest")
    older, newer = (matrix.release(word).name for word in (before, after))
    if older == newer:
        raise click.UsageError(f"{before} and {after} are one release, Kafka {older}")
    claims = _chosen(list(detection.functions().values()), areas)
    apis = None if areas is None else frozenset(claim.api or "" for claim, _ in claims)
    found = releases.of(older, newer, _rows(older, newer, claims), apis)
    if form == TEXT:
        for line in releases.lines(found):
            click.echo(shown.line(line))
    else:
        text = releases.markdown(found) if form == MARKDOWN else releases.dumps(found)
        click.echo(text, nl=False)


def _chosen(known: list[tuple[Claim, Any]], areas: str | None) -> list[tuple[Claim, Any]]:
    """Return the claims of these suites and APIs. Raise UsageError for a word that is neither."""
    if areas is None:
        return known
    wanted = [word.strip().lower() for word in areas.split(",")]
    names = {name.lower() for claim, _ in known for name in (claim.suite, claim.api or "") if name}
    for word in wanted:
        if word not in names:
            raise click.UsageError(
                f"--for: no suite and no API {word!r}{did_you_mean(word, sorted(names))}"
            )
    return [pair for pair in known if {pair[0].suite, (pair[0].api or "").lower()} & set(wanted)]


def _rows(before: str, after: str, claims: list[tuple[Claim, Any]]) -> Iterator[CaseRow]:
    """Yield the row of the newest case of each claim that both releases were recorded for."""
    judge = judge_for(f"recorded@{after}", f"recorded@{before}", nonce="releases")
    try:
        for claim, function in claims:
            if (row := _newest(judge, claim, function)) is not None:
                yield row
    finally:
        judge.close()


def _newest(judge: Judge, claim: Claim, function: Any) -> CaseRow | None:
    stores = [judge.oracle.store, judge.target.store]  # type: ignore[attr-defined]
    for one in reversed(judge.cases(claim)):
        if all(one.id in store.cases(claim.suite) for store in stores):
            verdict = run_case(function, Case(one, judge)).verdict
            return rows.case(one, verdict, target=judge.name, release=judge.release, duration_ms=0)
    return None
