"""Former ids of claims: what was kept under one is found under the id of today.

The table is `suites/former_ids.toml`. Whoever reads what was written earlier (recordings, results,
pins) asks here; whatever is written has the ids of today.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from pathlib import Path

TABLE = Path(__file__).resolve().parents[2] / "suites" / "former_ids.toml"


@functools.cache
def table(path: Path = TABLE) -> Mapping[str, str]:
    """Former id -> the id of today."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


def current(name: str) -> str:
    """The name of today of a claim, or of a case: "claim[v4,acks=1]"."""
    claim, bracket, params = name.partition("[")
    return table().get(claim, claim) + bracket + params


def former(claim: str) -> tuple[str, ...]:
    """The ids that this claim had."""
    return tuple(old for old, new in table().items() if new == claim)
