"""The checkers of offsets and of sessions, on conversations that the golden ones do not hold."""

from __future__ import annotations

import dataclasses

import pytest

from touchstone.harness.checkers import fetch_session, produce_offsets
from touchstone.harness.tests.conversations import conversation
from touchstone.reference_impl.wire.records import build

BATCH = build(records=[b"one", b"two"], magic=2, timestamp=1_750_000_000_000)
AT_ONCE = (10, 20, 30, 40)  # both are sent before either is answered
IN_TURN = (10, 30, 20, 40)


def appends(*bases, at):
    """Two appends of two records; `at`: when they were sent (1st, 2nd) and answered."""
    asked = {
        "acks": -1,
        "timeout_ms": 1000,
        "topic_data": [{"name": "t", "partition_data": [{"index": 0, "records": BATCH}]}],
    }
    lines = [
        (f"append {base}", "Produce", 3, asked, {"responses": [
            {"name": "t", "partition_responses": [{"index": 0, "base_offset": base}]}]})
        for base in bases
    ]  # fmt: skip
    found = conversation(*lines)
    opened, sent_a, got_a, sent_b, got_b = found.events
    when = zip((sent_a, sent_b, got_a, got_b), at, strict=True)
    moved = [dataclasses.replace(event, at_us=at_us) for event, at_us in when]
    ordered = sorted(moved, key=lambda event: event.at_us)
    return dataclasses.replace(found, events=(opened, *ordered))


@pytest.mark.parametrize(
    ("bases", "at", "wrong"),
    [
        ((0, 2), IN_TURN, False),
        ((2, 0), IN_TURN, True),
        ((2, 0), AT_ONCE, False),
        ((2, 1), AT_ONCE, True),
        ((0, 0), AT_ONCE, True),
        ((0, 1), IN_TURN, True),
    ],
)
def test_appends_at_once_may_swap_but_never_share(bases, at, wrong):
    assert bool(produce_offsets.check(appends(*bases, at=at))) is wrong


@pytest.mark.parametrize(
    ("forgets", "tells", "wrong"), [(True, False, False), (False, False, True), (True, True, True)]
)
def test_a_session_may_end_only_with_its_last_partition(forgets, tells, wrong):
    asked = {"session_id": 7, "session_epoch": 1, "topics": []}
    if forgets:
        asked["forgotten_topics_data"] = [{"topic": "t", "partitions": [0]}]
    rows = [{"topic": "t", "partitions": [{"partition_index": 1, "records": b""}]}]
    answer = {"session_id": 0, "responses": rows if tells else []}
    found = conversation(("fetch", "Fetch", 7, asked, answer))
    assert bool(fetch_session.check(found)) is wrong
