"""What ProducerConfig, ConsumerConfig and AdminClientConfig define, per release.

Each `*.json` file is an object of names; a name has one row per change: `since` is the first of the
five releases (1.0.2, 2.2.1, 2.8.2, 3.9.2, 4.3.1) whose jar says so, `gone` the first without it. A
row without `default` is required; `valid` is the validator as Kafka prints it (`validators`). Names
that all three clients define alike are in `every_client.json`. No file is written by hand alone:
`tests/client/test_configs_of_the_jars.py` compares every row with kafka-clients of that release.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

RELEASES: Final = ("1.0", "2.2", "2.8", "3.9", "4.3")
NEWEST: Final = RELEASES[-1]
REQUIRED: Final = object()  # the default of a name that has none
ClientKind = Literal["producer", "consumer", "admin"]
_HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Definition:
    """One name: ConfigDef.ConfigKey without its documentation."""

    name: str
    type: str  # BOOLEAN STRING INT SHORT LONG DOUBLE LIST CLASS PASSWORD
    default: Any  # a value of that type, None, or REQUIRED
    valid: str  # the validator's text; empty: every value of the type
    importance: str  # HIGH MEDIUM LOW
    internal: bool  # defined, but not part of the documentation


@cache
def definitions(client: ClientKind, release: str = NEWEST) -> Mapping[str, Definition]:
    """Every name that this client of this release knows. Raises ValueError for other releases."""
    return {**definitions_of_every_client(release), **_defined_in(client, release)}


@cache
def definitions_of_every_client(release: str = NEWEST) -> Mapping[str, Definition]:
    """The names that all clients define alike."""
    return _defined_in("every_client", release)


def _defined_in(file: str, release: str) -> dict[str, Definition]:
    at = RELEASES.index(release)
    found = {}
    for name, changes in json.loads((_HERE / f"{file}.json").read_text()).items():
        row = [each for each in changes if RELEASES.index(each["since"]) <= at][-1:]
        if row and not row[0].get("gone"):
            found[name] = _definition(name, row[0])
    return found


def _definition(name: str, row: Mapping[str, Any]) -> Definition:
    return Definition(
        name,
        row["type"],
        row.get("default", REQUIRED),
        row.get("valid", ""),
        row["importance"],
        row.get("internal", False),
    )
