"""Control records: what a transaction coordinator or a KRaft leader writes between data.

The key is version and type; the value belongs to the type. A control batch holds one such record,
has the control bit set, and is never shown to applications. Sources: ControlRecordType and
EndTransactionMarker at 1.0.2..3.9, KIP-98; KIP-595 and KIP-853 for the KRaft types.
"""

from struct import Struct
from typing import NamedTuple

from . import batch
from .errors import RecordError

ABORT, COMMIT = 0, 1
NAMES = {
    0: "ABORT",
    1: "COMMIT",
    2: "LEADER_CHANGE",
    3: "SNAPSHOT_HEADER",
    4: "SNAPSHOT_FOOTER",
    5: "KRAFT_VERSION",
    6: "KRAFT_VOTERS",
}
_KEY = Struct(">hh")
_END_OF_TRANSACTION = Struct(">hi")


class ControlKey(NamedTuple):
    version: int
    type: int

    @property
    def name(self) -> str:
        return NAMES.get(self.type, "UNKNOWN")


def read_key(key: bytes | None) -> ControlKey:
    """Version and type of a control record; longer keys of later versions are read as they are."""
    if key is None or len(key) < _KEY.size:
        raise RecordError(0, f"Invalid value size found for end control record key: {key!r}")
    found = ControlKey._make(_KEY.unpack_from(key))
    if found.version < 0:
        raise RecordError(0, f"Invalid version found for control record: {found.version}")
    return found


def write_key(type_: int, version: int = 0) -> bytes:
    return _KEY.pack(version, type_)


def read_marker(value: bytes) -> tuple[int, int]:
    """Version and coordinator epoch of an ABORT or COMMIT marker."""
    if len(value) < _END_OF_TRANSACTION.size:
        raise RecordError(0, f"Invalid value size found for end transaction marker: {len(value)}")
    return _END_OF_TRANSACTION.unpack_from(value)


def marker_batch(
    type_: int,
    *,
    producer_id: int,
    producer_epoch: int,
    coordinator_epoch: int,
    timestamp: int,
    base_offset: int = 0,
    partition_leader_epoch: int = -1,
) -> bytes:
    """The batch that ends a transaction in one partition."""
    value = _END_OF_TRANSACTION.pack(0, coordinator_epoch)
    return batch.encode_batch(
        [batch.Record(0, 0, write_key(type_), value)],
        base_timestamp=timestamp,
        base_offset=base_offset,
        partition_leader_epoch=partition_leader_epoch,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        transactional=True,
        control=True,
    )
