"""The table that needs no Spark: one line per target, from the two ends of its newest file.

`make conformance` prints it on every machine, also where Java is missing, so it reads no more than
headers and footers, and the rows of a run that was cut, which nobody counted; the same columns head
the Markdown summary and the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from touchstone.harness import shown
from touchstone.harness.spark.inputs import ResultFile, count_judged
from touchstone.harness.spark.runs import Run, ordered, target_order

COLUMNS = ("cases", "conforms", "known", "diverges", "inconclusive", "unsupported", "broken")
STATUSES = ("conforms", "inconclusive", "diverges", "broken", "incomplete")  # best to worst


def status_of(counts: dict[str, Any], planned: int, incomplete: str | None) -> str:
    """One word for a target's newest run. What was planned and not run can never be green."""
    if incomplete or counts["cases"] < planned or not counts["cases"]:
        return "incomplete"
    for word in ("broken", "diverges", "inconclusive"):
        if counts.get(word):
            return word
    return "conforms"


def from_footers(files: Sequence[ResultFile]) -> list[dict[str, Any]]:
    """The newest run of every target as its own file tells it.

    A footer counts verdicts and does not say which differences are known; its exit code does: a run
    whose only differences are known exits 0, and then they are shown as known.
    """
    return [facts(run) for run in newest(files)]


def newest(files: Sequence[ResultFile]) -> list[Run]:
    """The newest run of every target, in order of the names; planted defects are no targets."""
    runs = [run for run in ordered(files) if run.latest and not run.planted]
    return sorted(runs, key=lambda run: target_order(run.target))


def facts(run: Run) -> dict[str, Any]:
    header, footer = run.source.header, run.source.footer or {}
    by_verdict = footer.get("by_verdict") or count_judged(run.source)
    counts = {name: by_verdict.get(name.upper(), 0) for name in COLUMNS if name != "cases"}
    counts["cases"] = sum(counts.values())
    if footer.get("exit") == 0:
        counts["known"], counts["diverges"] = counts["diverges"], 0
    planned = header.get("planned") or 0
    return {
        "target": run.target,
        "oracle": header.get("oracle"),
        "oracle_kind": header.get("oracle_kind"),
        "planned": planned,
        **counts,
        "not_run": max(0, planned - counts["cases"]),
        "incomplete": cut_words(run.incomplete, counts["cases"], planned),
        "status": status_of(counts, planned, run.incomplete),
    }


def cut_words(reason: str | None, cases: int, planned: int) -> str | None:
    """How far a run came that was cut, and what shows it; None for one that is whole."""
    if reason is None:
        return None
    return f"cut after {cases:,} of {planned:,} cases ({reason.removeprefix('incomplete: ')})"


def oracle_of(target: dict[str, Any]) -> str:
    """Where the oracle's answers came from; a recorded answer never passes for a live one."""
    oracle = target.get("oracle")
    if not oracle:
        return "none"
    if target.get("oracle_kind") == "recorded":
        return oracle if oracle.startswith("recorded") else f"recorded {oracle}"
    return f"live {oracle}"


def table(targets: Sequence[dict[str, Any]]) -> str:
    """Fixed width, for a terminal."""
    header = ("target", "oracle", *COLUMNS, "not run", "verdict")
    rows = [header, *(cells(target) for target in targets)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(header))]
    return "\n".join(shown.line("  ".join(aligned(row, widths)).rstrip()) for row in rows)


def markdown(targets: Sequence[dict[str, Any]]) -> str:
    header = ("target", "oracle", *COLUMNS, "not run", "verdict")
    left = ("target", "oracle", "verdict")
    rule = [":---" if name in left else "---:" for name in header]
    rows = [map(shown.markdown, cells(target)) for target in targets]
    return "\n".join(f"| {' | '.join(row)} |" for row in (header, rule, *rows))


def cells(target: dict[str, Any]) -> tuple[str, ...]:
    counts = (f"{target[name]:,}" if target[name] else "." for name in COLUMNS)
    not_run = f"{target['not_run']:,}" if target["not_run"] else "."
    verdict = target["status"].upper()
    if target["incomplete"]:
        verdict += f": {target['incomplete']}"
    return (target["target"], oracle_of(target), *counts, not_run, verdict)


def aligned(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    last = len(row) - 1
    return [
        cell.ljust(width) if i < 2 or i == last else cell.rjust(width)
        for i, (cell, width) in enumerate(zip(row, widths, strict=True))
    ]
