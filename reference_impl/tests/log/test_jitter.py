"""segment.jitter.ms: segments of one age do not roll together, and none lives too long (LOG-10)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from touchstone.reference_impl.log.partition_log import PartitionLog
from touchstone.reference_impl.log.topic_config import TopicConfig
from touchstone.reference_impl.wire.records import build

DAY = 86_400_000
LOGS = [f"t{number}" for number in range(20)]


def rolled(name: str, age: int, jitter: int) -> bool:
    config = replace(TopicConfig(), segment_ms=DAY, segment_jitter_ms=jitter)
    log = PartitionLog(name, 0, lambda: config, now=DAY)
    for at in (DAY, DAY + age):
        log.append(build(2, [b"v"], timestamp=at), now=at)
    return len(log.segment_views()) == 2


@pytest.mark.parametrize(
    ("age", "jitter", "expected"),
    [
        (DAY, 0, {False}),
        (DAY + 1, 0, {True}),
        (DAY // 2, DAY // 4, {False}),
        (DAY - DAY // 8, DAY // 4, {False, True}),
        (DAY + 1, DAY // 4, {True}),
    ],
)
def test_segments_roll_apart_and_within_the_jitter(age, jitter, expected):
    assert {rolled(name, age, jitter) for name in LOGS} == expected
