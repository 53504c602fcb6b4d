"""A corpus that guides: frames that showed something new, kept in a folder, and which is next.

A frame is an entry because of what it was the first to show (lines and branches of the
reference broker, behaviours of any broker). An entry is mutated more often while it is fresh: it
has energy, which each try spends and each find among its mutants restores. When all are spent,
everybody is equal. A file of the folder is one frame, named by its bytes, so that two corpora are
merged by copying and nothing is kept twice. Nothing else is stored: what a frame shows is a matter
of the target, and is seen anew when the corpus is replayed.
"""

from __future__ import annotations

import hashlib
import random
from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ENERGY = 12
"""Tries of an entry that is new, and those that a find among its mutants gives back."""
SUFFIX = ".frame"


@dataclass(slots=True)
class Entry:
    """A frame with its size in front, as it goes over the wire."""

    wire: bytes
    energy: int = ENERGY

    @property
    def name(self) -> str:
        return hashlib.sha256(self.wire).hexdigest()[:24]


class Corpus:
    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self._fresh: deque[Entry] = deque()
        self._known: set[bytes] = set()

    def __len__(self) -> int:
        return len(self.entries)

    def add(self, wire: bytes) -> bool:
        """Keep a frame that showed something new; False if it is there already."""
        if wire in self._known:
            return False
        entry = Entry(wire)
        self._known.add(wire)
        self.entries.append(entry)
        self._fresh.append(entry)
        return True

    def pick(self, draw: random.Random) -> Entry:
        """The entry to be mutated next; IndexError of an empty corpus."""
        while self._fresh:
            entry = self._fresh.popleft()
            if entry.energy > 0:
                entry.energy -= 1
                self._fresh.append(entry)
                return entry
        return draw.choice(self.entries)

    def reward(self, entry: Entry) -> None:
        """A mutant of it showed something new."""
        if entry.energy <= 0:
            self._fresh.append(entry)
        entry.energy = ENERGY


def load(folder: Path) -> list[bytes]:
    """The frames of a folder, in the order of their names; none of one that does not exist."""
    return [path.read_bytes() for path in sorted(folder.glob(f"*{SUFFIX}"))]


def store(folder: Path, wires: Iterable[bytes]) -> int:
    """Write what is not there yet; returns how many files were written."""
    folder.mkdir(parents=True, exist_ok=True)
    written = 0
    for wire in wires:
        path = folder / f"{Entry(wire).name}{SUFFIX}"
        if not path.exists():
            part = path.with_suffix(".part")
            part.write_bytes(wire)
            part.replace(path)
            written += 1
    return written


def smallest(shown: Mapping[bytes, frozenset[Hashable]]) -> list[bytes]:
    """A small set of frames that together show all that these do (greedy: the frame that adds most,
    the shortest of equals, then the next).
    """
    left: set[Hashable] = set().union(*shown.values())
    candidates = dict(sorted(shown.items(), key=lambda item: (len(item[0]), item[0])))
    return list(_greedy(candidates, left))


def _greedy(candidates: dict[bytes, frozenset[Hashable]], left: set[Hashable]) -> Iterator[bytes]:
    # What a frame adds only ever shrinks, so a frame whose last count still leads needs no recount.
    counts = {wire: len(news) for wire, news in candidates.items()}
    while left:
        best = max(counts, key=lambda wire: (counts[wire], -len(wire)))
        adds = len(candidates[best] & left)
        if adds < counts[best]:
            counts[best] = adds
            continue
        left -= candidates[best]
        del counts[best]
        yield best


def replace_all(folder: Path, wires: Iterable[bytes]) -> int:
    """Make the folder hold these frames and no others; returns how many were removed."""
    wires = list(wires)
    store(folder, wires)
    kept = {f"{Entry(wire).name}{SUFFIX}" for wire in wires}
    others = [path for path in folder.glob(f"*{SUFFIX}") if path.name not in kept]
    for path in others:
        path.unlink()
    return len(others)
