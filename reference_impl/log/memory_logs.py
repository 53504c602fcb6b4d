"""Makes the logs of a broker's replicas, in memory, and forgets them with their partition.

`broker.replicas` asks (its `Logs` is the contract); a store on disk takes its place. A log outlives
the broker that wrote it, as a disk would, until `remove`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from reference_impl.log.partition_log import PartitionLog
from reference_impl.log.rules import LogConfig, Rules


class MemoryLogs:
    def __init__(
        self,
        config_of: Callable[[str], LogConfig],
        *,
        rules: Rules | None = None,
        switches: frozenset[str] = frozenset(),
    ) -> None:
        self._config_of = config_of
        self._rules = rules or Rules()
        self._switches = switches
        self._logs: dict[tuple[str, int], PartitionLog] = {}

    def open(self, state: Any, now: int) -> PartitionLog:
        """The log of `state.topic` and `state.index` (`cluster.replica.LeaderState`)."""
        key = state.topic, state.index
        log = self._logs.get(key)
        if log is None or state.is_new:
            log = self._logs[key] = PartitionLog(
                *key,
                partial(self._config_of, state.topic),
                rules=self._rules,
                switches=self._switches,
                now=now,
            )
        return log

    def remove(self, topic: str, index: int, now: int) -> None:
        self._logs.pop((topic, index), None)
