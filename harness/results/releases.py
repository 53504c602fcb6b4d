"""What changed between two releases of Kafka, from their recordings: causes, as of a run.

The later release is the target and the earlier one its oracle, in the newest case of each claim
that both were recorded for. What either lacks is told by the ranges of API versions.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from touchstone.harness import shown
from touchstone.harness.judgement import causes, wording
from touchstone.harness.judgement.causes import Cause
from touchstone.harness.judgement.verdict import INCONCLUSIVE
from touchstone.harness.model import advertised
from touchstone.harness.model.case_row import CaseRow
from touchstone.harness.results.rows import plain
from touchstone.reference_impl.wire.apis import API

SCHEMA = 1


@dataclass(frozen=True)
class Change:
    """One cause, the area (a suite) of its claim, and what both releases answer, in words."""

    area: str
    title: str
    answers: str
    claim: str
    sentence: str
    evidence: tuple[str, ...]
    cause: Cause


@dataclass(frozen=True)
class Changes:
    """All of it between two releases; `compared` counts cases that both were recorded for."""

    before: str
    after: str
    compared: int
    ranges: tuple[str, ...]
    changes: tuple[Change, ...]

    @property
    def headline(self) -> str:
        differ = len({case for one in self.changes for case in one.cause.cases})
        return (
            f"Kafka {self.before} to {self.after}: {differ:,} of {self.compared:,} recorded cases"
            f" are answered otherwise, {wording.counted(len(self.changes), 'cause')}"
        )


def of(
    before: str, after: str, rows: Iterable[CaseRow], apis: frozenset[str] | None = None
) -> Changes:
    """Return what changed, of the rows of `after` held against `before`; by area, the gravest
    first. `apis` are those whose ranges of versions are told, None: all.
    """
    judged = [row for row in rows if row["verdict"] != INCONCLUSIVE]
    found = causes.find(judged)
    changes = sorted((_change(cause, after) for cause in found.causes), key=lambda one: one.area)
    return Changes(before, after, len(judged), tuple(_ranges(before, after, apis)), tuple(changes))


def _change(cause: Cause, after: str) -> Change:
    row = cause.example
    return Change(
        row["suite"], wording.title(cause),
        wording.sentence(cause).replace(wording.TARGET, f"Kafka {after}"),
        row["claim"], row["sentence"], tuple(row["evidence"]), cause,
    )  # fmt: skip


def _ranges(before: str, after: str, apis: frozenset[str] | None) -> Iterator[str]:
    """Yield the APIs that came or went, and those whose versions are others."""
    old, new = advertised.table(before), advertised.table(after)
    for key in sorted(old.keys() | new.keys()):
        name = API[key].name if key in API else str(key)
        if old.get(key) != new.get(key) and (apis is None or name in apis):
            yield f"{name}: {_range(old.get(key))} to {_range(new.get(key))}"


def _range(pair: tuple[int, int] | None) -> str:
    return "none" if pair is None else f"{pair[0]}-{pair[1]}"


def lines(found: Changes) -> Iterator[str]:
    """For a terminal."""
    yield found.headline
    area = ""
    for number, one in enumerate(found.changes, 1):
        if one.area != area:
            area = one.area
            yield from ("", area)
        yield f"{number:>4}. {one.title}"
        yield f"      {one.answers}"
        yield f"      {one.claim}: {one.sentence}"
    if found.ranges:
        yield from ("", "versions")
        yield from (f"      {one}" for one in found.ranges)


def markdown(found: Changes) -> str:
    """The same as Markdown, a heading an area."""
    parts = [f"# Kafka {found.before} to {found.after}", f"{found.headline}."]
    area = ""
    for one in found.changes:
        if one.area != area:
            area = one.area
            parts.append(f"## {area}")
        evidence = f" ({'; '.join(one.evidence)})" if one.evidence else ""
        parts.append(f"**{shown.markdown(one.title)}** {shown.markdown(one.answers)}.")
        sentence = shown.markdown(one.sentence + evidence)
        parts.append(f"> {sentence} `{one.claim}`")
    if found.ranges:
        parts += ["## versions", "\n".join(f"- {shown.markdown(one)}" for one in found.ranges)]
    return "\n\n".join(parts) + "\n"


def dumps(found: Changes) -> str:
    """The same as JSON."""
    return json.dumps(_data(found), indent=1) + "\n"


def _data(found: Changes) -> dict[str, Any]:
    return {
        "schema": SCHEMA, "before": found.before, "after": found.after,
        "compared": found.compared, "versions": list(found.ranges),
        "changes": [
            {
                "area": one.area, "title": one.title, "answers": one.answers, "claim": one.claim,
                "sentence": one.sentence, "evidence": list(one.evidence),
                "apis": list(one.cause.apis), "path": one.cause.path,
                "pairs": [[plain(side) for side in pair] for pair in one.cause.pairs],
                "cases": list(one.cause.cases),
            }
            for one in found.changes
        ],
    }  # fmt: skip
