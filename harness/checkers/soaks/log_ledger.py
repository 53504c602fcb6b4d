"""What idempotent producers send, and what a reader of the whole log finds, in step.

Each producer numbers its records per partition from 0, in the order in which it sends them. Then
three promises (KIP-98; acks=all) show to a reader from offset 0, at once and without a memory of
what was read: nothing acknowledged is missing, no number comes twice, numbers only grow. What was
never acknowledged may be there or not, but once and in its place.

An acknowledged record that the reader has not come to is the only thing that is kept.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

Place = tuple[str, int]


@dataclass(slots=True)
class Sent:
    """A record that is not settled: not acknowledged, or not read. Each is an offset."""

    told: int | None = None  # what its producer was told
    read: int | None = None  # where it was read
    passed: int | None = None  # of a later record that was read before it


@dataclass(slots=True)
class Stream:
    """One producer's records in one partition."""

    next: int = 0  # the number of its next record
    last_read: int = -1
    open: dict[int, Sent] = field(default_factory=dict)


class LogLedger:
    """`findings` are sentences, in the order in which they showed; `counts` are for progress."""

    def __init__(self, places: Iterable[Place]) -> None:
        self.next_offset = dict.fromkeys(places, 0)
        self.findings: list[str] = []
        self.counts: Counter[str] = Counter()
        self._streams: dict[tuple[str, Place], Stream] = defaultdict(Stream)

    def send(self, who: str, place: Place) -> int:
        """The number of the record that this producer is about to send there."""
        stream = self._streams[who, place]
        number, stream.next = stream.next, stream.next + 1
        stream.open[number] = Sent()
        self.counts["sent"] += 1
        return number

    def acknowledge(self, who: str, place: Place, number: int, offset: int) -> None:
        """The producer was told that it is stored at this offset."""
        self.counts["acknowledged"] += 1
        stream = self._streams[who, place]
        sent = stream.open[number]
        sent.told = offset
        if sent.read is not None:
            self._settle(who, place, number, sent)
        elif sent.passed is not None:
            self._find(who, place, number, f"acknowledged at {offset}, not there before "
                       f"{sent.passed}, where a later one was read")  # fmt: skip

    def fail(self, who: str, place: Place, number: int) -> None:
        """The producer was told of an error: it may be stored or not."""
        self.counts["failed"] += 1
        del self._streams[who, place].open[number]

    def read(self, who: str, place: Place, number: int, offset: int) -> None:
        """The reader of the whole log comes to this record."""
        self.counts["read"] += 1
        if offset != self.next_offset[place]:
            self._find(who, place, number, f"read at {offset}, {self.next_offset[place]} is next")
        self.next_offset[place] = offset + 1
        stream = self._streams[who, place]
        sent = stream.open.get(number)
        if number <= stream.last_read:
            early = sent is not None and sent.read is None
            what = "out of order" if early else "a duplicate"
            self._find(who, place, number, f"{what} at {offset}: {stream.last_read} came before")
        else:
            self._pass(who, place, range(stream.last_read + 1, number), offset)
            stream.last_read = number
        if sent is not None:
            sent.read = offset
            if sent.told is not None:
                self._settle(who, place, number, sent)

    def count_unread(self) -> None:
        """At the end, once everything is read: what never was settled."""
        for (who, place), stream in self._streams.items():
            for number, sent in stream.open.items():
                if sent.told is None:
                    self._find(who, place, number, "sent, and nobody was told what became of it")
                elif sent.passed is None:
                    text = f"acknowledged at {sent.told}, not read up to the end"
                    self._find(who, place, number, f"{text} {self.next_offset[place]}")

    @property
    def open(self) -> int:
        """Records that are kept."""
        return sum(len(stream.open) for stream in self._streams.values())

    def _pass(self, who: str, place: Place, numbers: range, offset: int) -> None:
        """These should have come before, if they are stored at all."""
        stream = self._streams[who, place]
        for number in numbers:
            sent = stream.open.get(number)
            if sent is None:
                continue  # it failed
            sent.passed = offset
            if sent.told is not None:
                text = f"acknowledged at {sent.told}, not there before {offset}"
                self._find(who, place, number, text)

    def _settle(self, who: str, place: Place, number: int, sent: Sent) -> None:
        if sent.told != sent.read:
            text = f"acknowledged at {sent.told}, read at {sent.read}"
            self._find(who, place, number, text)
        del self._streams[who, place].open[number]

    def _find(self, who: str, place: Place, number: int, text: str) -> None:
        self.findings.append(f"{place[0]}-{place[1]}: record {number} of {who} is {text}")
