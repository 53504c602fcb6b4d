"""The Kafka releases whose answers are recorded, read from `ci/matrix.toml` and nowhere else.

A release has a short name ("4.3", what a persona and a recording are called) and a full version
("4.3.1", what Maven has). Both are accepted wherever a recorded release is named; another is
refused, since nobody recorded or compared it. Any version can be run: `released` finds it.

A release of the tier `recorded` lies between those that have a persona: one case a claim is
recorded of it, and our broker does not play it.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Iterable
from pathlib import Path

from touchstone.harness.targets.release import RECORDED, Release

MATRIX = Path(__file__).resolve().parents[2] / "ci" / "matrix.toml"


class UnknownRelease(ValueError):
    """No release has this name; the message names those that are near."""


@functools.cache
def recorded() -> tuple[Release, ...]:
    """All recorded releases, oldest first."""
    entries = tomllib.loads(MATRIX.read_text(encoding="utf-8"))["release"]
    made = (Release(entry["version"], entry["tier"]) for entry in entries)
    return tuple(sorted(made, key=lambda release: release.number))


def releases() -> tuple[Release, ...]:
    """Those of them that have a persona, oldest first."""
    return tuple(one for one in recorded() if one.tier != RECORDED)


def release(word: str) -> Release:
    """Return the recorded release that "4.3", "4.3.1" or "latest" is. Raise UnknownRelease."""
    found = find(word)
    if found is None:
        raise UnknownRelease(
            f"Kafka {word!r} is not in ci/matrix.toml, which has {_named(recorded())}"
        )
    return found


def persona(word: str) -> Release:
    """Return the release that our broker plays by this name. Raise UnknownRelease."""
    found = release(word)
    if found.tier == RECORDED:
        raise UnknownRelease(
            f"Kafka {found.name} has no persona, its answers alone are recorded; there are"
            f" {_named(releases())}"
        )
    return found


def _named(known: Iterable[Release]) -> str:
    return ", ".join(f"{entry.name} ({entry.version})" for entry in known)


def find(word: str) -> Release | None:
    """Return the recorded release of this name, None where there is none. The "latest" is the
    newest that has a persona.
    """
    if word == "latest":
        return releases()[-1]
    return next((one for one in reversed(recorded()) if word in (one.name, one.version)), None)


def zookeeper() -> Release:
    """Return the release whose jars run ZooKeeper for all that need one."""
    return [entry for entry in releases() if not entry.kraft][-1]
