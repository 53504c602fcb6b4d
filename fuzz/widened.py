"""Valid requests that are as wide as is asked: one array of many elements, every other of one.

What a request costs ought to grow as the request does. Elements differ in names, ids and numbers,
or are all the same, which is another road through most handlers.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from typing import Any

from touchstone.fuzz.generator import TYPES, Generator, Pair
from touchstone.fuzz.overlay import Rule, rule_of
from touchstone.fuzz.roles import Subject
from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.schema import Field, Struct, fields_of

NUMBERED = {
    "broker_ids", "index", "partition", "partition_index", "partition_indexes", "partitions",
    "producer_id",
}  # fmt: skip
"""Numbers that tell elements apart."""

Fields = tuple[Field, ...] | list[Field]


def arrays(fields: Fields, version: int, path: str = "") -> Iterator[str]:
    """The path of every array, outer ones first."""
    for row in fields_of(fields, version):
        here = f"{path}.{row.name}" if path else row.name
        if row.is_array:
            yield here
        if row.element == "struct":
            yield from arrays(row.fields, version, here)


def places(pairs: Iterable[Pair]) -> list[tuple[Pair, str]]:
    """Every array of each API once, in the newest of these versions that has it."""
    newest = {
        (pair.key, path): pair
        for pair in sorted(pairs, key=lambda pair: (pair.key, pair.version))
        for path in arrays(API[pair.key].request.fields, pair.version)
    }
    return [(pair, path) for (_, path), pair in newest.items()]


class Widened(Generator):
    """Makes requests with `count` elements in one array and one in each other."""

    def __init__(self, path: str, count: int, *, same: bool = False, seed: int = 0) -> None:
        super().__init__([], random.Random(seed))
        self.path, self.count, self.same = path, count, same

    def _value(self, row: Field, subject: Subject, path: str) -> Any:
        if row.element == "struct" and not row.is_array and self.path.startswith(f"{path}."):
            return self._struct(row.fields, subject, path)  # never null: the array is inside
        if row.is_array:
            return self._array(row, subject, path, rule_of(subject.key, path))
        return super()._value(row, subject, path)

    def _array(self, row: Field, subject: Subject, path: str, rule: Rule) -> list[Any]:
        many = self.count if path == self.path else 1
        if row.element != "struct":
            role = None if rule.whole else rule.role
            one = role(subject) if role else TYPES.get(row.element, (0,))[0]
            return [self._apart(row, one, at) for at in range(many)]
        if self.same:
            return [self._struct(row.fields, subject, path)] * many
        return [self._element(row, subject, path, at) for at in range(many)]

    def _element(self, row: Field, subject: Subject, path: str, at: int) -> Struct:
        one = self._struct(row.fields, subject, path)
        for child in fields_of(row.fields, subject.version):
            one[child.name] = self._apart(child, one[child.name], at)
        return one

    def _apart(self, row: Field, value: Any, at: int) -> Any:
        """The value for the element at this place: names, ids, numbers differ from all others'."""
        if self.same or not at or (row.is_array and type(value) is list):
            return value
        if row.element == "string":
            return value and f"{value}-{at}"
        if row.element == "uuid":
            return at.to_bytes(16, "big")
        return at if row.name in NUMBERED else value
