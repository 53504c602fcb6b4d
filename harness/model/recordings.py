"""Kafka's stored answers: transcripts by release, suite and case.

One file per release and suite, `suites/recordings/4.3/topics.jsonl.xz`, compressed as a whole: the
cases of a suite ask nearly the same bytes again and again, and a dictionary as large as the file
finds every repetition, so nothing needs to be deduplicated by hand. Written beside its place and
moved, so a killed recorder leaves the old file. Raw bytes only; what they mean is decoded later.

The first line of a file lists who answered (harness/model/provenance.py), each once; each case says
which of them it has its answer from; cases of older files may say nothing.

A recorded answer counts for exactly the scenario it was recorded with: its fingerprint is compared,
and a claim that was changed since has no recording until somebody records it again.

Of a release between those with a persona each case says for which release it is written, and has
no lines of its own where that one's answer is the same (`Written`): then that is what was recorded.
"""

from __future__ import annotations

import dataclasses
import fcntl
import json
import lzma
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from touchstone.harness.model import bounded, former_ids
from touchstone.harness.model import transcript as transcripts
from touchstone.harness.model.advertised import RECORDINGS
from touchstone.harness.model.provenance import Provenance
from touchstone.harness.model.transcript import Transcript

T = TypeVar("T")
SCHEMA = 1
SUFFIX = ".jsonl.xz"
_TIME_US = re.compile(r'"t":(\d+)')  # of an event, since its case began
_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 6, "dict_size": 32 << 20}]


class BadRecording(ValueError):
    """A recording cannot be read; the message names the file, the line and the reason."""


class Missing(LookupError):
    """There is no recorded answer for this case; the message says why."""


@dataclass(frozen=True, slots=True)
class Written:
    """For which release a case is written, of a release between. `same`: the version of that
    release whose recorded answer is the same, to the scenario of this `fingerprint`; "" where the
    answer is stored.
    """

    like: str  # "3.9"
    same: str = ""  # "3.9.2"
    fingerprint: str = ""


@dataclass(frozen=True)
class Recording:
    """One file: case id -> its transcript as stored, undecoded, and who answered where known."""

    cases: Mapping[str, str] = field(default_factory=dict)  # "": that of another release
    origins: Mapping[str, Provenance] = field(default_factory=dict)
    written: Mapping[str, Written] = field(default_factory=dict)  # of a release between


class Store:
    """The recordings of one release. Files are read when a case of their suite is asked for."""

    def __init__(self, release: str, folder: Path = RECORDINGS) -> None:
        self.release, self.folder = release, folder / release
        self._suites: dict[str, Recording] = {}
        self._others: dict[str, Store] = {}

    def exists(self) -> bool:
        return any(self.folder.glob(f"*{SUFFIX}"))

    def suites(self) -> set[str]:
        """The names of the suites that have a recorded case."""
        return {path.name.removesuffix(SUFFIX) for path in self.folder.glob(f"*{SUFFIX}")}

    def path(self, suite: str) -> Path:
        return self.folder / f"{suite}{SUFFIX}"

    def cases(self, suite: str) -> Mapping[str, str]:
        """Case id -> its transcript as stored, undecoded; that of another release where it is the
        same.
        """
        found = self._suite(suite)
        if not found.written:
            return found.cases
        return {case: text or self._same(suite, case) for case, text in found.cases.items()}

    def _same(self, suite: str, case: str) -> str:
        return self._other(self._suite(suite).written[case].like).cases(suite).get(case, "")

    def written(self, suite: str) -> Mapping[str, Written]:
        """Case id -> for which release it is written, of a release between."""
        return self._suite(suite).written

    def _other(self, release: str) -> Store:
        if release not in self._others:
            self._others[release] = Store(release, self.folder.parent)
        return self._others[release]

    def took_s(self, suite: str, case: str) -> float:
        """How long Kafka took, in seconds, to the last event; 0 where nothing is recorded."""
        text = self.cases(suite).get(case, "")
        found = _TIME_US.match(text, text.rfind('"t":'))
        return int(found[1]) / 1e6 if found else 0.0

    def origin(self, suite: str, case: str) -> Provenance | None:
        """Who gave this answer; None when nobody wrote it down."""
        return self._suite(suite).origins.get(case)

    def _suite(self, suite: str) -> Recording:
        if suite not in self._suites:
            path = self.path(suite)
            self._suites[suite] = load(path) if path.exists() else Recording()
        return self._suites[suite]

    def transcript(self, suite: str, case: str, fingerprint: str | None = None) -> Transcript:
        """The recorded transcript of a case. Raises Missing."""
        text = self._suite(suite).cases.get(case)
        if text is None:
            raise Missing(f"Kafka {self.release} was not recorded for {case}")
        written = self._suite(suite).written.get(case)
        if written is not None and written.same:
            found = self._of_another(suite, case, written)
        else:
            found = transcripts.loads(text, source=f"{self.path(suite)}: {case}")
        if fingerprint is not None and found.header.fingerprint != fingerprint:
            text = f"{case} has changed since Kafka {self.release} was recorded"
            raise Missing(f"{text}: record it again")
        origin = self.origin(suite, case)
        told = None if origin is None else origin.to_json()
        header = dataclasses.replace(
            found.header, kind="recorded", origin=told, release=self.release
        )
        return dataclasses.replace(found, header=header)

    def _of_another(self, suite: str, case: str, written: Written) -> Transcript:
        """The answer of the release for which a case is written. Raises Missing where that is not
        the one any more with which it was found to be the same.
        """
        other = self._other(written.like)
        origin = other.origin(suite, case)
        try:
            found = other.transcript(suite, case, written.fingerprint)
        except Missing as missing:
            raise Missing(f"Kafka {self.release} was recorded as like it, but {missing}") from None
        if origin is None or origin.version != written.same:
            raise Missing(
                f"Kafka {self.release} was recorded to answer {case} as {written.same} does, of"
                " which there is no recording any more: record it again"
            )
        return found

    def update(
        self, suite: str, recorded: Mapping[str, Transcript], known: Iterable[str] | None = None,
        made: Mapping[str, str] | None = None, written: Mapping[str, Written] | None = None,
    ) -> Path:  # fmt: skip
        """Add or replace cases. `known`: all cases the suite has; others are dropped. `made`: what
        the run adds to the provenance of those that have one, its day and its commit. `written`:
        for which release they are, of a release between, of which the last case of a claim stays.
        """
        path = self.path(suite)
        with _locked(path):
            self._suites.pop(suite, None)  # another process may have recorded in the meantime
            old = self._suite(suite)
            texts, origins = dict(old.cases), dict(old.origins)
            ways = {case: way for case, way in old.written.items() if case not in recorded}
            ways |= written or {}
            for case, found in recorded.items():
                same = case in ways and bool(ways[case].same)
                texts[case] = "" if same else transcripts.dumps(_bare(found))
                origins.pop(case, None)
                if found.header.origin is not None:
                    origins[case] = Provenance.from_json({**found.header.origin, **(made or {})})
            if known is not None:
                wanted = set(known)
                texts = {case: text for case, text in texts.items() if case in wanted}
            self._suites[suite] = Recording(texts, _of(texts, origins), _of(texts, ways))
            write(path, self.release, suite, texts, origins, ways)
        return path


def _of(cases: Iterable[str], values: Mapping[str, T]) -> dict[str, T]:
    return {case: values[case] for case in cases if case in values}


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Alone with this file: suites are recorded by several processes, and each reads what it
    rewrites. The lock is the folder's, so that no lock file stays beside recordings.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def without_provenance(folder: Path = RECORDINGS) -> dict[str, tuple[int, int]]:
    """Release -> how many cases are recorded, and of how many it is not known which jar answered,
    on which day, and which commit asked.
    """
    found = {}
    for release in sorted(path for path in folder.iterdir() if path.is_dir()):
        files = [load(path) for path in sorted(release.glob(f"*{SUFFIX}"))]
        cases = sum(len(one.cases) for one in files)
        known = sum(origin.whole for one in files for origin in one.origins.values())
        if files:
            found[release.name] = cases, cases - known
    return found


def slim(recorded: Transcript) -> Transcript:
    """Without what a claim can say again: the scenario."""
    header = dataclasses.replace(recorded.header, scenario=None)
    return dataclasses.replace(recorded, header=header)


def _bare(recorded: Transcript) -> Transcript:
    """Without what its file says for many cases at once: who answered."""
    found = slim(recorded)
    return dataclasses.replace(found, header=dataclasses.replace(found.header, origin=None))


def write(
    path: Path, release: str, suite: str, cases: Mapping[str, str],
    origins: Mapping[str, Provenance] | None = None, written: Mapping[str, Written] | None = None,
) -> None:  # fmt: skip
    """Write a whole file. `origins`: who answered, by case; `written`: for which release a case is
    written, of a release between.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    told = {case: one.to_json() for case, one in _of(sorted(cases), origins or {}).items()}
    ways = written or {}
    table = sorted({json.dumps(one, sort_keys=True): one for one in told.values()}.items())
    places = {text: place for place, (text, _) in enumerate(table)}
    head = {"recording": SCHEMA, "release": release, "suite": suite, "cases": len(cases)}
    chunks = [_line(head | ({"provenance": [one for _, one in table]} if table else {}))]
    for case in sorted(cases):
        row: dict[str, object] = {"case": case, "lines": cases[case].count("\n")}
        if case in told:
            row["from"] = places[json.dumps(told[case], sort_keys=True)]
        if case in ways:
            row |= {name: word for name, word in dataclasses.asdict(ways[case]).items() if word}
        chunks += [_line(row), cases[case]]
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


def read(path: Path) -> Mapping[str, str]:
    """Case id -> stored transcript, proved to be whole. Raises BadRecording."""
    return load(path).cases


def load(path: Path) -> Recording:
    """A file, proved to be whole. Raises BadRecording."""
    try:
        lines = bounded.unpacked(path).decode().splitlines(keepends=True)
    except (lzma.LZMAError, ValueError, OSError) as error:
        raise BadRecording(f"{path}: {error}") from error
    head = _object(path, lines, 0)
    if head.get("recording") != SCHEMA:
        raise BadRecording(f"{path}, line 1: not a recording of schema {SCHEMA}")
    try:
        table = [Provenance.from_json(one) for one in head.get("provenance", ())]
    except (TypeError, AttributeError) as error:
        raise BadRecording(f"{path}, line 1: provenance: {error}") from error
    found: dict[str, str] = {}
    origins: dict[str, Provenance] = {}
    written: dict[str, Written] = {}
    at = 1
    while True:
        row = _object(path, lines, at)
        if "end" in row:
            break
        case = former_ids.current(row.get("case", ""))
        if not case or case in found:
            raise BadRecording(f"{path}, line {at + 1}: no case, or one that was there already")
        found[case] = "".join(lines[at + 1 : at + 1 + row["lines"]])
        if "from" in row:
            if row["from"] not in range(len(table)):
                raise BadRecording(f"{path}, line {at + 1}: nobody is number {row['from']}")
            origins[case] = table[row["from"]]
        if "like" in row:
            written[case] = Written(*(row.get(name, "") for name in Written.__slots__))
        at += 1 + row["lines"]
    if at + 1 != len(lines) or row["end"] != len(found) or head["cases"] != len(found):
        raise BadRecording(f"{path}, line {at + 1}: {len(found)} cases, and it says otherwise")
    return Recording(found, origins, written)


def _object(path: Path, lines: list[str], at: int) -> dict[str, Any]:
    try:
        row = bounded.json_of(lines[at])
    except (IndexError, ValueError) as error:
        raise BadRecording(f"{path}, line {at + 1}: {error}") from error
    if not isinstance(row, dict):
        raise BadRecording(f"{path}, line {at + 1}: not an object")
    return row
