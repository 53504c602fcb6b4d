"""From a fetched partition to what the application sees.

Drops what lies before the position (brokers answer with whole batches, FETCH-15), control batches,
and under read_committed the records of transactions that the answer lists as aborted: from the
listed first offset until that producer's ABORT marker.
"""

from typing import NamedTuple

from touchstone.reference_impl.wire import records as wire_records
from touchstone.reference_impl.wire.records import Flat, RecordError, control
from touchstone.reference_impl.wire.records.batch import Header
from touchstone.reference_impl.wire.schema import Struct


class Consumed(NamedTuple):
    topic: str
    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...]
    leader_epoch: int = -1


class Fetched(NamedTuple):
    """Records to hand out and the position after them, past everything that was skipped too;
    `leader_epoch` is that of the last batch, -1 where there is none.
    """

    records: list[Consumed]
    position: int
    leader_epoch: int = -1


def read_partition(
    topic: str,
    part: Struct,
    position: int,
    *,
    committed_only: bool = False,
    check_crc: bool = True,
) -> Fetched:
    """The records from `position` on, up to the first batch that is not what it says.

    RecordError where that is the first there is; the position then stays where it was.
    """
    data = part.get("records") or b""
    index = part["partition_index"]
    pending = sorted(
        (row["first_offset"], row["producer_id"]) for row in part.get("aborted_transactions") or ()
    )
    aborted: set[int] = set()
    out: list[Consumed] = []
    whole, epoch, start = False, -1, position
    try:
        for pos, size, magic in wire_records.entries(data):
            whole = True
            if check_crc:
                wire_records.check_crc(data, pos, size, magic)
            rows = wire_records.records_of(data, pos, magic)
            epoch, last = -1, rows[-1].offset if rows else position - 1
            if magic == 2:
                header = wire_records.read_header(data, pos)
                epoch, last = header.partition_leader_epoch, header.last_offset
                if committed_only and header.producer_id >= 0:
                    while pending and pending[0][0] <= last:
                        aborted.add(pending.pop(0)[1])
                    if header.control:
                        if rows and control.read_key(rows[0].key).type == control.ABORT:
                            aborted.discard(header.producer_id)
                    elif header.transactional and header.producer_id in aborted:
                        rows = []
                if header.control:
                    rows = []
            out += [_shown(topic, index, row, epoch) for row in rows if row.offset >= position]
            position = max(position, last + 1)
    except RecordError:
        if position == start:
            raise  # else what is good comes first, and the next fetch begins here (CONS-26)
    if data and not whole:
        raise RecordError(0, f"{len(data)} bytes without one whole batch at offset {position}")
    return Fetched(out, position, epoch)


def _shown(topic: str, partition: int, row: Flat, epoch: int) -> Consumed:
    return Consumed(
        topic, partition, row.offset, row.timestamp, row.key, row.value, row.headers, epoch
    )
