"""Makes the logs of a broker's replicas, in memory, and forgets them with their partition.

`broker.replicas` asks (its `Logs` is the contract); a store on disk takes its place. A log outlives
the broker that wrote it, as a disk would, until `remove`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Protocol

from touchstone.reference_impl.log.directories import Directory
from touchstone.reference_impl.log.partition_log import PartitionLog
from touchstone.reference_impl.log.rules import Rules
from touchstone.reference_impl.log.topic_config import TopicConfig

DEFAULT_PATH = "/tmp/kafka-logs"  # log.dir where nobody sets one
DISK = 1 << 40  # bytes of a volume that is none: clients want a number there (KIP-827)


def log_paths(config: Mapping[str, str]) -> list[str]:
    """What `log.dirs`, or else `log.dir`, names."""
    listed = config.get("log.dirs") or config.get("log.dir") or DEFAULT_PATH
    return [path.strip() for path in listed.split(",") if path.strip()]


class OpenedPartition(Protocol):
    """Which partition a controller wants opened (`cluster.replica.LeaderState`)."""

    @property
    def topic(self) -> str: ...

    @property
    def index(self) -> int: ...

    @property
    def is_new(self) -> bool: ...


class MemoryLogs:
    def __init__(
        self,
        config_of: Callable[[str], TopicConfig],
        *,
        rules: Rules | None = None,
        paths: Sequence[str] = (DEFAULT_PATH,),
    ) -> None:
        """`paths` are the log directories it tells of, though nothing is written there."""
        self._config_of = config_of
        self._rules = rules or Rules()
        self._logs: dict[tuple[str, int], PartitionLog] = {}
        self._homes: dict[str, dict[tuple[str, int], PartitionLog]] = {path: {} for path in paths}

    def open(self, state: OpenedPartition, now: int) -> PartitionLog:
        """The partition's log, an empty one where the partition is new."""
        key = state.topic, state.index
        log = self._logs.get(key)
        if log is None or state.is_new:
            self.remove(*key, now)
            log = self._logs[key] = PartitionLog(
                *key,
                partial(self._config_of, state.topic),
                rules=self._rules,
                now=now,
            )
            home = min(self._homes.values(), key=len)  # LOG-01
            home[key] = log
        return log

    def remove(self, topic: str, index: int, now: int) -> None:
        self._logs.pop((topic, index), None)
        for home in self._homes.values():
            home.pop((topic, index), None)

    def offline(self, topic: str, index: int) -> bool:
        """Memory does not fail."""
        return False

    def directories(self) -> list[Directory]:
        """Each on a volume of its own, as large as DISK says and as full as its logs are."""
        return [
            Directory(path, home, DISK, DISK - sum(log.size for log in home.values()))
            for path, home in self._homes.items()
        ]

    def move(self, topic: str, index: int, path: str, now: int) -> None:
        log = self._logs[topic, index]
        for home in self._homes.values():
            home.pop((topic, index), None)
        self._homes[path][topic, index] = log
