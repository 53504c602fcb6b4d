"""How large a log is, by DescribeLogDirs.

Sources: KIP-113; schema DescribeLogDirs.
"""

from typing import Any

from touchstone.harness.model.scenario import Ask, Until

# 2.8 shows every topic of the broker, those nobody asked for without partitions: hence the stars.
SIZES = "results[*].topics[*].partitions[*].partition_size"


def describe_log_dirs(topic: Any, *partitions: int, version: int, name: str = "dirs") -> Ask:
    """DescribeLogDirs of some partitions of one topic; of partition 0 when none is named."""
    topics = [{"topic": topic, "partitions": list(partitions or (0,))}]
    return Ask("DescribeLogDirs", version, {"topics": topics}, name=name)


def size_is(topic: Any, size: int, *, version: int, name: str = "size") -> Until:
    """Wait until partition 0 has this many bytes."""
    return Until(describe_log_dirs(topic, version=version, name=name), SIZES, "each ==", size)
