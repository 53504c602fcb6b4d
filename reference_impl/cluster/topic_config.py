"""A topic's settings are parsed once; the log and the data path read them as attributes.

Text comes from overrides and broker defaults (whose validity was checked when they were accepted,
by `broker/configs`), so parsing here cannot fail on a served topic. Defaults below are
those of 4.3; a persona whose release differs passes its own text through the cluster's
`topic_defaults`. Attribute = config name with dots as underscores.

Sources: org.apache.kafka.storage.internals.log.LogConfig@4.3.1, kafka.log.LogConfig@1.0.2, DYN-10.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

LONG_MAX = 2**63 - 1


def _list(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _bool(text: str) -> bool:
    return text.strip().lower() == "true"


PARSERS: Mapping[str, Callable[[str], Any]] = {
    "int": lambda text: int(text.strip()),
    "float": lambda text: float(text.strip()),
    "bool": _bool,
    "str": lambda text: text.strip(),
    "tuple[str, ...]": _list,
}


@dataclass(frozen=True, slots=True)
class TopicConfig:
    cleanup_policy: tuple[str, ...] = ("delete",)
    compression_type: str = "producer"
    delete_retention_ms: int = 86_400_000
    file_delete_delay_ms: int = 60_000
    flush_messages: int = LONG_MAX
    flush_ms: int = LONG_MAX
    index_interval_bytes: int = 4096
    local_retention_bytes: int = -2
    local_retention_ms: int = -2
    max_compaction_lag_ms: int = LONG_MAX
    max_message_bytes: int = 1_048_588
    message_downconversion_enable: bool = True
    message_format_version: str = "3.0-IV1"
    message_timestamp_after_max_ms: int = 3_600_000
    message_timestamp_before_max_ms: int = LONG_MAX
    message_timestamp_difference_max_ms: int = LONG_MAX
    message_timestamp_type: str = "CreateTime"
    min_cleanable_dirty_ratio: float = 0.5
    min_compaction_lag_ms: int = 0
    min_insync_replicas: int = 1
    preallocate: bool = False
    remote_storage_enable: bool = False
    retention_bytes: int = -1
    retention_ms: int = 604_800_000
    segment_bytes: int = 1_073_741_824
    segment_index_bytes: int = 10_485_760
    segment_jitter_ms: int = 0
    segment_ms: int = 604_800_000
    unclean_leader_election_enable: bool = False

    @classmethod
    def resolve(cls, texts: Mapping[str, str | None]) -> TopicConfig:
        """Parse what is given, keep the default of what is not; unknown names are ignored."""
        values: dict[str, Any] = {}
        for item in fields(cls):
            text = texts.get(item.name.replace("_", "."))
            if text is not None:
                values[item.name] = PARSERS[str(item.type)](text)
        return cls(**values)

    @property
    def compact(self) -> bool:
        return "compact" in self.cleanup_policy

    @property
    def max_segment_ms(self) -> int:
        """How old a segment may get: compaction may not wait for it too long (KIP-354)."""
        if self.compact and self.max_compaction_lag_ms > 0:
            return min(self.max_compaction_lag_ms, self.segment_ms)
        return self.segment_ms

    @property
    def delete(self) -> bool:
        return "delete" in self.cleanup_policy

    @property
    def log_append_time(self) -> bool:
        return self.message_timestamp_type == "LogAppendTime"
