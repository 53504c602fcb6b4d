"""Where releases differ in what they keep on disk, and in what they say of it: one row each.

A row is the sentence, the value from each release on that changed it, and where it was seen; how it
is read stands in `releases.py`.
"""

from __future__ import annotations

from touchstone.reference_impl.broker.personas.releases import Rows
from touchstone.reference_impl.wire.errors import ErrorCode as E

_SEEN = "observed on 1.0.2, 2.2.1, 2.8.2, 3.9.2, 4.3.1"
_ON_DISK = "log directories of 1.0.2, 2.2.1, 2.8.2, 3.9.2, 4.3.1"

ROWS: Rows = {
    "log-dirs.meta-version": (
        "The version of meta.properties: 0 names a broker.id, 1 a node.id.",
        {"1.0": 0, "3.9": 1},
        _ON_DISK,
    ),
    "log-dirs.name-their-cluster": (
        "meta.properties names the cluster.",
        {"1.0": False, "2.8": True},
        _ON_DISK,
    ),
    "log-dirs.have-ids": (
        "meta.properties gives the directory an id of its own (KIP-858).",
        {"1.0": False, "3.9": True},
        _ON_DISK,
    ),
    "log-dirs.folders-name-topics": (
        "A partition's folder holds partition.metadata with the topic's id (KIP-516).",
        {"1.0": False, "3.9": True},
        _ON_DISK,
    ),
    "log-dirs.indexes-name-first-offsets": (
        "An entry of an offset index names the first offset of its batch, not the last.",
        {"1.0": True, "2.2": False},
        "LogSegment.append and recover at 1.0.2, 2.2.1, 2.8.2; DumpLogSegments of 1.0.2 and 4.3.1",
    ),
    "log-dirs.clean-end-names-the-epoch": (
        "The marker of a clean end says with which broker epoch (KIP-966); before it is empty.",
        {"1.0": False, "3.9": True},
        _ON_DISK,
    ),
    "log-dirs.every-topic-is-named": (
        "DescribeLogDirs names every topic of a directory, also those that were not asked for, "
        "without partitions.",
        {"1.0": False, "2.8": True, "3.9": False},
        _SEEN,
    ),
    "log-dirs.longest-future-name": (
        "The longest name that AlterReplicaLogDirs takes for the directory of a future replica.",
        {"1.0": 32_767, "2.8": 255},
        "ReplicaManager.alterReplicaLogDirs@2.8.2, UnifiedLog.logFutureDirName@4.3.1 (KAFKA-4893); "
        "observed on all five releases",
    ),
    "log-dirs.replica-elsewhere": (
        "The code of AlterReplicaLogDirs for a partition that this broker has no replica of.",
        {"1.0": E.REPLICA_NOT_AVAILABLE, "2.2": E.UNKNOWN_TOPIC_OR_PARTITION},
        _SEEN,
    ),
}
