"""Zig-zag varints as Kafka reads them: 1 to 5 bytes for 32 bits, 1 to 10 for 64 (KIP-98).

Kafka accepts a varint that is longer than needed and drops bits past the width (ByteUtils of every
release); so does `read`. Who promises to give the same bytes back must compare with `encode`.
"""

from .errors import LongVarint, RecordError

_WIDTH = {32: (28, 0xFFFFFFFF), 64: (63, 0xFFFFFFFFFFFFFFFF)}


def encode(value: int) -> bytes:
    """Zig-zag varint of any signed 64-bit number; the same bytes serve 32-bit fields."""
    if 0 <= value < _READY:
        return SMALL[value]
    return _encode(value)


def _encode(value: int) -> bytes:
    raw = (value << 1) ^ (value >> 63)
    out = bytearray()
    while raw > 0x7F:
        out.append(raw & 0x7F | 0x80)
        raw >>= 7
    out.append(raw)
    return bytes(out)


def read(data: bytes, pos: int, bits: int = 32) -> tuple[int, int]:
    """Value and the position after it; RecordError for a varint cut short, LongVarint."""
    if pos < len(data) and data[pos] < 0x80:
        raw = data[pos]
        return (raw >> 1) ^ -(raw & 1), pos + 1
    last_shift, mask = _WIDTH[bits]
    start, raw, shift = pos, 0, 0
    while True:
        if pos >= len(data):
            raise RecordError(start, "varint is cut short")
        byte = data[pos]
        pos += 1
        raw |= (byte & 0x7F) << shift
        if byte < 0x80:
            raw &= mask
            return (raw >> 1) ^ -(raw & 1), pos
        shift += 7
        if shift > last_shift:
            raise LongVarint(start, f"varint is too long for {bits} bits")


def size(value: int) -> int:
    """How many bytes `encode` gives."""
    raw = (value << 1) ^ (value >> 63)
    return max(1, (raw.bit_length() + 6) // 7)


_READY = 8192  # lengths and deltas of ordinary records, two bytes at most
SMALL = [_encode(value) for value in range(_READY)]
