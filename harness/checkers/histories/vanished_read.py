"""What somebody has read stays where it was.

A consumer is given only what lies below the high watermark (under read_committed, the last stable
offset), which is on every in-sync replica. So a record that was handed out once must be met by
everybody who later reads the partition from an earlier offset to its end, whatever acks its
producer asked for, unless compaction may have removed it. A broker that moves its high watermark
too early breaks this.
"""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.harness.checkers.histories.anomaly import Anomaly
from touchstone.harness.checkers.histories.history_index import Drain, HistoryIndex, Partition


def check(seen: HistoryIndex) -> Iterator[Anomaly]:
    for partition in seen.partitions.values():
        for drain in partition.drains:
            yield from _missed(seen, partition, drain)


def _missed(seen: HistoryIndex, partition: Partition, drain: Drain) -> Iterator[Anomaly]:
    reads = partition.committed_reads if drain.committed else partition.reads
    for offset, values in reads.items():
        if offset < drain.start:
            continue
        for value, poll in values.items():
            if not poll.before(drain.operation) or value in drain.values:
                continue
            where = f"the partition ends at {drain.end}" if offset >= drain.end else "it is gone"
            text = f"{value} was read at offset {offset}; later {where}"
            excuse = seen.compaction_of(value, drain.operation)
            yield Anomaly(partition.name, text, (poll, drain.operation), excuse)
