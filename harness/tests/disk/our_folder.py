"""A log directory as our broker leaves it, with something of everything, and Kafka's reader for it.

Idempotent and transactional batches, all codecs the oldest release knows, keys, nulls and headers,
several segments with offset, time and transaction indexes, a snapshot at each roll.
"""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

from touchstone.harness.targets import jvm, matrix
from touchstone.harness.targets.java import find_java
from touchstone.harness.targets.maven import kafka_home
from touchstone.reference_impl.cluster.replica import LeaderState
from touchstone.reference_impl.io.log_dirs import LogDirRules, LogDirs
from touchstone.reference_impl.log.partition_log import PartitionLog
from touchstone.reference_impl.log.rules import COORDINATOR, Rules
from touchstone.reference_impl.log.topic_config import TopicConfig
from touchstone.reference_impl.wire.records import (
    GZIP,
    LZ4,
    NONE,
    SNAPPY,
    Record,
    build,
    encode_batch,
)
from touchstone.reference_impl.wire.records.control import ABORT, COMMIT, marker_batch

NOW = 1_700_000_000_000
TOPIC_ID = bytes(range(1, 17))
CODECS = (NONE, GZIP, SNAPPY, LZ4)
MAIN = {"1.0": "kafka.tools.DumpLogSegments", "4.3": "org.apache.kafka.tools.DumpLogSegments"}
COMPLAINTS = (
    "Mismatches", "Found timestamp mismatch", "out of order", "Non-consecutive", "Exception",
    "corrupt", "invalid", "not found",
)  # fmt: skip


def opened(root: Path, release: str) -> LogDirs:
    """The directory as a broker of that release would keep it."""
    config = replace(TopicConfig(), segment_bytes=4000, index_interval_bytes=300)
    oldest = release == "1.0"
    dir_rules = LogDirRules(topic_ids=not oldest, first_offsets=oldest, clean_epoch=not oldest)
    dirs = LogDirs([root], lambda topic: config, rules=Rules(), dir_rules=dir_rules)
    dirs.load(NOW)
    return dirs


def fill(root: Path, release: str, *, close: bool = True) -> tuple[LogDirs, PartitionLog]:
    """A partition `words-0` of 60 batches and 15 ended transactions."""
    dirs = opened(root, release)
    log = dirs.open(LeaderState("words", 0, TOPIC_ID, 0, 0, 0, (0,), (0,), is_new=True), NOW)
    log.become_leader(0)
    for number in range(60):
        _append(log, number)
    if close:
        dirs.close(NOW)
    return dirs, log


def _append(log: PartitionLog, number: int) -> None:
    now, epoch = NOW + number * 10, number // 20
    rows = [{"key": b"k%d" % n, "value": b"v%d-%d" % (number, n), "timestamp": now + n % 3,
             "headers": [("h", b"x"), ("n", None)]} for n in range(1 + number % 4)]  # fmt: skip
    batch = build(
        2, rows, CODECS[number % 4], producer_id=7, producer_epoch=0,
        base_sequence=sum(1 + n % 4 for n in range(number)),
    )  # fmt: skip
    log.append(batch, now=now, leader_epoch=epoch)
    if number % 4 == 0:
        log.append(_in_transaction(number // 4, now), now=now, leader_epoch=epoch)
        kind = ABORT if number % 8 else COMMIT
        marker = marker_batch(
            kind, producer_id=8, producer_epoch=1, coordinator_epoch=3, timestamp=now
        )
        log.append(marker, now=now, leader_epoch=epoch, origin=COORDINATOR)
    log.advance_high_watermark(log.log_end_offset)


def _in_transaction(sequence: int, now: int) -> bytes:
    return encode_batch(
        [Record(0, 0, None, None, [])], base_timestamp=now, producer_id=8, producer_epoch=1,
        base_sequence=sequence, transactional=True,
    )  # fmt: skip


def dump(release: str, folder: Path, scratch: Path, *arguments: str) -> str:
    """What DumpLogSegments of that release says of every file of a partition's folder."""
    wanted = matrix.release(release)
    kinds = ("log", "index", "timeindex", "txnindex", "snapshot")
    files = ",".join(str(path) for kind in kinds for path in sorted(folder.glob(f"*.{kind}")))
    argv = jvm.command(
        find_java(), kafka_home(wanted.version), MAIN[release], "--deep-iteration", "--files",
        files, *arguments, profile="client", logging=jvm.write_logging(wanted, scratch),
    )  # fmt: skip
    said = subprocess.run(
        argv, capture_output=True, text=True, timeout=120, check=False, stdin=subprocess.DEVNULL
    )
    assert said.returncode == 0, said.stdout[-1000:] + said.stderr[-2000:]
    return said.stdout + said.stderr
