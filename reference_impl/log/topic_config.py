"""The settings of a topic that the broker obeys: one line each, for every release at once.

A line is the attribute that the log and the data path read (the config's name, with underscores for
dots) and the row that says its type, its default and what varies with the release, in the notation
of `broker/personas/config_rows.py`. Parser, validation and what DescribeConfigs shows follow from
it, so a new setting is a line here and the code that obeys it. Settings that no log obeys stand in
`broker/personas/topic_configs.py`.

Text comes from overrides and broker defaults (whose validity was checked when they were accepted,
by `broker/configs`), so parsing here cannot fail on a served topic. A field's default is the newest
release's; a persona whose release differs passes its own text through the cluster's
`topic_defaults`.

Sources: DescribeConfigs on 1.0.2, 2.2.1, 2.8.2, 3.9.2 and 4.3.1; LogConfig's definition in the
jars; org.apache.kafka.storage.internals.log.LogConfig@4.3.1, kafka.log.LogConfig@1.0.2, DYN-10.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

LONG_MAX = 2**63 - 1


def _list(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _bool(text: str) -> bool:
    return text.strip().lower() == "true"


PARSERS: Mapping[str, Callable[[str], Any]] = {
    "INT": int,
    "LONG": int,
    "DOUBLE": float,
    "BOOLEAN": _bool,
    "STRING": str.strip,
    "LIST": _list,
}


def setting(row: str) -> Any:
    """A setting by its row, less the name: type, default, and what varies with the release."""
    kind, default, *rest = row.split()
    changed = [word.partition("=")[2] for word in rest if word[0].isdigit()]
    parse = PARSERS[kind]
    return field(default=parse([default, *changed][-1]), metadata={"row": row, "parse": parse})


@dataclass(frozen=True, slots=True)
class TopicConfig:
    cleanup_policy: tuple[str, ...] = setting(
        "LIST delete synonym=log.cleanup.policy rule@1.0=one_of_compact,_delete"
    )
    compression_type: str = setting(
        "STRING producer synonym=compression.type "
        "rule@1.0=one_of_uncompressed,_snappy,_lz4,_gzip,_producer "
        "rule@2.2=one_of_uncompressed,_zstd,_lz4,_snappy,_gzip,_producer"
    )
    delete_retention_ms: int = setting(
        "LONG 86400000 synonym=log.cleaner.delete.retention.ms rule@1.0=>=_0"
    )
    file_delete_delay_ms: int = setting(
        "LONG 60000 synonym=log.segment.delete.delay.ms rule@1.0=>=_0"
    )
    flush_messages: int = setting(
        "LONG 9223372036854775807 synonym=log.flush.interval.messages rule@1.0=>=_0 rule@3.9=>=_1"
    )
    flush_ms: int = setting("LONG 9223372036854775807 synonym=log.flush.interval.ms rule@1.0=>=_0")
    index_interval_bytes: int = setting("INT 4096 synonym=log.index.interval.bytes rule@1.0=>=_0")
    max_compaction_lag_ms: int = setting(
        "LONG 9223372036854775807 since=2.8 synonym=log.cleaner.max.compaction.lag.ms rule@2.8=>=_1"
    )
    max_message_bytes: int = setting(
        "INT 1000012 2.8=1048588 synonym=message.max.bytes rule@1.0=>=_0"
    )
    message_downconversion_enable: bool = setting(
        "BOOLEAN true since=2.2 until=3.9 synonym=log.message.downconversion.enable"
    )
    message_format_version: str = setting(
        "STRING 1.0-IV0 2.2=2.2-IV1 2.8=2.8-IV1 3.9=3.0-IV1 until=3.9 "
        "synonym=log.message.format.version rule@2.2=format_up_to_2.2-IV1_in_` "
        "rule@2.8=format_up_to_2.8-IV1_in_` rule@3.9=format_up_to_4.0-IV1_in_"
    )
    message_timestamp_after_max_ms: int = setting(
        "LONG 9223372036854775807 4.3=3600000 since=3.9 "
        "synonym=log.message.timestamp.after.max.ms rule@3.9=>=_0"
    )
    message_timestamp_before_max_ms: int = setting(
        "LONG 9223372036854775807 since=3.9 synonym=log.message.timestamp.before.max.ms "
        "rule@3.9=>=_0"
    )
    message_timestamp_difference_max_ms: int = setting(
        "LONG 9223372036854775807 until=3.9 synonym=log.message.timestamp.difference.max.ms "
        "rule@1.0=>=_0"
    )
    message_timestamp_type: str = setting(
        "STRING CreateTime synonym=log.message.timestamp.type "
        "rule@2.2=one_of_CreateTime,_LogAppendTime"
    )
    min_cleanable_dirty_ratio: float = setting(
        "DOUBLE 0.5 synonym=log.cleaner.min.cleanable.ratio rule@1.0=0_.._1"
    )
    min_compaction_lag_ms: int = setting(
        "LONG 0 synonym=log.cleaner.min.compaction.lag.ms rule@1.0=>=_0"
    )
    min_insync_replicas: int = setting("INT 1 synonym=min.insync.replicas rule@1.0=>=_1")
    preallocate: bool = setting("BOOLEAN false synonym=log.preallocate")
    retention_bytes: int = setting("LONG -1 synonym=log.retention.bytes")
    retention_ms: int = setting("LONG 604800000 synonym=log.retention.ms rule@2.2=>=_-1")
    segment_bytes: int = setting(
        "INT 1073741824 synonym=log.segment.bytes rule@1.0=>=_14 rule@4.3=>=_1048576"
    )
    segment_index_bytes: int = setting(
        "INT 10485760 synonym=log.index.size.max.bytes rule@1.0=>=_0 rule@3.9=>=_4"
    )
    segment_jitter_ms: int = setting("LONG 0 synonym=log.roll.jitter.ms rule@1.0=>=_0")
    segment_ms: int = setting("LONG 604800000 synonym=log.roll.ms rule@1.0=>=_0 rule@2.2=>=_1")
    unclean_leader_election_enable: bool = setting(
        "BOOLEAN false synonym=unclean.leader.election.enable"
    )

    @classmethod
    def rows(cls) -> list[str]:
        """The rows that DescribeConfigs, validation and releases are read from."""
        return [f"{each.name.replace('_', '.')} {each.metadata['row']}" for each in fields(cls)]

    @classmethod
    def resolve(cls, texts: Mapping[str, str | None]) -> TopicConfig:
        """Parse what is given, keep the default of what is not; unknown names are ignored."""
        values: dict[str, Any] = {}
        for item in fields(cls):
            text = texts.get(item.name.replace("_", "."))
            if text is not None:
                values[item.name] = item.metadata["parse"](text)
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
