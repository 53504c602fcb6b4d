"""Planted defects of admin clients."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from touchstone.harness.adapters.lying import Liar, Row, command, event, fields, request


def more_partitions(row: Row) -> Row:
    topics = [one | {"partitions": one.get("partitions", 1) + 1} for one in row.get("topics", ())
              if isinstance(one, dict)]  # fmt: skip
    return row | {"topics": topics} if topics else row


def instead(name: str) -> Callable[[Row], Row]:
    """Another admin operation than the one that was asked for, told under the old name."""
    return lambda row: row | {"operation": name}


def _items_alike(row: Row) -> Row:
    """Every item has the code of the last one."""
    rows = row.get("items") or []
    return row | {"items": [one | {"code": rows[-1]["code"]} for one in rows]}


def _without(*names: str) -> Callable[[Row], Row]:
    """An operation without these of its fields, also those of its topics."""

    def change(row: Row) -> Row:
        kept = {key: value for key, value in row.items() if key not in names}
        if "topics" in kept:
            kept["topics"] = [
                {key: value for key, value in one.items() if key not in names}
                if isinstance(one, dict) else one
                for one in kept["topics"]
            ]  # fmt: skip
        return kept

    return change


def _asked_of_any(row: Row) -> Row:
    """Of another broker than the one that was named."""
    return row | {"name": "0"} if row.get("type") == "broker" else row


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
    "admin-gives-nothing": Liar(
        "Operations give no result.", events=event("admin_result", lambda row: row | {"result": []})
    ),
    "items-alike": Liar(
        "All items of an operation have one result.", events=event("admin_result", _items_alike)
    ),
    "settings-dropped": Liar(
        "A topic is made without its settings.", command("admin", _without("configs"))
    ),
    "settings-not-altered": Liar(
        "Settings are not altered, and are told as altered.",
        requests=request("IncrementalAlterConfigs", fields(resources=[])),
    ),
    "checks-become-deeds": Liar(
        "What is only to be validated is done.", command("admin", _without("validate_only"))
    ),
    "asks-any-broker": Liar(
        "A broker's settings are asked of another one.", command("admin", _asked_of_any)
    ),
    "passing-errors-are-final": Liar(
        "An operation that meets a passing error is told as failed.",
        events=event("admin_result", lambda row: row | {"code": 15}),
    ),
}
