"""Why a run's files cannot be believed, one sentence per reason. Pure.

A run writes the same facts several times: a header that plans, rows, a footer that counts, a
manifest, JUnit XML, a bundle for each difference. Whoever cuts a run, mixes two of them, or edits a
verdict by hand contradicts one of these, and each contradiction is a reason to refuse all of it. A
verdict also has to be explained by its own row: DIVERGES by what differs, INCONCLUSIVE by a reason,
a known divergence by a pin that is there.

What reads the files is `harness/cli/verify.py`; whether a row file is whole and its footer counts
its own rows is `jsonl.read`, whether files changed after the run is `sums`.
"""

from __future__ import annotations

import datetime
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from touchstone.harness import exits, known
from touchstone.harness.judgement.bundle import Bundle
from touchstone.harness.judgement.verdict import (
    BROKEN,
    CONFORMS,
    DIVERGES,
    INCONCLUSIVE,
    UNSUPPORTED,
)
from touchstone.harness.known import Pin
from touchstone.harness.model.case_row import CaseRow, Footer, Header
from touchstone.harness.results import junit
from touchstone.harness.results.jsonl import Results
from touchstone.harness.run import tally

SAME = ("run", "commit", "schema")  # of all headers of one run
PARTS = ("failures", "differences", "findings")  # what a verdict can rest on
WHOLE = "whole"  # the manifest's word for a run of everything there is


@dataclass(frozen=True)
class Files:
    """What belongs to one target of a run; `manifest` and `junit` are None when they are missing.

    A bundle that cannot be read is the sentence that says why.
    """

    name: str  # of the row file
    results: Results
    manifest: Mapping[str, Any] | None
    junit: bytes | None
    bundles: Mapping[str, Bundle | str] = field(default_factory=dict)
    pins: Sequence[Pin] = ()

    @property
    def header(self) -> Header:
        return self.results.header

    @property
    def rows(self) -> Sequence[CaseRow]:
        return self.results.cases

    @property
    def footer(self) -> Footer:
        assert self.results.footer is not None, "only whole files are verified"
        return self.results.footer

    @property
    def day(self) -> datetime.date:
        """The day on which the run began: pins count by it."""
        return datetime.datetime.fromisoformat(self.header["started"]).date()


def reasons(run: Sequence[Files]) -> list[str]:
    """Every reason to refuse these files of one run; none when they are to be believed."""
    found = [*_mixed(run)]
    for files in run:
        told = [*_counted(files), *_rows(files), *_junit(files), *_bundles(files)]
        found += [f"{files.name}: {reason}" for reason in told]
    return found + [*_exits(run)]


# the run


def _mixed(run: Sequence[Files]) -> Iterator[str]:
    for key in SAME:
        values = {str(files.header.get(key)): files.name for files in run}
        if len(values) > 1:
            told = ", ".join(f"{value} ({name})" for value, name in sorted(values.items()))
            yield f"mixed: the files differ in {key}: {told}"
    for target, count in Counter(files.header["target"] for files in run).items():
        if count > 1:
            yield f"mixed: {count} files are of target {target}"


def _exits(run: Sequence[Files]) -> Iterator[str]:
    """An exit code is what the rows owe, or worse for a reason that the run shows.

    One process judges several targets and ends with the worst of them, so the reason may stand in
    another file of the run.
    """
    shown = {exits.CONFORMED, *map(_owed, run)}
    if any(map(_pins_surprise, run)):
        shown.add(exits.DIFFERENT)
    for files in run:
        code, owed = files.footer.get("exit"), _owed(files)
        if code not in tally.WORST_FIRST:
            yield f"{files.name}: the footer has no exit code of a run: {code!r}"
        elif tally.worst([code, owed]) != code:
            text = f"the footer says exit {code} ({exits.EXITS[code]}), its rows come to {owed}"
            yield f"{files.name}: contradiction: {text}"
        elif code not in shown:
            text = f"exit {code}, and no row and no pin of the run says why"
            yield f"{files.name}: unexplained: {text}"


def _owed(files: Files) -> int:
    """The exit code that the rows come to by themselves."""
    unpinned = [row for row in files.rows if row["verdict"] == DIVERGES and not row["known"]]
    news = known.surprises(unpinned, (), files.day)
    return tally.exit_code(files.rows, files.header["planned"], news)


def _pins_surprise(files: Files) -> bool:
    """Whether a pin was no longer true on the day of the run."""
    whole = bool(files.manifest and files.manifest.get(WHOLE))
    return bool(known.surprises(files.rows, files.pins, files.day, whole=whole))


# one target: what is counted twice


def _counted(files: Files) -> Iterator[str]:
    header, rows, footer = files.header, files.rows, files.footer
    if header["planned"] != len(rows):
        yield f"cut: the header plans {header['planned']} cases, {len(rows)} rows are there"
    if footer.get("cases") != len(rows):
        yield f"the footer counts {footer.get('cases')} cases, {len(rows)} rows are there"
    if str(footer.get("finished", "")) < header["started"]:
        yield f"it finished ({footer.get('finished')}) before it started ({header['started']})"
    manifest = files.manifest
    if manifest is None:
        yield "its manifest is missing"
        return
    for key in ("run", "target"):
        if manifest.get(key) != header[key]:
            yield f"mixed: the manifest is of {key} {manifest.get(key)!r}, not {header[key]!r}"
    planned, there = Counter(manifest.get("planned", ())), Counter(row["case"] for row in rows)
    if lacking := planned - there:
        yield f"cut: the manifest plans {_some(lacking)}, without a row"
    if more := there - planned:
        yield f"mixed: the manifest does not plan {_some(more)}"
    left = len(manifest.get("deselected", ()))
    if left != header.get("deselected", left):
        yield f"the header deselects {header['deselected']} cases, the manifest {left}"


def _junit(files: Files) -> Iterator[str]:
    if files.junit is None:
        yield "its JUnit file is missing"
        return
    try:
        root = ET.fromstring(files.junit)
    except ET.ParseError as error:
        yield f"cut: its JUnit file is not XML: {error}"
        return
    kinds = [junit.kind_of(row) for row in files.rows]
    wanted = {"tests": len(kinds)} | {
        f"{kind}s" if kind != "skipped" else kind: kinds.count(kind)
        for kind in ("failure", "error", "skipped")
    }
    for name, count in wanted.items():
        if root.get(name) != str(count):
            yield f"JUnit counts {root.get(name)} {name}, the rows {count}"
    seen = {case.get("name"): _kind_in(case) for case in root.iter("testcase")}
    other = [row["case"] for row in files.rows if seen.get(row["case"], "no") != junit.kind_of(row)]
    if other:
        yield f"JUnit tells otherwise of {_some(other)}"


def _kind_in(case: ET.Element) -> str | None:
    kinds = ("failure", "error", "skipped")
    return next((kind for kind in kinds if case.find(kind) is not None), None)


# one target: what a row says of itself


def _rows(files: Files) -> Iterator[str]:
    """Complaints about rows; equal ones once, with the cases they are about."""
    found: dict[str, list[str]] = {}
    by_id = {pin.id: pin for pin in files.pins}
    for row in files.rows:
        for text in (*_verdict(row), *_place(row, files.header), *_pin(row, by_id, files.day)):
            found.setdefault(text, []).append(row["case"])
    for text, cases in found.items():
        yield f"{text}: {_some(cases)}"


def _verdict(row: CaseRow) -> Iterator[str]:
    kind = row["verdict"]
    rests_on = [name for name in PARTS if row.get(name)]
    if kind in (CONFORMS, UNSUPPORTED) and rests_on:
        yield f"contradiction: {kind} with {' and '.join(rests_on)}"
    if kind == DIVERGES and not rests_on:
        yield "contradiction: DIVERGES, and nothing differs"
    if kind in (INCONCLUSIVE, UNSUPPORTED, BROKEN, DIVERGES) and not row.get("reason"):
        yield f"unexplained: {kind} without a reason"
    signature = str(row.get("signature"))
    plain = kind in (CONFORMS, UNSUPPORTED, INCONCLUSIVE)
    if signature != kind if plain else not signature.startswith(f"{kind} "):
        yield f"contradiction: {kind} with the signature {signature!r}"


def _place(row: CaseRow, header: Header) -> Iterator[str]:
    if row.get("release") != header.get("release"):
        told = f"release {row.get('release')!r} in a file of {header.get('release')!r}"
        yield f"mixed: a row of {told}"
    if row["case"].partition("[")[0] != row["claim"]:
        yield f"mixed: a case of another claim than {row['claim']!r}"


def _pin(row: CaseRow, by_id: Mapping[str, Pin], day: datetime.date) -> Iterator[str]:
    word = row.get("known")
    if not word:
        return
    if row["verdict"] not in known.JUDGED:
        yield f"contradiction: {row['verdict']}, and pin {word!r} explains it"
    elif word not in by_id:
        yield f"unexplained: pin {word!r} is in no file of pins (--expectations FILE names one)"
    elif not by_id[word].explains(row, day):
        yield f"unexplained: pin {word!r} does not explain how it came out"


# one target: bundles


def _bundles(files: Files) -> Iterator[str]:
    jars: dict[str, str] = {}
    for row in files.rows:
        place = row.get("transcript")
        if not place:
            continue
        found = files.bundles.get(place, "it is missing")
        told = [found] if isinstance(found, str) else [*_bundle(row, found)]
        for text in told:
            yield f"{row['case']}: bundle {place}: {text}"
        if not isinstance(found, str) and found.oracle is not None and found.oracle.header.origin:
            origin = found.oracle.header.origin
            jars.setdefault(str(origin.get("sha256")), str(origin.get("jar")))
    if len(jars) > 1:
        told_jars = ", ".join(f"{jar} {digest[:12]}" for digest, jar in sorted(jars.items()))
        yield f"mixed: its bundles hold answers of several jars: {told_jars}"


def _bundle(row: CaseRow, bundle: Bundle) -> Iterator[str]:
    if bundle.case != row["case"]:
        yield f"it is of case {bundle.case!r}"
    if bundle.release != row["release"]:
        yield f"it is of release {bundle.release!r}"
    # A case that conformed when it was asked again keeps the bundle of its first difference.
    same = row["at_first"] or (bundle.verdict.get("kind"), bundle.verdict.get("signature")) == (
        row["verdict"],
        row["signature"],
    )
    if not same:
        judged = bundle.verdict.get("signature")
        yield f"it was judged {judged!r}, the row says {row['signature']!r}"
    digest = bundle.scenario.fingerprint()
    for side, seen in (("target", bundle.target), ("oracle", bundle.oracle)):
        if seen is not None and seen.header.fingerprint not in ("", digest):
            yield f"the {side} was asked another scenario: {seen.header.fingerprint}, not {digest}"


def _some(cases: Iterable[str]) -> str:
    """One case by name and how many more."""
    every = list(cases)
    more = f" and {len(every) - 1} more" if len(every) > 1 else ""
    return f"{every[0]}{more}"
