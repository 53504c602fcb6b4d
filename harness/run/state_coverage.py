"""Which cells of the coordinators' state tables real Kafka's recordings have tried.

The reference broker walks the recorded cases and its tables tell which cells decided something
(`Table.walked`). A cell counts only for a case whose whole conversation is Kafka's: the table that
answered as Kafka did, step by step, was in the state that Kafka was in. Cells that no request can
reach are no gaps; `suites/evidence/states.toml` says why for each, and one that is reached after
all is a mistake.

Most cases wait for something, so releases and parts of them are walked side by side, each in a
process of its own: a table is one per process. Claims on several nodes are left out: they wait for
elections, and what they add is loading, which no table is asked about. But an end whose markers
cannot be written needs a replica that is down, so those of transactions are walked (ON_SEVERAL).

Sources: reference_impl/group/states.py, consumer_states.py, consumer_requests.py; txn/states.py;
share/in_flight.py.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

from touchstone.harness.judgement.verdict import CONFORMS
from touchstone.harness.model.ledger import EVIDENCE
from touchstone.harness.run import detection
from touchstone.harness.run.judge import judge_for
from touchstone.reference_impl.group import consumer_requests, consumer_states
from touchstone.reference_impl.group import states as group_states
from touchstone.reference_impl.share import in_flight
from touchstone.reference_impl.tables import Table
from touchstone.reference_impl.txn import states as txn_states

SUITES = ("rebalance", "offsets", "transactions", "share")
ON_SEVERAL = frozenset({"transactions"})  # suites whose claims on several nodes walk cells too
UNREACHABLE = EVIDENCE / "states.toml"
Cell = tuple[Enum, Enum]
Counts = dict[str, dict[Cell, int]]  # table -> cell -> conforming cases in which it decided
EARLY, LATE, TRANSACTIONS = "group, to 2.2", "group, from 2.3", "transaction"
CONSUMERS, STEPS = "consumer group", "step of a consumer"
REQUESTS, SHARED = "request to a consumer group", "record of a share group"
TABLES: dict[str, Table[Any, Any, Any]] = {
    EARLY: group_states.TABLES[True],
    LATE: group_states.TABLES[False],
    CONSUMERS: consumer_states.GROUPS,
    STEPS: consumer_states.MEMBERS,
    REQUESTS: consumer_requests.REQUESTS,
    TRANSACTIONS: txn_states.TABLE,
    SHARED: in_flight.TRANSITIONS,
}
PARTS = 6  # of one release: the smaller, the better they share the cores


class Part(NamedTuple):
    """Every claim whose place in the list is `number`, counted round `PARTS`."""

    release: str
    number: int


@dataclass(frozen=True, slots=True)
class Coverage:
    """One table: how often each cell was walked, and why some cannot be."""

    name: str
    walked: Mapping[Cell, int]
    unreachable: Mapping[Cell, str]
    cells: tuple[Cell, ...]

    @property
    def missing(self) -> list[Cell]:
        return [key for key in self.cells if key not in self.walked and key not in self.unreachable]

    @property
    def wrong(self) -> list[Cell]:
        """Cells that are said to be out of reach and were walked."""
        return [key for key in self.cells if key in self.walked and key in self.unreachable]

    @property
    def percent(self) -> float:
        reachable = len(self.cells) - len(self.unreachable)
        done = sum(key not in self.unreachable for key in self.walked)
        return 100 * done / reachable if reachable else 100.0


def walk(
    releases: Sequence[str], jobs: int = 1, tell: Callable[[str], None] = lambda line: None
) -> Counts:
    """What all parts of these releases walked, `jobs` at a time; `tell` is told of progress."""
    # The newest first: it has most claims.
    parts = [Part(release, number) for release in reversed(releases) for number in range(PARTS)]
    total: Counts = {name: {} for name in TABLES}
    with ProcessPoolExecutor(jobs) as pool:
        for done, (part, found) in enumerate(_walked(pool, parts), 1):
            for name, cells in found.items():
                total[name] = dict(Counter(total[name]) + Counter(cells))
            tell(f"{done} of {len(parts)} parts walked (release {part.release})")
    return total


def _walked(pool: Executor, parts: Iterable[Part]) -> Iterator[tuple[Part, Counts]]:
    """Each part as it is done."""
    running: dict[Future[Counts], Part] = {pool.submit(walk_part, part): part for part in parts}
    for future in as_completed(running):
        yield running[future], future.result()


def walk_part(part: Part) -> Counts:
    """What this part's conforming cases walked."""
    total: Counts = {name: {} for name in TABLES}
    claims = [pair for pair in detection.functions().values() if pair[0].suite in SUITES]
    judge = judge_for(f"reference@{part.release}", nonce="states", deadline_s=3.0)
    try:
        for claim, function in claims[part.number :: PARTS]:
            if claim.shape.brokers > 1 and claim.suite not in ON_SEVERAL:
                continue
            _clear()
            for _, kind, _ in detection.outcomes(judge, claim, function):
                if kind == CONFORMS:
                    _add(total)
                _clear()
    finally:
        judge.close()
        for table in TABLES.values():
            table.walked = None
    return total


def _clear() -> None:
    for table in TABLES.values():
        table.walked = {}


def _add(total: Counts) -> None:
    for name, table in TABLES.items():
        walked = table.walked or {}
        for key in walked.copy():  # the broker, in a thread of its own, may walk on
            total[name][key] = total[name].get(key, 0) + 1


def unreachable() -> dict[str, dict[Cell, str]]:
    """Table -> cell -> why nothing leads there. A cell that cannot happen needs no entry."""
    written = tomllib.loads(UNREACHABLE.read_text(encoding="utf-8"))["states"]
    found: dict[str, dict[Cell, str]] = {}
    for name, table in TABLES.items():
        reasons = written.get(name, {})
        found[name] = {
            key: reason for key in table if (reason := _reason(reasons, key, table.peek(*key)))
        }
    return found


def _reason(reasons: Mapping[str, Mapping[str, str]], key: Cell, cell: Any) -> str | None:
    if getattr(cell, "do", cell).name == "IMPOSSIBLE":  # a cell is what it does, or has it
        return "cannot happen"
    state = reasons.get(key[0].name, {})
    return state.get(key[1].name, state.get("ALL"))


def coverage(
    releases: Iterable[str], jobs: int = 1, tell: Callable[[str], None] = lambda line: None
) -> list[Coverage]:
    walked, reasons = walk([*releases], jobs, tell), unreachable()
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
