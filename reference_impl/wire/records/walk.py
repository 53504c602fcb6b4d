"""Where one batch or message ends and the next begins, for any mix of formats.

Every format begins with eight bytes of offset and four of length and has its magic at byte 16, so
a log can be walked without understanding it. A last entry that is cut short is not an error: Fetch
answers end so, and Kafka trims what a producer leaves behind the last whole batch
(ByteBufferLogInputStream at all five releases).
"""

from collections.abc import Iterator
from struct import Struct

from .errors import RecordError

_LENGTH = Struct(">i")
OVERHEAD = 12
_MAGIC_AT = 16
_SMALLEST = 14  # a message of magic 0 with neither key nor value


def entries(
    buf: bytes | bytearray, pos: int = 0, *, whole_first: bool = False
) -> Iterator[tuple[int, int, int]]:
    """(position, size, magic) of each whole entry; RecordError for impossible lengths or magics.
    `whole_first`: an entry that is cut off is the end, whatever its magic (1.0.2).
    """
    end = len(buf)
    while end - pos >= OVERHEAD:
        (length,) = _LENGTH.unpack_from(buf, pos + 8)
        if length < _SMALLEST:
            reason = f"Record size {length} is less than the minimum record overhead ({_SMALLEST})"
            raise RecordError(pos + 8, reason, corrupt=True)
        if end - pos <= _MAGIC_AT:
            return
        if whole_first and OVERHEAD + length > end - pos:
            return
        magic = buf[pos + _MAGIC_AT]
        if magic > 2:
            signed = magic - 256 if magic > 127 else magic
            reason = f"Invalid magic found in record: {signed}"
            raise RecordError(pos + _MAGIC_AT, reason, corrupt=True)
        size = OVERHEAD + length
        if size > end - pos:
            return
        yield pos, size, magic
        pos += size
