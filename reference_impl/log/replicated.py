"""What a follower checks in the records its leader sends: little, for the leader has checked all.

Offsets, epochs and timestamps stay as the leader gave them, so the two logs are equal byte for
byte. A fetch may end in the middle of an entry; what is not whole is left for the next one. Proved
here are the checksum, because the bytes came over a wire, and that offsets go up (APPEND-15).

Source: UnifiedLog.appendAsFollower, analyzeAndValidateRecords at 1.0.2 to 3.9.
"""

from __future__ import annotations

from touchstone.reference_impl.log.rules import LogError
from touchstone.reference_impl.log.validation import Entry
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.records import RecordError, check_crc, message_set, walk
from touchstone.reference_impl.wire.records import batch as v2


def entries_of(records: bytes, name: str) -> list[Entry]:
    """Every whole entry as it will be stored; LogError (CORRUPT_MESSAGE) for a broken one."""
    found, last = [], -1
    try:
        for pos, size, magic in walk.entries(records):
            check_crc(records, pos, size, magic)
            entry = _entry(records, pos, size, magic)
            if entry.last_offset <= last:
                raise LogError(
                    ErrorCode.UNKNOWN_SERVER_ERROR,
                    f"Out of order offsets found in append to {name}:"
                    f" {entry.last_offset} after {last}",
                )
            last = entry.last_offset
            found.append(entry)
    except RecordError as fault:
        message = f"{fault.reason} in topic partition {name}."
        raise LogError(ErrorCode.CORRUPT_MESSAGE, message) from None
    return found


def _entry(records: bytes, pos: int, size: int, magic: int) -> Entry:
    data = records[pos : pos + size]
    if magic == 2:
        header = v2.read_header(records, pos)
        return Entry(data, header.base_offset, header.last_offset, header.max_timestamp, header)
    message = message_set.decode_message(records, pos, strict=False)[0]
    return Entry(data, message.offset, message.offset, message.timestamp)
