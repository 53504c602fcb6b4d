"""Accepted divergences: pins. A pin annotates a verdict and never rewrites it.

A pin says which cases of which target differ, why, on whose word, until when, and *how*: the
signature. It is held to its word every run. A pinned case that conforms is news (FIXED), one that
fails in another way is a new difference, a pin that fits no case is STALE, one past its day is
EXPIRED; each makes the run fail, so the list can only say what is true (Redpanda's hand-kept
exclusions went unread for years; connectrpc fails on both kinds of surprise, and so do we).

Files: `harness/known/*.toml` for all runs, and `--expectations FILE` for one target. Entries:

    [[known]]
    id = "produce-v0-listed"            # what rows and dashboards call it
    claim = "produce.old-versions-*"    # claim ids; * and ? are wild
    versions = "0-2"                    # optional: which versions of the claim's API
    params = {acks = "-1"}              # optional: which parameters
    target = "reference@*"              # targets by name
    releases = "4.3"                    # optional: as in by_release
    signature = "DIVERGES kept create: topics[0].error_code"
    reason = "one sentence"
    issue = "a link or a number"        # or evidence = "observed on 4.3.1"
    expires = 2027-03-01                # the first day it no longer counts
"""

from __future__ import annotations

import datetime
import fnmatch
import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.expect import fits

FOLDER = Path(__file__).resolve().parent
NEW, FIXED, STALE, EXPIRED, CHANGED = "new", "fixed", "stale", "expired", "changed"
NEEDED = ("id", "claim", "target", "signature", "reason", "expires")
OPTIONAL = ("versions", "params", "releases", "issue", "evidence")
LIFE = 90  # days of a pin that `--update-expectations` wrote
JUDGED = ("DIVERGES",)  # what a pin may explain: BROKEN is our own fault and cannot be accepted


class BadPin(ValueError):
    """A pin is written wrongly; the message names file and entry."""


@dataclass(frozen=True, slots=True)
class Pin:
    """One accepted divergence."""

    id: str
    claim: str
    target: str
    signature: str
    reason: str
    expires: datetime.date
    versions: str | None = None
    params: Mapping[str, str] = field(default_factory=dict)
    releases: str | None = None
    issue: str | None = None
    evidence: str | None = None

    def covers(self, row: Mapping[str, Any]) -> bool:
        """Whether the pin is about this case of this target, however it came out."""
        return (
            fnmatch.fnmatchcase(row["claim"], self.claim)
            and fnmatch.fnmatchcase(row["target"], self.target)
            and (self.releases is None or _released(row.get("release"), self.releases))
            and (self.versions is None or _within(row.get("version"), self.versions))
            and all(str(row["params"].get(k)) == str(v) for k, v in self.params.items())
        )

    def explains(self, row: Mapping[str, Any], today: datetime.date) -> bool:
        """Whether it accounts for how this case came out."""
        return (
            row["verdict"] in JUDGED
            and self.covers(row)
            and row["signature"] == self.signature
            and today < self.expires
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
            entries = tomllib.loads(path.read_text(encoding="utf-8")).get("known", [])
        except (OSError, tomllib.TOMLDecodeError) as error:
            raise BadPin(f"{path}: {error}") from error
        found += [_pin(path, number, entry) for number, entry in enumerate(entries, 1)]
    return found


def _pin(path: Path, number: int, entry: Mapping[str, Any]) -> Pin:
    where = f"{path}: entry {number} ({entry.get('id', 'without id')})"
    missing = [name for name in NEEDED if name not in entry]
    unknown = entry.keys() - {*NEEDED, *OPTIONAL}
    if missing or unknown:
        words = [f"no {name}" for name in missing] + [f"unknown {name}" for name in sorted(unknown)]
        raise BadPin(f"{where}: {', '.join(words)}")
    if not entry.get("issue") and not entry.get("evidence"):
        raise BadPin(f"{where}: neither issue nor evidence")
    if not isinstance(entry["expires"], datetime.date):
        raise BadPin(f"{where}: expires is a day, as 2027-03-01")
    return Pin(**entry)


def explain(row: Mapping[str, Any], pins: Sequence[Pin], today: datetime.date) -> str | None:
    """The id of the pin that accounts for this row, None when it is news or no divergence."""
    return next((pin.id for pin in pins if pin.explains(row, today)), None)


def surprises(
    rows: Sequence[Mapping[str, Any]],
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
            text = f"{row['signature']!r}, but {near[0].id} expects {near[0].signature!r}"
            found.append(Surprise(CHANGED, row["case"], text))
        else:
            found.append(Surprise(NEW, row["case"], f"{row['signature']}: {row['reason']}"))
    targets = {row["target"] for row in rows}
    for pin in pins:
        if any(fnmatch.fnmatchcase(target, pin.target) for target in targets):
            found += _of_pin(pin, rows, today, whole)
    return found


def _of_pin(
    pin: Pin, rows: Sequence[Mapping[str, Any]], today: datetime.date, whole: bool
) -> list[Surprise]:
    covered = [row for row in rows if pin.covers(row)]
    if not covered:
        text = f"{pin.claim} fits no case of this target"
        return [Surprise(STALE, pin.id, text)] if whole else []
    if today >= pin.expires:
        return [Surprise(EXPIRED, pin.id, f"since {pin.expires}: {pin.reason}")]
    return [
        Surprise(FIXED, pin.id, f"{row['case']} conforms: take it out of the pin")
        for row in covered
        if row["verdict"] == "CONFORMS"
    ]


def updated(
    rows: Sequence[Mapping[str, Any]], pins: Sequence[Pin], today: datetime.date
) -> list[Pin]:
    """Pins that make this run expected: old ones that still hold, and one per other divergence.

    A new pin lives for LIFE days and says "not reviewed" until somebody writes the reason.
    """
    expires = today + datetime.timedelta(days=LIFE)
    kept = [pin for pin in pins if not _of_pin(pin, rows, today, whole=True)]
    fresh = []
    for row in rows:
        if row["verdict"] in JUDGED and not any(
            pin.covers(row) and pin.signature == row["signature"] for pin in kept
        ):
            fresh.append(
                Pin(
                    id=row["case"],
                    claim=row["claim"],
                    target=row["target"],
                    signature=row["signature"],
                    reason="not reviewed",
                    expires=expires,
                    versions=None if row["version"] is None else str(row["version"]),
                    params=row["params"],
                    evidence=f"seen on {row['target']}",
                )
            )
    return [*kept, *fresh]


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
    return "\n".join(lines) + "\n"
