"""Other values for one field of an answer, each by the name of its kind of change.

What a field may hold follows from its row in the schema, so that most changes have bytes; those
that have none are left out by whoever encodes them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from touchstone.reference_impl.wire.schema import Field

BITS = {"int8": 8, "int16": 16, "uint16": 16, "int32": 32, "uint32": 32, "int64": 64}
NO_ID = bytes(16)
FAR = 1_000_003  # beyond any offset, epoch, count or span of a recorded case
HOUR_MS = 3_600_000
STRANGER = "touchstone-stranger"
IDENTITIES = ("name", "topic", "topic_name", "topic_id", "group_id", "member_id", "resource_name",
              "transactional_id", "user", "principal", "token_id", "log_dir", "key")  # fmt: skip
NUMBERS = ("partition_index", "partition", "index", "node_id", "broker_id", "producer_id",
           "api_key", "replica_id", "partition_id")  # fmt: skip
_DRAWN = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|^[\w-]{22}$", re.ASCII)

Change = tuple[str, Any]  # its kind and the new value
Own = Callable[[Any], bool]


def everything(_: Any) -> bool:
    """Whether an element of an array is the case's own, where all are."""
    return True


def changes(
    row: Field, version: int, value: Any, others: list[Any], own: Own = everything
) -> Iterator[Change]:
    """Other values for this field. `others`: what stands in fields of its name elsewhere; `own`:
    whether an element of an array is the case's own.
    """
    nullable = row.is_nullable(version)
    if value is None:
        if row.is_array:
            yield "null to empty", []
        elif row.type in ("string", "bytes", "records"):
            empty, some = ("", STRANGER) if row.type == "string" else (b"", b"stranger")
            yield "null to empty", empty
            yield "null to some", some
        elif row.type == "struct":
            yield "null to some", row.default_value(version)
        return
    if nullable:
        yield ("null" if value or row.type == "struct" else "empty to null"), None
    if row.is_array:
        yield from array(value, own)
    elif row.type in BITS:
        yield from _integer(row, value, others)
    elif row.type == "bool":
        yield "flipped", not value
    elif row.type == "float64":
        yield "+1", value + 1
    elif row.type == "uuid":
        yield from _uuid(value, others)
    elif row.type == "string":
        yield from _text(value, others)
    elif row.type in ("bytes", "records"):
        yield from octets(bytes(value))


def shape(row: Field, value: Any, clock_ms: int, names: tuple[str, ...]) -> str:
    """What kind of value this is, in a word: rules of the judge tell these apart."""
    if value is None:
        return "null"
    if row.is_array:
        return "array" if len(value) > 1 else "one element" if value else "empty"
    if row.type in BITS:
        return _number_shape(value, clock_ms)
    if row.type == "uuid":
        return "zero" if value == NO_ID else "id"
    if row.type == "string":
        if not value:
            return "empty"
        if any(name in value for name in names):
            return "name"
        return "drawn" if _DRAWN.search(value) else "text"
    if row.type in ("bytes", "records"):
        return "bytes" if value else "empty"
    return row.type


def _number_shape(value: int, clock_ms: int) -> str:
    if value in (0, -1):
        return "zero" if value == 0 else "-1"
    if clock_ms and abs(value - clock_ms) < 24 * HOUR_MS:
        return "instant"
    return "positive" if value > 0 else "negative"


def _integer(row: Field, value: int, others: list[Any]) -> Iterator[Change]:
    if row.name.endswith("error_code"):
        yield "other code", 42 if value != 42 else 35
        if value:
            yield "no error", 0
        return
    half = 1 << (BITS[row.element] - 1)
    least, most = (0, 2 * half - 1) if row.element.startswith("u") else (-half, half - 1)
    met = {value}
    far = value + FAR if value + FAR <= most else most if value < most // 2 else most // 3
    for kind, new in (
        ("-1", value - 1), ("+1", value + 1), ("zero", 0), ("none", -1), ("far", far),
        ("below zero", -77), ("exchanged", _other(value, others)),
    ):  # fmt: skip
        if new is not None and new not in met and least <= new <= most:
            met.add(new)
            yield kind, new


def _uuid(value: bytes, others: list[Any]) -> Iterator[Change]:
    yield "fresh", bytes((value[0] ^ 0x5A,)) + value[1:]
    if value != NO_ID:
        yield "zero", NO_ID
    other = _other(value, [one for one in others if one != NO_ID])
    if other is not None:
        yield "exchanged", other


def _text(value: str, others: list[Any]) -> Iterator[Change]:
    if value:
        yield "first letter", _letter(value[0]) + value[1:]
        yield "last letter", value[:-1] + _letter(value[-1])
        yield "emptied", ""
    yield "another", STRANGER
    other = _other(value, [one for one in others if one])
    if other is not None:
        yield "exchanged", other


def _letter(letter: str) -> str:
    """Another letter or digit of the same kind, so that an id keeps its form."""
    return chr(ord(letter) + 1) if letter in "0123456abcdeABCDE" else "3" if letter != "3" else "4"


def octets(value: bytes) -> Iterator[Change]:
    """Other bytes."""
    if value:
        yield "first byte", bytes((value[0] ^ 1,)) + value[1:]
        yield "last byte", value[:-1] + bytes((value[-1] ^ 1,))
        yield "emptied", b""
    yield "longer", value + b"\0"


def _other(value: Any, others: list[Any]) -> Any:
    """What stands in a field of this name elsewhere; None where it is always the same."""
    return next((one for one in others if one is not None and one != value), None)


def array(value: list[Any], own: Own = everything) -> Iterator[Change]:
    """Other elements: fewer, one twice, another order. Of the case's own, where it has any."""
    if not value:
        return
    yield "emptied", []
    places = [index for index, element in enumerate(value) if own(element)] or range(len(value))
    yield "twice", [*value, value[places[0]]]
    if len(value) > 1:
        yield "first gone", [*value[: places[0]], *value[places[0] + 1 :]]
        yield "last gone", [*value[: places[-1]], *value[places[-1] + 1 :]]
    if value != value[::-1]:
        yield "reversed", value[::-1]
    stranger = _stranger(value[-1])
    if stranger is not None:
        yield "stranger", [*value, stranger]


def _stranger(element: Any) -> Any:
    """A like element of another name; None where nothing names it."""
    if isinstance(element, dict):
        names = {name: STRANGER for name in IDENTITIES if isinstance(element.get(name), str)}
        ids = {name: b"stranger stranger" [:16] for name in IDENTITIES
               if isinstance(element.get(name), bytes) and len(element[name]) == 16}  # fmt: skip
        numbers = {name: 77 for name in NUMBERS if isinstance(element.get(name), int)}
        found = names or ids or numbers
        return {**element, **names, **ids, **({} if names or ids else numbers)} if found else None
    if isinstance(element, str):
        return STRANGER
    return 77 if isinstance(element, int) and not isinstance(element, bool) else None
