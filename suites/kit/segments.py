"""Logs of small segments, on brokers that look after them often.

A segment ends when a batch is SEGMENT_MS newer than the segment's first one, so a claim puts its
borders where it wants them by the times of its batches, on every release and without waiting
(4.x refuses a segment.bytes below 1 MiB, KIP-1030). A Fetch reads from one segment only, which
makes the borders visible. What a broker does in its own time is awaited with `Until`; what it must
not do is looked at after a neighbour's fate has shown that the time has come.

Brokers before 3.6 begin to look 30 s after they started, whatever one tells them: a claim tried
before that waits until then (`until_first_tasks_ms` of harness/model/pace.py).
"""

from typing import Any

from touchstone.harness.model.claim import only
from touchstone.harness.model.expect import answer
from touchstone.harness.model.scenario import Ask, Until
from touchstone.harness.model.steps import (
    EARLIEST,
    a_topic,
    alter_configs,
    fetch,
    list_offsets,
    produce,
)
from touchstone.suites.kit.records import THREE, batch, keyed
from touchstone.suites.kit.topics import appended

FAST_LOG_MANAGER = {
    "log.retention.check.interval.ms": 200,
    "log.initial.task.delay.ms": 100,
    "log.cleaner.backoff.ms": 100,
    "log.segment.delete.delay.ms": 100,
}
SEGMENT_MS = 1000
MINUTE, HOUR = 60_000, 3_600_000
OLD, OLDER = -HOUR, -2 * HOUR
TEN_MINUTES = {"retention.ms": 10 * MINUTE}
FOREVER = {"retention.ms": -1}
LOOK = {"api": "ListOffsets", "versions": only("ListOffsets", 1), "config": FAST_LOG_MANAGER}
# What the cleaner does, and not what retention does: claims that wait wait for the cleaner.
READ = {
    "api": "Fetch", "versions": only("Fetch", 4), "config": FAST_LOG_MANAGER,
    "not_awaited": ("log.retention.check.interval.ms",),
}  # fmt: skip
EARLIEST_OFFSET = "topics[0].partitions[0].offset"
BYTES = "responses[0].partitions[0].records"
# 2.8 shows every topic of the broker, those nobody asked for without partitions: hence the stars.
SIZES = "results[*].topics[*].partitions[*].partition_size"
COMPACT = {"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0"}


A, B, C, END = b"a", b"b", b"c", b"z"
RECORD, TOMBSTONE, BATCH = 79, 69, 61  # bytes of a batch: one record, one without value, no record
FIRST, SECOND, THIRD = -2 * MINUTE, -2 * MINUTE + 100, -2 * MINUTE + 200  # of one segment
NEXT, LAST = -MINUTE, 0  # each the first of another one


def segmented(topic: Any, *batches: Any, configs: Any = None) -> list[Any]:
    """A topic whose segments end where times jump, holding these batches."""
    configs = {"segment.ms": SEGMENT_MS} | (configs or {})
    return [a_topic(topic, configs=configs), appended(topic, *batches)]


def starts_at(topic: Any, offset: int, name: str = "earliest") -> Until:
    """Wait until the log starts there."""
    return Until(earliest(topic, name), EARLIEST_OFFSET, "==", offset)


def stays_at(offset: int, name: str = "earliest") -> Any:
    """Expect the log to begin here still."""
    return answer(name, EARLIEST_OFFSET).is_(offset)


def earliest(topic: Any, name: str = "earliest") -> Ask:
    """ListOffsets of where the log starts."""
    return list_offsets(topic, timestamp=EARLIEST, name=name)


def retention_passes(witness: Any) -> list[Any]:
    """Wait until every log was looked at once more.

    The witness keeps nothing; its third loss comes after a pass that began after its first.
    """
    steps: list[Any] = [a_topic(witness, configs={"retention.ms": 1000})]
    for end in (1, 2, 3):
        steps.append(produce(witness, 0, batch(b"-", at=-HOUR), name=f"witness {end}"))
        steps.append(starts_at(witness, end, f"witness lost {end}"))
    return steps


def compacted(topic: Any, *batches: Any, leaves: int, configs: Any = None) -> list[Any]:
    """A log that is written first, then told to be compact, and awaited: cleaned exactly once.

    `leaves` is the size in bytes of what a reader from offset 0 finds when it is done.
    """
    configs = {"segment.ms": SEGMENT_MS} | (configs or {})
    return [
        a_topic(topic, configs=configs),
        appended(topic, *batches),
        alter_configs(topic, configs | COMPACT, name="compact"),
        cleaned(topic, leaves),
    ]


def cleaned(topic: Any, leaves: int, name: str = "cleaned") -> Until:
    """Wait until a reader from offset 0 finds so many bytes in its segment."""
    return Until(fetch(topic, name=name, max_wait_ms=0), BYTES, "len ==", leaves)


def shrunk(topic: Any, below: int, name: str = "cleaned") -> Until:
    """Wait until it finds fewer, where a codec decides how many."""
    return Until(fetch(topic, name=name, max_wait_ms=0), BYTES, "len <=", below - 1)


def closing(at=LAST):
    """The batch that ends the segment before it and stays in the active one."""
    return keyed(END, THREE, at=at)


def describe_log_dirs(topic: Any, *partitions: int, version: int, name: str = "dirs") -> Ask:
    """DescribeLogDirs of some partitions of one topic; of partition 0 when none is named."""
    topics = [{"topic": topic, "partitions": list(partitions or (0,))}]
    return Ask("DescribeLogDirs", version, {"topics": topics}, name=name)


def size_is(topic: Any, size: int, *, version: int, name: str = "size") -> Until:
    """Wait until partition 0 has this many bytes."""
    return Until(describe_log_dirs(topic, version=version, name=name), SIZES, "each ==", size)
