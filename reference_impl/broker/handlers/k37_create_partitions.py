"""CreatePartitions: give topics more partitions, placed by the controller or by hand.

The controller package decides; new partitions lead at once, so nothing is waited for.

Sources: TOPIC-33, KIP-195; observed on all five releases.
"""

from __future__ import annotations

from typing import Any

from touchstone.reference_impl.broker.broker import Broker
from touchstone.reference_impl.broker.control.topic_changes import TopicChanges
from touchstone.reference_impl.broker.effects import Request


def handle(request: Request, broker: Broker, now: int) -> dict[str, Any]:
    rows = [(row["name"], row["count"], _replicas(row)) for row in request.body["topics"]]
    outcomes = broker.room(TopicChanges).create_partitions(
        rows,
        timeout=request.body["timeout_ms"],
        validate_only=bool(request.body["validate_only"]),
    )
    if "new-partitions-not-answered" in broker.switches:
        outcomes = []
    return {
        "results": [
            {"name": o.name, "error_code": o.code, "error_message": o.message} for o in outcomes
        ]
    }


def _replicas(row: dict[str, Any]) -> list[list[int]] | None:
    assignments = row["assignments"]
    return None if assignments is None else [list(a["broker_ids"]) for a in assignments]


def fail(request: Request, code: int) -> dict[str, Any]:
    rows = request.body["topics"]
    return {"results": [{"name": row["name"], "error_code": code} for row in rows]}
