"""DeleteTopics: by name, and from v6 by id.

The controller package decides what becomes of each entry. Deletion is done when the answer is
made: this cluster has nobody to wait for, except where a release waits for what it will not do.

Sources: TOPIC-35, KIP-516 (ids, v6), KIP-599 (v5 messages); observed on all five releases.
"""

from __future__ import annotations

from touchstone.reference_impl.broker.control.mutation_quotas import MutationQuotas
from touchstone.reference_impl.broker.control.topic_changes import TopicChanges
from touchstone.reference_impl.broker.control.topic_outcomes import Outcome
from touchstone.reference_impl.broker.effects import Request, Wait
from touchstone.reference_impl.cluster.topology import NO_TOPIC_ID
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

FIRST_TO_REFUSE = 5  # who is above controller_mutation_rate (KIP-599)


def _rows(request: Request) -> list[tuple[str | None, bytes]]:
    body = request.body
    if request.header.version >= 6:
        return [(row["name"], row["topic_id"]) for row in body["topics"]]
    return [(name, NO_TOPIC_ID) for name in body["topic_names"]]


def handle(
    request: Request, topics: TopicChanges, mutations: MutationQuotas, now: int
) -> Struct | Wait:
    timeout = request.body["timeout_ms"]
    quota = mutations.of(request, now, strict_since=FIRST_TO_REFUSE)
    outcomes = topics.delete_topics(
        _rows(request),
        timeout=timeout,
        version=request.header.version,
        permit=quota.permit,
    )
    answer = {"throttle_time_ms": quota.wait(now), **_answer(outcomes)}
    if timeout > 0 and any(o.code == ErrorCode.REQUEST_TIMED_OUT for o in outcomes):
        return Wait(now + timeout, (), lambda _: None, lambda _: answer)
    return answer


def _answer(outcomes: list[Outcome]) -> Struct:
    return {
        "responses": [
            {
                "name": outcome.name,
                "topic_id": outcome.topic_id,
                "error_code": outcome.code,
                "error_message": outcome.message,
            }
            for outcome in outcomes
        ]
    }


def fail(request: Request, code: int) -> Struct:
    return {
        "responses": [
            {"name": name, "topic_id": topic_id, "error_code": code}
            for name, topic_id in _rows(request)
        ]
    }
