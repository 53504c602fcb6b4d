"""Reads `__cluster_metadata-0`, the metadata log of a KRaft node, without changing a byte of it.

The newest snapshot is read first and the log from its end on, as Kafka does. What cannot be read
is refused as a whole: a topic whose settings nobody knows must not be served as if they were the
defaults, and no reader without its ACLs.

Sources: KafkaRaftClient, Snapshots, FileRawSnapshotReader at 3.9.2 and 4.3.1; KIP-595, KIP-630.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from touchstone.reference_impl.cluster.quorum_image import QuorumImage
from touchstone.reference_impl.cluster.topology import METADATA_TOPIC
from touchstone.reference_impl.io.log_dir_error import LogDirError
from touchstone.reference_impl.log.files import names, scan
from touchstone.reference_impl.wire.codec import DecodeError
from touchstone.reference_impl.wire.embedded.cluster_metadata import decode_record
from touchstone.reference_impl.wire.records import RecordError, decode_batch

FOLDER = f"{METADATA_TOPIC}-0"
_SNAPSHOT = re.compile(r"(\d{20})-(\d{10})\.checkpoint")


@dataclass(slots=True)
class QuorumLog:
    """What the log of one node says, and where it ends."""

    image: QuorumImage = field(default_factory=QuorumImage)
    end: int = 0  # offset behind its last record
    epoch: int = 0  # of the quorum's leader that wrote the last one


def read_quorum_log(root: Path) -> QuorumLog | None:
    """All of it; None where this log directory has none, LogDirError where it cannot be read."""
    folder = root / FOLDER
    if not folder.is_dir():
        return None
    found = QuorumLog()
    for path, since, last in _files(folder):
        data = path.read_bytes()
        scanner = scan.Scanner(data, since)
        try:
            _apply(found, scanner, data, path.name)
        except (DecodeError, RecordError, KeyError, TypeError) as fault:
            raise LogDirError(f"{path}: {fault}: what is in {root} cannot be known") from None
        if scanner.fault and not last:
            raise LogDirError(f"{path}: {scanner.fault}: what is in {root} cannot be known")
    return found


def _files(folder: Path) -> Iterator[tuple[Path, int, bool]]:
    """The newest snapshot, then the log's segments: path, first offset, whether it may be torn."""
    snapshots = sorted(path for path in folder.iterdir() if _SNAPSHOT.fullmatch(path.name))
    since = 0
    if snapshots:
        since = int(snapshots[-1].name[:20])
        yield snapshots[-1], -1, False
    bases = sorted(int(path.stem) for path in folder.glob(f"{'[0-9]' * 20}.{names.LOG}"))
    if bases and bases[0] > since:
        raise LogDirError(f"{folder}: begins at offset {bases[0]}, and no snapshot leads there")
    for at, base in enumerate(bases):
        if at + 1 == len(bases) or bases[at + 1] > since:
            yield folder / names.name_of(base, names.LOG), base, at + 1 == len(bases)


def _apply(found: QuorumLog, scanner: scan.Scanner, data: bytes, name: str) -> None:
    """Take the records of a file, of a log's segment those from `found.end` on."""
    snapshot = _SNAPSHOT.fullmatch(name)
    for stored in scanner:
        if stored.header is None:
            raise RecordError(stored.position, "no record batch")
        if not snapshot and stored.last_offset < found.end:
            continue
        if not stored.header.control:
            batch = decode_batch(data[stored.position : stored.position + stored.size])
            for record in batch.records:
                decoded = decode_record(record.value or b"")
                if decoded is not None:
                    found.image.apply(*decoded)
        if not snapshot:
            found.end, found.epoch = stored.last_offset + 1, stored.header.partition_leader_epoch
    if snapshot:
        found.end, found.epoch = int(snapshot[1]), int(snapshot[2])
