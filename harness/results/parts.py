"""Files of one target that several processes wrote, and when they make a whole.

A part says in its header which one it is, of how many, and how many cases all of them have; no
reader takes it for a target's results (`jsonl.read` and the report refuse it). Parts make a whole
only when all are there and finished, were planned alike and hold every planned case once. Whatever
is missing is named: a part that nobody wrote must never look like cases that nobody planned.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from touchstone.harness.model import bounded
from touchstone.harness.model.case_row import CaseRow, Header, PartMark, PartRow, StepSign
from touchstone.harness.results import jsonl

PART: Final = "part"  # the header's key
SAME = ("run", "target", "release", "kind", "oracle", "oracle_kind", "commit", "seed", "schema",
        "build")  # fmt: skip


class NotWhole(ValueError):
    """These parts do not make a whole; the message says why."""


@dataclass(frozen=True, slots=True)
class Whole:
    """All that several processes found out about one target."""

    header: Header
    rows: tuple[CaseRow, ...]
    exits: tuple[int, ...]  # of the processes
    finished: str
    manifest: Mapping[str, Any]
    steps: Mapping[str, Sequence[StepSign]]  # of each case, which rows of a whole do not have


def mark(index: int, count: int, total: int) -> PartMark:
    """What the header of a part says; `total` counts the cases of all parts."""
    return {"index": index, "of": count, "total": total}


def name(file: str, index: int, count: int) -> str:
    """What a target's part is called; `file` is what the whole is called, without its suffix."""
    return f"{file}.part-{index}-of-{count}"


def find(folder: Path) -> dict[str, list[Path]]:
    """The files of parts in a run's folder, by what their whole would be called."""
    found: dict[str, list[Path]] = {}
    for path in sorted(folder.glob("*.part-*-of-*.jsonl")):
        found.setdefault(path.name.rpartition(".part-")[0], []).append(path)
    return found


def whole(paths: Sequence[Path]) -> Whole:
    """What these parts of one target come to together. Raises NotWhole."""
    try:
        found = [jsonl.read(path, part=True) for path in paths]
    except jsonl.BadResults as bad:
        raise NotWhole(str(bad)) from bad
    found.sort(key=lambda one: one.header[PART]["index"])
    first = found[0].header
    for one in found:
        _alike(first, one)
    rows = tuple(row for one in found for row in one.cases)
    planned = sum(one.header["planned"] for one in found)
    for reason in _lacking(found, planned, rows):
        raise NotWhole(f"{first['target']}: {reason}")
    started = min(one.header["started"] for one in found)
    made = {row["case"]: cast(PartRow, row).pop("steps", []) for row in rows}
    header: Header = {**first, "planned": planned, "started": started}
    del header[PART]
    ends = [one.footer for one in found if one.footer is not None]
    return Whole(
        header, rows, tuple(end["exit"] for end in ends), max(end["finished"] for end in ends),
        _manifest(paths), made,
    )  # fmt: skip


def _lacking(
    found: Sequence[jsonl.Results], planned: int, rows: Sequence[CaseRow]
) -> Iterator[str]:
    first = found[0].header[PART]
    there = [one.header[PART]["index"] for one in found]
    missing = sorted(set(range(1, first["of"] + 1)) - set(there))
    if missing:
        words = ", ".join(map(str, missing))
        yield f"of {first['of']} parts these are missing: {words}"
    if len(there) != len(set(there)):
        yield "a part stands there twice"
    if planned != first["total"]:
        yield f"the parts plan {planned} cases, all together {first['total']}"
    if len({row["case"] for row in rows}) < len(rows):
        yield "a case stands in two parts"


def _alike(first: Mapping[str, Any], other: jsonl.Results) -> None:
    same = {key: (first.get(key), other.header.get(key)) for key in SAME}
    same |= {key: (first[PART][key], other.header[PART][key]) for key in ("of", "total")}
    for key, (one, two) in same.items():
        if one != two:
            raise NotWhole(f"{other.path}: {key} is {two!r}, of another part {one!r}")


def manifest_of(path: Path) -> Path:
    return path.with_name(path.name.removesuffix(".jsonl") + ".manifest.json")


def _manifest(paths: Sequence[Path]) -> dict[str, Any]:
    """What was planned and left out, over all parts; each left the same out."""
    try:
        found = [bounded.json_of(bounded.text(manifest_of(path))) for path in paths]
    except (OSError, ValueError) as error:
        raise NotWhole(f"a manifest cannot be read: {error}") from error
    return found[0] | {
        "whole": all(one["whole"] for one in found),
        "planned": [case for one in found for case in one["planned"]],
    }
