"""Planted defects of admin clients."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from touchstone.harness.adapters.lying import Liar, Row, command, event


def more_partitions(row: Row) -> Row:
    topics = [one | {"partitions": one.get("partitions", 1) + 1} for one in row.get("topics", ())
              if isinstance(one, dict)]  # fmt: skip
    return row | {"topics": topics} if topics else row


def instead(name: str) -> Callable[[Row], Row]:
    """Another admin operation than the one that was asked for, told under the old name."""
    return lambda row: row | {"operation": name}


TABLE: Mapping[str, Liar] = {
    "one-partition-more": Liar(
        "A topic is made with a partition too many.", command("admin", more_partitions)
    ),
    "admin-errors-swallowed": Liar(
        "Errors of an operation are not told.",
        events=event("admin_result", lambda row: row | {"code": None}),
    ),
    "admin-errors-invented": Liar(
        "An operation that was done is told as failed.",
        events=event("admin_result", lambda row: row | {"code": 7}),
    ),
    "deletes-nothing": Liar("Nothing is deleted.", command("admin", instead("list_topics"))),
    "lists-nothing": Liar(
        "No topic is listed.", events=event("admin_result", lambda row: row | {"result": []})
    ),
}
