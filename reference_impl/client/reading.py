"""From a fetched partition to what the application sees.

Drops what lies before the position (brokers answer with whole batches, FETCH-15), control batches,
and under read_committed the records of transactions that the answer lists as aborted: from the
listed first offset until that producer's ABORT marker.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import repeat
from typing import Any, NamedTuple

from touchstone.reference_impl.wire import records as wire_records
from touchstone.reference_impl.wire.records import BatchHeader, RecordError, batch, control
from touchstone.reference_impl.wire.records.batch import Header
from touchstone.reference_impl.wire.records.unpack import Columns, batch_columns
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


_consumed = partial(tuple.__new__, Consumed)  # in C what a NamedTuple's own __new__ does in Python


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
    aborted = _Aborted(part.get("aborted_transactions") or (), committed_only)
    out: list[Consumed] = []
    whole, epoch, start = False, -1, position
    columns: Sequence[Iterable[Any]]
    try:
        for pos, size, magic in wire_records.entries(data):
            whole = True
            if magic == 2:
                header = wire_records.read_header(data, pos)
                if check_crc:
                    batch.check_crc(data, pos, header)
                found = batch_columns(data, pos, header)
                epoch, last = header.partition_leader_epoch, header.last_offset
                columns = () if aborted.hides(header, found) else found
            else:
                if check_crc:
                    wire_records.check_crc(data, pos, size, magic)
                rows = wire_records.records_of(data, pos, magic)
                columns = tuple(zip(*rows, strict=True))
                epoch, last = -1, rows[-1].offset if rows else position - 1
            if columns:
                shown = _shown(topic, index, columns, epoch)
                if shown and shown[0].offset < position:
                    shown = [each for each in shown if each.offset >= position]
                out += shown
            position = max(position, last + 1)
    except RecordError:
        if position == start:
            raise  # else what is good comes first, and the next fetch begins here (CONS-26)
    if data and not whole:
        raise RecordError(0, f"{len(data)} bytes without one whole batch at offset {position}")
    return Fetched(out, position, epoch)


class _Aborted:
    """Which batches nobody is shown: control batches, and what was aborted from a committed reader.

    It is asked about each batch of the answer in turn.
    """

    def __init__(self, rows: Iterable[Struct], committed_only: bool):
        self._pending = sorted((row["first_offset"], row["producer_id"]) for row in rows)
        self._committed_only = committed_only
        self._producers: set[int] = set()

    def hides(self, header: BatchHeader, columns: Columns) -> bool:
        if not self._committed_only or header.producer_id < 0:
            return header.control
        while self._pending and self._pending[0][0] <= header.last_offset:
            self._producers.add(self._pending.pop(0)[1])
        if header.control:
            if columns.keys and control.read_key(columns.keys[0]).type == control.ABORT:
                self._producers.discard(header.producer_id)
            return True
        return header.transactional and header.producer_id in self._producers


def _shown(
    topic: str, partition: int, columns: Sequence[Iterable[Any]], epoch: int
) -> list[Consumed]:
    return [*map(_consumed, zip(repeat(topic), repeat(partition), *columns, repeat(epoch)))]
