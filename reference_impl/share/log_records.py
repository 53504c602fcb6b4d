"""States of share partitions as records of `__share_group_state`, and back.

A snapshot says all of one share partition, an update what a write changed; a snapshot's key without
a value forgets it. All that is before the oldest snapshot that still counts may be deleted.

Sources: ShareCoordinatorRecordHelpers, ShareGroupOffset@4.3.1; KIP-932.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from touchstone.reference_impl.share.coordinator import SharePartitionKey, ShareState, Write
from touchstone.reference_impl.share.state_batches import StateBatch
from touchstone.reference_impl.wire import embedded
from touchstone.reference_impl.wire.embedded.share_state import RECORDS
from touchstone.reference_impl.wire.records import batch, convert, entries
from touchstone.reference_impl.wire.schema import Struct

_SNAPSHOT, _UPDATE, _VERSION = 0, 1, 0


def batch_of(writes: Iterable[Write], now: int) -> bytes:
    pairs = [_pair(write) for write in writes]
    records = [batch.Record(at, 0, key, value) for at, (key, value) in enumerate(pairs)]
    return batch.encode_batch(records, base_timestamp=now)


def read(records: bytes) -> Iterator[tuple[int, Write]]:
    """(offset after it, what it says) of each record."""
    for position, _, magic in entries(records):
        for record in convert.records_of(records, position, magic):
            kind, row = embedded.decode_key(RECORDS, record.key or b"")
            key = row["group_id"], bytes(row["topic_id"]), row["partition"]
            kept = None
            if record.value is not None:
                kept = _kept(embedded.decode_value(RECORDS, kind, record.value)[1])
            yield record.offset + 1, Write(key, kept, kind == _SNAPSHOT)


def rows_of(batches: Iterable[StateBatch]) -> list[dict[str, int]]:
    return [
        {
            "first_offset": each.first,
            "last_offset": each.last,
            "delivery_state": each.state,
            "delivery_count": each.count,
        }
        for each in batches
    ]


def batches_of(rows: Iterable[dict[str, int]]) -> tuple[StateBatch, ...]:
    return tuple(
        StateBatch(
            row["first_offset"], row["last_offset"], row["delivery_count"], row["delivery_state"]
        )
        for row in rows
    )


def _pair(write: Write) -> tuple[bytes, bytes | None]:
    group, topic_id, index = write.key
    kind = _SNAPSHOT if write.whole else _UPDATE
    key = {"group_id": group, "topic_id": topic_id, "partition": index}
    encoded = embedded.encode_key(RECORDS, kind, key)
    if write.kept is None:
        return encoded, None
    return encoded, embedded.encode_value(RECORDS, kind, _VERSION, _body(write.kept, write.whole))


def _body(kept: ShareState, whole: bool) -> Struct:
    body = {
        "snapshot_epoch": kept.snapshot_epoch,
        "leader_epoch": kept.leader_epoch,
        "start_offset": kept.start,
        "delivery_complete_count": kept.done,
        "state_batches": rows_of(kept.batches),
    }
    if whole:
        body |= {
            "state_epoch": kept.state_epoch,
            "create_timestamp": kept.created,
            "write_timestamp": kept.written,
        }
    return body


def _kept(value: Struct) -> ShareState:
    return ShareState(
        value["snapshot_epoch"],
        value.get("state_epoch", 0),
        value["leader_epoch"],
        value["start_offset"],
        value.get("delivery_complete_count", -1),
        batches_of(value["state_batches"]),
        value.get("create_timestamp", 0),
        value.get("write_timestamp", 0),
    )


__all__ = ["SharePartitionKey", "batch_of", "batches_of", "read", "rows_of"]
