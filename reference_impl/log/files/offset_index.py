"""`.index`: for about every 4096 bytes of a segment, a last offset and the batch's position.

Entries of eight bytes, offsets relative to the segment's base, both growing. A segment in use has
its index at full length, filled up with zeros (it is mapped into memory), so reading stops where
offsets no longer grow. The index can be thrown away at any time: the log has it all (LOG-09).

Sources: OffsetIndex at 1.0.2 and 4.3.1; KIP-33's neighbour `time_index`; LOG-12.
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct
from typing import NamedTuple

from .errors import FileFormatError

ENTRY = Struct(">ii")


class Indexed(NamedTuple):
    offset: int  # absolute: the last offset of the batch that begins at `position`
    position: int


def encode(entries: Iterable[Indexed], base_offset: int) -> bytes:
    return b"".join(ENTRY.pack(offset - base_offset, position) for offset, position in entries)


def decode(data: bytes, base_offset: int) -> list[Indexed]:
    """The entries before the filling; FileFormatError when the rest is no filling."""
    if len(data) % ENTRY.size:
        raise FileFormatError(len(data), f"no multiple of {ENTRY.size} bytes")
    used = len(data.rstrip(b"\0"))
    used += -used % ENTRY.size
    found: list[Indexed] = []
    last = Indexed(-1, 0)
    for at in range(0, used, ENTRY.size):
        entry = Indexed(*ENTRY.unpack_from(data, at))
        # Position 0 is never indexed: an entry stands for bytes that lie before it.
        if entry.offset <= last.offset or entry.position <= last.position:
            raise FileFormatError(at, f"{entry} does not follow {last}")
        found.append(entry)
        last = entry
    return [Indexed(base_offset + offset, position) for offset, position in found]
