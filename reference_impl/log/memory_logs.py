"""Makes the logs of new partitions, in memory, and forgets them with their topic.

The cluster's registry calls this (`cluster.topology.Logs`); a store on disk takes its place.
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
        gone: Callable[[str, int], None] = lambda topic, partition: None,
    ) -> None:
        self._config_of = config_of
        self._rules = rules or Rules()
        self._switches = switches
        self._gone = gone  # told of each partition that is no more, for those who wait for it

    def open(self, topic: Any, partition: Any) -> PartitionLog:
        """An empty log for a partition whose leader leads in its epoch already."""
        log = PartitionLog(
            topic.name,
            partition.index,
            partial(self._config_of, topic.name),
            rules=self._rules,
            switches=self._switches,
        )
        log.become_leader(partition.leader_epoch)
        return log

    def remove(self, topic: Any) -> None:
        """Nothing outlives the partitions' own references; readers that wait are told."""
        for partition in topic.partitions:
            self._gone(topic.name, partition.index)
