"""How a body lies, as one line of text that `fuzz/replay.py` reads without our schemas.

`name type, ...` in wire order; a type is a primitive, `(fields)`, or `[type]`; `?` allows null; a
leading `~` means compact lengths and tagged fields. Tagged fields themselves are left out: whoever
reads them skips the tags, and no error code stands in one (a test looks).
"""

from __future__ import annotations

from functools import cache

from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.schema import Field, Message, untagged


@cache
def shape_of_request(key: int, version: int) -> str:
    """Empty where there is no such request."""
    return _shape(API[key].request, version) if key in API else ""


@cache
def shape_of_answer(key: int, version: int) -> str:
    """Empty where there is no such answer."""
    return _shape(API[key].response, version) if key in API else ""


def _shape(message: Message, version: int) -> str:
    if not message.has(version):
        return ""
    fields = _fields(message.fields, version) or " "  # a body without fields is one all the same
    return ("~" if message.is_flexible(version) else "") + fields


def _fields(rows: tuple[Field, ...] | list[Field], version: int) -> str:
    return ", ".join(f"{row.name} {_type(row, version)}" for row in untagged(rows, version))


def _type(row: Field, version: int) -> str:
    kind = row.element
    if kind == "struct":
        kind = f"({_fields(row.fields, version)})"
    if row.is_array:
        kind = f"[{kind}]"
    return kind + ("?" if row.is_nullable(version) else "")
