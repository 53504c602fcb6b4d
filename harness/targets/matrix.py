"""The Kafka releases whose answers are recorded, read from `ci/matrix.toml` and nowhere else.

A release has a short name ("4.3", what a persona and a recording are called) and a full version
("4.3.1", what Maven has). Both are accepted wherever a recorded release is named; another is
refused, since nobody recorded or compared it. Any version can be run: `released` finds it.
"""

from __future__ import annotations

import functools
import tomllib
from pathlib import Path

from touchstone.harness.targets.release import Release

MATRIX = Path(__file__).resolve().parents[2] / "ci" / "matrix.toml"


class UnknownRelease(ValueError):
    """No release has this name; the message names those that are near."""


@functools.cache
def releases() -> tuple[Release, ...]:
    """All recorded releases, oldest first."""
    entries = tomllib.loads(MATRIX.read_text(encoding="utf-8"))["release"]
    made = (Release(entry["version"], entry["tier"]) for entry in entries)
    return tuple(sorted(made, key=lambda release: release.number))


def release(word: str) -> Release:
    """Return the recorded release that "4.3", "4.3.1" or "latest" is. Raise UnknownRelease."""
    found = find(word)
    if found is None:
        names = ", ".join(f"{entry.name} ({entry.version})" for entry in releases())
        raise UnknownRelease(f"Kafka {word!r} is not in ci/matrix.toml, which has {names}")
    return found


def find(word: str) -> Release | None:
    """Return the recorded release of this name, None where there is none."""
    known = releases()
    if word == "latest":
        return known[-1]
    return next((one for one in reversed(known) if word in (one.name, one.version)), None)


def zookeeper() -> Release:
    """Return the release whose jars run ZooKeeper for all that need one."""
    return [entry for entry in releases() if not entry.kraft][-1]
