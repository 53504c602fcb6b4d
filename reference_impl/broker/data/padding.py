"""Converted records go out as long as the stored ones, because their size is promised beforehand.

Source: LazyDownConversionRecordsSend at 2.2.1, 2.8.2; KIP-283.
"""

from __future__ import annotations

import struct

from touchstone.reference_impl.wire.records import down_convert, entries

BATCH_HEADER, CONVERSION_CHUNK = 61, 128 << 10
_OVERFLOW = struct.Struct(">qi")


def padded(converted: bytes, stored: bytes, magic: int, offset: int) -> bytes:
    """`converted` at the size that was promised before conversion was done (KIP-283)."""
    first = next(entries(stored), None)
    if first is None:
        return b""
    head = down_convert(stored[: first[0] + first[1]], magic, first_offset=offset)
    size = max(len(stored), len(head))
    missing = size - len(converted)
    while missing > 0:
        overflow = _OVERFLOW.pack(-1, max(missing + 1, BATCH_HEADER)).ljust(
            min(missing + 1, CONVERSION_CHUNK), b"\0"
        )
        converted += overflow[:missing]
        missing = size - len(converted)
    return converted[:size]
