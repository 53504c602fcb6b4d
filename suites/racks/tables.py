"""Replica assignments as expectations: which brokers hold each partition, in whatever order.

ZooKeeper releases list partitions in the order of a hash map, so an expectation looks for the whole
entry of a partition in Metadata version 4 and not for its position.
"""

from collections.abc import Mapping, Sequence

from touchstone.harness.model.expect import Expectation, all_of, answer


def entry(partition: int, row: Sequence[int]) -> dict[str, object]:
    """A partition that nothing has happened to yet: its first replica leads, all are in sync."""
    return {
        "error_code": 0,
        "partition_index": partition,
        "leader_id": row[0],
        "replica_nodes": list(row),
        "isr_nodes": list(row),
    }


def placed(step: str, table: Mapping[int, Sequence[int]]) -> Expectation:
    """The step, a Metadata 4 of one topic, shows these rows."""
    found = answer(step, "topics[0].partitions")
    return all_of(*(found.contains(entry(partition, row)) for partition, row in table.items()))
