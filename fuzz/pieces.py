"""A message as the pieces its bytes are made of: counts, lengths, null marks, values, tag blocks.

Encoding joins them again. A fault is put into one piece, and everything around it stays as a good
encoder writes it: a size of a tagged field around the fault is computed from what is within. Thus
a lie about a length is one lie, and what the decoder makes of all that follows is the fault's work.

Follows `wire.interpreter`, which is the definition; a test holds both to the same bytes.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from touchstone.reference_impl.wire.interpreter import PACKERS, is_default, unsigned_varint
from touchstone.reference_impl.wire.schema import Field, Message, Struct, tagged, untagged

COUNT, LENGTH, PRESENT, VALUE, TAGS = "count", "length", "present", "value", "tags"
MOST = 2**31 - 1


@dataclass(slots=True)
class Piece:
    """Some bytes of a message. `row` is the field they belong to, None for a tag block, whose
    sections are (tag, the pieces of its content).
    """

    kind: str
    row: Field | None
    data: bytes = b""
    flexible: bool = False
    nullable: bool = False
    sections: list[tuple[int, list[Piece]]] = field(default_factory=list)

    def joined(self) -> bytes:
        """The bytes; those of a tag block are made anew, unless `data` was set in their place."""
        if self.kind != TAGS or self.data:
            return self.data
        out = [unsigned_varint(len(self.sections))]
        for tag, content in self.sections:
            out.append(section(tag, join(content)))
        return b"".join(out)


def section(tag: int, content: bytes) -> bytes:
    """A tagged field: its tag, its size, its content."""
    return unsigned_varint(tag) + unsigned_varint(len(content)) + content


def join(pieces: Iterable[Piece]) -> bytes:
    return b"".join(piece.joined() for piece in pieces)


def every(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """These pieces, and those within tagged fields."""
    for piece in pieces:
        yield piece
        for _, content in piece.sections:
            yield from every(content)


def pieces_of(message: Message, version: int, body: Struct) -> list[Piece]:
    """The pieces of a whole message. Raises struct.error, TypeError or AttributeError where the
    body holds what its fields cannot.
    """
    out: list[Piece] = []
    _struct(out, message.fields, version, message.is_flexible(version), body)
    return out


def _struct(
    out: list[Piece], rows: tuple[Field, ...] | list[Field], version: int, flexible: bool,
    body: Struct,
) -> None:  # fmt: skip
    for row in untagged(rows, version):
        _field(out, row, version, flexible, body.get(row.name, row.default_value(version)))
    if not flexible:
        return
    block = Piece(TAGS, None, flexible=True)
    kept = [(tag, [Piece(VALUE, None, content)]) for tag, content in body.get("_tags", {}).items()]
    block.sections += kept
    for row in tagged(rows, version):
        value = body.get(row.name, row.default_value(version))
        if is_default(row, version, value):
            continue
        content: list[Piece] = []
        if value is None and row.type == "struct":
            content.append(Piece(PRESENT, row, b"\0", flexible, True))
        else:
            _field(content, row, version, flexible, value)
        block.sections.append((row.tag or 0, content))
    block.sections.sort(key=lambda one: one[0])
    out.append(block)


def _field(out: list[Piece], row: Field, version: int, flexible: bool, value: object) -> None:
    nullable = row.is_nullable(version)
    if not row.is_array:
        _one(out, row, row.type, version, flexible, value, nullable)
        return
    size = -1 if value is None else len(value)  # type: ignore[arg-type]
    out.append(Piece(COUNT, row, sized(COUNT, size, row, flexible), flexible, nullable))
    for element in value or ():  # type: ignore[attr-defined]
        _one(out, row, row.element, version, flexible, element, nullable=False)


def _one(
    out: list[Piece], row: Field, kind: str, version: int, flexible: bool, value: object,
    nullable: bool,
) -> None:  # fmt: skip
    if kind == "struct":
        if nullable:
            mark = b"\xff" if value is None else b"\x01"
            out.append(Piece(PRESENT, row, mark, flexible, nullable))
        if value is not None:
            _struct(out, row.fields, version, flexible, value)  # type: ignore[arg-type]
        return
    if kind in PACKERS:
        out.append(Piece(VALUE, row, PACKERS[kind].pack(value), flexible))
        return
    if isinstance(value, str):
        value = value.encode("utf-8", "surrogateescape")
    content = b"" if value is None else bytes(value)  # type: ignore[call-overload]
    size = -1 if value is None else len(content)
    out.append(Piece(LENGTH, row, sized(LENGTH, size, row, flexible), flexible, nullable))
    out.append(Piece(VALUE, row, content, flexible))


def sized(kind: str, size: int, row: Field, flexible: bool) -> bytes:
    """A count or a length as this field writes it; any int32, or what is left of it in an int16."""
    if flexible:
        return unsigned_varint((size + 1) & 0xFFFFFFFF)
    width = 2 if kind == LENGTH and row.element == "string" else 4
    return (size & (2 ** (8 * width) - 1)).to_bytes(width, "big")


# --- faults ---------------------------------------------------------------------------------------


def with_size(piece: Piece, size: int) -> bytes:
    """The bytes of a count or a length that says `size` instead."""
    assert piece.row is not None  # only a tag block has none
    return sized(piece.kind, size, piece.row, piece.flexible)


def size_of(piece: Piece) -> int:
    """What a count or a length says now; -1 for null."""
    if piece.flexible:
        value, shift = 0, 0
        for byte in piece.data:
            value |= (byte & 127) << shift
            shift += 7
        return value - 1
    return int.from_bytes(piece.data, "big", signed=True)


def sizes_near(size: int, draw: random.Random) -> int:
    """A count or a length that is not right: one off, below null, or more than a frame can hold."""
    return draw.choice((size - 1, size + 1, size + 127, -2, 1_000_000, MOST, -MOST - 1))


def tag_faults(piece: Piece, draw: random.Random) -> bytes:
    """A tag block with a fault: an unknown tag (which is legal), one twice, tags that
    descend, a count or a size that lies.
    """
    written = [section(tag, join(content)) for tag, content in piece.sections]
    unknown = section(draw.choice((100, 10_000, MOST)), draw.randbytes(draw.choice((0, 1, 30))))
    known = written[0] if written else unknown
    size = unsigned_varint(draw.choice((1, 200, MOST, 0xFFFFFFFF)))
    choices: tuple[tuple[int, list[bytes]], ...] = (
        (len(written) + 1, [*written, unknown]),
        (len(written) + 1, [*written, unknown]),
        (len(written) + 2, [*written, section(500, b"1"), section(501, b"")]),
        (len(written) + 2, [*written, known, known]),
        (len(written) + 2, [*written, section(501, b""), section(500, b"1")]),
        (len(written) + 1, [*written, unsigned_varint(500) + size]),
        (draw.choice((len(written) + 1, MOST, 0xFFFFFFFF)), written),
    )
    count, sections = draw.choice(choices)
    return unsigned_varint(count) + b"".join(sections)
