"""Record bytes as a list of dictionaries, so that a difference inside them has a path.

One dictionary per batch (magic 2) or message (magic 0 and 1) with every field of its header and
its records as a consumer is shown them. Nothing is judged here: a wrong CRC is shown beside the
right one, a payload that does not decode is shown with the reason, and bytes left at the end (Fetch
may cut its last batch) are counted.
"""

from __future__ import annotations

from touchstone.reference_impl.wire.records import batch, message_set
from touchstone.reference_impl.wire.records.convert import Flat, records_of
from touchstone.reference_impl.wire.records.crc import crc32, crc32c
from touchstone.reference_impl.wire.records.errors import RecordError
from touchstone.reference_impl.wire.records.walk import entries
from touchstone.reference_impl.wire.schema import Struct

LIMIT = 64 << 20  # what a compressed payload may grow to


def view(data: bytes | None) -> list[Struct] | None:
    """Every entry of the bytes, in order; the last one may be {"partial": n} or {"fault": why}."""
    if data is None:
        return None
    found: list[Struct] = []
    end = 0
    try:
        for position, size, magic in entries(data):
            found.append(_entry(data, position, size, magic))
            end = position + size
    except RecordError as error:
        return [*found, {"fault": str(error)}]
    if end < len(data):
        found.append({"partial": len(data) - end})
    return found


def _entry(data: bytes, position: int, size: int, magic: int) -> Struct:
    try:
        head = _batch(data, position, size) if magic == 2 else _message(data, position, size)
    except RecordError as error:
        return {"magic": magic, "size": size, "fault": str(error)}
    try:
        records = records_of(data, position, magic, LIMIT)
        attributes = _attributes(data, position, magic)
    except RecordError as error:
        return head | {"records": [], "fault": str(error)}
    return head | {"records": list(map(_record, records, attributes))}


def _batch(data: bytes, position: int, size: int) -> Struct:
    header = batch.read_header(data, position)
    covered = memoryview(data)[position + batch.ATTRIBUTES_AT : position + size]
    return header._asdict() | {"crc_computed": crc32c(covered)}


def _message(data: bytes, position: int, size: int) -> Struct:
    message, _ = message_set.decode_message(data, position, strict=False)
    covered = memoryview(data)[position + message_set.MAGIC_AT : position + size]
    return {
        "offset": message.offset,
        "magic": message.magic,
        "size": size,
        "attributes": message.attributes,
        "timestamp": message.timestamp,
        "crc": message.crc,
        "crc_computed": crc32(covered),
    }


def _attributes(data: bytes, position: int, magic: int) -> list[int]:
    """The attributes of each record, which no consumer is shown."""
    if magic == 2:
        found = batch.decode_batch(data, position, strict=False, limit=LIMIT)
        return [record.attributes for record in found.records]
    message, _ = message_set.decode_message(data, position, strict=False)
    return [one.attributes for one in message_set.unwrap(message, limit=LIMIT)]


def _record(record: Flat, attributes: int) -> Struct:
    headers = [list(header) for header in record.headers]
    return record._asdict() | {"headers": headers, "attributes": attributes}
