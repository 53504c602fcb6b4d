"""The page of a run: one HTML file that needs nothing else, written without Spark. Pure.

Causes come first; each opens to a card and to its cases. There is no script and nothing is asked of
the network, so the page can be mailed and is shown by any CI server that keeps files. What is
repeated per case is bounded (CASES with their differences, the others by name), so thousands of
rows stay a page that a browser opens at once; the rows beside it have everything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from touchstone.harness.judgement import card, wording
from touchstone.harness.judgement.card import Card, Evidence
from touchstone.harness.judgement.causes import Cause
from touchstone.harness.model.case_row import CaseRow
from touchstone.harness.results.summary import LIGHT, Report, cases, circumstances, headline
from touchstone.harness.run import tally
from touchstone.harness.shown import html as escape

CSS = Path(__file__).with_name("page.css")
CASES = 25  # of one cause that open to what differs
NAMED = 1000  # of one cause that are named at all
BEHIND, FEW = 25, 5  # differences behind a cause, and cases that are named of each
OPEN = 3  # as many causes are shown open; of more the list itself is what one wants to see
Example = Callable[[CaseRow], Card | None]  # a row -> its card with request, if stored


def document(title: str, body: Iterable[str]) -> str:
    """A whole HTML document around these parts."""
    css = CSS.read_text(encoding="utf-8")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title>\n<style>\n{css}</style></head>\n<body>\n"
        + "\n".join(body)
        + "\n</body></html>\n"
    )


def render(reports: Sequence[Report], example: Example = lambda row: None) -> str:
    """The page of one run: its targets one after another.

    `example` gives a row's card with the request, where its bundle can be read.
    """
    runs = sorted({report.header["run"] for report in reports})
    body = [f"<h1>Touchstone, run {escape(', '.join(runs))}</h1>"]
    if len(reports) > 1:
        body.append(_overview(reports))
    for report in reports:
        body += _target(report, example)
    return document(f"Touchstone {', '.join(runs)}", body)


def _overview(reports: Sequence[Report]) -> str:
    links = (
        f'<li><a href="#{_anchor(report.target)}">{escape(headline(report))}</a></li>'
        for report in reports
    )
    return f"<ul>{''.join(links)}</ul>"


def _target(report: Report, example: Example) -> list[str]:
    header = report.header
    found = [
        f'<h2 id="{_anchor(report.target)}">{escape(headline(report))}</h2>',
        *(f'<p class="dim">{escape(line)}.</p>' for line in circumstances(header)),
        f'<p class="dim">{escape(report.scope)}. Started {escape(header["started"])}, commit '
        f"{escape(str(header['commit']))}, seed {escape(str(header['seed']))}.</p>",
    ]
    if report.fresh:
        found.append("<h3>Causes</h3>")
        found += [
            _cause(cause, report, example, len(report.fresh) <= OPEN) for cause in report.fresh
        ]
    if report.pinned:
        found.append("<h3>Known: every case is pinned</h3>")
        found += [_cause(cause, report, example, False) for cause in report.pinned]
    if report.light:
        found.append(f'<h3>{escape(LIGHT[:1].upper() + LIGHT[1:])}</h3><div class="notes">')
        found += [_cause(cause, report, example, False) for cause in report.light]
        found.append("</div>")
    if report.causes.notes:
        found.append('<h3>Notes: they decide nothing</h3><div class="notes">')
        found += [_cause(note, report, lambda row: None, False) for note in report.causes.notes]
        found.append("</div>")
    found += ["<h3>By suite</h3>", _suites(report)]
    told = [*report.not_run, *tally.flaky(report.rows), *tally.surprising(report.surprises)]
    if told:
        items = "".join(f"<li>{escape(line)}</li>" for line in told)
        found += ["<h3>Not run, flaky, surprising</h3>", f"<ul>{items}</ul>"]
    return found


def _anchor(target: str) -> str:
    return escape("".join(c if c.isalnum() else "-" for c in target))


def _cause(cause: Cause, report: Report, example: Example, opened: bool) -> str:
    full = example(cause.example) or card.of_row(
        cause.example, report.header, cause.example["transcript"]
    )
    return (
        f'<details class="cause"{" open" if opened else ""} id="{escape(cause.id)}">'
        f'<summary><span class="kind" title="hits {escape(cause.hits)}">{escape(cause.effect)}'
        f"</span>"
        f"<b>{escape(wording.title(cause))}</b>"
        f'<span class="count">{escape(cases(cause))}</span>'
        f'<span class="says">{escape(wording.sentence(cause))}</span></summary>'
        f'<p class="dim"><code>{escape(cause.id)}</code>; {escape(wording.effect(cause))}'
        f"{_pairs(cause)}</p>{_also(cause)}"
        f"{show_card(full)}{_cases(cause, report)}{_behind(cause)}</details>"
    )


def _also(cause: Cause) -> str:
    signs = "".join(f"<li>{escape(wording.also(sign))}</li>" for sign in cause.also)
    return f"<ul>{signs}</ul>" if signs else ""


def _behind(cause: Cause) -> str:
    """What else differs in its cases, with the names of those."""
    if not cause.behind:
        return ""
    items = (
        f"<li>{escape(wording.title(one))}: {escape(wording.sentence(one))}"
        f'<br><code class="dim">{escape(_some(one.cases))}</code></li>'
        for one in cause.behind[:BEHIND]
    )
    more = len(cause.behind) - BEHIND
    rest = f"<p>... and {more:,} more: see causes.json</p>" if more > 0 else ""
    head = f"<summary>{escape(wording.behind(cause))}</summary>"
    return f"<details>{head}<ul>{''.join(items)}</ul>{rest}</details>"


def _some(names: Sequence[str]) -> str:
    more = len(names) - FEW
    return ", ".join(names[:FEW]) + (f" and {more:,} more" if more > 0 else "")


def _pairs(cause: Cause) -> str:
    if len(cause.pairs) < 2:
        return ""
    shown = (
        f"{wording.value(cause.path, one)} → {wording.value(cause.path, other)}"
        for one, other in cause.pairs[:5]
    )
    more = len(cause.pairs) - 5
    return escape(f"; values: {', '.join(shown)}" + (f" and {more} more" if more > 0 else ""))


def _cases(cause: Cause, report: Report) -> str:
    """The cases of a cause: the first with their differences, the others by name."""
    first = [report.by_case[case] for case in cause.cases[:CASES]]
    opened = "".join(
        f"<details><summary><code>{escape(row['case'])}</code>"
        f'<span class="says">{escape(wording.shortened(row["reason"], 240))}</span></summary>'
        f"{show_card(card.of_row(row, report.header, row['transcript']))}</details>"
        for row in first
    )
    names = cause.cases[CASES:NAMED]
    rest = "".join(f"<li><code>{escape(case)}</code></li>" for case in names)
    more = len(cause.cases) - NAMED
    told = f"<p>... and {more:,} more: see the rows</p>" if more > 0 else ""
    named = f'<ul class="plain">{rest}</ul>' if rest else ""
    return f"<details><summary>{escape(cases(cause))}</summary>{opened}{named}{told}</details>"


def show_card(one: Card) -> str:
    """A card as HTML."""
    evidence = "<br>".join(evidence_shown(e) for e in one.evidence)
    body = "\n".join(escape(line.removeprefix("  ")) for line in card.body(one))
    return (
        f"<p><code>{escape(one.case)}</code>: {escape(one.sentence)}</p>"
        f'<p class="dim">{evidence}</p><pre>{body.strip()}</pre>{_client(one)}'
    )


def _client(one: Card) -> str:
    """The request's bytes, in a program that sends them."""
    if not one.client:
        return ""
    title = "the request's bytes, and a client that sends them (Python, nothing else)"
    return f"<details><summary>{title}</summary><pre>{escape(one.client)}</pre></details>"


def evidence_shown(one: Evidence) -> str:
    word = escape(one.word)
    word = f'<a href="{escape(one.link)}">{word}</a>' if one.link else word
    return f"{word}: {escape(one.text)}" if one.text else word


def _suites(report: Report) -> str:
    head = "".join(f'<th class="number">{escape(word)}</th>' for word in tally.COLUMNS)
    body = "".join(
        f"<tr><td>{escape(suite)}</td>{''.join(_count(word, n[word]) for word in tally.COLUMNS)}"
        "</tr>"
        for suite, n in tally.by_suite(report.rows)
    )
    return f"<table><tr><th>suite</th>{head}</tr>{body}</table>"


def _count(word: str, number: int) -> str:
    tone = {"CONFORMS": " good", "DIVERGES": " bad", "BROKEN": " bad"}.get(word, "")
    return f'<td class="number{tone if number else ""}">{number or ""}</td>'
