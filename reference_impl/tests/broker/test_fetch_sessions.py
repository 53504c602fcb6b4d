"""Fetch sessions that outlive what their broker knew when they began (KIP-227, KIP-516)."""

from __future__ import annotations

from touchstone.reference_impl.tests.broker.one_broker import OneBroker
from touchstone.reference_impl.wire.errors import ErrorCode as E

VERSION = 13  # topics by their ids


def test_a_session_learns_of_a_topic_that_was_unknown_when_it_began():
    """A follower can hear of a topic before its leader does; only its first fetch names it."""
    one = OneBroker("4.3")
    one.topic()
    one.log()  # the broker has heard
    topic, metadata = one.cluster.topics["t"], one.brokers[0].metadata
    seen = metadata.by_id.pop(topic.id)
    row = {"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1 << 20}
    body = {"max_wait_ms": 0, "min_bytes": 1, "max_bytes": 1 << 20, "session_epoch": 0}
    first = one.ask(
        "Fetch", VERSION, {**body, "topics": [{"topic_id": topic.id, "partitions": [row]}]}
    )
    assert first["responses"][0]["partitions"][0]["error_code"] == E.UNKNOWN_TOPIC_ID

    metadata.by_id[topic.id] = seen
    body |= {"session_id": first["session_id"], "session_epoch": 1}
    second = one.ask("Fetch", VERSION, body)
    assert second["responses"][0]["partitions"][0]["error_code"] == E.NONE
