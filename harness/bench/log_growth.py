"""How a log's cost grows: with its size, with the number of partitions, in memory and on disk.

No sockets and no client: appends and reads of one broker's logs, as its handlers call them, so that
the store alone is compared. Costs are processor time per call, which other load on the machine
does not change; opening is wall time, cleanly closed and as a kill leaves it.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from touchstone.harness.bench.contest import DISK, MEMORY, Figure, Options
from touchstone.reference_impl.cluster.replica import LeaderState
from touchstone.reference_impl.io.log_dirs import LogDirs
from touchstone.reference_impl.log.memory_logs import MemoryLogs
from touchstone.reference_impl.log.partition_log import LOG_END, PartitionLog
from touchstone.reference_impl.log.topic_config import TopicConfig
from touchstone.reference_impl.wire.records import NONE, build

PARTITIONS = (10, 100, 1_000)
SIZES_MB = (16, 128, 512)
APPENDS, READS, BATCH = 20_000, 5_000, 16_384
NOW = 1_700_000_000_000
CONFIG = TopicConfig(segment_bytes=64 << 20)
RECORDS = build(2, [b"x" * 100] * (BATCH // 110), NONE, timestamp=NOW)


def run(options: Options) -> Iterator[Figure]:
    for store in options.stores:
        for count in PARTITIONS:
            yield from _by_partitions(options, store, count)
        for size in SIZES_MB:
            yield from _by_size(options, store, size)


def _state(index: int) -> LeaderState:
    return LeaderState("grown", index, bytes(range(16)), 0, 0, 0, (0,), (0,), is_new=True)


def _logs(store: str, folder: Path) -> MemoryLogs | LogDirs:
    if store == MEMORY:
        return MemoryLogs(lambda topic: CONFIG)
    dirs = LogDirs([folder], lambda topic: CONFIG)
    dirs.load(NOW)
    return dirs


def _cost(calls: int, act: Callable[[int], object]) -> float:
    """Microseconds of processor time of each call."""
    began = time.process_time()
    for number in range(calls):
        act(number)
    return (time.process_time() - began) / calls * 1e6


def _append(log: PartitionLog) -> None:
    log.append(RECORDS, now=NOW)


def _read(log: PartitionLog, offset: Callable[[], int], _: int) -> None:
    log.read(offset(), BATCH, isolation=LOG_END)


def _by_partitions(options: Options, store: str, count: int) -> Iterator[Figure]:
    with tempfile.TemporaryDirectory(prefix="touchstone-bench-") as folder:
        logs = _logs(store, Path(folder))
        opened = time.perf_counter()
        each = [logs.open(_state(index), NOW) for index in range(count)]
        opened = time.perf_counter() - opened
        cost = _cost(APPENDS, lambda n: _append(each[n % count]))
        options.say(f"{store}, {count} partitions: {cost:.1f} us an append of {len(RECORDS)} bytes")
        yield _figure(f"append, {count} partitions, {store}", round(cost, 1), "us")
        yield _figure(f"make a partition, {count}, {store}", round(opened / count * 1e6), "us")
        if isinstance(logs, LogDirs):
            logs.release()


def _by_size(options: Options, store: str, size_mb: int) -> Iterator[Figure]:
    chance = random.Random(1)
    with tempfile.TemporaryDirectory(prefix="touchstone-bench-") as folder:
        logs = _logs(store, Path(folder))
        log = logs.open(_state(0), NOW)
        for _ in range((size_mb << 20) // len(RECORDS)):
            _append(log)
        end = log.log_end_offset
        offsets: dict[str, Callable[[], int]] = {
            "read anywhere": lambda: chance.randrange(end),
            "read at the end": lambda: end - 1,
        }
        for what, offset in offsets.items():
            cost = _cost(READS, partial(_read, log, offset))
            yield _figure(f"{what}, {size_mb} MB, {store}", round(cost, 1), "us")
        options.say(f"{store}, {size_mb} MB: {cost:.1f} us a read at the end")
        if store == DISK and isinstance(logs, LogDirs):
            yield from _openings(logs, Path(folder), size_mb)


def _openings(logs: LogDirs, folder: Path, size_mb: int) -> Iterator[Figure]:
    logs.release()
    for what, clean in (("a kill", False), ("a clean end", True)):
        began = time.perf_counter()
        again = _logs(DISK, folder)
        seconds = time.perf_counter() - began
        yield _figure(f"open after {what}, {size_mb} MB", round(seconds * 1000, 1), "ms")
        if clean:
            assert isinstance(again, LogDirs)
            again.release()
        elif isinstance(again, LogDirs):
            again.close(NOW)


def _figure(what: str, cost: float, unit: str) -> Figure:
    return Figure("log-growth", what, cost, unit, more_is_better=False)
