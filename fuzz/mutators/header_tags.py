"""Put a fault into the tagged fields of a flexible header."""

from __future__ import annotations

import random

from touchstone.fuzz.mutators import SIZE, frame
from touchstone.fuzz.pieces import TAGS, Piece, tag_faults
from touchstone.reference_impl.wire.headers import (
    decode_request_header,
    encode_tags,
    request_header_version,
)

LAYER = "header"


def mutate(wire: bytes, draw: random.Random) -> bytes:
    content = wire[SIZE:]
    try:
        header, end = decode_request_header(content)
    except ValueError:
        return wire
    if request_header_version(header.key, header.version) < 2:
        return wire
    before = content[: end - len(encode_tags(header.tags))]
    return frame(before + tag_faults(Piece(TAGS, None), draw) + content[end:])
