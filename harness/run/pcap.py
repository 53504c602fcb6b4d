"""Transcripts as a packet capture: Wireshark can be asked what it reads, instead of ours.

A second reader of the same bytes settles quarrels about a schema. What stands in the file are the
frames of the transcript at the instants they had, wrapped into the TCP that they might have come
in: addresses are those reserved for documentation, one server per transcript, on port 9092, by
which Wireshark knows Kafka without being told. Nothing is needed to write it. Pure.

Sources: the libpcap file format (LINKTYPE_RAW), RFC 791, RFC 9293, RFC 5737.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from touchstone.harness.model.transcript import Event, Transcript

RAW_IP = 101
MAGIC, SNAPLEN = 0xA1B2C3D4, 0x40000
PORT, FIRST_CLIENT_PORT = 9092, 40000
SEGMENT = 32 << 10
FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16
CLIENT, SERVERS = bytes((192, 0, 2, 1)), bytes((198, 51, 100, 0))  # TEST-NET-1 and -2
ENDINGS = {"closed": FIN | ACK, "reset": RST | ACK, "garbled": FIN | ACK}
OURS, THEIRS = 0, 1


@dataclass
class _Flow:
    """One connection: who, and how far each side's sequence numbers are."""

    server: bytes
    port: int
    next: list[int] = field(default_factory=lambda: [1000, 5000])

    def packet(self, side: int, flags: int, data: bytes = b"") -> bytes:
        ends = [(CLIENT, self.port), (self.server, PORT)]
        (source, source_port), (target, target_port) = ends[side], ends[1 - side]
        acknowledged = self.next[1 - side] if flags & ACK else 0
        made = struct.pack(
            ">HHIIBBHHH", source_port, target_port, self.next[side], acknowledged,
            5 << 4, flags, 0xFFFF, 0, 0,
        ) + data  # fmt: skip
        pseudo = source + target + struct.pack(">HH", 6, len(made))
        made = made[:16] + struct.pack(">H", _checksum(pseudo + made)) + made[18:]
        head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(made), 0, 0x4000, 64, 6, 0)
        head += source + target
        self.next[side] += len(data) + bool(flags & (SYN | FIN))
        return head[:10] + struct.pack(">H", _checksum(head)) + head[12:] + made


def dumps(transcripts: Iterable[Transcript]) -> bytes:
    """A capture file of all that crossed the sockets of these transcripts, one server for each."""
    packets = [
        packet
        for number, transcript in enumerate(transcripts, 1)
        for packet in _packets(transcript, SERVERS[:3] + bytes((number,)))
    ]
    out = [struct.pack("<IHHiIII", MAGIC, 2, 4, 0, 0, SNAPLEN, RAW_IP)]
    for at_us, data in sorted(packets, key=lambda packet: packet[0]):
        seconds, rest = divmod(at_us, 1_000_000)
        out += [struct.pack("<IIII", seconds, rest, len(data), len(data)), data]
    return b"".join(out)


def _packets(transcript: Transcript, server: bytes) -> Iterator[tuple[int, bytes]]:
    began = transcript.header.clock_ms * 1000
    flows: dict[str, _Flow] = {}
    for event in transcript.events:
        at = began + event.at_us
        flow = flows.get(event.connection)
        if event.direction == "opened" or (flow is None and event.raw):
            flow = _Flow(server, FIRST_CLIENT_PORT + len(flows))
            flows[event.connection] = flow
            for side, flags in ((OURS, SYN), (THEIRS, SYN | ACK), (OURS, ACK)):
                yield at, flow.packet(side, flags)
        if flow is not None:
            yield from ((at, packet) for packet in _of(event, flow))


def _of(event: Event, flow: _Flow) -> Iterator[bytes]:
    """What one event was on the wire."""
    side = OURS if event.direction in ("sent", "half-closed", "ended") else THEIRS
    data = event.raw
    if event.direction == "received" or (event.direction == "sent" and event.framed):
        data = struct.pack(">i", len(data)) + data
    for start in range(0, len(data), SEGMENT):
        yield flow.packet(side, PSH | ACK, data[start : start + SEGMENT])
    if event.direction in ("half-closed", "ended"):
        yield flow.packet(OURS, FIN | ACK)
    elif event.direction in ENDINGS:
        yield flow.packet(THEIRS, ENDINGS[event.direction])


def _checksum(data: bytes) -> int:
    """The internet checksum: ones' complement of the ones' complement sum."""
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
