"""Mutators: one kind of fault per file, chosen by file name.

A mutator is a module with a one-sentence docstring and

    mutate(wire: bytes, draw: random.Random) -> bytes

`wire` is what would be written to the socket: one frame, its 4-byte size included. What comes back
is written instead. All randomness arrives as `draw`, so a case is (seed, index) and nothing else.

The rule of the house: every layer around the fault stays right. A mutator that breaks the body
recomputes the size (`frame`), so that the fault reaches the parser it was meant for; only the
mutators of `size` break the size. That is what separates this from byte havoc, which the outermost
check throws away.
"""

from __future__ import annotations

import importlib
import pkgutil
import random
from collections.abc import Callable

Mutate = Callable[[bytes, random.Random], bytes]

SIZE = 4
"""Bytes of the size prefix."""

# Key, version, correlation id: present in every request header, whatever its version.
FIXED_HEADER = SIZE + 8

# Integers that sit on a boundary some decoder cares about.
EDGES = (0, 1, -1, -2, 2**7, 2**15 - 1, 2**15, 2**31 - 1, -(2**31), 2**62, -(2**63), 2**63 - 1)


def frame(body: bytes) -> bytes:
    """Put the right size prefix before a body."""
    return len(body).to_bytes(SIZE, "big") + body


def position(wire: bytes, draw: random.Random, first: int = FIXED_HEADER) -> int:
    """A byte position at or behind `first`; the last byte's where the frame is shorter."""
    return draw.randrange(min(first, len(wire) - 1), len(wire))


def mutators() -> dict[str, Mutate]:
    """Every mutator of this folder by name, in the order of their names."""
    found = {}
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda m: m.name):
        found[module.name] = importlib.import_module(f"{__name__}.{module.name}").mutate
    return found
