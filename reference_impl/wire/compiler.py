"""Writes one straight-line Python function per (schema, version, direction), at first use.

A schema interpreted per field costs a dozen Python calls where none is needed. The functions made
here hold no schema at all: neighbouring fields of fixed width share one struct call, lengths below
127 are one table look-up, strings are sliced in place. `decoder_source` and `encoder_source` return
the text, so what runs can be read.

Two tricks keep them short, both safe because `interpreter` repeats whatever fails here:
- Reading only ever moves forward and slices do not raise, so a message that is cut short is found
  by the next index or by one comparison at the very end.
- A dict that has every untagged field and that many keys has no others, so one `len` proves that
  no key is unknown and no tag is set.

Tagged fields that are really present are rare and go through the interpreter's functions.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from .interpreter import (
    LONGEST_STRING,
    MOST_PARTS,
    Reader,
    TooLargeError,
    read_length,
    read_tags,
    unsigned_varint,
    write_tags,
)
from .schema import FIXED, Field, Message, tagged, untagged

SHORT = 16  # arrays of fixed-width numbers up to here have a struct of their own
LONG = 4096
"""Characters: a string of so many is encoded once while it is repeated.

Kafka says a topic's name of 32 KB, which no topic can have, again for each partition that a request
names: 100 KB are answered 500 MB. The same bytes stand in the answer each time.
"""


class Bail(Exception):
    """The fast function gives up; the interpreter finds out why."""


def _long_string(size: int) -> bytes:
    if size > LONGEST_STRING:
        raise Bail
    return unsigned_varint(size + 1)


@lru_cache(maxsize=16)
def _encoded(long: str) -> bytes:
    return long.encode()


def _short_structs(code: str) -> list[struct.Struct]:
    return [struct.Struct(f">{count}{code}") for count in range(SHORT)]


SHORT_STRUCTS = {code: _short_structs(code) for code in "Bbhiqd"}
NAMES: dict[str, Any] = {
    "Bail": Bail,
    "BOOL": (False, True, *range(2, 256)),
    "SIGNED": (*range(128), *range(-128, 0)),
    "BYTE": tuple(bytes([size]) for size in range(128)),
    "VARINT": unsigned_varint,
    "STRING": _long_string,
    "ENCODED": _encoded,
    "TOO_LARGE": TooLargeError,
    "READ": read_length,
    "JOIN": b"".join,
    "PACK": struct.pack,
    "UNPACK": struct.unpack_from,
}
for _code, _structs in SHORT_STRUCTS.items():
    NAMES[f"PACK_{_code}"] = tuple(each.pack for each in _structs)
    NAMES[f"UNPACK_{_code}"] = tuple(each.unpack_from for each in _structs)


class Writer:
    """Lines of source, their depth, and the constants they name."""

    def __init__(self, schema: Message, version: int) -> None:
        self.schema = schema
        self.version = version
        self.flexible = schema.is_flexible(version)
        self.lines: list[str] = []
        self.depth = 1
        self.names = dict(NAMES)
        self.count = 0

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def variable(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def constant(self, stem: str, value: Any) -> str:
        name = self.variable(stem)
        self.names[name] = value
        return name

    def packer(self, verb: str, codes: str) -> str:
        name = f"{verb}_{codes.replace('16s', 'u')}_"
        self.names.setdefault(name, getattr(struct.Struct(">" + codes), verb))
        return name

    def source(self, head: str) -> str:
        return "\n".join([head, *self.lines, ""])

    def build(self, head: str, name: str) -> Callable[..., Any]:
        origin = f"<{self.schema.name} v{self.version} {name}>"
        exec(compile(self.source(head), origin, "exec"), self.names)
        return self.names[name]


# ---- decode ----------------------------------------------------------------------------------


class DecoderWriter(Writer):
    head = "def decode(data, i):"

    def __init__(self, schema: Message, version: int, fill: bool) -> None:
        super().__init__(schema, version)
        self.fill = fill
        self.batch: list[tuple[str, str, str]] = []  # (variable, struct code, type)
        self.line("end = len(data)")
        result = self.struct(schema.fields)
        self.line("if i > end: raise Bail")
        self.line(f"return {result}, i")

    def struct(self, fields: Any) -> str:
        """Reads a struct; the returned name holds its dict."""
        values = {row.name: self.field(row) for row in untagged(fields, self.version)}
        section = self.variable("t")
        if self.flexible:
            self.batch.append((section, "B", "length"))
        self.flush()
        tags = tagged(fields, self.version)
        scope = None if self.fill else self.version
        for row in fields if self.fill else tags:
            if row.name not in values:
                values[row.name] = repr(row.default_value(scope))
        result = self.variable("d")
        self.line(f"{result} = {{{', '.join(f'{k!r}: {v}' for k, v in values.items())}}}")
        if self.flexible:
            reader = self.constant("tags", self.tag_reader(fields))
            self.line(f"if {section}: i = {reader}(data, i - 1, {result})")
        return result

    def tag_reader(self, fields: Any) -> Callable[[bytes, int, dict[str, Any]], int]:
        version, fill = self.version, self.fill

        def read(data: bytes, at: int, value: dict[str, Any]) -> int:
            reader = Reader(data, at, True)
            read_tags(reader, value, fields, version, fill)
            return reader.at

        return read

    def flush(self) -> None:
        """One struct call for the fixed-width fields gathered so far."""
        if not self.batch:
            return
        codes = "".join(code for _, code, _ in self.batch)
        if codes in ("B", "b"):
            name, _, kind = self.batch[0]
            table = {"bool": "BOOL[data[i]]", "int8": "SIGNED[data[i]]"}.get(kind, "data[i]")
            self.line(f"{name} = {table}; i += 1")
        else:
            names = ", ".join(name for name, _, _ in self.batch)
            size = struct.calcsize(">" + codes)
            self.line(f"{names}, = {self.packer('unpack_from', codes)}(data, i); i += {size}")
            for name, _, kind in self.batch:
                if kind == "bool":
                    self.line(f"{name} = BOOL[{name}]")
        self.batch = []

    def field(self, row: Field) -> str:
        nullable = row.is_nullable(self.version)
        if row.is_array:
            return self.array(row, nullable)
        return self.one(row, row.type, nullable)

    def one(self, row: Field, kind: str, nullable: bool) -> str:
        if kind in FIXED:
            name = self.variable("x")
            self.batch.append((name, FIXED[kind], kind))
            return name
        if kind == "struct":
            return self.nullable_struct(row) if nullable else self.struct(row.fields)
        return self.run(kind, nullable)

    def nullable_struct(self, row: Field) -> str:
        self.flush()
        name = self.variable("v")
        self.line("i += 1")
        self.line(f"if data[i - 1] > 127: {name} = None")
        self.line("else:")
        self.depth += 1
        self.line(f"{name} = {self.struct(row.fields)}")
        self.depth -= 1
        return name

    def length(self, kind: str) -> str:
        """A length, one too large where versions are flexible (0 is null there)."""
        size = self.variable("n")
        if not self.flexible:
            self.batch.append((size, "h" if kind == "string" else "i", "length"))
            self.flush()
            return size
        self.batch.append((size, "B", "length"))
        self.flush()
        self.line(f"if {size} > 127:")
        self.line(f"    {size}, i = READ(data, i - 1)")
        if kind == "string":
            self.line(f"    if {size} > {LONGEST_STRING + 1}: raise Bail")
        return size

    def run(self, kind: str, nullable: bool) -> str:
        """A string, bytes or records."""
        size, name = self.length(kind), self.variable("s")
        least, less = (1, " - 1") if self.flexible else (0, "")
        decode = ".decode()" if kind == "string" else ""
        body = f"j = i + {size}{less}; {name} = data[i:j]{decode}; i = j"
        if nullable:
            self.line(f"if {size} < {least}: {name} = None")
            self.line(f"else: {body}")
        else:
            self.line(f"if {size} < {least}: raise Bail")
            self.line(body)
        return name

    def array(self, row: Field, nullable: bool) -> str:
        """In a flexible version each element takes a byte, so running out ends a lying count."""
        size, name = self.length("array"), self.variable("l")
        least, bound = (1, "") if self.flexible else (0, f" or {size} > end - i")
        if nullable:
            self.line(f"if {size} < {least}: {name} = None")
            self.line("else:")
            self.depth += 1
            if bound:
                self.line(f"if {size} > end - i: raise Bail")
        else:
            self.line(f"if {size} < {least}{bound}: raise Bail")
        count = f"{size} - 1" if self.flexible else size
        if row.element in FIXED:
            self.numbers(row.element, size, count, name)
        else:
            self.line(f"{name} = []")
            self.line(f"for _ in range({count}):")
            self.depth += 1
            item = self.one(row, row.element, False)
            self.line(f"{name}.append({item})")
            self.depth -= 1
        if nullable:
            self.depth -= 1
        return name

    def numbers(self, kind: str, size: str, count: str, name: str) -> None:
        if kind == "uuid":
            self.line(f"j = i + 16 * ({count})")
            self.line("if j > end: raise Bail")
            self.line(f"{name} = [data[k:k + 16] for k in range(i, j, 16)]; i = j")
            return
        code = FIXED[kind]
        unpack = f'list(UNPACK(f">{{{count}}}{code}", data, i))'
        if code in SHORT_STRUCTS:
            few = f"[*UNPACK_{code}[{count}](data, i)]"
            self.line(f"{name} = {few} if {count} < {SHORT} else {unpack}")
        else:
            self.line(f"{name} = {unpack}")
        if kind == "bool":
            self.line(f"{name} = [BOOL[x] for x in {name}]")
        self.line(f"i += {struct.calcsize('>' + code)} * ({count})")


def decoder_source(schema: Message, version: int, *, fill: bool = False) -> str:
    writer = DecoderWriter(schema, version, fill)
    return writer.source(writer.head)


def compile_decoder(schema: Message, version: int, *, fill: bool) -> Callable[..., Any]:
    writer = DecoderWriter(schema, version, fill)
    return writer.build(writer.head, "decode")


# ---- encode ----------------------------------------------------------------------------------

_WHOLE = "d"  # the message itself, in the source


class EncoderWriter(Writer):
    """`lenient` looks keys up one by one, which is slower; for when as many are missing as odd."""

    head = f"def encode({_WHOLE}):"

    def __init__(self, schema: Message, version: int, lenient: bool) -> None:
        super().__init__(schema, version)
        self.lenient = lenient
        self.parts: list[tuple[str, str]] = []  # (struct code or "", expression)
        self.inside = 0  # how many arrays the line stands in
        self.line("out = []")
        self.struct(schema.fields, _WHOLE)
        self.flush()
        self.line("return out")

    def struct(self, fields: Any, value: str) -> None:
        rows = untagged(fields, self.version)
        known = self.constant("known", frozenset([row.name for row in fields] + ["_tags"]))
        tags = self.variable("t")
        if self.flexible:
            self.line(f"{tags} = {self.constant('none', bytes(1))}")
        extra = "" if self.lenient else f"len({value}) != {len(rows)}"
        if extra:
            self.line(f"if {extra}:")
            self.depth += 1
        self.line(f"if not {value}.keys() <= {known}: raise Bail")
        if self.flexible:
            self.tags(fields, value, tags)
        if extra:
            self.whole(rows, value)
            self.depth -= 1
        for row in rows:
            self.field(row, self.lookup(row, value))
        if self.flexible:
            self.parts.append(("", tags))

    def whole(self, rows: list[Field], value: str) -> None:
        """Keys that are missing have their defaults: answers leave out a throttle time of 0.

        A row, of which there may be many, with more keys than this version has is taken as it is.
        """
        usual = self.constant("usual", {row.name: row.default_value() for row in rows})
        few = "" if value == _WHOLE else f"if len({value}) < {len(rows)}: "
        self.line(f"{few}{value} = {{**{usual}, **{value}}}")

    def lookup(self, row: Field, value: str) -> str:
        if self.lenient:
            return f"{value}.get({row.name!r}, {row.default_value()!r})"
        return f"{value}[{row.name!r}]"

    def tags(self, fields: Any, value: str, tags: str) -> None:
        """The tag section, unless every tagged field is absent or holds its default."""
        tests = [f"'_tags' in {value}"]
        for row in tagged(fields, self.version):
            default = self.constant("default", row.default_value(self.version))
            tests.append(f"{value}.get({row.name!r}, {default}) != {default}")
        writer = self.constant("tags", self.tag_writer(fields))
        self.line(f"if {' or '.join(tests)}: {tags} = {writer}({value})")

    def tag_writer(self, fields: Any) -> Callable[[dict[str, Any]], bytes]:
        version, rows = self.version, tagged(fields, self.version)

        def write(value: dict[str, Any]) -> bytes:
            out: list[bytes] = []
            write_tags(out, rows, version, value, "")
            return b"".join(out)

        return write

    def flush(self) -> None:
        """One list extension for the parts gathered so far, one struct call per fixed run."""
        expressions: list[str] = []
        codes, arguments = "", []
        for code, expression in [*self.parts, ("", "")]:
            if code:
                codes += code
                arguments.append(expression)
                continue
            if codes:
                expressions.append(f"{self.packer('pack', codes)}({', '.join(arguments)})")
                codes, arguments = "", []
            if expression:
                expressions.append(expression)
        self.parts = []
        if len(expressions) == 1:
            self.line(f"out.append({expressions[0]})")
        elif expressions:
            self.line(f"out += ({', '.join(expressions)})")

    def field(self, row: Field, expression: str) -> None:
        nullable = row.is_nullable(self.version)
        if row.is_array:
            self.array(row, expression, nullable)
        else:
            self.one(row, row.type, expression, nullable)

    def one(self, row: Field, kind: str, expression: str, nullable: bool) -> None:
        if kind == "uuid":
            name = self.variable("u")
            self.line(f"{name} = {expression}")
            self.line(f"if len({name}) != 16: raise Bail")
            self.parts.append((FIXED[kind], name))
        elif kind in FIXED:
            self.parts.append((FIXED[kind], expression))
        elif kind == "struct":
            self.nested(row, expression, nullable)
        else:
            self.run(kind, expression, nullable)

    def nested(self, row: Field, expression: str, nullable: bool) -> None:
        name = self.variable("d")
        self.line(f"{name} = {expression}")
        if not nullable:
            self.struct(row.fields, name)
            return
        self.flush()
        self.line(f"if {name} is None: out.append({self.constant('null', bytes([255]))})")
        self.line("else:")
        self.depth += 1
        self.parts.append(("B", "1"))
        self.struct(row.fields, name)
        self.flush()
        self.depth -= 1

    def length(self, kind: str, size: str) -> str:
        """The length's own expression, where lengths are varints."""
        longer = f"STRING({size})" if kind == "string" else f"VARINT({size} + 1)"
        return f"BYTE[{size} + 1] if {size} < 127 else {longer}"

    def run(self, kind: str, expression: str, nullable: bool) -> None:
        """A string, bytes or records."""
        name, size, head = self.variable("s"), self.variable("n"), self.variable("h")
        measure = f"{size} = len({name})"
        if kind == "string":
            own = f"{name}.encode() if len({name}) < {LONG} else ENCODED({name})"
            measure = f"{name} = {own}; {measure}"
        self.line(f"{name} = {expression}")
        if self.flexible:
            measure += f"; {head} = {self.length(kind, size)}"
        if nullable:
            null = f"{head} = BYTE[0]" if self.flexible else f"{size} = -1"
            self.line(f"if {name} is None: {name} = b''; {null}")
            self.line(f"else: {measure}")
        else:
            self.line(measure)
        if self.flexible:
            self.parts.append(("", head))
        else:
            self.parts.append(("h" if kind == "string" else "i", size))
        self.parts.append(("", name))

    def array(self, row: Field, expression: str, nullable: bool) -> None:
        name, size, head = self.variable("l"), self.variable("n"), self.variable("h")
        self.line(f"{name} = {expression}")
        if nullable:
            null = f"{head} = BYTE[0]" if self.flexible else f"{size} = -1"
            self.line(f"if {name} is None: {name} = (); {null}")
            self.line("else:")
            self.depth += 1
        self.line(f"{size} = len({name})")
        if self.flexible:
            self.line(f"{head} = {self.length('array', size)}")
        if nullable:
            self.depth -= 1
        self.parts.append(("", head) if self.flexible else ("i", size))
        if row.element in FIXED:
            self.numbers(row.element, name)
            return
        self.flush()
        if self.inside:  # once an array, which costs nothing beside the array
            self.line(f"if len(out) > {MOST_PARTS}: raise TOO_LARGE")
        item = self.variable("e")
        self.line(f"for {item} in {name}:")
        self.depth += 1
        self.inside += 1
        self.one(row, row.element, item, False)
        self.flush()
        self.inside -= 1
        self.depth -= 1

    def numbers(self, kind: str, name: str) -> None:
        if kind == "uuid":
            self.line(f"for u in {name}:")
            self.line("    if len(u) != 16: raise Bail")
            self.parts.append(("", f"JOIN({name})"))
            return
        code = FIXED[kind]
        pack = f'PACK(f">{{len({name})}}{code}", *{name})'
        if code in SHORT_STRUCTS:
            pack = f"PACK_{code}[len({name})](*{name}) if len({name}) < {SHORT} else {pack}"
        self.parts.append(("", pack))


def encoder_source(schema: Message, version: int, *, lenient: bool = False) -> str:
    writer = EncoderWriter(schema, version, lenient)
    return writer.source(writer.head)


def compile_encoder(schema: Message, version: int, *, lenient: bool) -> Callable[..., Any]:
    writer = EncoderWriter(schema, version, lenient)
    return writer.build(writer.head, "encode")
