"""Record batches, magic 2 (KIP-98, since 0.11; delete horizon KIP-534; the only format since 4.0).

A batch is a 61-byte header and its records, together compressed or not. `decode_batch` keeps all
that a batch says (odd attribute bits, any max timestamp, a raw compressed payload), so that
`Batch.encode()` gives the same bytes back; what could not be given back is an error there, unless
the caller says `strict=False` and reads as leniently as Kafka's own consumers do.

Sources: DefaultRecordBatch and DefaultRecord at 1.0.2, 2.2.1, 2.8.2, 3.9; 4.3.1 observed.
The broker's produce path does not come here: it asks `check.check_records`, which makes no objects.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from struct import Struct
from typing import Any, NamedTuple

from . import compression as codecs
from . import varint
from .crc import crc32c
from .errors import CutRecord, LongLength, LongVarint, PayloadError, RecordError

HEADER = Struct(">qiibIhiqqqhii")
HEADER_SIZE = 61
LOG_OVERHEAD = 12
MAGIC_AT, CRC_AT, ATTRIBUTES_AT, LAST_OFFSET_DELTA_AT = 16, 17, 21, 23
MAX_TIMESTAMP_AT, RECORDS_COUNT_AT = 35, 57

CODEC_MASK, TIMESTAMP_TYPE, TRANSACTIONAL, CONTROL, DELETE_HORIZON = 0x07, 0x08, 0x10, 0x20, 0x40
CREATE_TIME, LOG_APPEND_TIME = 0, 1
NO_TIMESTAMP = -1

# A limit for those who have no better one: no producer may send more than its broker's
# socket.request.max.bytes, 100 MiB by default, and few records compress beyond that.
DEFAULT_LIMIT = 128 << 20

Header = tuple[bytes | str, bytes | None]
_ATTRIBUTES = [bytes((value,)) for value in range(256)]


class Record(NamedTuple):
    """One record as its batch holds it: relative to the batch's base offset and timestamp."""

    offset_delta: int
    timestamp_delta: int
    key: bytes | None
    value: bytes | None
    headers: Sequence[Header] = ()
    attributes: int = 0


class BatchHeader(NamedTuple):
    """The thirteen fields in front of the records, in their order on the wire."""

    base_offset: int
    batch_length: int
    partition_leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    records_count: int

    @property
    def size(self) -> int:
        return self.batch_length + LOG_OVERHEAD

    @property
    def compression(self) -> int:
        return self.attributes & CODEC_MASK

    @property
    def timestamp_type(self) -> int:
        return LOG_APPEND_TIME if self.attributes & TIMESTAMP_TYPE else CREATE_TIME

    @property
    def transactional(self) -> bool:
        return bool(self.attributes & TRANSACTIONAL)

    @property
    def control(self) -> bool:
        return bool(self.attributes & CONTROL)

    @property
    def delete_horizon(self) -> int | None:
        return self.base_timestamp if self.attributes & DELETE_HORIZON else None

    @property
    def last_offset(self) -> int:
        return self.base_offset + self.last_offset_delta

    @property
    def last_sequence(self) -> int:
        if self.base_sequence < 0:
            return self.base_sequence
        return (self.base_sequence + self.last_offset_delta) & 0x7FFFFFFF  # wraps to 0

    def encode(self, payload: bytes, *, crc: int | None = None) -> bytes:
        """The batch of this header and payload; lengths and the CRC are set anew."""
        base_offset, _, *fields = self
        length = HEADER_SIZE - LOG_OVERHEAD + len(payload)
        head = HEADER.pack(base_offset, length, *fields)
        if crc is None:
            crc = crc32c(payload, crc32c(head[ATTRIBUTES_AT:]))
        return b"".join((head[:CRC_AT], crc.to_bytes(4, "big"), head[ATTRIBUTES_AT:], payload))


_PLAIN = BatchHeader(0, 0, -1, 2, 0, 0, 0, 0, 0, -1, -1, -1, 0)


@dataclass(frozen=True, slots=True)
class Batch:
    """A decoded batch; `payload` is what stood after the header, still compressed."""

    header: BatchHeader
    records: list[Record]
    payload: bytes

    def encode(self) -> bytes:
        """The bytes this was decoded from: records are written anew unless they are compressed.

        No two implementations of a codec agree on bytes, so a compressed payload is kept as it
        was; `encode_records(batch.records)` equals what it decompresses to.
        """
        compressed = self.header.compression != codecs.NONE
        payload = self.payload if compressed else encode_records(self.records)
        return self.header.encode(payload, crc=self.header.crc)


def encode_record(record: Record) -> bytes:
    """One record with its length in front."""
    write = varint.encode
    offset_delta, timestamp_delta, key, value, headers, attributes = record
    out = [_ATTRIBUTES[attributes & 0xFF], write(timestamp_delta), write(offset_delta)]
    out += (b"\x01",) if key is None else (write(len(key)), key)
    out += (b"\x01",) if value is None else (write(len(value)), value)
    out.append(write(len(headers)))
    for name, content in headers:
        raw = name.encode("utf-8", "surrogateescape") if isinstance(name, str) else name
        out += (write(len(raw)), raw)
        out += (b"\x01",) if content is None else (write(len(content)), content)
    body = b"".join(out)
    return write(len(body)) + body


def encode_records(records: Iterable[Record]) -> bytes:
    return b"".join(map(encode_record, records))


def encode_pairs(
    pairs: Iterable[tuple[bytes | None, bytes | None]], *, base_timestamp: int, **fields: Any
) -> bytes:
    """A batch of these keys and values, all of the base timestamp and without headers.

    The same bytes as `encode_batch` gives, at a third of its price: coordinators write such
    batches for every commit. `fields` are others of the batch's header.
    """
    small, count = varint.SMALL, 0
    parts: list[bytes] = []
    for key, value in pairs:
        try:  # a None has no length, and a long varint is not in the table
            body = b"".join(
                (b"\0\0", small[count], small[len(key)], key, small[len(value)], value, b"\0")  # type: ignore[arg-type]
            )
            parts += (small[len(body)], body)
        except (TypeError, IndexError):
            parts.append(encode_record(Record(count, 0, key, value)))
        count += 1
    header = _PLAIN._replace(
        last_offset_delta=max(0, count - 1),
        base_timestamp=base_timestamp,
        max_timestamp=base_timestamp if count else NO_TIMESTAMP,
        records_count=count,
        **fields,
    )
    return header.encode(b"".join(parts))


def encode_batch(
    records: Sequence[Record],
    *,
    base_timestamp: int,
    base_offset: int = 0,
    partition_leader_epoch: int = -1,
    compression: int = codecs.NONE,
    timestamp_type: int = CREATE_TIME,
    max_timestamp: int | None = None,
    producer_id: int = -1,
    producer_epoch: int = -1,
    base_sequence: int = -1,
    transactional: bool = False,
    control: bool = False,
    delete_horizon: bool = False,
) -> bytes:
    """A whole batch as a producer (or, with base_offset and epoch, a broker) writes it."""
    attributes = (
        compression
        | (TIMESTAMP_TYPE if timestamp_type else 0)
        | (TRANSACTIONAL if transactional else 0)
        | (CONTROL if control else 0)
        | (DELETE_HORIZON if delete_horizon else 0)
    )
    if max_timestamp is None:
        newest = max((record.timestamp_delta for record in records), default=NO_TIMESTAMP)
        max_timestamp = base_timestamp + newest if records else NO_TIMESTAMP
    last_delta = records[-1].offset_delta if records else 0
    header = BatchHeader(
        base_offset,
        0,
        partition_leader_epoch,
        2,
        0,
        attributes,
        last_delta,
        base_timestamp,
        max_timestamp,
        producer_id,
        producer_epoch,
        base_sequence,
        len(records),
    )
    payload = encode_records(records)
    if compression != codecs.NONE:
        payload = codecs.compress(compression, payload)
    return header.encode(payload)


def read_header(buf: bytes, pos: int = 0) -> BatchHeader:
    """The fields at `pos`, believed as they are except for what would make reading unsafe."""
    if len(buf) - pos < HEADER_SIZE:
        raise _cut_short(buf, pos)
    header = BatchHeader._make(HEADER.unpack_from(buf, pos))
    if header.magic != 2:
        raise RecordError(pos + MAGIC_AT, f"Invalid magic found in record: {header.magic}")
    if header.batch_length < HEADER_SIZE - LOG_OVERHEAD:
        raise _too_small(pos, header.size)
    return header


def _cut_short(buf: bytes, pos: int) -> RecordError:
    """What is wrong where less than a header is left: it was cut off, or says that it is whole."""
    left = len(buf) - pos
    size = LOG_OVERHEAD + int.from_bytes(buf[pos + 8 : pos + LOG_OVERHEAD], signed=True)
    if left >= LOG_OVERHEAD and size < HEADER_SIZE:
        return _too_small(pos, size)
    return RecordError(pos, f"{left} bytes are left, a batch header has {HEADER_SIZE}")


def _too_small(pos: int, size: int) -> RecordError:
    return RecordError(
        pos + 8,
        f"Record batch is corrupt (the size {size} is smaller than the minimum allowed"
        f" overhead {HEADER_SIZE})",
        corrupt=True,
    )


def check_crc(buf: bytes, pos: int, header: BatchHeader) -> None:
    """RecordError unless the stored CRC-32C is that of the bytes it covers."""
    computed = crc32c(memoryview(buf)[pos + ATTRIBUTES_AT : pos + header.size])
    if computed != header.crc:
        raise RecordError(
            pos + CRC_AT,
            f"Record is corrupt (stored crc = {header.crc}, computed crc = {computed})",
            corrupt=True,
        )


def payload_of(buf: bytes, pos: int, header: BatchHeader, limit: int = DEFAULT_LIMIT) -> bytes:
    """The records' bytes, decompressed."""
    raw = bytes(memoryview(buf)[pos + HEADER_SIZE : pos + header.size])
    if header.compression == codecs.NONE:
        return raw
    try:
        return codecs.decompress(header.compression, raw, limit)
    except codecs.CompressionError as fault:
        raise PayloadError(pos + HEADER_SIZE, str(fault)) from None


def decode_batch(
    buf: bytes, pos: int = 0, *, strict: bool = True, limit: int = DEFAULT_LIMIT
) -> Batch:
    """The batch at `pos`. Strict means that encoding it again must give the same bytes.

    The CRC is not checked here (`check_crc` does), so that a batch with a wrong one can be read.
    """
    header = read_header(buf, pos)
    if len(buf) - pos < header.size:
        raise RecordError(pos, f"{len(buf) - pos} bytes are left of a batch of {header.size}")
    if header.records_count < 0:
        reason = f"Found invalid record count {header.records_count} in magic v2 batch"
        raise RecordError(pos + RECORDS_COUNT_AT, reason)
    payload = payload_of(buf, pos, header, limit)
    # Offsets of errors point into `buf` where the records lie there as they are.
    origin = pos + HEADER_SIZE if header.compression == codecs.NONE else 0
    records = decode_records(payload, header.records_count, strict=strict, origin=origin)
    return Batch(header, records, bytes(memoryview(buf)[pos + HEADER_SIZE : pos + header.size]))


def decode_records(
    payload: bytes, count: int, *, strict: bool = True, skim: bool = False, origin: int = 0
) -> list[Record]:
    """`count` records that fill `payload` exactly. `skim`: as `check_records`."""
    records: list[Record] = []
    pos = 0
    try:
        while len(records) < count:
            record, end = decode_record(payload, pos, skim=skim)
            if strict and payload[pos:end] != encode_record(record):
                raise RecordError(pos, "record is not in canonical form (a varint or null length)")
            records.append(record)
            pos = end
    except RecordError as fault:
        reason = f"record {len(records)}: {fault.reason}"
        raise RecordError(origin + fault.offset, reason) from None
    if pos != len(payload):
        reason = "Incorrect declared batch size, records still remaining in file"
        raise RecordError(origin + pos, reason)
    return records


def decode_record(data: bytes, start: int, *, skim: bool = False) -> tuple[Record, int]:
    """A record and where it ends, whatever length it says it has if it is skimmed. Raises
    RecordError.
    """
    read = varint.read
    try:
        size, body = read(data, start)
    except LongVarint as fault:
        raise LongLength(fault.offset, fault.reason) from None
    end = body + size
    if not skim and (size < 0 or end > len(data)):
        left = len(data) - body
        reason = (
            f"Invalid record size: expected {size} bytes in record payload, but instead the"
            f" buffer has only {left} remaining bytes."
        )
        raise RecordError(start, reason) if size < 0 else CutRecord(start, reason, left)
    if body == len(data):
        raise RecordError(body, "Found invalid record structure: no attributes")
    attributes = data[body] if data[body] < 128 else data[body] - 256
    timestamp_delta, pos = read(data, body + 1, 64)
    offset_delta, pos = read(data, pos)
    key, pos = _decode_part(data, pos, "key")
    value, pos = _decode_part(data, pos, "value")
    count, pos = read(data, pos)
    headers: list[Header] = []
    if count < 0 or count > len(data) - pos:
        raise RecordError(pos, f"Found invalid number of record headers {count}")
    for _ in range(count):
        name_at = pos
        name, pos = _decode_part(data, pos, "header key")
        if name is None:
            raise RecordError(name_at, "Invalid negative header key size")
        value_of, pos = _decode_part(data, pos, "header value")
        headers.append((name, value_of))
    if not skim and pos != end:
        raise RecordError(
            start,
            f"Invalid record size: expected to read {size} bytes in record payload, but instead"
            f" read {pos - body}",
        )
    return Record(offset_delta, timestamp_delta, key, value, headers, attributes), pos


def _decode_part(data: bytes, pos: int, what: str) -> tuple[bytes | None, int]:
    size, start = varint.read(data, pos)
    if size < 0:
        return None, start
    if size > len(data) - start:
        raise RecordError(
            pos,
            f"Found invalid record structure: {what} of {size} bytes, {len(data) - start} are left",
        )
    return data[start : start + size], start + size
