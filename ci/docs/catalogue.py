"""The catalogue: a page for each claim, for each suite, and for each kind of evidence.

Pages of suites and evidence are Markdown. The 1,462 pages of claims are one Markdown page with
marks in it, which MkDocs renders once; the marks are then replaced for each claim. So they have the
site's head, menu and search, and cost a second instead of minutes.
"""

from __future__ import annotations

import functools
import html
import inspect
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from ci.docs.markdown import code, page, plain, table
from ci.docs.words import SUITES
from touchstone.harness.cli import coverage
from touchstone.harness.cli.coverage import all_claims
from touchstone.harness.model import advertised, ledger
from touchstone.harness.model.claim import Claim
from touchstone.harness.model.recordings import Store

ROOT = Path(__file__).resolve().parents[2]
MARKS = ("TITLE", "SENTENCE", "FACTS", "CASES", "EVIDENCE", "RUN", "SOURCE")
TEMPLATE = "claims/claim-template.md"


@functools.cache
def claims() -> tuple[Claim, ...]:
    return tuple(sorted(all_claims(), key=lambda one: one.id))


def pages() -> dict[str, str]:
    """Path below docs/ -> Markdown, without the pages of claims."""
    suites: dict[str, list[Claim]] = {}
    for one in claims():
        suites.setdefault(one.suite, []).append(one)
    made = {f"claims/{name}.md": suite_page(name, mine) for name, mine in suites.items()}
    return made | {
        "claims/index.md": index_page(suites),
        "claims/recordings.md": recordings_page(),
        "claims/kips.md": kips_page(),
        TEMPLATE: template(),
        **{f"claims/clauses-{area.lower()}.md": clauses_page(area, mine)
           for area, mine in clauses_by_area().items()},
    }  # fmt: skip


def link(claim: str) -> str:
    """From a page of this folder. HTML, because MkDocs does not know these pages."""
    return f'<a href="{claim}.html"><code>{claim}</code></a>'


# Lists of claims


def index_page(suites: Mapping[str, list[Claim]]) -> str:
    listed = [
        (f"[{name}]({name}.md)", str(len(mine)), SUITES.get(name, ""))
        for name, mine in sorted(suites.items())
    ]
    every, newest = coverage.cases(claims()), coverage.cases(claims(), newest=True)
    areas = ", ".join(f"[{area}](clauses-{area.lower()}.md)" for area in sorted(clauses_by_area()))
    return page(
        "# Claims",
        f"{len(claims()):,} claims in {len(suites)} suites. A claim is one sentence about Kafka, "
        "with its evidence, and real Kafka confirmed it. Each has a page; the search field finds "
        "them by id and by sentence.",
        f"They have {sum(every.values()):,} cases: {coverage.CASE}. A run judges those of one "
        f"release ({coverage.by_release(every)}), with `--newest` one a claim "
        f"({coverage.by_release(newest)}).",
        table(("suite", "claims", "what it is about"), listed),
        "## Evidence",
        "A claim cites what it rests on: clauses of the catalogue of behaviours, by area "
        f"({areas}); [KIPs](kips.md); fields of Kafka's message schemas; and what was "
        "[observed and recorded](recordings.md) on real Kafka.",
    )


def suite_page(name: str, mine: list[Claim]) -> str:
    listed = [(link(one.id), plain(one.sentence)) for one in mine]
    return page(
        f"# Suite {name}",
        SUITES.get(name, ""),
        f"{len(mine)} claims, {sum(coverage.cases(mine).values()):,} cases over five releases. "
        f"`pytest --pyargs touchstone.suites.{name} --target HOST:PORT` judges "
        "them all.",
        table(("claim", "sentence"), listed),
    )


# Evidence


@functools.cache
def clauses_by_area() -> dict[str, list[ledger.Standing]]:
    found: dict[str, list[ledger.Standing]] = {}
    for one in ledger.clauses(claims()):
        found.setdefault(one.area, []).append(one)
    return found


def clauses_page(area: str, mine: Iterable[ledger.Standing]) -> str:
    listed = []
    for one in mine:
        entry = ledger.load().clauses[one.id]
        about = f"{plain(entry.text)}<br>{source_of(entry)}"
        claims = "<br>".join(map(link, one.claims)) or reason(one)
        listed.append((f'<a id="{one.id}"></a>{code(one.id)}', about, claims))
    return page(
        f"# Clauses {area}",
        "Clauses of the catalogue of behaviours: the id, what Kafka does and which of Kafka's code "
        "does it, at which release, and the claims that cite it. A clause that no claim cites says "
        "why. `touchstone coverage --gaps` prints the same.",
        table(("clause", "what Kafka does", "claims, or why there is none"), listed),
    )


def source_of(entry: ledger.Entry) -> str:
    """Where a clause comes from, its KIPs with links."""
    return ledger.KIP.sub(lambda kip: f"[{kip[0]}](kips.md#{kip[0]})", plain(entry.source))


def reason(one: ledger.Standing) -> str:
    tests = ledger.load().clauses[one.id].tests
    said = plain(": ".join(word for word in (one.status or "not classified", one.reason) if word))
    return "<br>".join((said, *map(code, tests)))


def kips_page() -> str:
    kips, clauses = ledger.load().kips, ledger.load().clauses.values()
    citing: dict[str, list[str]] = {kip: [] for kip in kips}
    for entry in clauses:
        for kip in ledger.KIP.findall(entry.source):
            citing[kip].append(evidence_link(entry.id))
    for one in claims():
        for word in one.evidence:
            if word in kips:
                citing[word].append(link(one.id))
    listed = [
        (f'<a id="{one.id}"></a>[{one.id}]({one.link})', plain(one.title),
         ", ".join(one.sections), "<br>".join(citing[one.id]))
        for one in sorted(kips.values(), key=lambda one: int(one.id.removeprefix("KIP-")))
    ]  # fmt: skip
    return page(
        "# KIPs",
        f"Kafka's improvement proposals stand in [Apache Kafka's wiki]({ledger.KIPS}). "
        "These are cited by claims and clauses, with the sections that bear on them.",
        table(("KIP", "title", "sections", "cited by"), listed),
    )


def recordings_page() -> str:
    """Which Kafka gave the recorded answers."""
    listed = []
    for release in advertised.every():
        store = Store(release)
        suites = sorted({one.suite for one in claims()})
        number = sum(len(store.cases(suite)) for suite in suites)
        origins = (store.origin(suite, case) for suite in suites for case in store.cases(suite))
        jars = {(one.version, one.jar, one.sha256, one.java) for one in origins if one}
        for version, jar, sha256, java in sorted(jars):
            words = f"{code(jar)}<br>sha256 {code(sha256[:16])}..."
            listed.append((release, version, words, java, f"{number:,}"))
    return page(
        "# Recordings",
        "Real Kafka's answers are stored with the suites, byte for byte. Each says which jar gave "
        "it. `touchstone record --check` counts them. Of a release without a persona one case a "
        "claim is recorded, which may say that its answer is that of a neighbour; "
        "[how to record](../howto/record.md) says how they are made.",
        table(("release", "version", "jar", "Java", "cases of the release"), listed),
    )


# One claim


def template() -> str:
    """The page that all claims share. Its headings are theirs, so that its table of contents is."""
    return """---
title: MARK-TITLE
search:
  exclude: true
---

# MARK-TITLE

MARK-SENTENCE

MARK-FACTS

## Cases

MARK-CASES

## Evidence

MARK-EVIDENCE

## Run it

MARK-RUN

## Source

MARK-SOURCE
"""


@dataclass(frozen=True)
class Written:
    """Where a claim stands: path in the repository, first line, text."""

    path: str
    line: int
    text: str
    function: str


@functools.cache
def written(where: str) -> Written:
    module, _, function = where.rpartition(".")
    found = getattr(import_module(f"touchstone.{module}"), function)
    lines, first = inspect.getsourcelines(found)
    path = Path(inspect.getsourcefile(found) or "").resolve().relative_to(ROOT)
    return Written(str(path), first, "".join(lines), function)


def parts(one: Claim, stores: Mapping[str, Store]) -> dict[str, str]:
    """Mark -> HTML."""
    return {
        "TITLE": html.escape(one.id),
        "SENTENCE": f'<p class="sentence">{html.escape(one.sentence)}</p>',
        "FACTS": facts(one),
        "CASES": cases(one, stores),
        "EVIDENCE": evidence(one),
        "RUN": run(one),
        "SOURCE": source(one),
    }


def facts(one: Claim) -> str:
    shape = one.shape
    words = {
        "Suite": f'<a href="{one.suite}.html">{one.suite}</a>',
        "Level": one.level,
        "API": one.api or "",
        "Brokers": str(shape.brokers) if shape.brokers > 1 else "",
        "Racks": ", ".join(str(rack) for rack in shape.racks),
        "Settings": "<br>".join(html.escape(f"{k}={v}") for k, v in shape.config),
        "Needs": ", ".join(one.capabilities),
        "Former ids": ", ".join(one.aliases),
        "Catches the defects": ", ".join(
            f'<a href="../reference/defects.html">{name}</a>' for name in one.switches
        ),
    }
    rows = "".join(f"<tr><th>{k}</th><td>{v}</td></tr>" for k, v in words.items() if v)
    return f'<table class="facts"><tbody>{rows}</tbody></table>'


def cases(one: Claim, stores: Mapping[str, Store]) -> str:
    rows = []
    for release, listed in advertised.tables().items():
        ids = one.cases(release, listed)
        stored = stores[release].cases(one.suite)
        recorded = sum(case.id in stored for case in ids)
        versions = sorted({case.version for case in ids if case.version is not None})
        shown = ", ".join(f"v{version}" for version in versions)
        rows.append(
            f"<tr><td>{release}</td><td>{len(ids) or ''}</td><td>{shown}</td>"
            f"<td>{recorded or ''}</td></tr>"
        )
    axes = "".join(
        f"<li><code>{html.escape(name)}</code>: {html.escape(', '.join(map(str, values)))}</li>"
        for name, values in one.axes.items()
    )
    return (
        "<table><thead><tr><th>Kafka</th><th>cases</th><th>versions of the API</th>"
        "<th>recorded on real Kafka</th></tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table>" + (f"<ul>{axes}</ul>" if axes else "")
    )


def evidence(one: Claim) -> str:
    return "<ul>" + "".join(f"<li>{evidence_text(word)}</li>" for word in one.evidence) + "</ul>"


def evidence_text(word: str) -> str:
    """The word with a link, what it stands for and where that comes from."""
    found = ledger.cited(word)
    text = f": {html.escape(found.text)}" if found.text else ""
    source = f" <em>({html.escape(found.source)})</em>" if found.source else ""
    return evidence_link(word) + text + source


def evidence_link(word: str) -> str:
    if word.startswith("KIP-"):
        return f'<a href="kips.html#{word}">{word}</a>'
    if word.startswith("observed on"):
        return f'<a href="recordings.html">{html.escape(word)}</a>'
    if found := ledger.CLAUSE.fullmatch(word):
        page_of = f"clauses-{found[1].lower()}.html"
        return f'<a href="{page_of}#{found[1]}-{found[2]}">{word}</a>'
    return html.escape(word)


def run(one: Claim) -> str:
    place = written(one.where)
    module = one.where.rpartition(".")[0]
    lines = (
        f"pytest --pyargs touchstone.{module}::{place.function} --target HOST:PORT\n"
        f"pytest {place.path}::{place.function} --target HOST:PORT"
    )
    return (
        "<p>Where Touchstone is installed, or in a checkout:</p>"
        f'<div class="highlight"><pre><code>{html.escape(lines)}</code></pre></div>'
    )


def source(one: Claim) -> str:
    place = written(one.where)
    shown = highlight(place.text, PythonLexer(), HtmlFormatter(nowrap=True))
    return (
        f"<p><code>{place.path}</code>, line {place.line}</p>"
        f'<div class="highlight"><pre><code>{shown}</code></pre></div>'
    )


def write(site: Path) -> list[dict[str, str]]:
    """Write the page of each claim beside the template's, which goes; entries for the search."""
    shell = (site / TEMPLATE).with_suffix(".html")
    text = shell.read_text(encoding="utf-8")
    pieces = re.split(r"(?:<p>)?MARK-(\w+)(?:</p>)?", text)
    stores = {release: Store(release) for release in advertised.tables()}
    found = []
    for one in claims():
        values = parts(one, stores)
        filled = [values[piece] if at % 2 else piece for at, piece in enumerate(pieces)]
        name = f"claims/{one.id}.html"
        whole = "".join(filled).replace(shell.name, f"{one.id}.html")
        (site / name).write_text(whole, encoding="utf-8")
        found.append({"location": name, "title": one.id, "text": html.escape(one.sentence)})
    shell.unlink()
    return found
