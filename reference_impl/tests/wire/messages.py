"""Messages drawn from schemas, for the tests of the codec only (fuzzing has its own generator).

Everything follows from the `random.Random` given. `plain` values are such as any reader can hold;
the others are as odd as the wire allows: booleans of 255, strings that are not UTF-8, unknown tags,
known tags that were sent although they hold their default.
"""

import random
from typing import Any

from touchstone.reference_impl.wire.interpreter import interpret_encode
from touchstone.reference_impl.wire.schema import FIXED, Field, Message, fields_of, tagged

BITS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64, "uint16": -16, "uint32": -32}
ODD_STRINGS = ("", "t", "a-topic", "\u00e9\u4e16", "\udcff\udc80x", "x" * 126, "y" * 127, "z" * 300)


def message(schema: Message, version: int, rng: random.Random, *, plain: bool = False) -> dict:
    return Draw(schema, version, rng, plain).struct(schema.fields, 0)


class Draw:
    def __init__(self, schema: Message, version: int, rng: random.Random, plain: bool) -> None:
        self.version, self.rng, self.plain = version, rng, plain
        self.flexible = schema.is_flexible(version)

    def struct(self, fields: Any, depth: int) -> dict:
        value = {row.name: self.field(row, depth) for row in fields_of(fields, self.version)}
        for row in tagged(fields, self.version):
            if self.rng.random() < 0.5:
                value[row.name] = row.default_value(self.version)
                if not self.plain and self.rng.random() < 0.5 and not self.holds_structs(row):
                    content = self.alone(row, value[row.name])
                    value.setdefault("_tags", {})[row.tag] = content
        if self.flexible and not self.plain and self.rng.random() < 0.3:
            value.setdefault("_tags", {})[self.rng.choice((77, 128, 1 << 30))] = b"\x00odd"
        return value

    def holds_structs(self, row: Field) -> bool:
        return row.element == "struct" and not row.is_array

    def alone(self, row: Field, value: Any) -> bytes:
        """The bytes of one field, as the content of its tag."""
        bare = Field(row.name, "0+", row.type, row.fields, nullable="0+" if row.nullable else "")
        return interpret_encode(Message("Alone", "0", "0+", [bare]), 0, {row.name: value})[:-1]

    def field(self, row: Field, depth: int) -> Any:
        if row.is_nullable(self.version) and self.rng.random() < 0.25:
            return None
        if row.is_array:
            count = self.rng.choice((0, 1, 2)) if depth else self.rng.choice((1, 2))
            return [self.one(row, row.element, depth + 1) for _ in range(count)]
        return self.one(row, row.type, depth)

    def one(self, row: Field, kind: str, depth: int) -> Any:
        rng = self.rng
        if kind == "struct":
            return self.struct(row.fields, depth)
        if kind == "bool":
            return rng.choice((False, True) if self.plain else (False, True, 2, 127, 128, 255))
        if kind == "string":
            return rng.choice(("", "t", "word", "\u00e9") if self.plain else ODD_STRINGS)
        if kind in ("bytes", "records"):
            return rng.randbytes(rng.choice((0, 1, 5, 130)))
        if kind == "uuid":
            return rng.randbytes(16)
        if kind == "float64":
            return rng.choice((0.0, -1.5, 1e300) if self.plain else (-0.0, float("inf"), 5e-324))
        assert kind in FIXED
        return self.number(row.name, BITS[kind])

    def number(self, name: str, bits: int) -> int:
        if self.plain:
            return 0 if name.endswith("error_code") else self.rng.randrange(100)
        low, high = (0, 2**-bits - 1) if bits < 0 else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        return self.rng.choice((low, high, 0, 1, self.rng.randint(low, high)))
