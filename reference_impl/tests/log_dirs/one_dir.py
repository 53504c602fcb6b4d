"""A broker's log directories for tests: one topic, made-up instants, a look at what they hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from touchstone.reference_impl.broker.data.log_rules import rules_of
from touchstone.reference_impl.broker.personas import persona
from touchstone.reference_impl.cluster.replica import LeaderState
from touchstone.reference_impl.io.disk import Disk
from touchstone.reference_impl.io.log_dirs import LogDirs
from touchstone.reference_impl.log.partition_log import PartitionLog
from touchstone.reference_impl.log.topic_config import TopicConfig
from touchstone.reference_impl.tests.log.stores import HastyDisk
from touchstone.reference_impl.wire.records import NONE, build

NOW = 1_700_000_000_000
TOPIC_ID = bytes(range(16))
KEY = ("words", 0)


def state(topic: str = "words", index: int = 0, *, is_new: bool = False) -> LeaderState:
    return LeaderState(topic, index, TOPIC_ID, 0, 0, 0, (0,), (0,), is_new=is_new)


def opened(
    *roots: Path,
    say: Callable[[str], None] = lambda sentence: None,
    disk: Callable[..., Disk] = HastyDisk,
    failed: Callable[[str, Sequence[tuple[str, int]]], None] = lambda path, keys: None,
    **settings: object,
) -> LogDirs:
    """Log directories, loaded; three batches of `fill` fit into a segment."""
    config = replace(
        TopicConfig(), **{"segment_bytes": 600, "index_interval_bytes": 100, **settings}
    )
    dirs = LogDirs(
        roots, lambda topic: config, rules=rules_of(persona("4.3")), say=say, disk=disk,
        failed=failed,
    )  # fmt: skip
    dirs.load(NOW)
    return dirs


def one(number: int) -> bytes:
    """Batch `number` of producer 7: one record, about 190 bytes."""
    return build(
        2, [b"value %03d," % number * 13], NONE, timestamp=NOW + number, producer_id=7,
        producer_epoch=0, base_sequence=number,
    )  # fmt: skip


def fill(dirs: LogDirs, records: int = 8, topic: str = "words") -> PartitionLog:
    """A new partition with so many records, high watermark at its end."""
    log = dirs.open(state(topic, is_new=True), NOW)
    log.become_leader(0)
    for number in range(records):
        log.append(one(number), now=NOW)
    log.advance_high_watermark(log.log_end_offset)
    return log


def entries(log: PartitionLog) -> list[bytes]:
    return [bytes(entry) for segment in log.segments for entry in segment.entries()]
