"""CreatePartitions: give topics more partitions, placed by the controller or by hand.

The controller package decides; new partitions lead at once, so nothing is waited for.

Sources: TOPIC-33, KIP-195; observed on all five releases.
"""

from __future__ import annotations

from touchstone.reference_impl.broker.control.mutation_quotas import MutationQuotas
from touchstone.reference_impl.broker.control.topic_changes import TopicChanges
from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.wire.schema import Struct

FIRST_TO_REFUSE = 3  # who is above controller_mutation_rate (KIP-599)


def handle(request: Request, topics: TopicChanges, mutations: MutationQuotas, now: int) -> Struct:
    quota = mutations.of(request, now, strict_since=FIRST_TO_REFUSE)
    rows = [(row["name"], row["count"], _replicas(row)) for row in request.body["topics"]]
    outcomes = topics.create_partitions(
        rows,
        timeout=request.body["timeout_ms"],
        validate_only=bool(request.body["validate_only"]),
        permit=quota.permit,
    )
    return {
        "throttle_time_ms": quota.wait(now),
        "results": [
            {"name": o.name, "error_code": o.code, "error_message": o.message} for o in outcomes
        ],
    }


def _replicas(row: Struct) -> list[list[int]] | None:
    assignments = row["assignments"]
    return None if assignments is None else [list(a["broker_ids"]) for a in assignments]


def fail(request: Request, code: int) -> Struct:
    rows = request.body["topics"]
    return {"results": [{"name": row["name"], "error_code": code} for row in rows]}
