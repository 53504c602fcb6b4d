"""The runs of the input in order: when each was, and which is a target's newest.

A run is (run id, target): one file. Run ids are numbered by the earliest start that any of their
files states, then by id, so that a clock which stood still cannot shuffle a trend. The date of a
run is the day of that start, as its files state it: several runs may be of one night.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from touchstone.harness.spark.inputs import ResultFile

NUMBERED = re.compile(r"\d+")
DATE = len("2026-11-28")


@dataclass(frozen=True, slots=True)
class Run:
    """One result file with its place in time. `file` is the name Spark reads it under."""

    file: str
    number: int  # of its run id; 0 is the oldest
    date: str
    ordinal: int  # among the runs of its target
    latest: bool
    source: ResultFile
    incomplete: str | None = None

    @property
    def target(self) -> str:
        return self.source.target

    @property
    def planted(self) -> bool:
        """Whether this is our broker with a defect on purpose; see `jobs/detection.py`."""
        return "+" in self.target

    def row(self) -> tuple[Any, ...]:
        """In the order of `schema.RUNS`."""
        header, footer = self.source.header, self.source.footer or {}
        host = header.get("host") or {}
        return (
            self.file,
            header["run"],
            self.number,
            self.date,
            self.ordinal,
            self.latest,
            header["target"],
            *(text(header.get(name)) for name in ("release", "kind", "started")),
            text(footer.get("finished")),
            *(text(header.get(name)) for name in ("oracle", "oracle_kind")),
            *(text(header.get(name)) for name in ("build", "commit", "seed")),
            {str(key): str(value) for key, value in host.items()},
            header.get("planned"),
            footer.get("cases"),
            bool(header.get("deselected")),
            self.incomplete,
        )


def seconds(run: Run) -> float | None:
    """How long a run took by the clock on the wall; None of one that states no end, or no times."""
    ends = run.source.header["started"], (run.source.footer or {}).get("finished")
    try:
        started, finished = (datetime.datetime.fromisoformat(str(end)) for end in ends)
        return max(0.0, (finished - started).total_seconds())
    except (ValueError, TypeError):  # no time, or only one of the two with a zone
        return None


def text(value: object) -> str | None:
    return None if value is None else str(value)


def ordered(files: Iterable[ResultFile]) -> list[Run]:
    """The runs by number and target. Files without a header have no place and are left out."""
    files = [file for file in files if file.header]
    began: dict[str, str] = {}
    for file in files:
        started = str(file.header["started"])
        began[file.run] = min(began.get(file.run, started), started)
    numbers = {run: i for i, run in enumerate(sorted(began, key=lambda run: (began[run], run)))}
    inside = sorted(files, key=lambda f: (numbers[f.run], target_order(f.target), str(f.path)))
    of_target: dict[str, int] = {}
    for file in inside:
        of_target[file.target] = of_target.get(file.target, 0) + 1
    passed: dict[str, int] = {}
    runs = []
    for number, file in enumerate(inside):
        ordinal = passed[file.target] = passed.get(file.target, -1) + 1
        runs.append(
            Run(
                file=f"{number:06d}.jsonl",
                number=numbers[file.run],
                date=began[file.run][:DATE],
                ordinal=ordinal,
                latest=ordinal == of_target[file.target] - 1,
                source=file,
                incomplete=file.defect.reason if file.defect else None,
            )
        )
    return runs


def target_order(target: str) -> tuple[Any, ...]:
    """Targets by name, numbers in them by value: reference@2.8 before reference@10.0."""
    pieces = NUMBERED.split(target)
    numbers = [int(number) for number in NUMBERED.findall(target)]
    return tuple(zip(pieces, [*numbers, -1], strict=False))


def adjacent(runs: Iterable[Run]) -> list[tuple[str, str]]:
    """(older, newer) targets whose releases stand beside each other and whose family is the same.

    A family is what stands before the `@`: reference@2.8 and reference@3.9 are neighbours,
    reference@2.8 and kafka@3.9 are not; a target without `@` has no neighbour.
    """
    families: dict[str, list[str]] = {}
    for run in runs:
        if run.latest and not run.planted and "@" in run.target:
            families.setdefault(run.target.split("@")[0], []).append(run.target)
    pairs: list[tuple[str, str]] = []
    for family in sorted(families):
        members = sorted(families[family], key=target_order)
        pairs += zip(members, members[1:], strict=False)
    return pairs
