"""Replica tables as expectations: which brokers hold each partition, whatever order they come in.

ZooKeeper's releases list partitions in the order of a hash map, so a row is looked for by its
whole entry in Metadata 4 and not by its place.
"""

from collections.abc import Mapping, Sequence

from touchstone.harness.expect import Expectation, all_of, answer


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
