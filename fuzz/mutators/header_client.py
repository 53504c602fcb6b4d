"""Change the client id of the header: null, empty, not text, too long, or a length that lies."""

from __future__ import annotations

import random

from touchstone.fuzz.mutators import FIXED_HEADER, SIZE, frame
from touchstone.reference_impl.wire.headers import decode_request_header

LAYER = "header"
TEXTS = (b"", b"\xff\xfe", b"a\0b", b"x" * 300, b"x" * 30_000, b"a client", b"\xc3\xa9" * 20)
LENGTHS = (-2, -32768, 32767, 300)


def mutate(wire: bytes, draw: random.Random) -> bytes:
    rest = behind_client(wire[SIZE:])
    if rest is None:
        return wire
    fixed = wire[SIZE:FIXED_HEADER]
    if draw.random() < 0.2:
        return frame(fixed + draw.choice(LENGTHS).to_bytes(2, "big", signed=True) + rest)
    text = draw.choice((None, *TEXTS))
    client = b"\xff\xff" if text is None else len(text).to_bytes(2, "big") + text
    return frame(fixed + client + rest)


def behind_client(content: bytes) -> bytes | None:
    """What follows the client id; None where there is none."""
    try:
        header, _ = decode_request_header(content)
    except ValueError:
        return None
    at = FIXED_HEADER - SIZE + 2
    size = int.from_bytes(content[at - 2 : at], "big", signed=True)
    has_one = (header.key, header.version) != (7, 0)  # ControlledShutdown v0 wears header v0
    return content[at + max(0, size) :] if has_one else None
