"""A Produce of several partitions, and what a Produce of one answers.

Source: schema Produce.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from touchstone.harness.model.expect import Expectation, all_of, answer
from touchstone.harness.model.placeholders import TopicId
from touchstone.harness.model.scenario import Ask
from touchstone.harness.model.steps import PRODUCE_BY_ID, TIMEOUT_MS, ask
from touchstone.reference_impl.wire.errors import ErrorCode

OFFSET = "responses[0].partition_responses[0].base_offset"
CODE = "responses[0].partition_responses[0].error_code"


def produce_many(
    topics: Sequence[tuple[Any, Sequence[tuple[int, Any]]]],
    *,
    version: int,
    acks: int = -1,
    timeout_ms: int = TIMEOUT_MS,
    transactional_id: Any = None,
    **how: Any,
) -> Ask:
    """One Produce of several topics and partitions: ((topic, ((partition, records), ...)), ...)."""
    body = {
        "transactional_id": transactional_id,
        "acks": acks,
        "timeout_ms": timeout_ms,
        "topic_data": [_topic(topic, parts, version) for topic, parts in topics],
    }
    return ask("Produce", version, body, **{"answer": acks != 0} | how)


def _topic(topic: Any, parts: Sequence[tuple[int, Any]], version: int) -> Mapping[str, Any]:
    rows = [{"index": index, "records": records} for index, records in parts]
    if version < PRODUCE_BY_ID:
        return {"name": topic, "partition_data": rows}
    by_id = topic if isinstance(topic, bytes) else TopicId(topic)
    return {"topic_id": by_id, "partition_data": rows}


def stored_at(step: str, offset: int) -> Expectation:
    """The step's one partition was written, from this offset on."""
    return all_of(answer(step, CODE).is_(ErrorCode.NONE), answer(step, OFFSET).is_(offset))


def refused_with(step: str, *codes: int) -> Expectation:
    """The step's one partition answers one of these errors and no offset."""
    return all_of(answer(step, CODE).is_one_of(*codes), answer(step, OFFSET).is_(-1))
