"""Histories written by hand in a few words: operations one after another, or some at once.

`history(send("a", 0), at_once(send("b"), send("c", 2)), drain((0, "a")))` has every operation end
before the next one begins, but for those that are under way at once. An offset says that a send was
acknowledged there; without one its end is unknown.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from touchstone.harness.model.history import FORMAT, History, Operation

PLACE = "t-0"
UNCOMMITTED, COMMITTED = "read_uncommitted", "read_committed"
Row = tuple[int, str]


class Step(NamedTuple):
    """Operations that begin in this order and then end in this order."""

    doings: tuple[tuple[str, str, dict[str, Any], str, dict[str, Any]], ...]


def at_once(*steps: Step) -> Step:
    return Step(tuple(each for step in steps for each in step.doings))


def one(process: str, do: str, asked: dict[str, Any], is_: str = "ok", **told: Any) -> Step:
    return Step(((process, do, asked, is_, told),))


def send(
    value: str, offset: int | None = None, *, by: str = "p", acks: int = -1,
    idempotent: bool = True, tx: str | None = None, is_: str | None = None, **more: Any,
) -> Step:  # fmt: skip
    asked = {"topic": "t", "partition": 0, "value": value, "acks": acks,
             "idempotent": idempotent, "transaction": tx, **more}  # fmt: skip
    outcome = is_ or ("unknown" if offset is None else "ok")
    return one(by, "send", asked, outcome, **({} if offset is None else {"offset": offset}))


def poll(*rows: Row, by: str = "c", isolation: str = UNCOMMITTED) -> Step:
    records = {PLACE: [list(row) for row in rows]}
    return one(by, "poll", {"isolation": isolation}, records=records)


def seek(offset: int, *, by: str = "c", topic: str = "t") -> Step:
    return one(by, "seek", {"topic": topic, "partition": 0, "offset": offset})


def join(generation: int, *, by: str = "c") -> Step:
    told = {"member": by, "generation": generation, "partitions": [PLACE]}
    return one(by, "join", {"group": "m"}, **told)


def drain(*rows: Row, to: int, start: int = 0, isolation: str = UNCOMMITTED, by: str = "d") -> Step:
    """A reading to the end; `history` puts its poll inside."""
    asked = {"topic": "t", "partition": 0, "isolation": isolation, "rows": rows}
    return one(by, "drain", asked, **{"from": start, "to": to})


def store(
    offset: int, *, tx: str | None = None, of: str = PLACE, is_: str = "ok", **others: int
) -> Step:
    """Store `offset` of one partition, and those of others."""
    asked = {"group": "g", "offsets": {of: offset, **others}, "transaction": tx}
    return one("copier", "store", asked, is_)


def recall(offset: int, **asked: Any) -> Step:
    return one("r", "recall", {"group": "g", **asked}, offsets={PLACE: offset})


def commit(tx: str, is_: str = "ok") -> Step:
    return one("copier", "commit", {"transaction": tx}, is_)


def abort(tx: str) -> Step:
    return one("copier", "abort", {"transaction": tx})


def history(*steps: Step, **promised: Any) -> History:
    made = History({"history": FORMAT, **promised}, [])
    line = 1

    def begin(process: str, do: str, asked: dict[str, Any]) -> Operation:
        nonlocal line
        line += 1
        number = len(made.operations) + 1
        made.operations.append(Operation(number, process, do, dict(asked), line))
        return made.operations[-1]

    def end(operation: Operation, is_: str, told: dict[str, Any]) -> None:
        nonlocal line
        line += 1
        operation.ended, operation.outcome, operation.told = line, is_, told

    for step in steps:
        begun = [(begin(by, do, asked), is_, told) for by, do, asked, is_, told in step.doings]
        for operation, is_, told in begun:
            rows = operation.asked.pop("rows", None)
            if rows is not None:
                inside = begin(
                    operation.process, "poll", {"isolation": operation.asked["isolation"]}
                )
                end(inside, "ok", {"records": {PLACE: [list(row) for row in rows]}})
            end(operation, is_, told)
    return made
