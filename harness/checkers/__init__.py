"""Properties that hold on every connection of every case, whatever the case is about.

One property per file: `check(transcript) -> list[Finding]`, pure, named after its file with dashes.
The registry is this folder, so a checker is added by adding a file, and a liar that it catches in
`harness/targets/liars.py` (a test insists). A checker must be silent on every transcript of real
Kafka; one that raises is a mistake of ours, reported as `CheckerFailed`, never the target's.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from functools import cache

from touchstone.harness.model.finding import Finding
from touchstone.harness.model.transcript import Transcript

Check = Callable[[Transcript], list[Finding]]

# Modules of this folder that serve checkers and are none.
SHARED = frozenset({"walks", "error_codes", "histories", "listeners", "soaks"})


class CheckerFailed(Exception):
    """A checker raised; the case it looked at is BROKEN."""

    def __init__(self, name: str, cause: BaseException) -> None:
        super().__init__(f"checker {name} raised {type(cause).__name__}: {cause}")
        self.name = name


@cache
def checkers() -> dict[str, Check]:
    """Every checker by its name."""
    stems = sorted(m.name for m in pkgutil.iter_modules(__path__) if m.name not in SHARED)
    return {
        stem.replace("_", "-"): importlib.import_module(f"{__name__}.{stem}").check
        for stem in stems
    }


def check_all(transcript: Transcript) -> list[Finding]:
    """What every checker finds, in the order of their names. Raises CheckerFailed."""
    found: list[Finding] = []
    for name, check in checkers().items():
        try:
            found += check(transcript)
        except Exception as error:
            raise CheckerFailed(name, error) from error
    return found
