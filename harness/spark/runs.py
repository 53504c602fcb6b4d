"""The runs of the input in order: which night each belongs to, and which is a target's newest.

A run is (run id, target): one file. A night is a run id; nights are ordered by the earliest start
any of their files states, then by id, so that a clock which stood still cannot shuffle a trend.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from touchstone.harness.spark.inputs import ResultFile

NUMBERED = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Run:
    """One result file with its place in time. `file` is the name Spark reads it under."""

    file: str
    night: int
    ordinal: int
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
            self.night,
            self.ordinal,
            self.latest,
            header["target"],
            *(text(header.get(name)) for name in ("release", "kind", "started")),
            text(footer.get("finished")),
            *(text(header.get(name)) for name in ("oracle", "oracle_kind", "commit", "seed")),
            {str(key): str(value) for key, value in host.items()},
            header.get("planned"),
            footer.get("cases"),
            self.incomplete,
        )


def text(value: object) -> str | None:
    return None if value is None else str(value)


def ordered(files: Iterable[ResultFile]) -> list[Run]:
    """The runs by night and target. Files without a header have no place and are left out."""
    files = [file for file in files if file.header]
    began: dict[str, str] = {}
    for file in files:
        started = str(file.header["started"])
        began[file.run] = min(began.get(file.run, started), started)
    nights = {run: i for i, run in enumerate(sorted(began, key=lambda run: (began[run], run)))}
    inside = sorted(files, key=lambda f: (nights[f.run], target_order(f.target), str(f.path)))
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
                night=nights[file.run],
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
