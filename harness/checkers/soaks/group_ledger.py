"""What the members of one group are given together: everything, in order; and what they commit.

A group delivers at least once (CONS-41): what is read again after a rebalance is no fault, as long
as it is little, for all that is read is committed at once. A fault is an offset that a member is
given while the one before it was given to nobody, a record out of order within a poll, a commit of
what nobody has read or of another offset than the next one (CONS-41), and so much read again that
two members must have had the same partition. Offsets of the log have no gaps here (no transactions,
no compaction), so one number a partition is all that is kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from touchstone.harness.checkers.soaks.log_ledger import Place

MOST_AGAIN = 0.1  # of what is read: rebalances explain no more


class GroupLedger:
    """Of the group `name`; `findings` and `counts` as a `LogLedger`'s."""

    def __init__(self, name: str, places: Iterable[Place]) -> None:
        self.name = name
        self.next_offset = dict.fromkeys(places, 0)  # the first that nobody was given
        self.findings: list[str] = []
        self.counts: Counter[str] = Counter()

    def read(self, place: Place, offsets: Sequence[int]) -> None:
        """One poll gave a member these offsets of a partition, in this order."""
        first, last = offsets[0], offsets[-1]
        if list(offsets) != list(range(first, last + 1)):
            self._find(place, f"one poll gave offsets {_short(offsets)}")
        next_offset = self.next_offset[place]
        if first > next_offset:
            self._find(place, f"offset {first} was given, and nobody was given {next_offset}")
        again = max(0, min(last + 1, next_offset) - first)
        self.counts["read again"] += again
        self.counts["read"] += len(offsets) - again
        self.next_offset[place] = max(next_offset, last + 1)

    def commit(self, place: Place, offset: int, wanted: int | None = None) -> None:
        """A member was told that this offset is committed; `wanted` is one after its last record,
        where it committed just that.
        """
        self.counts["committed"] += 1
        if offset > self.next_offset[place]:
            text = f"offset {offset} was committed, and nobody was given {self.next_offset[place]}"
            self._find(place, text)
        elif wanted is not None and offset != wanted:
            self._find(place, f"offset {offset} was committed instead of {wanted}")

    def count_again(self) -> None:
        """At the end: whether members shared partitions instead of dividing them."""
        again, read = self.counts["read again"], self.counts["read"]
        if again > MOST_AGAIN * read:
            self.findings.append(f"group {self.name}: {again} of {read} records were read again")

    def behind(self, ends: dict[Place, int]) -> dict[Place, int]:
        """Partitions that are not read to these ends, and how far they are."""
        return {place: at for place, at in self.next_offset.items() if at < ends[place]}

    def _find(self, place: Place, text: str) -> None:
        self.findings.append(f"{place[0]}-{place[1]}: group {self.name}: {text}")


def _short(offsets: Sequence[int]) -> str:
    return ", ".join(map(str, offsets[:20])) + (" ..." if len(offsets) > 20 else "")
