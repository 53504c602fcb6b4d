"""`touchstone explain WORD...`: a claim in full, or what a word of its evidence stands for.

A claim's text, its evidence with texts and sources, the releases and cases it has, what it asks
step by step, what has to come of that, and the commands that run it. Nothing is sent: steps and
expectation are those that its function returns for its newest case.
"""

from __future__ import annotations

import functools
import importlib
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping

import click

from touchstone.checkout import ROOT
from touchstone.harness import exits
from touchstone.harness.cli.coverage import all_claims
from touchstone.harness.judgement import expectations
from touchstone.harness.model import advertised, between, ledger, scenario
from touchstone.harness.model.claim import CLIENT_ROLE, CaseId, Claim, module_of
from touchstone.harness.model.recordings import Store
from touchstone.harness.names import did_you_mean
from touchstone.harness.run import dry

WIDTH = 100


@click.command()
@click.argument("words", nargs=-1, required=True, metavar="WORD...")
def command(words: tuple[str, ...]) -> None:
    """Explain a claim by its id, or a clause or KIP that claims cite.

    Exit code 0: it is explained, 4: nothing has that name.
    """
    claims = {name: one for one in all_claims() for name in (one.id, *one.aliases)}
    lost = False
    for word in words:
        name = word.partition("[")[0]  # a case's id will do
        if name in claims:
            lines = of_claim(claims[name])
        elif ledger.cited(name).text:
            lines = of_evidence(name, claims.values())
        else:
            lost = True
            hint = did_you_mean(name, claims, most=3)
            click.echo(
                f"touchstone explain: no claim, clause or KIP is called {name}{hint}", err=True
            )
            continue
        click.echo("\n".join(lines))
    sys.exit(exits.REFUSED if lost else exits.CONFORMED)


def of_claim(one: Claim) -> Iterator[str]:
    """The claim as lines."""
    yield one.id
    yield from folded(one.sentence)
    yield ""
    for word in one.evidence:
        yield from cited(word)
    yield ""
    cases = {name: one.cases(name, table) for name, table in advertised.tables().items()}
    facts: Mapping[str, object] = {
        "suite": one.suite,
        "level": one.level,
        "API": one.api,
        "cases": ", ".join(f"{len(ids)} on {name}" for name, ids in cases.items() if ids),
        "between": _between(one),
        "brokers": one.shape.brokers if one.shape.brokers > 1 else "",
        "settings": ", ".join(f"{key}={value}" for key, value in one.shape.config),
        "needs": ", ".join(one.capabilities),
        "catches": ", ".join(one.switches),
        "former ids": ", ".join(one.aliases),
    }
    for name, value in facts.items():
        if value:
            yield from folded(f"{name + ':':<12}{value}", " " * 14)
    newest = next(((name, ids[-1]) for name, ids in reversed(cases.items()) if ids), None)
    if newest is not None:
        yield from steps(one, *newest)
    module, _, function = one.where.rpartition(".")
    yield ""
    whom = "--client NAME" if one.role == CLIENT_ROLE else "--target HOST:PORT"
    if ROOT is not None:
        yield f"  pytest {module.replace('.', '/')}.py::{function} {whom}"
    yield f"  pytest --pyargs {module_of(module)}::{function} {whom}"


_store = functools.cache(Store)


def _between(one: Claim) -> str:
    """Which releases without a persona were recorded for a claim, and as for which it is written
    there; none is named for which it was not.
    """
    found = (
        (name, way.like)
        for name, table in advertised.every().items()
        if advertised.is_between(name)
        for store in [_store(name)]
        for case in between.recorded(one, store, table)
        for way in [store.written(one.suite)[case.id]]
    )
    return ", ".join(f"{name} as {like}" for name, like in found)


def steps(one: Claim, release: str, case: CaseId) -> Iterator[str]:
    """What the case asks, step by step, and what it expects."""
    module, _, function = one.where.rpartition(".")
    made = dry.run(getattr(importlib.import_module(module_of(module)), function), case, release)
    if made is None:
        return
    yield ""
    yield f"  steps of {case.id} on {release}:"
    for label, step in zip(made.scenario.labels, made.scenario.steps, strict=True):
        asked = scenario.asked(step)
        api, version = getattr(asked, "api", None), getattr(asked, "version", None)
        kind = f"{api} v{version}" if version is not None else type(asked).__name__.lower()
        waits = " and ".join(" ".join(map(str, each)) for each in getattr(step, "conditions", ()))
        yield from folded(
            f"{label}: {kind}" + (f", until {waits}" if waits else ""), " " * 8, "    "
        )
    yield ""
    yield f"  has to hold there, beside that it is what Kafka {release} answers:"
    for line in expectations.lines(made.expectation, release):
        yield from folded(line, " " * 8, "    ")


def of_evidence(word: str, claims: Iterable[Claim]) -> Iterator[str]:
    """A clause or KIP as lines, with the claims that cite it."""
    yield from cited(word, "")
    entry = ledger.load().clauses.get(word)
    if entry is not None and entry.status:
        yield from folded(f"{entry.status}: {entry.reason}")
        yield from (f"    {test}" for test in entry.tests)
    yield from sorted({f"  {one.id}" for one in claims if word in one.evidence})


def cited(word: str, indent: str = "  ") -> Iterator[str]:
    found = ledger.cited(word)
    yield from folded(f"{word}: {found.text}" if found.text else word, indent + "    ", indent)
    yield from (f"{indent}    {more}" for more in (found.source, found.link) if more)


def folded(text: str, after: str = "  ", before: str = "  ") -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent=before, subsequent_indent=after, break_on_hyphens=False
    )
