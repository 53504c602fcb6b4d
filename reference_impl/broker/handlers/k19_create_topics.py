"""CreateTopics: make topics, or with validate_only say whether they could be made.

The controller package decides; this file shapes the answer: messages from v1, the throttle from
v2, the made topic's size and configs from v5 (KIP-525), its id from v7 (KIP-516). An answer waits
until every new partition has a leader, as far as the request's timeout allows; a manual assignment
to brokers that are not there never gets one and ends as REQUEST_TIMED_OUT, made all the same.

Sources: TOPIC-06..17, TOPIC-34; observed on all five releases.
"""

from __future__ import annotations

from collections.abc import Callable

from touchstone.reference_impl.broker.configs import config_view
from touchstone.reference_impl.broker.configs.config_view import ConfiguredNode
from touchstone.reference_impl.broker.control.mutation_quotas import MutationQuotas
from touchstone.reference_impl.broker.control.topic_changes import TopicChanges
from touchstone.reference_impl.broker.control.topic_outcomes import NewTopic, Outcome, has_leaders
from touchstone.reference_impl.broker.effects import Request, Wait
from touchstone.reference_impl.broker.personas.persona import Persona
from touchstone.reference_impl.cluster.topology import Cluster
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

FIRST_TO_REFUSE = 6  # who is above controller_mutation_rate (KIP-599)


def handle(
    request: Request,
    topics: TopicChanges,
    mutations: MutationQuotas,
    cluster: Cluster,
    node: ConfiguredNode,
    persona: Persona,
    now: int,
) -> Struct | Wait:
    body = request.body
    timeout, validate_only = body["timeout_ms"], bool(body["validate_only"])
    quota = mutations.of(request, now, strict_since=FIRST_TO_REFUSE)
    outcomes = topics.create_topics(
        [NewTopic.of(row) for row in body["topics"]],
        timeout=timeout,
        validate_only=validate_only,
        client=request.header.client_id or "",
        permit=quota.permit,
    )
    made = [o for o in outcomes if o.code == ErrorCode.NONE and not validate_only]
    if all(has_leaders(cluster, outcome.name) for outcome in made):
        return _answer(node, persona, outcomes, quota.wait(now))

    def attempt(at: int) -> Struct | None:
        led = all(has_leaders(cluster, outcome.name) for outcome in made)
        return _answer(node, persona, outcomes, quota.wait(at)) if led else None

    def expire(at: int) -> Struct:
        late = [o for o in made if not has_leaders(cluster, o.name)]
        told = [o.timed_out() if o in late else o for o in outcomes]
        return _answer(node, persona, told, quota.wait(at))

    watch = [("topic", outcome.name) for outcome in made]
    return Wait(now + timeout, watch, attempt, expire)


def fail(request: Request, code: int) -> Struct:
    return {"topics": [{"name": row["name"], "error_code": code} for row in request.body["topics"]]}


def _answer(
    node: ConfiguredNode, persona: Persona, outcomes: list[Outcome], throttled: int
) -> Struct:
    shown: dict[tuple[tuple[str, str], ...], list[Struct]] = {}  # most have the same configs

    def configs_of(outcome: Outcome) -> list[Struct]:
        key = tuple((outcome.configs or {}).items())
        if key not in shown:
            shown[key] = _configs(node, persona, outcome)
        return shown[key]

    rows = [_row(outcome, configs_of) for outcome in outcomes]
    return {"throttle_time_ms": throttled, "topics": rows}


def _row(outcome: Outcome, configs_of: Callable[[Outcome], list[Struct]]) -> Struct:
    row: Struct = {
        "name": outcome.name,
        "topic_id": outcome.topic_id,
        "error_code": outcome.code,
        "error_message": outcome.message,
    }
    if outcome.configs is not None:
        row["num_partitions"] = outcome.partitions
        row["replication_factor"] = outcome.replication
        row["configs"] = configs_of(outcome)
    return row


def _configs(node: ConfiguredNode, persona: Persona, outcome: Outcome) -> list[Struct]:
    return [
        {
            "name": entry.name,
            "value": entry.value,
            "read_only": entry.read_only,
            "config_source": entry.source,
            "is_sensitive": entry.sensitive,
        }
        for entry in config_view.topic_entries(
            node, outcome.configs or {}, as_written=persona.kraft
        )
    ]
