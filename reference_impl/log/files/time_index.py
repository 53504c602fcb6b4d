"""`.timeindex`: the largest timestamp so far and an offset that has it, at every index entry.

Entries of twelve bytes, the timestamp absolute and the offset relative; neither ever falls. When a
segment is closed the largest timestamp of all is added, which is why even an empty offset index
has a time index of one entry beside it (KIP-33; TimeIndex at 1.0.2 and 4.3.1; LOG-12).
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct
from typing import NamedTuple

from .errors import FileFormatError

ENTRY = Struct(">qi")


class Stamped(NamedTuple):
    timestamp: int
    offset: int  # absolute


def encode(entries: Iterable[Stamped], base_offset: int) -> bytes:
    return b"".join(ENTRY.pack(timestamp, offset - base_offset) for timestamp, offset in entries)


def decode(data: bytes, base_offset: int) -> list[Stamped]:
    """The entries before the filling of zeros; FileFormatError when time or offsets fall."""
    if len(data) % ENTRY.size:
        raise FileFormatError(len(data), f"no multiple of {ENTRY.size} bytes")
    used = len(data.rstrip(b"\0"))
    used += -used % ENTRY.size
    found: list[Stamped] = []
    for at in range(0, used, ENTRY.size):
        timestamp, relative = ENTRY.unpack_from(data, at)
        entry = Stamped(timestamp, base_offset + relative)
        if found and (timestamp < found[-1].timestamp or entry.offset < found[-1].offset):
            raise FileFormatError(at, f"{entry} does not follow {found[-1]}")
        if relative < 0:
            raise FileFormatError(at, f"{entry} lies before the segment")
        found.append(entry)
    return found
