"""Which result files there are, what each says of itself, and whether it is whole.

A result file is JSON Lines: a header, one line per case, a footer. A run that died leaves no
footer, and a dead run shown as a green one is the worst report there is (bowtie's `MissingFooter`).
So a file that is cut at any byte is refused as incomplete: one is believed only when its last line
is a footer that ends in a newline and whose counts are those of its lines.

Two readers, because 900 files of 5,000 lines must not pass through one Python loop: `edges` reads
the first and the last line of a file and nothing between; `examine` is the harness's own reader and
names the first line that is wrong. Spark counts what lies between, and `examine` is asked only
about the files whose counts disagree. Nothing here needs Java, so `touchstone report` can refuse a
broken file and print its table on any machine.
"""

from __future__ import annotations

import glob
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from touchstone.harness.model import bounded
from touchstone.harness.model.case_row import Footer, Header
from touchstone.harness.results import fuzz_rows, jsonl, rows

LONGEST_EDGE = 8 << 20  # bytes: a header or footer longer than this is not one
BLOCK = 1 << 16


class NotResults(Exception):
    """The arguments name nothing that can be read as results; the message says which."""


class NotThere(NotResults):
    """What an argument names does not exist."""


@dataclass(frozen=True, slots=True)
class Defect:
    """Why a file cannot be believed, and the line (from 1) that shows it."""

    path: Path
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.reason}"


@dataclass(frozen=True, slots=True)
class ResultFile:
    """One run of one target: the two ends of its file, and the defect they show, if any."""

    path: Path
    header: Header
    footer: Footer | None
    defect: Defect | None = None
    size: int = 0

    @property
    def run(self) -> str:
        return self.header["run"]

    @property
    def target(self) -> str:
        return self.header["target"]


def find(results: Iterable[str]) -> list[Path]:
    """The result files that files, folders and glob patterns name, each once, in path order.

    A folder is searched for `*.jsonl` at any depth; a file in it that begins with a whole JSON
    object which is no row (a transcript, say) is somebody else's and is passed over. A file that
    was named itself must be a result file.
    """
    found: dict[Path, Path] = {}
    for argument in results:
        path = Path(argument)
        if path.is_dir():
            files = (p for p in sorted(path.rglob("*.jsonl")) if p.is_file())
            inside = [p for p in files if not is_other(p)]
        elif path.name == fuzz_rows.NAME:
            continue
        elif path.is_file():
            inside = [path]
        else:
            matches = [Path(p) for p in sorted(glob.glob(argument, recursive=True))]
            if matches == [path]:
                raise NotResults(f"{argument}: not a file")
            if not matches:
                raise NotThere(f"{argument}: no such file or folder, and no file matches it")
            inside = find(str(match) for match in matches)
        found.update((p.resolve(), p) for p in inside if p.resolve() not in found)
    if not found:
        raise NotResults(f"{', '.join(results)}: no result file (*.jsonl) in it")
    return sorted(found.values())


def find_fuzz(results: Iterable[str]) -> list[Path]:
    """The rows of fuzz runs that the same arguments name, each once, in path order."""
    found: set[Path] = set()
    for argument in results:
        matches = [Path(argument), *map(Path, glob.glob(argument, recursive=True))]
        for path in matches:
            if path.is_dir():
                found.update(p.resolve() for p in path.rglob(fuzz_rows.NAME))
            elif path.is_file() and path.name == fuzz_rows.NAME:
                found.add(path.resolve())
    return sorted(found)


def is_other(path: Path) -> bool:
    """Whether a file's first line is a JSON object of some other kind than a row."""
    with path.open("rb") as file:
        first = file.readline(LONGEST_EDGE)
    try:
        value = bounded.json_of(first)
    except ValueError:
        return False
    return isinstance(value, dict) and "row" not in value


def ends(path: Path) -> tuple[bytes, bytes]:
    """The first and the last line of a file, newlines included; a file of one line has no last."""
    with path.open("rb") as file:
        first = file.readline(LONGEST_EDGE)
        start, end = file.tell(), file.seek(0, 2)
        tail = b""
        while end > start and len(tail) < LONGEST_EDGE:
            step = min(BLOCK, end - start)
            end -= step
            file.seek(end)
            tail = file.read(step) + tail
            cut = tail.rfind(b"\n", 0, len(tail) - 1)
            if cut >= 0:
                return first, tail[cut + 1 :]
    return first, tail


def edges(path: Path) -> ResultFile:
    """What a file's first and last line say. Never raises for what a file holds."""
    first, last = ends(path)
    size = path.stat().st_size
    header, reason = header_of(first)
    reason = reason or rows.unjoined(header)
    if reason:
        return ResultFile(path, header, None, Defect(path, 1, reason), size)
    footer, reason = footer_of(last)
    if reason:
        defect = Defect(path, count_lines(path), reason)
        return ResultFile(path, header, None, defect, size)
    return ResultFile(path, header, footer, None, size)


def header_of(line: bytes) -> tuple[Header, str | None]:
    header: Any
    header, reason = parse(line)
    if reason:
        return {}, f"no header: {reason}"
    if header.get("row") != "header":
        return {}, f"no header: the first line is a {header.get('row')!r} row"
    if header.get("schema") != rows.SCHEMA:
        return {}, f"schema {header.get('schema')!r}: this report reads schema {rows.SCHEMA}"
    missing = [name for name in ("run", "target", "started") if not header.get(name)]
    return (header, None) if not missing else ({}, f"the header names no {missing[0]}")


def footer_of(line: bytes) -> tuple[Footer | None, str | None]:
    footer: Any
    footer, reason = parse(line)
    if reason:
        return None, f"incomplete: no footer ({reason})"
    if footer.get("row") != "footer":
        return None, f"incomplete: no footer (the last line is a {footer.get('row')!r} row)"
    by_verdict = footer.get("by_verdict")
    if not isinstance(footer.get("cases"), int) or not isinstance(by_verdict, dict):
        return None, "the footer has no counts"
    if sum(by_verdict.values()) != footer["cases"]:
        return None, f"the footer counts {footer['cases']} cases, its verdicts {by_verdict}"
    return footer, None


def parse(line: bytes) -> tuple[dict[str, Any], str | None]:
    """One line as an object, or the reason why it is none."""
    if not line:
        return {}, "the file ends here"
    if not line.endswith(b"\n"):
        return {}, "half a line"
    try:
        value = bounded.json_of(line)
    except ValueError as error:
        return {}, f"not JSON: {error}"
    if not isinstance(value, dict):
        return {}, f"not a row but {type(value).__name__}"
    return value, None


def count_judged(file: ResultFile) -> dict[str, int]:
    """Return how many cases a file without a footer holds, by verdict: what was judged before the
    run was cut. Of a file that cannot be read none are counted.
    """
    try:
        found = jsonl.read(file.path, incomplete=True, part="part" in file.header)
    except jsonl.BadResults:
        return {}
    return rows.totals(found.cases)


def count_lines(path: Path) -> int:
    """The number of the last line, counting one that has no newline; at least 1."""
    with path.open("rb") as file:
        whole, last = 0, b"\n"
        while block := file.read(1 << 20):
            whole += block.count(b"\n")
            last = block[-1:]
    return max(1, whole + (last != b"\n"))


def examine(path: Path) -> Defect | None:
    """The first line that makes a file unbelievable, or None. Reads the whole file."""
    try:
        jsonl.read(path)
    except jsonl.BadResults as bad:
        return Defect(path, bad.line, bad.reason)
    return None


def clashes(files: Iterable[ResultFile]) -> list[Defect]:
    """Files that claim a (run, target) another file has claimed: their cases would count twice."""
    owners: dict[tuple[str, str], Path] = {}
    found = []
    for file in files:
        if not file.header:
            continue
        owner = owners.setdefault((file.run, file.target), file.path)
        if owner != file.path:
            text = f"run {file.run!r} of {file.target!r} is in {owner} already"
            found.append(Defect(file.path, 1, text))
    return found
