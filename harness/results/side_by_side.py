"""Targets side by side, by suite and by cause: what `touchstone compare` prints and draws. Pure.

A column is one result file. Causes are the same where they have one id, so a row of that table says
who differs from Kafka in the same way; nothing is averaged and no target gets a grade, because a
broker without transactions is not a quarter as good as one that has them. Where the columns were
not asked alike, that stands above them (`scopes`); of two runs of one target also what the later
one brought (`since`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from touchstone.harness.judgement import effects, wording
from touchstone.harness.judgement.causes import Cause
from touchstone.harness.judgement.verdict import BROKEN, CONFORMS, DIVERGES
from touchstone.harness.results import page, scopes, since, summary
from touchstone.harness.results.since import Since
from touchstone.harness.results.summary import Report
from touchstone.harness.shown import html as escape
from touchstone.harness.shown import markdown as marked

CAUSES = 40  # in Markdown; the page has all
CASES = 20  # named of what a later run brought, of one cause, in Markdown
NOTHING = "·"
LIGHT = "no client can tell"  # cases that differ in nothing else
Table = tuple[list[str], list[list[str]]]  # head and body


def names(reports: Sequence[Report]) -> list[str]:
    """What the columns are called: targets, with their run where one stands there twice."""
    counted = Counter(report.target for report in reports)
    return [
        f"{report.target}, {report.header['run']}" if counted[report.target] > 1 else report.target
        for report in reports
    ]


def by_target(reports: Sequence[Report]) -> Table:
    """One line per target: what it was held against and what it came to."""
    head = ["target", "held against", "conform", "diverge", "causes", LIGHT, "not judged"]
    body = []
    for name, report in zip(names(reports), reports, strict=True):
        counted = Counter(row["verdict"] for row in report.rows)
        judged = counted[CONFORMS] + counted[DIVERGES]
        light = sum(len(cause.cases) for cause in report.causes.light)
        body.append([
            name, report.header["oracle"], _part(counted[CONFORMS], judged),
            f"{counted[DIVERGES]:,}", f"{len(report.causes.grave):,}",
            f"{light:,}", f"{len(report.rows) - judged:,}",
        ])  # fmt: skip
    return head, body


def by_scope(reports: Sequence[Report]) -> Table:
    """What the columns were not asked alike; an empty body where they were."""
    body = [[name, *answers] for name, answers in scopes.differences(reports)]
    return ["asked", *names(reports)], body


def by_kind(one: Since) -> Table:
    """What a later run brought: how many cases of each kind."""
    body = [[kind, since.KINDS[kind], f"{len(cases):,}"] for kind, cases in one.cases.items()]
    return ["what", "which is", "cases"], body


def named(one: Since, most: int | None = None) -> Table:
    """The cases of each kind by cause; of each cause so many, and how many there are more."""
    body = []
    for kind in one.cases:
        for cause, cases in one.causes(kind).items():
            shown = cases if most is None else cases[:most]
            more = [f"and {len(cases) - len(shown):,} more"] if len(shown) < len(cases) else []
            body.append([kind, cause or NOTHING, f"{len(cases):,}", ", ".join([*shown, *more])])
    return ["what", "rests on", "cases", "which"], body


def by_suite(reports: Sequence[Report]) -> Table:
    """Per suite and target, how many of the judged cases conform."""
    cells: dict[str, dict[int, Counter[str]]] = {}
    for column, report in enumerate(reports):
        for row in report.rows:
            cells.setdefault(row["suite"], {}).setdefault(column, Counter())[row["verdict"]] += 1
    body = [
        [suite, *(_cell(columns.get(column)) for column in range(len(reports)))]
        for suite, columns in sorted(cells.items())
    ]
    return ["suite", *names(reports)], body


def by_cause(reports: Sequence[Report]) -> Table:
    """Per cause and target, how many cases rest on it; the gravest and most shared first."""
    found: dict[str, dict[int, Cause]] = {}
    for column, report in enumerate(reports):
        for cause in report.causes.causes:
            found.setdefault(cause.id, {})[column] = cause

    def rank(columns: Mapping[int, Cause]) -> tuple[Any, ...]:
        weight = min(effects.rank(cause.effect, cause.hits) for cause in columns.values())
        return weight, -len(columns), -sum(len(cause.cases) for cause in columns.values())

    body = []
    for id, columns in sorted(found.items(), key=lambda item: (rank(item[1]), item[0])):
        first = next(iter(columns.values()))
        counts = (columns.get(column) for column in range(len(reports)))
        body.append([
            wording.title(first), wording.sentence(first), first.effect, first.hits,
            *(NOTHING if cause is None else f"{len(cause.cases):,}" for cause in counts), id,
        ])  # fmt: skip
    return ["where", "what", "effect", "hits", *names(reports), "cause"], body


def _cell(counted: Counter[str] | None) -> str:
    """Conforming of judged cases, and how many were not judged."""
    if counted is None:
        return NOTHING
    judged = counted[CONFORMS] + counted[DIVERGES]
    others = counted.total() - judged
    text = _part(counted[CONFORMS], judged)
    broken = f", {counted[BROKEN]} broken" if counted[BROKEN] else ""
    return f"{text} (+{others} not judged{broken})" if others else text


def _part(number: int, of: int) -> str:
    return f"{number:,} of {of:,}" if of else NOTHING


def title(one: Since) -> str:
    runs = [report.header["run"] for report in (one.earlier, one.later)]
    builds = [report.header.get("build") or "not known" for report in (one.earlier, one.later)]
    return f"{one.later.target}: {runs[1]} (build {builds[1]}) since {runs[0]} (build {builds[0]})"


UNLIKE = "Not asked alike: figures of the columns are not of the same cases"


def markdown(reports: Sequence[Report]) -> str:
    """The tables as Markdown."""
    head, body = by_cause(reports)
    more = len(body) - CAUSES
    unlike = by_scope(reports)
    parts = ["# Touchstone: targets side by side", summary.table(*by_target(reports))]
    parts += [f"## {UNLIKE}", summary.table(*unlike)] if unlike[1] else []
    for one in since.pairs(reports):
        parts.append(f"## {marked(title(one))}")
        parts += (
            [summary.table(*by_kind(one)), summary.table(*named(one, CASES))]
            if one.cases
            else ["Every case came out as it did."]
        )
    parts += [
        "## By suite: conforming of judged cases",
        summary.table(*by_suite(reports)),
        "## By cause: cases that rest on it",
        summary.table(head, body[:CAUSES]) if body else "None.",
        *([f"... and {more} more causes"] if more > 0 else []),
    ]
    return "\n\n".join(parts) + "\n"


def html(reports: Sequence[Report]) -> str:
    """The tables as a page that needs nothing else."""
    parts = ["<h1>Targets side by side</h1>", _table(by_target(reports))]
    unlike = by_scope(reports)
    parts += [f"<h2>{UNLIKE}</h2>", _table(unlike)] if unlike[1] else []
    for one in since.pairs(reports):
        parts.append(f"<h2>{escape(title(one))}</h2>")
        parts += (
            [_table(by_kind(one)), _table(named(one))]
            if one.cases
            else ["<p>Every case came out as it did.</p>"]
        )
    return page.document("Touchstone: targets side by side", [
        *parts,
        "<h2>By suite: conforming of judged cases</h2>", _table(by_suite(reports)),
        "<h2>By cause: cases that rest on it</h2>", _table(by_cause(reports)),
    ])  # fmt: skip


def _table(table: Table) -> str:
    head, body = table
    lines = [f"<tr>{''.join(f'<th>{escape(cell)}</th>' for cell in head)}</tr>"]
    lines += [f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in line)}</tr>" for line in body]
    return f"<table>{''.join(lines)}</table>"
