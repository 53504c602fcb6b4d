"""The five codecs of record batches. `decompress` never makes more than `limit` bytes.

What Kafka accepts, and therefore what is accepted here (CompressionType / compress.* of the five
releases; each line tried on 1.0.2, 2.2.1, 2.8.2, 3.9.2 and 4.3.1, which agree):

- gzip: one or more members; what follows the last one is ignored, as java.util.zip does, and so is
  a next one that is begun in 18 bytes or fewer (GZIPInputStream.readTrailer);
- snappy: xerial's stream (a 16-byte header, then chunks, each with its length) or, when that header
  is missing, one raw block. Kafka writes the stream in chunks of 32 KiB and ignores what is left
  at its end if that is too short for a chunk's length;
- lz4: see `lz4_frame`; the frame of magic 0 has its own checksum;
- zstd: one or more frames (KIP-110), never in magic 0 or 1; a last one that is cut off before
  any of its content is ignored (tried on 2.8.2 and 4.3.1).

Sizes claimed inside the data are only believed as far as the codec could have reached them, so a
claim allocates nothing that the bytes present cannot justify.
"""

import zlib
from collections.abc import Callable
from struct import Struct

import cramjam

from . import lz4_frame

NONE, GZIP, SNAPPY, LZ4, ZSTD = range(5)
NAMES = ("none", "gzip", "snappy", "lz4", "zstd")

_XERIAL = b"\x82SNAPPY\x00"
_XERIAL_HEADER = _XERIAL + b"\x00\x00\x00\x01\x00\x00\x00\x01"  # version 1, readable from 1
_XERIAL_CHUNK = 32 * 1024
_I32 = Struct(">i")
_GZIP_HEADER = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"  # as Java 16 and later write it: no name, no time
_GZIP_TRAILER = Struct("<II")
_GZIP_IGNORED = 18
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_ZSTD_RAW, _ZSTD_RLE = 0, 1  # types of blocks
_SNAPPY_EXPANSION = 64  # a two-byte copy can stand for 64 bytes


class CompressionError(ValueError):
    """Data that its codec does not read, or that would exceed the limit."""


class EndOfStream(CompressionError):
    """A stream that ends where Java's reader finds no byte any more (EOFException) and nothing
    wrong: behind gzip's header, or before any zstd frame. `read` is what it held until then.
    """

    def __init__(self, reason: str, read: bytes) -> None:
        super().__init__(reason)
        self.read = read


class EndOfMember(EndOfStream):
    """Of a gzip member or a zstd frame behind the first."""


def compress(codec: int, data: bytes, *, magic: int = 2) -> bytes:
    """The bytes a Kafka producer of this format could have written for `data`."""
    if codec == LZ4:
        return lz4_frame.compress(data, wrong_checksum=magic == 0)
    packer = _COMPRESS.get(codec)
    if packer is None:
        raise CompressionError(f"Unknown compression type id: {codec}")
    return packer(bytes(data))


def decompress(codec: int, data: bytes, limit: int, *, magic: int = 2) -> bytes:
    """What `data` holds, or CompressionError; at most `limit` bytes."""
    data = bytes(data)
    if codec == LZ4:
        try:
            return lz4_frame.decompress(data, limit, check=magic > 0)
        except lz4_frame.FrameFault as fault:
            raise CompressionError(f"lz4: {fault}") from None
    unpacker = _DECOMPRESS.get(codec)
    if unpacker is None:
        raise CompressionError(f"Unknown compression type id: {codec}")
    return unpacker(data, limit)


def _stored(data: bytes, limit: int) -> bytes:
    if len(data) > limit:
        raise CompressionError(f"none: {len(data)} bytes are more than {limit}")
    return data


def _gzip(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    packed = packer.compress(data) + packer.flush()
    return _GZIP_HEADER + packed + _GZIP_TRAILER.pack(zlib.crc32(data), len(data) & 0xFFFFFFFF)


def _gunzip(data: bytes, limit: int) -> bytes:
    out: list[bytes] = []
    room = limit + 1
    rest = data
    while True:
        member = zlib.decompressobj(wbits=31)
        try:
            part = member.decompress(rest, room)
        except zlib.error as fault:
            raise CompressionError(f"gzip: {fault}") from None
        out.append(part)
        room -= len(part)
        if room <= 0:
            raise CompressionError(f"gzip: more than {limit} bytes when decompressed")
        if not member.eof:
            reason = "gzip: Unexpected end of ZLIB input stream"
            if len(out) > 1:
                raise EndOfMember(reason, b"".join(out))
            if len(rest) < len(_GZIP_HEADER):
                raise CompressionError(reason)
            raise EndOfStream(reason, b"".join(out))
        rest = member.unused_data
        if len(rest) <= _GZIP_IGNORED or rest[:3] != b"\x1f\x8b\x08":
            return out[0] if len(out) == 1 else b"".join(out)


def _snappy(data: bytes) -> bytes:
    out = [_XERIAL_HEADER]
    for start in range(0, len(data), _XERIAL_CHUNK):
        chunk = bytes(cramjam.snappy.compress_raw(data[start : start + _XERIAL_CHUNK]))
        out += (_I32.pack(len(chunk)), chunk)
    return b"".join(out)


def _unsnappy(data: bytes, limit: int) -> bytes:
    if not data:
        raise CompressionError("snappy: Cannot decompress empty stream")
    if data[:8] != _XERIAL:
        return _raw_snappy(data, limit)
    if len(data) < 16:
        raise CompressionError("snappy: stream header is cut short")
    if _I32.unpack_from(data, 12)[0] < 1:
        raise CompressionError("snappy: compressed with an incompatible codec version")
    out: list[bytes] = []
    pos = 16
    while len(data) - pos >= 4:
        if data[pos : pos + 8] == _XERIAL and len(data) - pos >= 16:
            pos += 16  # streams may be concatenated
            continue
        (size,) = _I32.unpack_from(data, pos)
        pos += 4
        if size < 0 or size > len(data) - pos:
            raise CompressionError(f"snappy: chunk of {size} bytes, {len(data) - pos} are left")
        out.append(_raw_snappy(data[pos : pos + size], limit))
        limit -= len(out[-1])
        pos += size
    return b"".join(out)


def _raw_snappy(data: bytes, limit: int) -> bytes:
    if not data:
        raise CompressionError("snappy: a chunk of no bytes")
    try:
        claimed = cramjam.snappy.decompress_raw_len(data)
        if claimed > limit:
            raise CompressionError(f"snappy: more than {limit} bytes when decompressed")
        if claimed > _SNAPPY_EXPANSION * len(data):
            raise CompressionError(f"snappy: {len(data)} bytes cannot hold {claimed}")
        room = bytearray(claimed)
        used = cramjam.snappy.decompress_raw_into(data, room) if claimed else 0
    except cramjam.DecompressionError as fault:
        raise CompressionError(f"snappy: {fault}") from None
    return bytes(memoryview(room)[:used])


def _zstd(data: bytes) -> bytes:
    return bytes(cramjam.zstd.compress(data))


def _without_begun_frame(data: bytes) -> bytes:
    """Whole zstd frames, without a last one that is cut off; EndOfMember where some of its content
    is there (RFC 8878, section 3.1.1).
    """
    end = 0
    while data[end : end + 4] == _ZSTD_MAGIC[: len(data) - end] and end < len(data):
        after, content = _zstd_frame(data, end)
        if after is None:
            if not end:
                return data  # whoever reads it says what is wrong
            if content:
                raise EndOfMember("zstd: Truncated source", b"")
            return data[:end]
        end = after
    return data


def _zstd_frame(data: bytes, pos: int) -> tuple[int | None, bool]:
    """(where the frame at `pos` ends, None for one that is cut off; whether content of it is there)

    A raw block gives its bytes as they come, others only as a whole.
    """
    if len(data) - pos < 5:
        return None, False
    told, content = data[pos + 4], False
    single = told >> 5 & 1
    pos += 5 + (1 - single) + (0, 1, 2, 4)[told & 3] + (single, 2, 4, 8)[told >> 6]
    while pos + 3 <= len(data):
        block = int.from_bytes(data[pos : pos + 3], "little")
        kind, size = block >> 1 & 3, block >> 3
        pos += 3
        stored = 1 if kind == _ZSTD_RLE else size
        there = min(stored, len(data) - pos)
        content = content or (there > 0 and (there == stored or kind == _ZSTD_RAW))
        pos += stored
        if block & 1:
            pos += 4 if told & 4 else 0
            return (pos if pos <= len(data) else None), content
    return None, content


def _unzstd(data: bytes, limit: int) -> bytes:
    if not data:
        raise EndOfStream("zstd: no frame", b"")
    data = _without_begun_frame(data)
    # cramjam fills the room it is given or fails; grow it only while the data keeps filling it.
    room = min(limit, max(1 << 16, 8 * len(data)))
    while True:
        out = bytearray(room)
        try:
            return bytes(memoryview(out)[: cramjam.zstd.decompress_into(data, out)])
        except cramjam.DecompressionError as fault:
            if "write whole buffer" not in str(fault):
                raise CompressionError(f"zstd: {fault}") from None
        if room >= limit:
            raise CompressionError(f"zstd: more than {limit} bytes when decompressed")
        room = min(limit, 4 * room)


_COMPRESS: dict[int, Callable[[bytes], bytes]] = {
    NONE: bytes,
    GZIP: _gzip,
    SNAPPY: _snappy,
    ZSTD: _zstd,
}
_DECOMPRESS: dict[int, Callable[[bytes, int], bytes]] = {
    NONE: _stored,
    GZIP: _gunzip,
    SNAPPY: _unsnappy,
    ZSTD: _unzstd,
}
