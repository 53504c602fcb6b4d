"""`touchstone history FILES`: hold what clients were told against what Kafka promises.

No broker is needed: a history is a file (harness/model/history.py describes it), ours or anybody's
who writes the same lines. The exit code is a run's: 0 conforms, 1 a promise was broken, 2 the
harness broke, 3 nothing could be concluded or read.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from touchstone.harness.checkers.histories import DIVERGES, INCONCLUSIVE, Report, judge, properties
from touchstone.harness.model import bounded
from touchstone.harness.model import history as histories

SHOWN = 5  # anomalies of one property; the count tells of the rest


@click.command(epilog="Properties: " + ", ".join(sorted(properties())) + ".")
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--all", "everything", is_flag=True, help="Show every anomaly, not the first few.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per file instead of text.")
def command(files: tuple[Path, ...], everything: bool, as_json: bool) -> None:
    """Judge histories of operations (JSON lines), without any broker.

    FILES are histories, or folders that hold some as *.history.jsonl. Of each anomaly only the
    operations it is about are shown, with their lines in the file. Exit code 0: every promise was
    kept, 1: one was broken, 2: the harness broke, 3: nothing could be concluded or read.
    """
    sys.exit(main(files, None if everything else SHOWN, as_json))


def main(files: Iterable[Path], most: int | None = SHOWN, as_json: bool = False) -> int:
    verdicts = []
    for path in history_files(files):
        try:
            report = judge(histories.read(bounded.lines(path), str(path)))
        except (histories.BadHistory, bounded.TooMuch, OSError) as fault:
            click.echo(f"touchstone history: {fault}", err=True)
            verdicts.append(INCONCLUSIVE)
            continue
        verdicts.append(report.verdict)
        if as_json:
            click.echo(json.dumps({"file": str(path), **row(report)}))
        else:
            click.echo(f"{path}: {summary(report)}")
            for text in anomalies(report, most):
                click.echo(text)
    if not verdicts:
        click.echo("touchstone history: no history (*.history.jsonl) in these folders", err=True)
    if DIVERGES in verdicts:
        return 1
    return 3 if not verdicts or INCONCLUSIVE in verdicts else 0


def history_files(files: Iterable[Path]) -> Iterable[Path]:
    for path in files:
        yield from sorted(path.rglob("*.history.jsonl")) if path.is_dir() else (path,)


def row(report: Report) -> dict[str, Any]:
    """A report as data."""
    return {
        "verdict": report.verdict,
        "broken": dict(report.names()),
        "excused": len(report.excused),
        "counts": dict(report.counts),
        "anomalies": [
            {"property": each.name, "place": each.place, "sentence": each.sentence}
            for each in report.broken
        ],
    }


def summary(report: Report) -> str:
    """One line: the verdict, what was done, what was found."""
    counts = report.counts
    sends = "/".join(str(counts[f"send {outcome}"]) for outcome in histories.OUTCOMES)
    words = [
        f"{len(report.history.operations)} operations",
        f"{sends} sends {'/'.join(histories.OUTCOMES)}",
        f"{counts['records read']} records read",
    ]
    words += [f"{count} {name}" for name, count in sorted(report.names().items())]
    if report.unread:
        words.append(f"not read to the end: {', '.join(report.unread)}")
    if report.excused:
        words.append(f"{len(report.excused)} that no promise forbids")
    return f"{report.verdict}: {', '.join(words)}"


def anomalies(report: Report, most: int | None) -> Iterable[str]:
    """Each anomaly with the operations it is about, at most so many of a property."""
    shown: dict[str, int] = {}
    for each in report.broken:
        shown[each.name] = shown.get(each.name, 0) + 1
        if most is None or shown[each.name] <= most:
            yield "  " + str(each).replace("\n", "\n  ")
    for name, count in shown.items():
        if most is not None and count > most:
            yield f"  {name}: {count - most} more (--all shows them)"
