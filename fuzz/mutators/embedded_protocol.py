"""Put a fault into a subscription or an assignment: its version, a field, a count, a length."""

from __future__ import annotations

import random

from touchstone.fuzz.layers import FieldPlace, Opened, within_blob
from touchstone.fuzz.pieces import (
    COUNT,
    LENGTH,
    VALUE,
    Piece,
    join,
    pieces_of,
    size_of,
    sizes_near,
    with_size,
)
from touchstone.reference_impl.wire.embedded.consumer_protocol import (
    ASSIGNMENT,
    SUBSCRIPTION,
    decode_assignment,
    decode_subscription,
)

LAYER = "embedded"
SUBSCRIPTIONS = ("metadata", "member_metadata")
ASSIGNMENTS = ("assignment", "member_assignment")
VERSIONS = (-1, 0, 1, 2, 3, 4, 99, 32767, -32768)
CONTENTS = (b"", b"\0", b"\xff\xff", b"x" * 300)
NUMBERS = (-1, 0, 1, 2**31 - 1, -(2**31))


def change(opened: Opened, draw: random.Random) -> bytes:
    def wanted(place: FieldPlace) -> bool:
        holder, name, row = place
        known = row.name in SUBSCRIPTIONS or row.name in ASSIGNMENTS
        return known and row.type == "bytes" and isinstance(holder, dict) and name == row.name

    return within_blob(opened, draw, wanted, lambda blob: broken(blob, draw))


def broken(blob: bytes, draw: random.Random) -> bytes:
    """The same subscription or assignment with one fault."""
    if draw.random() < 0.2:
        return draw.choice(VERSIONS).to_bytes(2, "big", signed=True) + blob[2:]
    try:
        version, body, end = decode_subscription(blob)
        message = SUBSCRIPTION
        if end != len(blob) or "topics" not in body:
            raise ValueError
    except ValueError:
        version, body, end = decode_assignment(blob)
        message = ASSIGNMENT
    pieces = pieces_of(message, min(version, 3), body)
    piece = draw.choice([piece for piece in pieces if piece.row is not None])
    piece.data = fault(piece, draw)
    return blob[:2] + join(pieces) + blob[end:]


def fault(piece: Piece, draw: random.Random) -> bytes:
    """Other bytes for a piece: a size that lies, another number, another text."""
    assert piece.row is not None  # only a tag block has none
    if piece.kind in (COUNT, LENGTH):
        return with_size(piece, sizes_near(size_of(piece), draw))
    if piece.kind == VALUE and piece.row.element == "int32":
        return draw.choice(NUMBERS).to_bytes(4, "big", signed=True)
    return draw.choice(CONTENTS)[: len(piece.data)].ljust(len(piece.data), b"\xff")
