"""The options of a pytest run that judges, with the types that they have when pytest has read them.

`touchstone.plugin` declares them (it is loaded with every pytest run, and imports nothing); a name
that stands there and not here is refused where the first claim is collected.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Options:
    """None, False and nothing: it was not asked for."""

    target: Sequence[str]
    client: Sequence[str]
    command_config: Path | None
    oracle: str | None
    results: Path | None
    record: bool
    missing: bool
    written_as: str | None
    expectations: Path | None
    update_expectations: bool
    strict_known: bool
    strict_notes: bool
    deadline: float
    again: int | None
    profile: Sequence[str]
    release: str | None
    prefix: str
    build: str | None
    jobs: int | None
    gentle: bool
    follow: bool
    newest: bool
    shard: str | None
    run: str | None
    seed: int
