"""LZ4 frames as Kafka writes and reads them; the block codec itself is cramjam's.

Kafka has its own frame code (KafkaLZ4BlockInputStream until 2.x, Lz4BlockInputStream since 3.8) and
is stricter in one place and laxer in three than the LZ4 frame format, so a general frame library
cannot stand in for it:

- blocks must be independent; a frame of linked blocks is refused;
- the descriptor checksum of magic 0 is ignored when read and wrong when written: the first Kafka
  hashed the frame's magic number as well, and old clients depend on it (KAFKA-3160). From magic 1
  on it is right, and it is checked. All five releases agree (`messageVersion == MAGIC_VALUE_V0`);
- the content size is skipped and the content checksum is never verified;
- bytes after the end mark are ignored.

Nothing here allocates by what a header claims: a block's buffer is limited by what LZ4 can expand
its compressed bytes to, 255 times.
"""

from struct import Struct
from struct import error as StructError

import cramjam

_MAGIC = b"\x04\x22\x4d\x18"
_VERSION, _INDEPENDENT, _BLOCK_CHECKSUM, _CONTENT_SIZE, _CONTENT_CHECKSUM = 0x40, 0x20, 16, 8, 4
_BLOCK_64K = 4
_STORED = 0x80000000
_U32 = Struct("<I")
_LANES = Struct("<4I")

_P1, _P2, _P3, _P4, _P5 = 2654435761, 2246822519, 3266489917, 668265263, 374761393
_M = 0xFFFFFFFF


class FrameFault(ValueError):
    """Why a frame is not one; `compression` turns it into its own error."""


def _rotl(value: int, bits: int) -> int:
    return (value << bits | value >> (32 - bits)) & _M


def xxh32(data: bytes) -> int:
    """XXH32 with seed 0. Frames hash 2 to 14 bytes; only block checksums ever hash more."""
    pos, size = 0, len(data)
    if size >= 16:
        lanes = [(_P1 + _P2) & _M, _P2, 0, -_P1 & _M]
        while pos <= size - 16:
            words = _LANES.unpack_from(data, pos)
            lanes = [
                _rotl((lane + word * _P2) & _M, 13) * _P1 & _M
                for lane, word in zip(lanes, words, strict=True)
            ]
            pos += 16
        h = sum(_rotl(lane, bits) for lane, bits in zip(lanes, (1, 7, 12, 18), strict=True)) & _M
    else:
        h = _P5
    h = (h + size) & _M
    while pos + 4 <= size:
        h = _rotl((h + _U32.unpack_from(data, pos)[0] * _P3) & _M, 17) * _P4 & _M
        pos += 4
    for byte in data[pos:]:
        h = _rotl((h + byte * _P5) & _M, 11) * _P1 & _M
    h = (h ^ h >> 15) * _P2 & _M
    h = (h ^ h >> 13) * _P3 & _M
    return h ^ h >> 16


def compress(data: bytes, *, wrong_checksum: bool = False) -> bytes:
    """One frame of independent 64 KiB blocks, as Lz4BlockOutputStream cuts them."""
    descriptor = bytes((_VERSION | _INDEPENDENT, _BLOCK_64K << 4))
    hashed = _MAGIC + descriptor if wrong_checksum else descriptor
    out = [_MAGIC, descriptor, bytes((xxh32(hashed) >> 8 & 0xFF,))]
    for start in range(0, len(data), 65536):
        block = data[start : start + 65536]
        packed = bytes(cramjam.lz4.compress_block(block, store_size=False))
        if len(packed) < len(block):
            out += (_U32.pack(len(packed)), packed)
        else:
            out += (_U32.pack(len(block) | _STORED), block)
    out.append(_U32.pack(0))
    return b"".join(out)


def _open(data: bytes, check: bool) -> tuple[int, int, int]:
    """Flags, the largest block and where the blocks begin."""
    if len(data) < 7:
        raise FrameFault("Stream ended prematurely")
    if data[:4] != _MAGIC:
        raise FrameFault("Stream unsupported (invalid magic bytes)")
    flags, descriptor = data[4], data[5]
    if flags & 0xC0 != _VERSION:
        raise FrameFault(f"Version {flags >> 6} is unsupported")
    if not flags & _INDEPENDENT:
        raise FrameFault("Dependent block stream is unsupported (BLOCK_INDEPENDENCE must be set)")
    if flags & 0x03 or descriptor & 0x8F:
        raise FrameFault("Reserved bits must be 0")
    block_id = descriptor >> 4
    if not 4 <= block_id <= 7:
        raise FrameFault(f"Block size value must be between 4 and 7, not {block_id}")
    end = 6 + (8 if flags & _CONTENT_SIZE else 0)
    if len(data) <= end:
        raise FrameFault("Stream ended prematurely")
    if check and data[end] != xxh32(data[4:end]) >> 8 & 0xFF:
        raise FrameFault("Stream frame descriptor corrupted")
    return flags, 1 << (2 * block_id + 8), end + 1


def decompress(data: bytes, limit: int, *, check: bool = True) -> bytes:
    """What one frame holds; `check` says whether the descriptor checksum matters."""
    flags, largest, pos = _open(data, check)
    out: list[bytes] = []
    total = 0
    try:
        while True:
            (size,) = _U32.unpack_from(data, pos)
            pos += 4
            stored, size = size & _STORED, size & ~_STORED
            if not size:
                if flags & _CONTENT_CHECKSUM and len(data) - pos < 4:
                    raise FrameFault("Stream ended prematurely")
                return out[0] if len(out) == 1 else b"".join(out)
            if size > largest:
                raise FrameFault(f"Block size {size} exceeded max: {largest}")
            if len(data) - pos < size:
                raise FrameFault("Stream ended prematurely")
            block = data[pos : pos + size]
            pos += size
            plain = block if stored else _block(block, largest)
            if flags & _BLOCK_CHECKSUM:
                if _U32.unpack_from(data, pos)[0] != xxh32(block):
                    raise FrameFault("Block checksum mismatch")
                pos += 4
            total += len(plain)
            if total > limit:
                raise FrameFault(f"more than {limit} bytes when decompressed")
            out.append(plain)
    except StructError:
        raise FrameFault("Stream ended prematurely") from None


def _block(block: bytes, largest: int) -> bytes:
    room = bytearray(min(largest, 255 * len(block) + 64))
    try:
        # output_len makes cramjam read a bare block; without it it looks for a size in front.
        used = cramjam.lz4.decompress_block_into(block, room, output_len=len(room))
    except cramjam.DecompressionError as fault:
        raise FrameFault(f"LZ4 block is malformed: {fault}") from None
    return bytes(memoryview(room)[:used])
