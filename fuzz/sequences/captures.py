"""Packet captures: what clients asked of brokers, and what they were answered, out of the TCP.

scapy (GPL-2.0, the optional extra `pcap`) reads the file and takes the packets apart; it is
imported when a capture is read and nowhere else. Captures are written by harness/run/pcap.py from a
transcript of what was played.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from touchstone.fuzz.sequences.decode import Spoken
from touchstone.fuzz.sequences.played import Played
from touchstone.harness.model.transcript import Event, Header, Transcript
from touchstone.harness.run import pcap
from touchstone.reference_impl.extras import hint
from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.framing import FrameError, Frames
from touchstone.reference_impl.wire.headers import decode_request_header

End = tuple[str, int]
LIMIT = 100 << 20
SIZE = 4


class NoScapy(Exception):
    """A capture cannot be read because the extra `pcap` is not installed."""


@dataclass
class _Direction:
    """What one side of a connection sent, in the order of its sequence numbers."""

    next: int | None = None
    early: dict[int, bytes] = field(default_factory=dict)
    frames: Frames = field(default_factory=lambda: Frames(LIMIT))
    broken: bool = False

    def feed(self, at: int, data: bytes) -> list[bytes]:
        """Whole frames that are complete now; a segment that was seen before says nothing."""
        if self.next is None:
            self.next = at
        self.early[at] = data
        found: list[bytes] = []
        while not self.broken and self.next in self.early:
            segment = self.early.pop(self.next)
            self.next = (self.next + len(segment)) % 2**32
            try:
                found += self.frames.feed(segment)
            except FrameError:
                self.broken = True
        return found


@dataclass
class _Asked:
    """A request that waits for its answer."""

    place: int
    connection: str
    raw: bytes


def read(path: Path) -> list[Spoken]:
    """The requests of a capture in the order of their first bytes, each with its answer. Of a
    connection that the capture joins late, what can be read. Raises NoScapy.
    """
    directions: dict[tuple[End, End], _Direction] = {}
    waiting: dict[tuple[End, End], list[_Asked]] = {}
    asked: list[_Asked] = []
    answers: dict[int, bytes] = {}
    for source, target, at, data in _segments(path):
        flow = (source, target)
        for raw in directions.setdefault(flow, _Direction()).feed(at, data):
            pending = waiting.get((target, source), [])
            if pending and _answers(raw, pending[0].raw):
                answers[pending.pop(0).place] = raw
            elif _is_request(raw):
                one = _Asked(len(asked), f"{source[0]}:{source[1]}", raw)
                asked.append(one)
                waiting.setdefault(flow, []).append(one)
    return [Spoken(one.connection, one.raw, answers.get(one.place)) for one in asked]


def _answers(raw: bytes, request: bytes) -> bool:
    return raw[:4] == request[4:8]


def _is_request(raw: bytes) -> bool:
    try:
        header, _ = decode_request_header(raw)
    except ValueError:
        return False
    return header.key in API


def _segments(path: Path) -> Iterator[tuple[End, End, int, bytes]]:
    """(source, target, sequence number, bytes) of each TCP segment that carries any. A SYN takes
    one number of its own, which no segment shows.
    """
    try:
        from scapy.layers.inet import IP, TCP
        from scapy.layers.inet6 import IPv6
        from scapy.utils import PcapReader
    except ImportError as problem:
        raise NoScapy(f"captures need scapy {hint('pcap')}") from problem
    with PcapReader(str(path)) as packets:
        for packet in packets:
            network: Any = packet.getlayer(IP) or packet.getlayer(IPv6)
            if network is None or TCP not in packet:
                continue
            segment = packet[TCP]
            data = bytes(segment.payload)
            if data and not _is_padding(network, segment, data):
                yield (
                    (network.src, segment.sport), (network.dst, segment.dport), segment.seq, data
                )  # fmt: skip


def _is_padding(network: Any, segment: Any, data: bytes) -> bool:
    """Short Ethernet frames are filled up behind the packet."""
    length = getattr(network, "len", None)
    return length is not None and length == network.ihl * 4 + segment.dataofs * 4 and bool(data)


def transcript_of(played: Played, target: str) -> Transcript:
    """What was played, as a transcript: every step's frames on its connection, one a millisecond
    (when each went out was not kept).
    """
    events: list[Event] = []
    for number, (wire, outcome) in enumerate(zip(played.sent, played.outcomes, strict=False)):
        connection = str(played.script.steps[number].connection)
        if all(event.connection != connection for event in events):
            events.append(Event(number * 1000, connection, "opened", number))
        events.append(Event(number * 1000, connection, "sent", number, wire[SIZE:]))
        for raw in outcome.answers:
            events.append(Event(number * 1000 + 500, connection, "received", number, raw))
    labels = tuple(f"step {number}" for number in range(len(played.sent)))
    return Transcript(Header(target, "live", labels), tuple(events))


def write(played: Played, path: Path, target: str = "fuzz") -> None:
    """A capture of what was played."""
    path.write_bytes(pcap.dumps([transcript_of(played, target)]))
