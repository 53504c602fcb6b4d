"""Who calls whom in jars of Java classes, from their bytecode: no Java is needed.

Of the class file format (Java Virtual Machine Specification, chapter 4) only what names a call is
read: the constant pool, the code of methods, and the methods that a lambda stands for.
"""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

CALLS = (0xB6, 0xB7, 0xB8, 0xB9)  # invokevirtual, -special, -static, -interface
DYNAMIC, TABLE, LOOKUP, WIDE, IINC = 0xBA, 0xAA, 0xAB, 0xC4, 0x84
TWO = (0x10, 0x12, *range(0x15, 0x1A), *range(0x36, 0x3B), 0xA9, 0xBC)  # bytes of an instruction
THREE = (
    0x11, 0x13, 0x14, IINC, *range(0x99, 0xA9), *range(0xB2, 0xB9), 0xBB, 0xBD, 0xC0, 0xC1, 0xC6,
    0xC7,
)  # fmt: skip
LENGTHS = (
    dict.fromkeys(range(256), 1) | dict.fromkeys(TWO, 2) | dict.fromkeys(THREE, 3)
    | {0xC5: 4} | dict.fromkeys((0xB9, 0xBA, 0xC8, 0xC9), 5)
)  # fmt: skip
CONSTANTS = {  # tag -> how its entry is packed; of long and double the next entry is empty
    3: ">i", 4: ">f", 5: ">q", 6: ">d", 7: ">H", 8: ">H", 9: ">HH", 10: ">HH", 11: ">HH",
    12: ">HH", 15: ">BH", 16: ">H", 17: ">HH", 18: ">HH", 19: ">H", 20: ">H",
}  # fmt: skip
UTF8, HANDLE, TO_METHOD = 1, 15, 5


class Method(NamedTuple):
    """A method by its class, with slashes, and its name."""

    owner: str
    name: str


class _Class:
    """One class file, as far as it was read."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 8
        self.pool = self._pool()
        self.name = self._text(self.pool[self._read(">HH")[1]][0])
        self._read(">H")
        (interfaces,) = self._read(">H")
        self.at += 2 * interfaces

    def _read(self, how: str) -> tuple[int, ...]:
        found = struct.unpack_from(how, self.data, self.at)
        self.at += struct.calcsize(how)
        return found

    def _pool(self) -> list:
        (count,) = self._read(">H")
        pool: list = [None]
        while len(pool) < count:
            (tag,) = self._read(">B")
            if tag == UTF8:
                (length,) = self._read(">H")
                pool.append(self.data[self.at : self.at + length].decode("utf-8", "replace"))
                self.at += length
            else:
                pool.append(self._read(CONSTANTS[tag]))
                pool += [None] * (tag in (5, 6))
        return pool

    def _text(self, index: int) -> str:
        return self.pool[index]

    def _method(self, index: int) -> Method:
        owner, name = self.pool[index]
        return Method(self._text(self.pool[owner][0]), self._text(self.pool[name][0]))

    def calls(self) -> Iterator[tuple[Method, Method]]:
        """Yield each call of each method, (who, whom); of every method also that it calls itself,
        so that those that nobody calls are told too.
        """
        for _ in range(self._read(">H")[0]):  # fields
            self.at += 6
            list(self._attributes())
        codes = []
        for _ in range(self._read(">H")[0]):
            _, name, _ = self._read(">HHH")
            codes += [(name, start) for word, start in self._attributes() if word == "Code"]
        lambdas = [
            handles for word, start in self._attributes() if word == "BootstrapMethods"
            for handles in self._bootstraps(start)
        ]  # fmt: skip
        for name, start in codes:
            me = Method(self.name, self._text(name))
            yield me, me
            yield from ((me, called) for called in self._of_code(start, lambdas))

    def _attributes(self) -> Iterator[tuple[str, int]]:
        for _ in range(self._read(">H")[0]):
            name, length = self._read(">HI")
            start, self.at = self.at, self.at + length
            yield self._text(name), start

    def _bootstraps(self, start: int) -> Iterator[list[Method]]:
        kept, self.at = self.at, start
        for _ in range(self._read(">H")[0]):
            _, count = self._read(">HH")
            entries = [self.pool[one] for one in self._read(f">{count}H")]
            yield [
                self._method(one[1]) for one in entries
                if isinstance(one, tuple) and len(one) == 2 and self._is_handle(one)
            ]  # fmt: skip
        self.at = kept

    def _is_handle(self, entry: tuple) -> bool:
        """Whether an entry of two numbers is a handle of a method: its kind is 5 to 9, and what it
        names is a method.
        """
        kind, index = entry
        there = self.pool[index] if TO_METHOD <= kind <= 9 and index < len(self.pool) else None
        return isinstance(there, tuple) and len(there) == 2

    def _of_code(self, start: int, lambdas: list[list[Method]]) -> Iterator[Method]:
        (length,) = struct.unpack_from(">I", self.data, start + 4)
        begin = at = start + 8
        while at < begin + length:
            code = self.data[at]
            if code in CALLS:
                yield self._method(struct.unpack_from(">H", self.data, at + 1)[0])
            elif code == DYNAMIC:
                yield from lambdas[self.pool[struct.unpack_from(">H", self.data, at + 1)[0]][0]]
            aligned = at + 1 + (begin - at - 1) % 4
            if code == TABLE:
                low, high = struct.unpack_from(">ii", self.data, aligned + 4)
                at = aligned + 12 + 4 * (high - low + 1)
            elif code == LOOKUP:
                at = aligned + 8 + 8 * struct.unpack_from(">i", self.data, aligned + 4)[0]
            elif code == WIDE:
                at += 6 if self.data[at + 1] == IINC else 4
            else:
                at += LENGTHS[code]


def calls(jars: Iterable[Path]) -> Iterator[tuple[Method, Method]]:
    """Yield each call in these jars, (who, whom); of a class that stands in two, the first's."""
    seen: set[str] = set()
    for jar in jars:
        with zipfile.ZipFile(jar) as archive:
            for name in archive.namelist():
                if name.endswith(".class") and not name.startswith("META-INF") and name not in seen:
                    seen.add(name)
                    yield from _Class(archive.read(name)).calls()
