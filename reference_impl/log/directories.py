"""What a broker says of its log directories (KIP-113): the value behind DescribeLogDirs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from touchstone.reference_impl.log.partition_log import PartitionLog

TopicPartition = tuple[str, int]


class Directory(NamedTuple):
    path: str
    logs: Mapping[TopicPartition, PartitionLog]
    total_bytes: int = -1  # of the volume it lies on (KIP-827); -1 where nobody knows
    usable_bytes: int = -1
    offline: bool = False  # it failed; its logs cannot be used
