"""A tag that comes to a message with a later version is not allowed in an earlier one.

An unknown tag is carried along and means nothing. But Kafka's classes know every tag of their own
release, and refuse one that the version of the message does not have yet: "Tag 1 is not valid for
version 12". So what is refused depends on the newest version that whoever reads knows.

Source: the classes generated for 3.9.2 and 4.3.1 (FetchRequestData.read).
"""

from __future__ import annotations

from typing import NamedTuple

from .codec import decode
from .schema import Field, Message, Struct


class _Late(NamedTuple):
    """The tags that are too late in a struct, and in those within it by their fields' names."""

    tags: frozenset[int]
    inner: tuple[tuple[str, bool, _Late], ...]  # name, is an array, what is late in it


_LATE: dict[tuple[str, int, int], _Late | None] = {}


def decode_known(message: Message, version: int, frame: bytes, at: int, newest: int) -> Struct:
    """Return the body that begins at `at`, as whoever knows the message up to version `newest`
    reads it. Raise ValueError (DecodeError) if it is none.
    """
    body, _ = decode(message, version, frame, at, fill=True)
    if message.is_flexible(version):
        _check(message, version, newest, body)
    return body


def _check(message: Message, version: int, newest: int, body: Struct) -> None:
    key = message.name, version, newest
    if key not in _LATE:
        _LATE[key] = _late(message.fields, version, newest)
    late = _LATE[key]
    if late is not None and (tag := _found(late, body)) is not None:
        raise ValueError(f"{message.name}: tag {tag} is not valid for version {version}")


def _late(fields: tuple[Field, ...] | list[Field], version: int, newest: int) -> _Late | None:
    tags = frozenset(
        row.tag
        for row in fields
        if row.tag is not None
        and not row.is_tagged(version)
        and any(row.is_tagged(later) for later in range(version + 1, newest + 1))
    )
    inner = tuple(
        (row.name, row.is_array, found)
        for row in fields
        if row.fields and (found := _late(row.fields, version, newest)) is not None
    )
    return _Late(tags, inner) if tags or inner else None


def _found(late: _Late, struct: Struct) -> int | None:
    """Return a tag that is too late, if there is one."""
    for tag in struct.get("_tags", ()):
        if tag in late.tags:
            return int(tag)
    for name, is_array, inner in late.inner:
        value = struct.get(name)
        for one in (value or ()) if is_array else (value,):
            if one is not None and (tag := _found(inner, one)) is not None:
                return tag
    return None
