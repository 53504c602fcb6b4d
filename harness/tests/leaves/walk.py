"""The leaves of a decoded message by its schema, and a message with one of them changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from touchstone.reference_impl.wire.schema import Field, Struct, fields_of

Rows = tuple[Field, ...] | list[Field]
Place = tuple[str | int, ...]  # field names and indexes


def leaves(rows: Rows, version: int, value: Struct) -> Iterator[tuple[Place, Field, Any]]:
    """(place, row, value) of each field, arrays and structs included."""
    for row in fields_of(rows, version):
        if row.name not in value:
            continue
        inner = value[row.name]
        yield (row.name,), row, inner
        if row.is_array:
            yield from _elements(row, version, inner or [])
        elif row.type == "struct" and inner is not None:
            for place, *rest in leaves(row.fields, version, inner):
                yield (row.name, *place), *rest


def _elements(row: Field, version: int, elements: list[Any]) -> Iterator[tuple[Place, Field, Any]]:
    if row.element != "struct":
        plain = replace(row, type=row.element, nullable="")
        for index, element in enumerate(elements):
            yield (row.name, index), plain, element
        return
    for index, element in enumerate(elements):
        for place, *rest in leaves(row.fields, version, element):
            yield (row.name, index, *place), *rest


def spelled(place: Place) -> str:
    """The path without indexes; the elements of a plain array end in []."""
    words = ".".join(step for step in place if isinstance(step, str))
    return f"{words}[]" if isinstance(place[-1], int) else words


def at(value: Any, place: Place, new: Any) -> Any:
    """The message with this in this place; what it was stays as it was."""
    if not place:
        return new
    step, *rest = place
    inner = at(value[step], tuple(rest), new)
    if isinstance(step, int):
        return [*value[:step], inner, *value[step + 1 :]]
    return {**value, step: inner}
