"""How many of a log's oldest segments may go: by time, by size, by log start.

Each rule looks at segments from the oldest on and stops at the first that it keeps; the three run
one after another, each over what the one before left (LOG-16). None takes a segment that reaches
past the high watermark, and an empty active one is no loss worth taking (LOG-20). What is taken is
the log's to do: `PartitionLog.drop_segments`.

Sources: Log.deleteOldSegments and deletableSegments at 1.0.2, 2.2.1, 2.8.2; UnifiedLog at 3.9.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from touchstone.reference_impl.log.segment import Segment
from touchstone.reference_impl.log.topic_config import TopicConfig

if TYPE_CHECKING:
    from touchstone.reference_impl.log.partition_log import PartitionLog

Rule = Callable[[Segment, Segment | None], bool]  # a segment, and the one behind it


def retain(log: PartitionLog, config: TopicConfig, now: int) -> int:
    """Drop what `config` does not want kept at `now` (ms); how many segments that were."""
    dropped = 0
    if config.delete:
        if config.retention_ms >= 0:
            dropped += _drop(log, _too_old(config.retention_ms, now), now)
        surplus = log.size - config.retention_bytes
        if config.retention_bytes >= 0 and surplus >= 0:
            dropped += _drop(log, _too_much(surplus), now)
    return dropped + _drop(log, _below(log.log_start_offset), now)


def age_of(segment: Segment) -> int:
    """The instant that a segment is as old as: its newest record, or else its last write."""
    newest = segment.largest_timestamp
    return newest if newest >= 0 else segment.modified


def _too_old(retention_ms: int, now: int) -> Rule:
    return lambda segment, _: now - age_of(segment) > retention_ms


def _below(log_start_offset: int) -> Rule:
    return lambda _, following: following is not None and following.base_offset <= log_start_offset


def _too_much(surplus: int) -> Rule:
    left = surplus

    def fits(segment: Segment, _: Segment | None) -> bool:
        nonlocal left
        if segment.size > left:
            return False
        left -= segment.size
        return True

    return fits


def _drop(log: PartitionLog, rule: Rule, now: int) -> int:
    count = _leading(log.segments, rule, log.log_end_offset, log.high_watermark)
    if count:
        if count == len(log.segments):
            log.roll(now)
        log.drop_segments(count, now)
    return count


def _leading(
    segments: Sequence[Segment], rule: Rule, log_end_offset: int, high_watermark: int
) -> int:
    """How many segments from the first on the rule takes."""
    for count, segment in enumerate(segments):
        following = segments[count + 1] if count + 1 < len(segments) else None
        end = log_end_offset if following is None else following.base_offset
        if high_watermark < end or (following is None and not segment.size):
            return count
        if not rule(segment, following):
            return count
    return len(segments)
