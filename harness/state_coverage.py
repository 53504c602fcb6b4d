"""Which cells of the coordinators' state tables real Kafka's recordings have tried.

The reference broker walks the recorded cases and its tables tell which cells decided something
(`Table.walked`). A cell counts only for a case whose whole conversation is Kafka's: the table that
answered as Kafka did, step by step, was in the state that Kafka was in. Cells that no request can
reach are no gaps; `suites/evidence/states.toml` says why for each, and one that is reached after
all is a mistake.

Sources: reference_impl/group/states.py, reference_impl/txn/states.py.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from harness import detection
from harness.court import convene
from harness.ledger import EVIDENCE
from harness.verdict import CONFORMS
from reference_impl.group import states as group_states
from reference_impl.share import in_flight
from reference_impl.tables import Table
from reference_impl.txn import states as txn_states

SUITES = ("rebalance", "offsets", "transactions", "share")
UNREACHABLE = EVIDENCE / "states.toml"
Key = tuple[Enum, Enum]
EARLY, LATE, TRANSACTIONS = "group, to 2.2", "group, from 2.3", "transaction"
SHARED = "record of a share group"
TABLES: dict[str, Table[Any, Any, Any]] = {
    EARLY: group_states.TABLES[True],
    LATE: group_states.TABLES[False],
    TRANSACTIONS: txn_states.TABLE,
    SHARED: in_flight.TRANSITIONS,
}


@dataclass(frozen=True, slots=True)
class Coverage:
    """One table: how often each cell was walked, and why some cannot be."""

    name: str
    walked: Mapping[Key, int]
    unreachable: Mapping[Key, str]
    cells: tuple[Key, ...]

    @property
    def missing(self) -> list[Key]:
        return [key for key in self.cells if key not in self.walked and key not in self.unreachable]

    @property
    def wrong(self) -> list[Key]:
        """Cells that are said to be out of reach and were walked."""
        return [key for key in self.cells if key in self.walked and key in self.unreachable]

    @property
    def percent(self) -> float:
        reachable = len(self.cells) - len(self.unreachable)
        done = sum(key not in self.unreachable for key in self.walked)
        return 100 * done / reachable if reachable else 100.0


def walk(releases: Iterable[str]) -> dict[str, dict[Key, int]]:
    """Table -> cell -> conforming cases in which it decided something."""
    total: dict[str, dict[Key, int]] = {name: {} for name in TABLES}
    claims = [pair for pair in detection.functions().values() if pair[0].suite in SUITES]
    for release in releases:
        court = convene(f"reference@{release}", nonce="states", deadline_s=3.0)
        try:
            for claim, function in claims:
                if claim.shape.brokers > 1:
                    continue
                _clear()
                for _, kind, _ in detection.outcomes(court, claim, function):
                    if kind == CONFORMS:
                        _add(total)
                    _clear()
        finally:
            court.close()
            for table in TABLES.values():
                table.walked = None
    return total


def _clear() -> None:
    for table in TABLES.values():
        table.walked = {}


def _add(total: dict[str, dict[Key, int]]) -> None:
    for name, table in TABLES.items():
        for key in table.walked or ():
            total[name][key] = total[name].get(key, 0) + 1


def unreachable() -> dict[str, dict[Key, str]]:
    """Table -> cell -> why nothing leads there. A cell that cannot happen needs no entry."""
    written = tomllib.loads(UNREACHABLE.read_text(encoding="utf-8"))["states"]
    found: dict[str, dict[Key, str]] = {}
    for name, table in TABLES.items():
        reasons = written.get(name, {})
        found[name] = {
            key: reason
            for key in table
            if (reason := _reason(reasons, key, table.peek(*key).do.name))
        }
    return found


def _reason(reasons: Mapping[str, Mapping[str, str]], key: Key, does: str) -> str | None:
    if does == "FAULT":
        return "cannot happen"
    state = reasons.get(key[0].name, {})
    return state.get(key[1].name, state.get("ALL"))


def coverage(releases: Iterable[str]) -> list[Coverage]:
    walked, reasons = walk(releases), unreachable()
    return [
        Coverage(name, walked[name], reasons[name], tuple(table)) for name, table in TABLES.items()
    ]


def report(found: Iterable[Coverage]) -> Iterator[str]:
    for one in found:
        reachable = len(one.cells) - len(one.unreachable)
        done = reachable - len(one.missing)
        yield f"{one.name}: {done} of {reachable} reachable cells ({one.percent:.0f} %)"
        yield from (f"  not tried: {s.name} x {given.name}" for s, given in one.missing)
        yield from (f"  reached after all: {s.name} x {given.name}" for s, given in one.wrong)
