"""Make one string, array, run of bytes or struct null, whether it may be or not."""

from __future__ import annotations

import random

from touchstone.fuzz.layers import NothingHere, Opened, places
from touchstone.fuzz.pieces import COUNT, LENGTH, Piece, join, pieces_of, size_of, with_size

LAYER = "body"
OFTEN_LEGAL = 0.6
"""How often one is chosen that may be null, where there is such."""


def change(opened: Opened, draw: random.Random) -> bytes:
    legal = [
        (holder, name)
        for holder, name, row in places(opened.message, opened.version, opened.body)
        if isinstance(holder, dict) and row.is_nullable(opened.version) and holder[name] is not None
    ]
    if legal and draw.random() < OFTEN_LEGAL:
        holder, name = draw.choice(legal)
        holder[name] = None
        return opened.closed()
    pieces = pieces_of(opened.message, opened.version, opened.body)
    held = [at for at, piece in enumerate(pieces) if not piece.nullable and has_no_elements(piece)]
    if not held:
        raise NothingHere
    at = draw.choice(held)
    piece = pieces[at]
    piece.data = with_size(piece, -1)
    if piece.kind == LENGTH:
        pieces[at + 1].data = b""
    return opened.around(join(pieces))


def has_no_elements(piece: Piece) -> bool:
    """Whether it is the length of a string or of bytes, or the count of an array without any."""
    return piece.kind == LENGTH or (piece.kind == COUNT and size_of(piece) == 0)
