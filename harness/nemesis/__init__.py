"""The nemesis: ways to harm a running cluster, one per file, each of which undoes itself.

A fault is a module of this folder with four names. `SENTENCE` says what it does. `ISOLATION` names
what a broker must have been started with (harness/targets/isolation.py), None for nothing special.
`unsupported(cluster)` is why this fault cannot befall this target here, None when it can. And
`inflicted(cluster, broker, random)` is a context manager: on entry the harm is done, on exit, by
whatever way, it is undone and the broker serves again. It gives a function that looks for evidence
that the fault bites, from the outside, and answers with it in words or with None. A run whose fault
did not bite proves nothing and is INCONCLUSIVE.

`fault_target` holds the cluster, `evidence` the ways to look, `campaign` does one fault after
another, `stilled` and `cuts` are what faults share; everything else in this folder is a fault.
"""

from __future__ import annotations

import importlib
import pkgutil
from contextlib import AbstractContextManager
from functools import cache
from random import Random
from typing import Protocol

from touchstone.harness.nemesis.evidence import Look
from touchstone.harness.nemesis.fault_target import FaultTarget

# Modules of this folder that serve faults and are none.
SHARED = frozenset({"fault_target", "evidence", "campaign", "soak", "stilled", "cuts"})


class Fault(Protocol):
    """What a module of this folder is."""

    SENTENCE: str
    ISOLATION: str | None

    def unsupported(self, cluster: FaultTarget) -> str | None:
        """Why not, in words."""

    def inflicted(
        self, cluster: FaultTarget, broker: int, random: Random
    ) -> AbstractContextManager[Look]:
        """Harm for as long as the block lasts."""


@cache
def faults() -> dict[str, Fault]:
    """Every fault by its name."""
    stems = sorted(m.name for m in pkgutil.iter_modules(__path__) if m.name not in SHARED)
    return {stem.replace("_", "-"): importlib.import_module(f"{__name__}.{stem}") for stem in stems}
