"""A history: what clients asked of a cluster and what they were told, in the order it happened.

A transcript (harness/model/transcript.py) is one case, byte for byte; a history is many clients,
for as long as one likes, and keeps of each operation only what a promise can be checked against.
It is data, JSON lines, and the order of lines is the only clock: operation A came before B if A's
end stands above B's beginning (Herlihy and Wing, 1990). So whoever records writes each line under
one lock, and a checker needs no time at all.

The first line says what the cluster promised, and where it bears on that the Kafka `release` and
the topics' `cleanup.policy`. Each operation then has one line when it begins and
one when it ends; one that never ended is `unknown`, like one whose end the client cannot know (a
timeout, a lost connection): it happened or did not, and neither may be held against the broker.

    {"history": 1, "target": "kafka@4.3.1", "seed": 7, "unclean": false}
    {"op": 1, "process": "producer-0", "do": "send", "topic": "t", "partition": 0,
     "value": "p0.1", "acks": -1, "idempotent": true, "transaction": null, "at": 3}
    {"op": 1, "is": "ok", "offset": 0, "at": 5}
    {"op": 2, "process": "consumer-0", "do": "poll", "isolation": "read_committed"}
    {"op": 2, "is": "ok", "records": {"t-0": [[0, "p0.1"]]}}

A send may say its record's `key` (without it nothing is held against a topic whose header says that
its cleanup.policy is compact) and, if it copies another record, that one's value as `copy_of`.

What there is to do, beside `send` and `poll`: `seek` (the next poll of this process begins there),
`begin`, `commit`, `abort` of a transaction, `drain` (everything of a partition from
`from` to its end `to` was read, after all faults were undone), `store` and `recall` of a group's
committed offset, `join` (until a member has its share: `member`, `generation`, `partitions`) and
`leave` of a group (after a join, a process goes on where the group's commits say), and `fault`,
which is for readers only. A store by a member of a generation says which, and one that is part of a
transaction says that; a recall that did not require what is stable (KIP-447) says
`"stable": false`. Every value is sent once in a history.

Sources: Jepsen's Kafka workload (jepsen.tests.kafka) for the idea of values that are sent once.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from touchstone.harness.model import bounded

FORMAT = 1
DOINGS = (
    "send", "poll", "seek", "begin", "commit", "abort", "drain", "store", "recall", "join", "leave",
    "fault",
)  # fmt: skip
OUTCOMES = ("ok", "fail", "unknown")
NEVER = 1 << 62  # the end of what never ended


class BadHistory(ValueError):
    """A line that is no part of a history; the message says which and why."""


@dataclass(slots=True, eq=False)
class Operation:
    """One thing a client did. `began` and `ended` are line numbers: the order of events."""

    number: int
    process: str
    do: str
    asked: dict[str, Any]
    began: int
    ended: int = NEVER
    outcome: str = "unknown"
    told: dict[str, Any] = field(default_factory=dict)

    def before(self, other: Operation) -> bool:
        """Whether this one was over when the other began."""
        return self.ended < other.began

    def __str__(self) -> str:
        said = {**self.asked, **self.told}
        said.pop("at", None)
        if "records" in said:
            said["records"] = _short(said["records"])
        words = " ".join(f"{name}={value}" for name, value in said.items() if value is not None)
        return f"{self.process} {self.do} {words} -> {self.outcome}"


@dataclass(slots=True)
class History:
    """What was promised, and every operation in the order they began."""

    promised: dict[str, Any]
    operations: list[Operation]

    def of(self, *doings: str) -> Iterator[Operation]:
        return (each for each in self.operations if each.do in doings)


def read(lines: Iterable[str], source: str = "history") -> History:
    """The history in these lines. A last line that was cut off is as if it had not been written.

    Raises BadHistory for anything else that is no history: a checker's silence about lines that
    it did not understand would look like praise.
    """
    rows = _rows(lines, source)
    _, promised = next(rows, (0, {}))
    if promised.get("history") != FORMAT:
        raise BadHistory(f"{source}: the first line is no history of format {FORMAT}")
    operations: dict[int, Operation] = {}
    for at, row in rows:
        number = row.pop("op", None)
        if not isinstance(number, int):
            raise BadHistory(f"{source}:{at}: no operation's number")
        if "do" in row:
            _begin(operations, number, row, at, source)
        else:
            _end(operations, number, row, at, source)
    return History(promised, list(operations.values()))


def dump(history: History) -> Iterator[str]:
    """The lines of a history, without ends of lines."""
    yield line(history.promised)
    events = []
    for each in history.operations:
        events.append((each.began, beginning(each.number, each.process, each.do, each.asked)))
        if each.ended != NEVER:
            events.append((each.ended, ending(each.number, each.outcome, each.told)))
    for _, event in sorted(events, key=lambda pair: pair[0]):
        yield line(event)


def beginning(number: int, process: str, do: str, asked: dict[str, Any]) -> dict[str, Any]:
    return {"op": number, "process": process, "do": do, **asked}


def ending(number: int, outcome: str, told: dict[str, Any]) -> dict[str, Any]:
    return {"op": number, "is": outcome, **told}


def line(row: dict[str, Any]) -> str:
    return json.dumps(row, separators=(",", ":"))


def place(topic: str, partition: int) -> str:
    """A partition by the name Kafka's own logs give it."""
    return f"{topic}-{partition}"


def _begin(
    operations: dict[int, Operation], number: int, row: dict[str, Any], at: int, source: str
) -> None:
    if number in operations:
        raise BadHistory(f"{source}:{at}: operation {number} begins twice")
    do, process = row.pop("do"), row.pop("process", "")
    if do not in DOINGS:
        raise BadHistory(f"{source}:{at}: nobody knows what {do!r} is")
    operations[number] = Operation(number, process, do, row, at)


def _end(
    operations: dict[int, Operation], number: int, row: dict[str, Any], at: int, source: str
) -> None:
    found, outcome = operations.get(number), row.pop("is", None)
    if found is None or found.ended != NEVER:
        raise BadHistory(f"{source}:{at}: operation {number} ends, and none is open")
    if outcome not in OUTCOMES:
        raise BadHistory(f"{source}:{at}: an outcome is one of {OUTCOMES}, not {outcome!r}")
    found.ended, found.outcome, found.told = at, outcome, row


def _rows(lines: Iterable[str], source: str) -> Iterator[tuple[int, dict[str, Any]]]:
    for at, text in enumerate(lines, 1):
        if not text.strip():
            continue
        try:
            row = bounded.json_of(text)
        except ValueError as fault:
            if text.endswith("\n"):
                raise BadHistory(f"{source}:{at}: no JSON: {fault}") from None
            return  # whoever recorded was killed in the middle of a line
        if not isinstance(row, dict):
            raise BadHistory(f"{source}:{at}: an object is wanted, not {text.strip()[:40]}")
        yield at, row


def _short(records: dict[str, list[Any]]) -> str:
    parts = []
    for name, rows in records.items():
        span = f"{rows[0][0]}..{rows[-1][0]}" if rows else "nothing"
        parts.append(f"{name}: {span} ({len(rows)})")
    return "{" + ", ".join(parts) + "}"
