"""Result files: JSON Lines that only grow, with a header and a footer.

A run that dies leaves a file without a footer. Such a file is *incomplete*, never green: reading it
raises and names the line. Each row is handed over as it is written, so what was judged before a
crash can still be looked at (`incomplete=True`).
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Any

from touchstone.harness.model import bounded
from touchstone.harness.model.case_row import CaseRow, Footer, Header
from touchstone.harness.results import rows


class BadResults(ValueError):
    """A result file that cannot be believed; the message is FILE:LINE: reason."""

    def __init__(self, path: Path, line: int, reason: str) -> None:
        super().__init__(f"{path}:{line}: {reason}")
        self.path, self.line, self.reason = path, line, reason


@dataclass(frozen=True, slots=True)
class Results:
    """One whole file. `footer` is None only when incomplete files were asked for."""

    path: Path
    header: Header
    cases: tuple[CaseRow, ...]
    footer: Footer | None


class Writer:
    """Writes one target's file of one run. Leaving the block without `finish` leaves no footer."""

    def __init__(self, path: Path, header: Header) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file: FileIO | None = path.open("xb", buffering=0)
        self._end = 0
        self._rows: list[CaseRow] = []
        try:
            self._line(header)
        except OSError:
            self.close()
            path.unlink()  # it says nothing, and would stand in the way of the next run
            raise

    @property
    def rows(self) -> list[CaseRow]:
        return list(self._rows)

    def case(self, row: CaseRow) -> None:
        self._line(row)
        self._rows.append(row)

    def finish(self, *, finished: str, exit_code: int) -> Footer:
        footer = rows.footer(self._rows, finished=finished, exit_code=exit_code)
        self._line(footer)
        self.close()
        return footer

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _line(self, row: Header | CaseRow | Footer) -> None:
        if self._file is None:
            raise ValueError(f"{self.path} is closed")
        left = (json.dumps(row, separators=(",", ":")) + "\n").encode()
        end = self._end + len(left)
        try:
            while left:
                left = left[self._file.write(left) :]
        except OSError:  # of a full disk, say: half a row is none
            with contextlib.suppress(OSError):
                self._file.truncate(self._end)
            raise
        self._end = end

    def __enter__(self) -> Writer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self.close()


def read(path: Path, *, incomplete: bool = False, part: bool = False) -> Results:
    """The whole file, proved against its footer. Raises BadResults.

    `part`: the file of one part of a target is wanted (see `parts`), which else is refused.
    """
    head: Header | None = None
    foot: Footer | None = None
    cases: list[CaseRow] = []
    seen: dict[str, int] = {}
    number = 0
    for number, row in _lines(path, incomplete):
        if foot is not None:
            raise BadResults(path, number, "a line behind the footer")
        if head is None:
            head = _head(path, row, part)
        elif row["row"] == "footer":
            foot = _foot(path, number, row)
        elif row["row"] == "case":
            _check_case(path, number, row, head, seen)
            cases.append(row)
        else:
            raise BadResults(path, number, f"a {row['row']!r} row among the cases")
    if head is None:
        raise BadResults(path, 1, "incomplete: no header")
    if foot is None and not incomplete:
        raise BadResults(path, max(number, 1), "incomplete: no footer")
    if foot is not None and {k: n for k, n in foot["by_verdict"].items() if n} != {
        kind: n for kind, n in rows.totals(cases).items() if n
    }:
        text = f"the footer counts {foot['by_verdict']}, the rows {rows.totals(cases)}"
        raise BadResults(path, number, text)
    return Results(path, head, tuple(cases), foot)


def _lines(path: Path, incomplete: bool) -> Iterator[tuple[int, Any]]:
    number = 0
    try:
        for number, line in enumerate(bounded.lines(path), 1):
            try:
                row = bounded.json_of(line)
                whole = line.endswith("\n")
            except ValueError as error:
                row, whole, why = None, False, f"not JSON: {error}"
            else:
                why = "half a line"
            if not whole:
                if incomplete:
                    return
                raise BadResults(path, number, f"incomplete: {why}")
            if not isinstance(row, dict) or "row" not in row:
                raise BadResults(path, number, "not a row")
            yield number, row
    except ValueError as error:
        if isinstance(error, BadResults):
            raise
        raise BadResults(path, number + 1, str(error)) from error


def _head(path: Path, row: Any, part: bool) -> Header:
    if row["row"] != "header":
        raise BadResults(path, 1, f"no header: the first line is a {row['row']!r} row")
    if row.get("schema") != rows.SCHEMA:
        text = f"schema {row.get('schema')!r}; this reads schema {rows.SCHEMA}"
        raise BadResults(path, 1, text)
    missing = [name for name in rows.HEADED if name not in row]
    if missing:
        raise BadResults(path, 1, f"a header without {missing[0]!r}")
    if part != ("part" in row):
        raise BadResults(path, 1, rows.unjoined(row) or "not a part but a whole")
    return row


def _foot(path: Path, number: int, row: Any) -> Footer:
    if not isinstance(row.get("by_verdict"), dict):
        raise BadResults(path, number, "a footer that counts nothing")
    return row


def _check_case(path: Path, number: int, row: Any, head: Header, seen: dict[str, int]) -> None:
    missing = [name for name in rows.REQUIRED if not isinstance(row.get(name), str)]
    missing += [name for name in rows.LISTED if not isinstance(row.get(name), list)]
    if missing:
        raise BadResults(path, number, f"a case without {missing[0]!r}")
    if row["verdict"] not in rows.VERDICTS:
        raise BadResults(path, number, f"no such verdict: {row['verdict']!r}")
    if row["target"] != head.get("target"):
        reason = f"a row of {row['target']!r} in a file of {head['target']!r}"
        raise BadResults(path, number, reason)
    if row["case"] in seen:
        raise BadResults(path, number, f"case {row['case']!r} stands on line {seen[row['case']]}")
    seen[row["case"]] = number
