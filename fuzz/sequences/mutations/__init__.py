"""Mutations: one change of a script per file, chosen by file name, like the mutators of frames.

A mutation is a module with a one-sentence docstring and

    mutate(script: Script, draw: random.Random, others: Sequence[Script]) -> Script

`others` are scripts that may be used up for parts. What comes back expects nothing of any answer.
All randomness arrives as `draw`. A script that leaves nothing to change comes back as it was.
"""

from __future__ import annotations

import importlib
import pkgutil
import random
from collections.abc import Callable, Sequence

from touchstone.fuzz.script import Script

Mutation = Callable[[Script, random.Random, Sequence[Script]], Script]


def mutations() -> dict[str, Mutation]:
    """Every mutation of this folder by name, in the order of their names."""
    found = {}
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda m: m.name):
        found[module.name] = importlib.import_module(f"{__name__}.{module.name}").mutate
    return found
