"""What is compared of an answer: its codes, what it names, and what it leaves out."""

from __future__ import annotations

from typing import Any

_NAMED = frozenset({
    "name", "topic", "topic_name", "group_id", "key", "transactional_id", "resource_name",
    "resource_type", "user", "principal", "host", "operation", "permission_type", "partition",
    "partition_index", "feature", "entity_name", "partition_id",
})  # fmt: skip
_BITS = "authorized_operations"
_IGNORED = frozenset({"brokers", "nodes", "configs", "coordinator_host"})


def seen(answer: Any) -> Any:
    """Lists are in no order; a list or a struct of which nothing is compared is not there."""
    if isinstance(answer, dict):
        found = {}
        for key, value in answer.items():
            if key in _IGNORED:
                continue
            if isinstance(value, dict | list):
                inner = seen(value)
                if inner or value == [] or value is None:
                    found[key] = inner
            elif key in _NAMED or key.endswith(("error_code", _BITS)):
                found[key] = value
        return found
    if isinstance(answer, list):
        return sorted((seen(each) for each in answer), key=repr)
    return answer
