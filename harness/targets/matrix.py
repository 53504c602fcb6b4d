"""The Kafka releases this repository knows, read from `ci/matrix.toml` and from nowhere else.

A release has a short name ("4.3", what a persona and a recording are called) and a full version
("4.3.1", what Maven has). Both are accepted wherever a user names one; a version outside the matrix
is refused, since nobody recorded, compared or tested it.
"""

from __future__ import annotations

import functools
import tomllib
from dataclasses import dataclass
from pathlib import Path

MATRIX = Path(__file__).resolve().parents[2] / "ci" / "matrix.toml"


class UnknownRelease(ValueError):
    """No release of the matrix has this name; the message names those that it has."""


@dataclass(frozen=True, slots=True)
class Release:
    """One entry of the matrix; the fields are explained at the head of that file."""

    name: str
    version: str
    scala: str
    mode: str
    tier: str
    extra: tuple[str, ...] = ()

    @property
    def number(self) -> tuple[int, ...]:
        """For comparisons: (4, 3, 1)."""
        return tuple(int(part) for part in self.version.split("."))

    @property
    def kraft(self) -> bool:
        return self.mode == "kraft"

    @property
    def artifacts(self) -> tuple[str, ...]:
        """Maven coordinates of the broker and what it needs besides."""
        return (f"org.apache.kafka:kafka_{self.scala}:{self.version}", *self.extra)


@functools.cache
def releases() -> tuple[Release, ...]:
    """All releases, oldest first."""
    entries = tomllib.loads(MATRIX.read_text(encoding="utf-8"))["release"]
    made = (Release(**{**entry, "extra": tuple(entry.get("extra", ()))}) for entry in entries)
    return tuple(sorted(made, key=lambda release: release.number))


def release(word: str) -> Release:
    """The release a user means by "4.3", "4.3.1" or "latest". Raises UnknownRelease."""
    known = releases()
    if word == "latest":
        return known[-1]
    for candidate in reversed(known):
        if word in (candidate.name, candidate.version):
            return candidate
    names = ", ".join(f"{entry.name} ({entry.version})" for entry in known)
    raise UnknownRelease(f"Kafka {word!r} is not in ci/matrix.toml, which has {names}")


def zookeeper() -> Release:
    """The release whose jars run ZooKeeper for all that need one."""
    return [entry for entry in releases() if not entry.kraft][-1]
