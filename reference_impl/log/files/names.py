"""How files and folders of a log directory are called (LOG-11, LOG-21, LOG-22).

A segment's files share its base offset in twenty digits; a suffix after the kind marks a file that
is on its way out or in. A partition's folder is `topic-partition`, and one that is being deleted
or moved carries a unique part and a mark.

Sources: kafka.log.Log and LocalLog/LogFileUtils at 1.0.2, 2.8.2 and 4.3.1 (names observed on disk).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

LOG, INDEX, TIME_INDEX, TXN_INDEX = "log", "index", "timeindex", "txnindex"
SNAPSHOT = "snapshot"  # of the producers, at the offset in its name
KINDS = (LOG, INDEX, TIME_INDEX, TXN_INDEX, SNAPSHOT)
DELETED, CLEANED, SWAP = "deleted", "cleaned", "swap"  # LOG-09: first two go, the third is finished
DELETE_MARK, FUTURE_MARK, STRAY_MARK = "-delete", "-future", "-stray"

LEADER_EPOCHS = "leader-epoch-checkpoint"
PARTITION_METADATA = "partition.metadata"
META_PROPERTIES = "meta.properties"
RECOVERY_POINTS = "recovery-point-offset-checkpoint"
HIGH_WATERMARKS = "replication-offset-checkpoint"
LOG_STARTS = "log-start-offset-checkpoint"
CLEANER_OFFSETS = "cleaner-offset-checkpoint"
CLEAN_SHUTDOWN = ".kafka_cleanshutdown"
LOCK = ".lock"

_FILE = re.compile(rf"(\d{{20}})\.({'|'.join(KINDS)})(?:\.({DELETED}|{CLEANED}|{SWAP}))?")
_FOLDER = re.compile(r"(.+)-(\d+)")
_MARKED = re.compile(r"(.+)-(\d+)\.([0-9a-f]{32})(-delete|-future)")
_LONGEST = 255  # what file systems allow in one name


@dataclass(frozen=True, slots=True)
class SegmentFile:
    base_offset: int
    kind: str
    mark: str | None = None  # deleted, cleaned or swap

    def __str__(self) -> str:
        return name_of(self.base_offset, self.kind) + (f".{self.mark}" if self.mark else "")


@dataclass(frozen=True, slots=True)
class PartitionFolder:
    topic: str
    partition: int
    unique: str | None = None  # 32 hex digits where the folder is marked
    mark: str | None = None

    def __str__(self) -> str:
        if self.mark is None:
            return f"{self.topic}-{self.partition}"
        tail = f"-{self.partition}.{self.unique}{self.mark}"
        return self.topic[: _LONGEST - len(tail)] + tail


def name_of(base_offset: int, kind: str) -> str:
    return f"{base_offset:020d}.{kind}"


def parse_file(name: str) -> SegmentFile | None:
    """What a file in a partition's folder is; None for one that is no segment's."""
    match = _FILE.fullmatch(name)
    return SegmentFile(int(match[1]), match[2], match[3]) if match else None


def parse_folder(name: str) -> PartitionFolder | None:
    """Whose folder it is; None for a name that no partition has."""
    marked = _MARKED.fullmatch(name)
    if marked:
        return PartitionFolder(marked[1], int(marked[2]), marked[3], marked[4])
    match = _FOLDER.fullmatch(name)
    return PartitionFolder(match[1], int(match[2])) if match else None
