"""Where releases differ in what they keep on disk, and in what they say of it: one row each.

A row is the sentence, the value per release in the order of `RELEASES`, and where it was seen.
`quirks.py` has that order and the names, each persona takes its column.
"""

from __future__ import annotations

from typing import Any

from touchstone.reference_impl.wire.errors import ErrorCode as E

_SEEN = "observed on 1.0.2, 2.2.1, 2.8.2, 3.9.2, 4.3.1"
_ON_DISK = "log directories of 1.0.2, 2.2.1, 2.8.2, 3.9.2, 4.3.1"

ROWS: dict[str, tuple[str, tuple[Any, Any, Any, Any, Any], str]] = {
    "log-dirs.meta-version": (
        "The version of meta.properties: 0 names a broker.id, 1 a node.id.",
        (0, 0, 0, 1, 1),
        _ON_DISK,
    ),
    "log-dirs.name-their-cluster": (
        "meta.properties names the cluster.",
        (False, False, True, True, True),
        _ON_DISK,
    ),
    "log-dirs.have-ids": (
        "meta.properties gives the directory an id of its own (KIP-858).",
        (False, False, False, True, True),
        _ON_DISK,
    ),
    "log-dirs.folders-name-topics": (
        "A partition's folder holds partition.metadata with the topic's id (KIP-516).",
        (False, False, False, True, True),
        _ON_DISK,
    ),
    "log-dirs.indexes-name-first-offsets": (
        "An entry of an offset index names the first offset of its batch, not the last.",
        (True, False, False, False, False),
        "LogSegment.append and recover at 1.0.2, 2.2.1, 2.8.2; DumpLogSegments of 1.0.2 and 4.3.1",
    ),
    "log-dirs.clean-end-names-the-epoch": (
        "The marker of a clean end says with which broker epoch (KIP-966); before it is empty.",
        (False, False, False, True, True),
        _ON_DISK,
    ),
    "log-dirs.every-topic-is-named": (
        "DescribeLogDirs names every topic of a directory, also those that were not asked for, "
        "without partitions.",
        (False, False, True, False, False),
        _SEEN,
    ),
    "log-dirs.replica-elsewhere": (
        "The code of AlterReplicaLogDirs for a partition that this broker has no replica of.",
        (E.REPLICA_NOT_AVAILABLE, *[E.UNKNOWN_TOPIC_OR_PARTITION] * 4),
        _SEEN,
    ),
}
