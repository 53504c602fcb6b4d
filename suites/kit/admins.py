"""Steps of claims about an admin client: one operation and its result (docs/adapter.md)."""

from typing import Any

from touchstone.suites.kit.clients import A, Hear, Tell


def does(operation: str, number: int = 1, **fields: Any) -> list[Any]:
    """The `number`-th operation of the case, and its result."""
    return [
        Tell("admin", A, {"operation": operation} | fields, name=f"{operation} {number}"),
        Hear("admin_result", A, number, name=f"{operation} {number} is done"),
    ]


def creates(*topics: Any, **fields: Any) -> list[Any]:
    """The first operation is the creation of these topics, by name or as rows."""
    rows = [one if isinstance(one, dict) else {"name": one, "partitions": 1} for one in topics]
    return does("create_topics", topics=rows, **fields)
