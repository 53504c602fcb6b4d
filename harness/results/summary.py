"""What a run found out about one target, as a person reads it: the causes first. Pure.

The same parts in the same order in the terminal and in Markdown (the summary of a CI job, a pull
request): how it came out in one line, causes from the gravest down, what no client can tell, notes
that decide nothing, the table by suite, what was not run and why, what was in scope. Everything is
made from rows, so a file of last night gives the same text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from touchstone.harness import shown
from touchstone.harness.judgement import card, causes, wording
from touchstone.harness.judgement.causes import Cause, Causes
from touchstone.harness.judgement.verdict import CONFORMS, DIVERGES
from touchstone.harness.known import Surprise
from touchstone.harness.model.case_row import CaseRow, Header
from touchstone.harness.run import tally

LIGHT = "what no client can tell (cases that differ in nothing else)"
CAUSES, NOTES = 20, 8  # shown; the others are counted and stand on the page
JUDGED = (CONFORMS, DIVERGES)


@dataclass(frozen=True)
class Report:
    """One target of one run: its header, its rows, and what pins say to them."""

    header: Header
    rows: Sequence[CaseRow]
    surprises: Sequence[Surprise] = field(default=())
    finished: bool = True  # not cut by an interruption

    @cached_property
    def causes(self) -> Causes:
        return causes.find(self.rows)

    @cached_property
    def by_case(self) -> Mapping[str, CaseRow]:
        return {row["case"]: row for row in self.rows}

    @property
    def target(self) -> str:
        return self.header["target"]

    @property
    def fresh(self) -> list[Cause]:
        """Causes with a case that no pin explains, without the light ones."""
        return [cause for cause in self.causes.grave if cause.unpinned]

    @property
    def light(self) -> list[Cause]:
        """The light ones, likewise."""
        return [cause for cause in self.causes.light if cause.unpinned]

    @property
    def shown(self) -> list[Cause]:
        """Those of them that a summary has room for."""
        return causes.foremost(self.fresh, CAUSES)

    @property
    def pinned(self) -> list[Cause]:
        return [cause for cause in self.causes.causes if not cause.unpinned]

    @property
    def not_run(self) -> list[str]:
        return tally.not_run(self.rows, self.header["planned"], self.header.get("deselected", 0))

    @property
    def cut(self) -> str:
        """How far a run came that did not judge all that was planned; else nothing."""
        planned = self.header["planned"]
        if self.finished and len(self.rows) >= planned:
            return ""
        return f"incomplete: cut after {len(self.rows):,} of {planned:,} cases"

    @property
    def scope(self) -> str:
        return tally.scope(self.header, self.rows)


def headline(report: Report) -> str:
    """How it came out, in one line; first of all whether it came to its end."""
    header = report.header
    who = f"{report.target} against {header['oracle']}"
    who += f": {report.cut}" if report.cut else ""
    cases, light = (
        sum(cause.unpinned for cause in found) for found in (report.fresh, report.light)
    )
    if not cases + light:
        judged = any(row["verdict"] in JUDGED for row in report.rows)
        return f"{who}: {'no new difference' if judged else 'no case could be judged'}"
    causes_ = wording.counted(len(report.fresh), "cause")
    every = cases + light
    told = f"{wording.counted(every, 'case')} diverge{'s' if every == 1 else ''}, {causes_}"
    more = f"; {light:,} of them only in what no client can tell" if light else ""
    return f"{who}: {told}{more}"


def circumstances(header: Header) -> list[str]:
    """Return the lines that say how a target was judged: as which release, with which settings,
    and where it sends its clients.
    """
    return [*_release(header), *settings(header), *header.get("addresses", ())]


def _release(header: Header) -> list[str]:
    """Return the line that names the release and why it is that one; none for older runs."""
    reason = header.get("release_reason")
    return [f"held against Kafka {header['release']}: {reason}"] if reason else []


def settings(header: Header) -> list[str]:
    """With which settings the target was judged, in one line; no line for rows of older runs."""
    profiles = header.get("profiles")
    if profiles:
        return [f"settings: those of profile {' and '.join(profiles)}, as --profile says"]
    told = {
        True: ["settings: each claim got those that it wants"],
        False: ["settings: the target's own; no profile was named (--profile NAME)"],
    }
    configured = header.get("configured")
    return [] if configured is None else told[configured]


def lines(report: Report) -> list[str]:
    """For a terminal."""
    found = ["", headline(report), ""]
    for number, cause in enumerate(report.shown, 1):
        found += [*_cause(number, cause, report.header), ""]
    found += [f"{more} (index.html has them all)", ""] if (more := _more(report)) else []
    found += _listed(f"{LIGHT}:", report.light)
    found += _listed("notes (they decide nothing):", report.causes.notes)
    found += tally.table("suite", report.rows)
    return [shown.block(text) for text in (*found, *_below(report))]


def _below(report: Report) -> list[str]:
    """What stands below the table: pins, what was not run and why, what was in scope."""
    return [
        *(f"known: {text}" for text in _pinned(report)),
        *report.not_run,
        *tally.flaky(report.rows),
        *tally.surprising(report.surprises),
        *circumstances(report.header),
        report.scope,
    ]


def _cause(number: int, cause: Cause, header: Header) -> list[str]:
    return [
        f"{number:>2}. {wording.title(cause)}  [{cause.id}]",
        f"    {wording.sentence(cause)}",
        f"    {'; '.join(filter(None, (wording.effect(cause), wording.behind(cause))))}",
        *(f"    {wording.also(sign)}" for sign in cause.also),
        f"    {cases(cause)}; for example {cause.example['case']}, step {cause.step!r}:",
        f"    {cause.example['sentence']}",
        f"    {wording.again(cause.example, header)}",
    ]


def cases(cause: Cause) -> str:
    """How many cases rest on a cause, and how many of them are pinned."""
    text = wording.counted(len(cause.cases), "case")
    pinned = len(cause.cases) - cause.unpinned
    return f"{text}, {pinned} of them known" if pinned and cause.unpinned else text


def _listed(head: str, found: Sequence[Cause]) -> list[str]:
    """The first of many small things, each in one line."""
    if not found:
        return []
    told = [f"  {note(one)}" for one in found[:NOTES]]
    more = [f"  ... and {len(found) - NOTES} more"] if len(found) > NOTES else []
    return [head, *told, *more, ""]


def note(one: Cause) -> str:
    return f"{wording.title(one)}: {wording.sentence(one)} ({cases(one)})"


def _pinned(report: Report) -> list[str]:
    more = len(report.pinned) - NOTES
    return [
        *(
            f"{', '.join(cause.known)}: {wording.title(cause)} ({cases(cause)})"
            for cause in report.pinned[:NOTES]
        ),
        *([f"... and {more} more causes"] if more > 0 else []),
    ]


# Markdown


def markdown(reports: Sequence[Report]) -> str:
    """For a CI job's summary: every target, the causes first."""
    return "\n\n".join(part for report in reports for part in _sections(report)) + "\n"


def _sections(report: Report) -> list[str]:
    parts = [f"## {shown.markdown(headline(report))}"]
    if report.fresh:
        parts += [_causes_table(report)]
        for number, cause in enumerate(report.shown, 1):
            parts.append(_cause_details(number, cause, report))
    parts += _folded_list("light cause", f": {LIGHT}", report.light)
    parts += _folded_list("note", " (they decide nothing)", report.causes.notes)
    rows = [
        [suite, *(str(counted[word] or "") for word in tally.COLUMNS)]
        for suite, counted in tally.by_suite(report.rows)
    ]
    parts.append(table(["suite", *tally.COLUMNS], rows))
    parts.append("\n".join(f"- {shown.markdown(line)}" for line in _below(report)))
    return parts


def _folded_list(noun: str, about: str, found: Sequence[Cause]) -> list[str]:
    """Small things, the first by name; nothing where there are none."""
    if not found:
        return []
    told = "\n".join(f"- {shown.markdown(note(one))}" for one in found[:CAUSES])
    more = len(found) - CAUSES
    told += f"\n\n... and {more} more {noun}s" if more > 0 else ""
    return [_folded(f"{wording.counted(len(found), noun)}{about}", told)]


def _causes_table(report: Report) -> str:
    rows = [
        [
            str(number), wording.title(cause), _sentences(cause), cause.effect, cause.hits,
            str(len(cause.cases)),
        ]
        for number, cause in enumerate(report.shown, 1)
    ]  # fmt: skip
    text = table(["", "where", "what", "effect", "hits", "cases"], rows)
    return f"{text}\n\n{_more(report)}".rstrip()


def _sentences(cause: Cause) -> str:
    return "; ".join([wording.sentence(cause), *map(wording.also, cause.also)])


def _more(report: Report) -> str:
    """What is not shown of the causes, and how many cases rest on it."""
    listed = {cause.id for cause in report.shown}
    others = [cause for cause in report.fresh if cause.id not in listed]
    count = wording.counted(sum(cause.unpinned for cause in others), "case")
    return f"... and {len(others)} more causes of {count}" if others else ""


def _cause_details(number: int, cause: Cause, report: Report) -> str:
    told = card.markdown(card.of_row(cause.example, report.header, cause.example["transcript"]))
    title = f"{number}. {wording.title(cause)} ({cases(cause)})"
    return _folded(title, f"{shown.code(cause.id)}\n\n{told}")


def _folded(title: str, body: str) -> str:
    return f"<details><summary>{shown.html(title)}</summary>\n\n{body}\n\n</details>"


def table(head: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    first, *others = (f"| {' | '.join(map(shown.markdown, line))} |" for line in (head, *body))
    return "\n".join([first, f"|{' --- |' * len(head)}", *others])
