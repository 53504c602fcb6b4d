"""Accepted divergences: pins. A pin annotates a verdict and never rewrites it.

A pin says which cases of which target differ, why, on whose word, until when, and *how*: in which
places. It is held to its word every run. A pinned case that conforms is news (FIXED), one that
fails in another way is a new difference, a pin that fits no case is STALE, one past its day is
EXPIRED; each makes the run fail, so the list can only say what is true (Redpanda's hand-kept
exclusions went unread for years; connectrpc fails on both kinds of surprise, and so do we).

Files: `harness/known/*.toml` for all runs, `pins` of a target file for its target, and
`--expectations FILE` for one run. `touchstone pin RESULTS/RUN --out FILE` writes one pin per cause
of a run; the reason is a person's to write:

    [[known]]
    id = "kfake/FindCoordinator.error_code:15,0"    # what rows and dashboards call it
    cause = "FindCoordinator v0-v3: error_code: Kafka 4.3 answers ..."
    target = "kfake"                    # targets by name; * and ? are wild
    reason = "one sentence"
    issue = "a link or a number"        # or evidence = "observed on 4.3.1"
    expires = 2027-03-01                # the first day it no longer counts
    releases = "4.3"                    # optional: as in by_release
    [[known.how]]                       # as often as cases differ in different sets of places
    places = ["find: error_code", "join: member_id"]    # all of them, list indexes as [*]
    cases = ["rebalance.join[v0]", "rebalance.join[v1]"]

A case is explained when it is named and differs in exactly these places: one that differs in one
more, or in one less, is news. An older form names claims and only the first place:

    claim = "produce.old-versions-*"    # claim ids; * and ? are wild
    versions = "0-2"                    # optional: which versions of the claim's API
    params = {acks = "-1"}              # optional: which parameters
    signature = "DIVERGES kept create: topics[0].error_code"
"""

from __future__ import annotations

import datetime
import fnmatch
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from touchstone.harness import targets
from touchstone.harness.judgement import causes, marks, wording
from touchstone.harness.model import bounded
from touchstone.harness.model.case_row import CaseRow
from touchstone.harness.model.expect import fits
from touchstone.harness.model.former_ids import current, former
from touchstone.harness.targets import target_file

FOLDER = Path(__file__).resolve().parent
NEW, FIXED, STALE, EXPIRED, CHANGED = "new", "fixed", "stale", "expired", "changed"
NEEDED = ("id", "target", "reason", "expires")
OPTIONAL = ("cause", "claim", "signature", "versions", "params", "releases", "issue", "evidence")
HOW = ("places", "cases")
LIFE = 90  # days of a pin that `--update-expectations` wrote
CHANGES = 3  # places that are named of a case that came out otherwise
UNREVIEWED = "not reviewed"
JUDGED = ("DIVERGES",)  # what a pin may explain: BROKEN is our own fault and cannot be accepted


class BadPin(ValueError):
    """A pin is written wrongly; the message names file and entry."""


@dataclass(frozen=True, slots=True)
class How:
    """Cases that differ in one set of places."""

    places: frozenset[str]
    cases: frozenset[str]


@dataclass(frozen=True, slots=True)
class Pin:
    """One accepted divergence."""

    id: str
    target: str
    reason: str
    expires: datetime.date
    cause: str = ""
    how: tuple[How, ...] = ()
    claim: str = ""
    signature: str = ""
    versions: str | None = None
    params: Mapping[str, str] = field(default_factory=dict)
    releases: str | None = None
    issue: str | None = None
    evidence: str | None = None

    def covers(self, row: CaseRow) -> bool:
        """Whether the pin is about this case of this target, however it came out."""
        return (
            fnmatch.fnmatchcase(row["target"], self.target)
            and (self.releases is None or _released(row.get("release"), self.releases))
            and (self._names(row) if self.how else self._describes(row))
        )

    def _names(self, row: CaseRow) -> bool:
        return any(current(row["case"]) in how.cases for how in self.how)

    def _describes(self, row: CaseRow) -> bool:
        return (
            any(fnmatch.fnmatchcase(one, self.claim) for one in _ids(row["claim"]))
            and (self.versions is None or _within(row.get("version"), self.versions))
            and all(str(row["params"].get(k)) == str(v) for k, v in self.params.items())
        )

    def explains(self, row: CaseRow, today: datetime.date) -> bool:
        """Whether it accounts for how this case came out."""
        if row["verdict"] not in JUDGED or not self.covers(row) or today >= self.expires:
            return False
        if self.how:
            return self.expected(row) == places(row)
        return row["signature"] == self.signature

    def expected(self, row: CaseRow) -> frozenset[str]:
        """The places in which this case is expected to differ."""
        case = current(row["case"])
        return next((how.places for how in self.how if case in how.cases), frozenset())


def _ids(claim: str) -> tuple[str, ...]:
    """Every id that a claim has or had: a pin may name any of them."""
    return current(claim), *former(current(claim))


def places(row: CaseRow) -> frozenset[str]:
    """Every place in which a case differs, without what changes from run to run."""
    found = [*row["differences"], *(row.get("failures") or ())]
    return frozenset(
        [f"{one['step']}: {marks.starred(one['path'])}" for one in found]
        + [f"{one['step']}: {one['checker']}" for one in row["findings"]]
    )


def _released(release: str | None, words: str) -> bool:
    return release is not None and fits(release, words)


def _within(version: int | None, words: str) -> bool:
    low, _, high = words.partition("-")
    return version is not None and int(low) <= version <= int(high or low)


@dataclass(frozen=True, slots=True)
class Surprise:
    """One way in which a run is not what the pins say; any of them fails the run."""

    kind: str
    subject: str  # the case, or the pin's id
    text: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.subject}: {self.text}"


def load(files: Iterable[Path] | None = None) -> list[Pin]:
    """All pins of these files; by default of this folder. Raises BadPin."""
    found: list[Pin] = []
    for path in sorted(FOLDER.glob("*.toml")) if files is None else files:
        try:
            entries = bounded.toml_of(path).get("known", [])
        except (OSError, ValueError) as error:  # no TOML, or no text
            raise BadPin(f"{path}: {error}") from error
        found += [_pin(path, number, entry) for number, entry in enumerate(entries, 1)]
    return found


def of_target(spec: str) -> list[Pin]:
    """The pins that a target file names; none of a target without a file. Raises BadPin, also where
    a pin is about another target, and UnknownTarget where the file is wrong.
    """
    file = targets.file_of(spec)
    if file is None:
        return []
    described = target_file.load(file)
    found = load([described.pins] if described.pins else [])
    for pin in found:
        if not fnmatch.fnmatchcase(described.name, pin.target):
            raise BadPin(
                f"{described.pins}: {pin.id} is about target {pin.target!r}, and {file.name} "
                f"describes {described.name!r}"
            )
    return found


def _pin(path: Path, number: int, entry: Mapping[str, Any]) -> Pin:
    where = f"{path}: entry {number} ({entry.get('id', 'without id')})"
    needed = NEEDED if "how" in entry else (*NEEDED, "claim", "signature")
    missing = [name for name in needed if not entry.get(name)]
    unknown = entry.keys() - {*NEEDED, *OPTIONAL, "how"}
    if missing or unknown:
        words = [f"no {name}" for name in missing] + [f"unknown {name}" for name in sorted(unknown)]
        raise BadPin(f"{where}: {', '.join(words)}")
    if not entry.get("issue") and not entry.get("evidence"):
        raise BadPin(f"{where}: neither issue nor evidence")
    if not isinstance(entry["expires"], datetime.date):
        raise BadPin(f"{where}: expires is a day, as 2027-03-01")
    return Pin(**dict(entry) | {"how": tuple(_how(where, one) for one in entry.get("how", ()))})


def _how(where: str, entry: Any) -> How:
    right = isinstance(entry, Mapping) and entry.keys() == set(HOW)
    if not right or not all(isinstance(entry[name], list) and entry[name] for name in HOW):
        raise BadPin(f"{where}: each how has places and cases, which are lists of texts")
    return How(frozenset(entry["places"]), frozenset(map(current, entry["cases"])))


def explain(row: CaseRow, pins: Sequence[Pin], today: datetime.date) -> str | None:
    """The id of the pin that accounts for this row, None when it is news or no divergence."""
    return next((pin.id for pin in pins if pin.explains(row, today)), None)


def surprises(
    rows: Sequence[CaseRow],
    pins: Sequence[Pin],
    today: datetime.date,
    *,
    whole: bool = True,
) -> list[Surprise]:
    """What differs between a run of one target and its pins.

    `whole` is false for a run of selected cases, which says nothing about pins that met no case.
    """
    found = []
    for row in rows:
        if row["verdict"] not in JUDGED or explain(row, pins, today) is not None:
            continue
        near = [pin for pin in pins if pin.covers(row) and today < pin.expires]
        if near:
            found.append(Surprise(CHANGED, row["case"], _changed(row, near[0])))
        else:
            found.append(Surprise(NEW, row["case"], f"{row['signature']}: {row['reason']}"))
    targets = {row["target"] for row in rows}
    for pin in pins:
        if any(fnmatch.fnmatchcase(target, pin.target) for target in targets):
            found += _of_pin(pin, rows, today, whole)
    return found


def _changed(row: CaseRow, pin: Pin) -> str:
    """How a pinned case came out otherwise than its pin says."""
    if not pin.how:
        return f"{row['signature']!r}, but {pin.id} expects {pin.signature!r}"
    seen, expected = places(row), pin.expected(row)
    words = [f"{pin.id} does not expect {place}" for place in sorted(seen - expected)[:CHANGES]]
    words += [f"{place} is as Kafka's now" for place in sorted(expected - seen)[:CHANGES]]
    return "; ".join(words)


def _of_pin(pin: Pin, rows: Sequence[CaseRow], today: datetime.date, whole: bool) -> list[Surprise]:
    covered = [row for row in rows if pin.covers(row)]
    if not covered:
        named = pin.claim or "every case that it names"
        text = f"{named} fits no case of this target"
        return [Surprise(STALE, pin.id, text)] if whole else []
    if today >= pin.expires:
        return [Surprise(EXPIRED, pin.id, f"since {pin.expires}: {pin.reason}")]
    return [
        Surprise(FIXED, pin.id, f"{row['case']} conforms: take it out of the pin")
        for row in covered
        if row["verdict"] == "CONFORMS"
    ]


def updated(
    rows: Sequence[CaseRow], pins: Sequence[Pin], today: datetime.date,
    reason: str = UNREVIEWED,
) -> list[Pin]:  # fmt: skip
    """Pins that make this run expected: old ones that still hold, and one per other cause.

    A new pin lives for LIFE days and says "not reviewed" until somebody writes the reason.
    """
    kept = [still for pin in pins if (still := _still(pin, rows, today)) is not None]
    left = [row for row in _diverging(rows) if explain(row, kept, today) is None]
    targets = dict.fromkeys(row["target"] for row in left)
    return [
        *kept,
        *(
            pin
            for target in targets
            for pin in _of_causes([row for row in left if row["target"] == target], today, reason)
        ),
    ]


def _still(pin: Pin, rows: Sequence[CaseRow], today: datetime.date) -> Pin | None:
    """What of a pin this run confirms; None when that is nothing."""
    if not pin.how:
        return None if _of_pin(pin, rows, today, whole=True) else pin
    true = {row["case"] for row in rows if pin.explains(row, today)}
    how = tuple(How(one.places, one.cases & true) for one in pin.how if one.cases & true)
    return replace(pin, how=how) if how else None


def _diverging(rows: Sequence[CaseRow]) -> list[CaseRow]:
    return [row for row in rows if row["verdict"] in JUDGED]


def _of_causes(rows: Sequence[CaseRow], today: datetime.date, reason: str) -> Iterable[Pin]:
    """One pin per cause of one target's rows."""
    by_case = {row["case"]: row for row in rows}
    for cause in causes.find(rows).causes:
        sets: dict[frozenset[str], list[str]] = {}
        for case in cause.cases:
            sets.setdefault(places(by_case[case]), []).append(case)
        yield Pin(
            id=f"{rows[0]['target']}/{cause.id}",
            target=rows[0]["target"],
            reason=reason,
            expires=today + datetime.timedelta(days=LIFE),
            cause=f"{wording.title(cause)}: {wording.sentence(cause)}",
            how=tuple(How(at, frozenset(cases)) for at, cases in sets.items()),
            evidence=f"seen on {rows[0]['target']}, {today}",
        )


def dumps(pins: Iterable[Pin]) -> str:
    """The pins as TOML; `load` reads it back."""
    return "\n".join(_entry(pin) for pin in pins)


def _entry(pin: Pin) -> str:
    lines = ["[[known]]"]
    for name in (*NEEDED, *OPTIONAL):
        value = getattr(pin, name)
        if name == "params" and value:
            inner = ", ".join(f"{json.dumps(k)} = {json.dumps(v)}" for k, v in value.items())
            lines.append(f"params = {{{inner}}}")
        elif name == "expires":
            lines.append(f"expires = {value.isoformat()}")
        elif value:
            lines.append(f"{name} = {json.dumps(value, ensure_ascii=False)}")
    for how in pin.how:
        lines.append("[[known.how]]")
        for name in HOW:
            texts = "".join(
                f"    {json.dumps(one, ensure_ascii=False)},\n"
                for one in sorted(getattr(how, name))
            )
            lines.append(f"{name} = [\n{texts}]")
    return "\n".join(lines) + "\n"
