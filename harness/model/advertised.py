"""Which versions each release advertises, as recorded from real Kafka: data with a reader.

`suites/recordings/<release>/advertised.json` holds the answer of a real broker of that release to
ApiVersions, as {API key: [lowest, highest]}. It says which cases a claim has for a release, and it
names an unknown broker: one whose table equals a release's is taken for that release. Listing is
not serving: `LISTED_ONLY` is the one exception known, and `every` leaves it out.

Most releases lie *between* those that are recorded in every version of an API and have a persona:
one case a claim is recorded of them (harness/model/between.py), as their table says.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from touchstone.harness.writable import write_whole

Table = Mapping[int, tuple[int, int]]

RECORDINGS = Path(__file__).resolve().parents[2] / "suites" / "recordings"
FILE = "advertised.json"
CASES, NEWEST = "cases", "newest"  # of a claim one case was recorded, of its newest version

# release from which on, API key -> lowest version served: 4.x lists Produce from 0, since old
# clients take a broker without it for too old, and refuses 0 to 2 (KIP-896, KAFKA-18659).
LISTED_ONLY: dict[str, dict[int, int]] = {"4.": {0: 3}}


class NoTable(LookupError):
    """Nobody recorded what this release advertises."""


@functools.cache
def _read(folder: Path) -> dict[str, tuple[Table, bool]]:
    """Return what each release advertises and whether it is one between, the oldest first."""
    found = {}
    for path in folder.glob(f"*/{FILE}"):
        told = json.loads(path.read_text(encoding="utf-8"))
        rows = {int(key): (low, high) for key, (low, high) in told["versions"].items()}
        found[path.parent.name] = rows, told.get(CASES) == NEWEST
    return dict(sorted(found.items(), key=lambda item: number(item[0])))


def every(folder: Path = RECORDINGS) -> dict[str, Table]:
    """Release -> what it advertises, oldest release first; those between included."""
    return {name: listed for name, (listed, _) in _read(folder).items()}


def tables(folder: Path = RECORDINGS) -> dict[str, Table]:
    """Release -> what it advertises, of those that are recorded in every version."""
    return {name: listed for name, (listed, between) in _read(folder).items() if not between}


def is_between(release: str, folder: Path = RECORDINGS) -> bool:
    """Whether one case a claim is recorded of a release."""
    return _read(folder).get(release, ({}, False))[1]


def neighbours(release: str, folder: Path = RECORDINGS) -> tuple[str, ...]:
    """Return the nearest releases that are recorded in every version: the one after a release
    between, then the one before.
    """
    whole = list(tables(folder))
    after = [name for name in whole if number(name) > number(release)]
    before = [name for name in whole if number(name) < number(release)]
    return (*after[:1], *before[-1:])


def table(release: str) -> Table:
    """What this release advertises, by its short name ("4.3"). Raises NoTable."""
    known = every()
    if release not in known:
        raise NoTable(f"no {FILE} for release {release!r}; there are {', '.join(known) or 'none'}")
    return known[release]


def release_of(versions: Table, among: Mapping[str, Table] | None = None) -> str | None:
    """The newest release that advertises exactly this, None when none does. `among`: releases with
    their tables, by default those that are recorded in every version.
    """
    known = tables() if among is None else among
    same = [name for name, listed in known.items() if dict(listed) == dict(versions)]
    return same[-1] if same else None


def nearest(versions: Table) -> str:
    """The release that shares most ranges with these: what an unknown broker is held against."""
    return max(tables(), key=lambda name: (len(_same(tables()[name], versions)), number(name)))


@dataclass(frozen=True, slots=True)
class HeldAgainst:
    """The release that a target is held against, and why, in words that a reader is shown; without
    any where the target's name says it.
    """

    release: str
    reason: str = ""


def held_against(versions: Table) -> HeldAgainst:
    """Return the release nearest to what a target advertises, with how well it and the next one
    fit. A release between is only for whoever advertises exactly what it does: another broker may
    lack the one version of an API in which its claims were recorded.
    """
    best = release_of(versions, every()) or nearest(versions)
    others = {name: known for name, known in tables().items() if name != best}
    fit = "fit" if dict(table(best)) == dict(versions) else "are nearest to"
    reason = f"its ApiVersions {fit} {best} ({fits(best, versions)} ranges)"
    if others:
        second = max(others, key=lambda name: (len(_same(others[name], versions)), number(name)))
        reason += f"; {second} fits {fits(second, versions)}"
    return HeldAgainst(best, reason)


def fits(release: str, versions: Table) -> str:
    """Return how many of the ranges advertised are those of a release: "40 of 61"."""
    return f"{len(_same(table(release), versions))} of {len(versions)}"


def _same(one: Table, other: Table) -> set[int]:
    return {key for key, pair in one.items() if tuple(other.get(key, ())) == tuple(pair)}


def served(release: str, key: int, versions: Table) -> tuple[int, int]:
    """The range that is answered, of the range that is listed; (0, -1) when there is none."""
    low, high = versions.get(key, (0, -1))
    for prefix, lowest in LISTED_ONLY.items():
        if release.startswith(prefix):
            low = max(low, lowest.get(key, 0))
    return low, high


def number(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in release.split(".")[:2])


def write(
    release: str, version: str, versions: Table, folder: Path = RECORDINGS, *, between: bool = False
) -> Path:
    """Keep what a real broker of this release advertises."""
    path = folder / release / FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = {str(key): list(pair) for key, pair in sorted(versions.items())}
    how = {CASES: NEWEST} if between else {}
    text = json.dumps({"release": version, **how, "versions": rows}, indent=0).replace("[\n", "[")
    text = text.replace(",\n", ", ").replace("\n]", "]").replace("], ", "],\n")
    write_whole(path, text + "\n")
    _read.cache_clear()
    return path
