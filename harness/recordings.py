"""Kafka's stored answers: transcripts by release, suite and case.

One file per release and suite, `suites/recordings/4.3/topics.jsonl.xz`, compressed as a whole: the
cases of a suite ask nearly the same bytes again and again, and a dictionary as large as the file
finds every repetition, so nothing needs to be deduplicated by hand. Written beside its place and
moved, so a killed recorder leaves the old file. Raw bytes only; what they mean is decoded later.

A recorded answer counts for exactly the scenario it was recorded with: its fingerprint is compared,
and a claim that was changed since has no recording until somebody records it again.
"""

from __future__ import annotations

import dataclasses
import json
import lzma
import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from harness import transcript as transcripts
from harness.advertised import RECORDINGS
from harness.transcript import Transcript

SCHEMA = 1
SUFFIX = ".jsonl.xz"
_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 6, "dict_size": 32 << 20}]


class BadRecording(ValueError):
    """A recording cannot be read; the message names the file, the line and the reason."""


class Missing(LookupError):
    """There is no recorded answer for this case; the message says why."""


class Store:
    """The recordings of one release. Files are read when a case of their suite is asked for."""

    def __init__(self, release: str, folder: Path = RECORDINGS) -> None:
        self.release, self.folder = release, folder / release
        self._suites: dict[str, dict[str, str]] = {}

    def exists(self) -> bool:
        return any(self.folder.glob(f"*{SUFFIX}"))

    def path(self, suite: str) -> Path:
        return self.folder / f"{suite}{SUFFIX}"

    def cases(self, suite: str) -> Mapping[str, str]:
        """Case id -> its transcript as stored, undecoded."""
        if suite not in self._suites:
            path = self.path(suite)
            self._suites[suite] = read(path) if path.exists() else {}
        return self._suites[suite]

    def transcript(self, suite: str, case: str, fingerprint: str | None = None) -> Transcript:
        """The recorded transcript of a case. Raises Missing."""
        text = self.cases(suite).get(case)
        if text is None:
            raise Missing(f"Kafka {self.release} was not recorded for {case}")
        found = transcripts.loads(text, source=f"{self.path(suite)}: {case}")
        if fingerprint is not None and found.header.fingerprint != fingerprint:
            text = f"{case} has changed since Kafka {self.release} was recorded"
            raise Missing(f"{text}: record it again")
        return found

    def update(
        self, suite: str, recorded: Mapping[str, Transcript], known: Iterable[str] | None = None
    ) -> Path:
        """Add or replace cases. `known`: all cases the suite has; others are dropped."""
        kept = dict(self.cases(suite))
        kept |= {case: transcripts.dumps(slim(found)) for case, found in recorded.items()}
        if known is not None:
            wanted = set(known)
            kept = {case: text for case, text in kept.items() if case in wanted}
        path = self.path(suite)
        write(path, self.release, suite, kept)
        self._suites[suite] = kept
        return path


def slim(recorded: Transcript) -> Transcript:
    """Without what a claim can say again: the scenario."""
    header = dataclasses.replace(recorded.header, scenario=None)
    return dataclasses.replace(recorded, header=header)


def write(path: Path, release: str, suite: str, cases: Mapping[str, str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [{"recording": SCHEMA, "release": release, "suite": suite, "cases": len(cases)}]
    chunks = [_line(lines[0])]
    for case in sorted(cases):
        chunks += [_line({"case": case, "lines": cases[case].count("\n")}), cases[case]]
    chunks.append(_line({"end": len(cases)}))
    data = lzma.compress("".join(chunks).encode(), check=lzma.CHECK_CRC32, filters=_FILTERS)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(data)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _line(value: Mapping[str, object]) -> str:
    return json.dumps(value, separators=(",", ":")) + "\n"


def read(path: Path) -> dict[str, str]:
    """Case id -> stored transcript, proved to be whole. Raises BadRecording."""
    try:
        lines = lzma.decompress(path.read_bytes()).decode().splitlines(keepends=True)
    except (lzma.LZMAError, UnicodeDecodeError, OSError) as error:
        raise BadRecording(f"{path}: {error}") from error
    head = _object(path, lines, 0)
    if head.get("recording") != SCHEMA:
        raise BadRecording(f"{path}, line 1: not a recording of schema {SCHEMA}")
    found: dict[str, str] = {}
    at = 1
    while True:
        row = _object(path, lines, at)
        if "end" in row:
            break
        if "case" not in row or row["case"] in found:
            raise BadRecording(f"{path}, line {at + 1}: no case, or one that was there already")
        found[row["case"]] = "".join(lines[at + 1 : at + 1 + row["lines"]])
        at += 1 + row["lines"]
    if at + 1 != len(lines) or row["end"] != len(found) or head["cases"] != len(found):
        raise BadRecording(f"{path}, line {at + 1}: {len(found)} cases, and it says otherwise")
    return found


def _object(path: Path, lines: list[str], at: int) -> dict[str, object]:
    try:
        row = json.loads(lines[at])
    except (IndexError, ValueError) as error:
        raise BadRecording(f"{path}, line {at + 1}: {error}") from error
    if not isinstance(row, dict):
        raise BadRecording(f"{path}, line {at + 1}: not an object")
    return row
