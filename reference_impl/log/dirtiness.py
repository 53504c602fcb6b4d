"""Which part of a compacted log is dirty, and whether it is worth cleaning now.

A log is clean up to where its last cleaning ended. What may be cleaned next ends before the active
segment, before the last stable offset, and before the first segment younger than
`min.compaction.lag.ms`. It is worth it when its share of the bytes exceeds
`min.cleanable.dirty.ratio`, or when a record has waited longer than `max.compaction.lag.ms`.

Sources: LogCleanerManager.cleanableOffsets, maxCompactionDelay and LogToClean at 1.0.2, 2.8.2, 3.9;
KIP-58, KIP-354; LOG-25.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from touchstone.reference_impl.log import segment as segments
from touchstone.reference_impl.log.topic_config import TopicConfig

if TYPE_CHECKING:
    from touchstone.reference_impl.log.partition_log import PartitionLog


class Dirty(NamedTuple):
    """The offsets to clean, and how much they weigh."""

    first: int
    end: int  # the base offset of the first segment that must stay as it is
    clean_bytes: int
    dirty_bytes: int
    overdue: bool  # something has waited for longer than it may

    @property
    def ratio(self) -> float:
        total = self.clean_bytes + self.dirty_bytes
        return self.dirty_bytes / total if total else 0.0

    def worth_it(self, config: TopicConfig) -> bool:
        if not self.dirty_bytes:
            return False
        return self.overdue or self.ratio > config.min_cleanable_dirty_ratio


def dirty_part(log: PartitionLog, config: TopicConfig, now: int) -> Dirty:
    """What may be cleaned at `now` (ms)."""
    start = log.log_start_offset
    first = log.cleaned_to if start <= log.cleaned_to <= log.log_end_offset else start
    closed, active = log.segments[:-1], log.segments[-1]
    behind = log.segments[max(0, segments.floor(log.segments, first)) : -1]
    limit = min(log.last_stable_offset, active.base_offset)
    if config.min_compaction_lag_ms > 0:
        oldest = now - config.min_compaction_lag_ms
        young = (s.base_offset for s in behind if s.largest_timestamp > oldest)
        limit = min(limit, next(young, limit))
    stop = log.segments[max(0, segments.floor(log.segments, limit))].base_offset
    dirty = [segment for segment in behind if segment.base_offset < stop]
    waited = min((s.first_timestamp for s in dirty if s.first_timestamp > 0), default=now)
    return Dirty(
        first,
        stop,
        sum(s.size for s in closed if s.base_offset < first),
        sum(s.size for s in dirty),
        now - waited > config.max_compaction_lag_ms,
    )
