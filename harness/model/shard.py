"""Parts of a run: `--shard 2/3` is the second of three processes that judge one target together.

Every part collects everything and deals it out the same way, so nobody has to hand out work and a
part can run on another machine. Cases are dealt by shape, because cases of one shape share a
cluster and a cluster of real Kafka costs seconds: as many shapes stay whole as parts of about one
size allow, and the cases of the others are dealt to all in turn, the versions of one claim apart.
What counts is time, which nobody knows beforehand; cases that harm brokers wait for sessions to
end, so they count for many.

Playwright and Jest shard by file; there a file is what shares a set-up, here it is a shape.
"""

from __future__ import annotations

import heapq
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from touchstone.harness.model.claim import CaseId

# What stays together: its weight, the id of its first case, its places among the cases.
Piece = tuple[float, str, list[int]]

HARM = "harm"
HARMFUL = 20  # cases that harm nobody take as long as one that does
LARGE = range(1, 9)  # a shape is cut where it is more than such a part of a part; the largest first
EVEN = 1.04  # no part has so many times more than each has on average


@dataclass(frozen=True, slots=True)
class Shard:
    """One of `count` parts; `index` is from 1."""

    index: int
    count: int

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"

    def deal(self, cases: Sequence[CaseId]) -> list[int]:
        """The part (from 1) of each case, in the order of the cases. It does not depend on it."""
        return by_shape(cases, self.count)


def parse(word: str) -> Shard:
    """ "2/3". Raises ValueError."""
    found = re.fullmatch(r"(\d+)/(\d+)", word)
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        raise ValueError(f"a shard is I/N with I from 1 to N, not {word!r}")
    return Shard(int(found[1]), int(found[2]))


def by_shape(cases: Sequence[CaseId], count: int) -> list[int]:
    """The part of each case, where a cluster is dear."""
    found: list[int] = []
    for large in LARGE:
        found = _dealt(_pieces(cases, count, large), len(cases), count)
        if _is_even(cases, found, count):
            break
    return found


def by_weight(cases: Sequence[CaseId], weights: Sequence[float], count: int) -> list[int]:
    """The part of each case, where a cluster costs nothing and the cost of cases is known."""
    every = zip(cases, weights, strict=True)
    pieces = [(weight, case.id, [place]) for place, (case, weight) in enumerate(every)]
    return _dealt(pieces, len(cases), count)


def _dealt(pieces: Sequence[Piece], cases: int, count: int) -> list[int]:
    """Always the heaviest that is left, to whom has least."""
    parts: list[tuple[float, int]] = [(0.0, number) for number in range(1, count + 1)]
    found = [0] * cases
    for weight, _, places in sorted(pieces, key=lambda piece: (-piece[0], piece[1])):
        load, number = heapq.heappop(parts)
        heapq.heappush(parts, (load + weight, number))
        for place in places:
            found[place] = number
    return found


def _weight(case: CaseId) -> int:
    return HARMFUL if HARM in case.claim.capabilities else 1


def _is_even(cases: Sequence[CaseId], parts: Sequence[int], count: int) -> bool:
    loads = Counter[int]()
    for case, part in zip(cases, parts, strict=True):
        loads[part] += _weight(case)
    return max(loads.values(), default=0) <= EVEN * loads.total() / count


def _pieces(cases: Sequence[CaseId], count: int, most: int) -> list[Piece]:
    """What stays together: no shape of more than a `most`-th of a part."""
    shapes: dict[tuple[object, bool], list[int]] = {}
    for place, case in sorted(enumerate(cases), key=lambda pair: pair[1].id):
        shapes.setdefault((case.claim.shape, _weight(case) > 1), []).append(place)
    large = sum(map(_weight, cases)) / (count * most)
    pieces: list[Piece] = []
    for places in shapes.values():
        weight = _weight(cases[places[0]])
        cut = count if weight * len(places) > large else 1
        for start in range(min(cut, len(places))):
            piece = places[start::cut]
            pieces.append((weight * len(piece), cases[piece[0]].id, piece))
    return pieces
