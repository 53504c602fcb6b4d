"""Change one field of a message of the formats before batches (magic 0 and 1); its CRC is right."""

from __future__ import annotations

import random
import zlib

from touchstone.fuzz.layers import NothingHere, Opened, edges, is_records, within_blob
from touchstone.reference_impl.wire.records import entries

LAYER = "message"
CRC_AT, MAGIC_AT, ATTRIBUTES_AT = 12, 16, 17
TIMESTAMP_AT = 18  # in magic 1
EDGES = tuple(edges("int64"))
LENGTHS = (-2, -1, 0, 1, 2**31 - 1, -(2**31))


def change(opened: Opened, draw: random.Random) -> bytes:
    def in_records(buf: bytes) -> bytes:
        older = [(at, size) for at, size, magic in entries(buf) if magic < 2]
        if not older:
            raise NothingHere
        at, size = draw.choice(older)
        return buf[:at] + broken(bytearray(buf[at : at + size]), draw) + buf[at + size :]

    return within_blob(opened, draw, is_records, in_records)


def broken(message: bytearray, draw: random.Random) -> bytes:
    """The message with one field at an edge and the CRC of what it is now."""
    stamped = message[MAGIC_AT] == 1
    key_at = TIMESTAMP_AT + 8 if stamped else TIMESTAMP_AT
    what = draw.choice(("offset", "attributes", "key", *(("timestamp",) if stamped else ())))
    if what == "offset":
        message[:8] = draw.choice(EDGES).to_bytes(8, "big", signed=True)
    elif what == "attributes":
        message[ATTRIBUTES_AT] ^= 1 << draw.randrange(8)
    elif what == "timestamp":
        message[TIMESTAMP_AT : TIMESTAMP_AT + 8] = draw.choice(EDGES).to_bytes(
            8, "big", signed=True
        )
    else:
        message[key_at : key_at + 4] = draw.choice(LENGTHS).to_bytes(4, "big", signed=True)
    crc = zlib.crc32(bytes(message[MAGIC_AT:]))
    message[CRC_AT:MAGIC_AT] = crc.to_bytes(4, "big")
    return bytes(message)
