"""Mutators: one kind of fault per file, chosen by file name.

A mutator is a module with a one-sentence docstring, LAYER, the layer that it breaks, and one of

    mutate(wire: bytes, draw: random.Random) -> bytes
    change(opened: layers.Opened, draw: random.Random) -> bytes

`wire` is what would be written to the socket: one frame, its 4-byte size included. What comes back
is written instead. A mutator with `change` works on opened messages, requests and responses alike.
All randomness arrives as `draw`, so a case is (seed, index) and nothing else.

The rule of the house: every layer around the fault stays right. A mutator that breaks the body
recomputes the size (`frame`), so that the fault reaches the parser it was meant for; only the
mutators of the frame break the size. That is what separates this from byte havoc, which the
outermost check throws away. The layers, from outside: frame, header, body; within the body bytes of
one kind: embedded (consumer protocol), sasl (a token), telemetry, and of records: batch framing
(length, magic), checksum, batch header, stored (the compressed payload), control, record framing
(lengths within a record), record. "bytes" says that a mutator knows no layer: it hits what its
place holds.
"""

from __future__ import annotations

import importlib
import pkgutil
import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from touchstone.fuzz.layers import SIZE, Change, OnRequest, changed, frame, open_response

__all__ = ["EDGES", "FIXED_HEADER", "SIZE", "Mutate", "frame", "mutators", "position"]

Mutate = Callable[[bytes, random.Random], bytes]

# Key, version, correlation id: present in every request header, whatever its version.
FIXED_HEADER = SIZE + 8

# Integers that sit on a boundary some decoder cares about.
EDGES = (0, 1, -1, -2, 2**7, 2**15 - 1, 2**15, 2**31 - 1, -(2**31), 2**62, -(2**63), 2**63 - 1)


@dataclass(frozen=True)
class Mutator:
    """One kind of fault: its name, the layer it breaks, and how. `change` is None where it works
    on the bytes of requests alone.
    """

    name: str
    layer: str
    mutate: Mutate
    change: Change | None

    def on_response(self, key: int, version: int, wire: bytes, draw: random.Random) -> bytes:
        """An answer to a request of this key and version with the fault, size included."""
        if self.change is None:
            return self.mutate(wire, draw)
        return changed(self.change, open_response(key, version, wire), wire, draw)


def position(wire: bytes, draw: random.Random, first: int = FIXED_HEADER) -> int:
    """A byte position at or behind `first`; the last byte's where the frame is shorter."""
    return draw.randrange(min(first, len(wire) - 1), len(wire))


@cache
def described() -> dict[str, Mutator]:
    """Every mutator of this folder by name, in the order of their names."""
    found = {}
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda m: m.name):
        loaded = importlib.import_module(f"{__name__}.{module.name}")
        change: Change | None = getattr(loaded, "change", None)
        mutate: Mutate = loaded.mutate if change is None else OnRequest(change)
        found[module.name] = Mutator(module.name, loaded.LAYER, mutate, change)
    return found


def mutators() -> dict[str, Mutate]:
    """What each mutator does to a request, by name."""
    return {name: mutator.mutate for name, mutator in described().items()}
