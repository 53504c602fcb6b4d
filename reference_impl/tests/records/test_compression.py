"""Codecs: what Kafka reads, what it refuses, and that no input makes more than the limit."""

import random
import struct
import tracemalloc
import zlib
from contextlib import suppress

import cramjam
import pytest

from touchstone.reference_impl.wire.records import compression as C
from touchstone.reference_impl.wire.records import lz4_frame

CODECS = [C.GZIP, C.SNAPPY, C.LZ4, C.ZSTD]
PLAIN = [b"", b"a", b"hello " * 99, random.Random(4).randbytes(100_000), bytes(3_000_000)]
name_of = C.NAMES.__getitem__


@pytest.mark.parametrize("codec", CODECS, ids=name_of)
@pytest.mark.parametrize("plain", PLAIN, ids=len)
@pytest.mark.parametrize("magic", [0, 1, 2])
def test_compressing_and_back_is_the_identity(codec, plain, magic):
    packed = C.compress(codec, plain, magic=magic)
    assert C.decompress(codec, packed, len(plain), magic=magic) == plain


@pytest.mark.parametrize("codec", [C.NONE, *CODECS], ids=name_of)
def test_one_byte_more_than_the_limit_is_refused(codec):
    packed = C.compress(codec, bytes(70_000))
    with pytest.raises(C.CompressionError, match="more than"):
        C.decompress(codec, packed, 69_999)


BOMB = 1 << 28


def _snappy_bomb() -> bytes:
    chunk = bytes(cramjam.snappy.compress_raw(bytes(1 << 24)))
    return b"\x82SNAPPY\0\0\0\0\1\0\0\0\1" + (struct.pack(">i", len(chunk)) + chunk) * 16


BOMBS = {
    "gzip": lambda: (C.GZIP, _deflated(BOMB)),
    "snappy": lambda: (C.SNAPPY, _snappy_bomb()),
    "snappy that only claims": lambda: (C.SNAPPY, b"\xff\xff\xff\xff\x0f" + b"\x00" * 15),
    "snappy chunk that claims": lambda: (
        C.SNAPPY,
        b"\x82SNAPPY\0\0\0\0\1\0\0\0\1\x7f\xff\xff\xff",
    ),
    "lz4": lambda: (C.LZ4, _lz4_bomb()),
    "zstd": lambda: (C.ZSTD, bytes(cramjam.zstd.compress(bytes(1 << 24))) * 16),
}


def _deflated(size: int) -> bytes:
    packer = zlib.compressobj(wbits=31)
    return b"".join(packer.compress(bytes(1 << 20)) for _ in range(size >> 20)) + packer.flush()


def _lz4_bomb() -> bytes:
    block = bytes(cramjam.lz4.compress_block(bytes(4 << 20), store_size=False))
    frame = bytes((0x60, 0x70))
    head = b"\x04\x22\x4d\x18" + frame + bytes((lz4_frame.xxh32(frame) >> 8 & 0xFF,))
    return head + (struct.pack("<I", len(block)) + block) * 64 + bytes(4)


@pytest.mark.slow
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_costs_no_more_than_a_few_times_the_limit(name):
    codec, packed = BOMBS[name]()
    limit = 1 << 20
    tracemalloc.start()
    try:
        with pytest.raises(C.CompressionError):
            C.decompress(codec, packed, limit)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # One block of lz4 may be 4 MiB before it is counted; a copy of the input is allowed.
    assert peak < len(packed) * 2 + (12 << 20)


@pytest.mark.parametrize("codec", CODECS, ids=name_of)
def test_data_cut_short_is_refused_wherever_it_is_cut(codec):
    packed = C.compress(codec, b"some text that is long enough " * 9)
    for size in range(len(packed)):
        if codec == C.SNAPPY and 16 <= size < 20:
            continue  # a stream with no chunks is whole and empty
        with pytest.raises(C.CompressionError):
            C.decompress(codec, packed[:size], 1000)


@pytest.mark.parametrize("codec", CODECS, ids=name_of)
def test_any_bytes_are_read_or_refused(codec):
    dice = random.Random(7)
    packed = C.compress(codec, b"some text that is long enough " * 9)
    for _ in range(300):
        mutant = bytearray(packed)
        for _ in range(dice.randrange(1, 4)):
            mutant[dice.randrange(len(mutant))] = dice.randrange(256)
        with suppress(C.CompressionError):
            assert len(C.decompress(codec, bytes(mutant), 1 << 16)) <= 1 << 16


def test_what_follows_is_ignored_by_gzip_and_lz4_and_snappy_if_it_is_short():
    assert C.decompress(C.SNAPPY, C.compress(C.SNAPPY, b"abc") + b"xyz", 9) == b"abc"
    for codec in (C.GZIP, C.LZ4):
        assert C.decompress(codec, C.compress(codec, b"abc") + b"xyz", 9) == b"abc"
    for codec in (C.SNAPPY, C.ZSTD):
        with pytest.raises(C.CompressionError):
            C.decompress(codec, C.compress(codec, b"abc") + b"wxyz", 9)


def test_members_streams_and_frames_may_be_concatenated():
    for codec in (C.GZIP, C.SNAPPY, C.ZSTD):
        assert (
            C.decompress(codec, C.compress(codec, b"abc") + C.compress(codec, b"d"), 9) == b"abcd"
        )


def test_snappy_is_read_raw_too():
    raw = bytes(cramjam.snappy.compress_raw(b"raw " * 50))
    assert C.decompress(C.SNAPPY, raw, 1000) == b"raw " * 50


def test_snappy_may_not_claim_more_than_it_could_hold():
    with pytest.raises(C.CompressionError, match="6 bytes cannot hold 1048576"):
        C.decompress(C.SNAPPY, b"\x80\x80\x40\x00aa", 1 << 21)


def test_snappy_chunks_are_32_kib():
    packed = C.compress(C.SNAPPY, random.Random(1).randbytes(70_000))
    (size,) = struct.unpack_from(">i", packed, 16)
    assert cramjam.snappy.decompress_raw_len(packed[20 : 20 + size]) == 32768


@pytest.mark.parametrize(("data", "hashed"), [(b"", 0x02CC5D05), (b"a", 0x550D7456)])
def test_xxh32_of_short_data(data, hashed):
    assert lz4_frame.xxh32(data) == hashed


def test_xxh32_of_long_data():
    assert lz4_frame.xxh32(b"Nobody inspects the spammish repetition") == 0xE2293B2F


def test_magic_0_writes_the_wrong_lz4_checksum_and_does_not_read_it():
    assert C.compress(C.LZ4, b"a", magic=0)[:7].hex() == "04224d1860401a"
    assert C.compress(C.LZ4, b"a", magic=1)[:7].hex() == "04224d18604082"
    wrong = C.compress(C.LZ4, b"a", magic=0)
    assert C.decompress(C.LZ4, wrong, 9, magic=0) == b"a"
    for magic in (1, 2):
        with pytest.raises(C.CompressionError, match="frame descriptor corrupted"):
            C.decompress(C.LZ4, wrong, 9, magic=magic)


def _frame(flags: int, descriptor: int, *rest: bytes) -> bytes:
    hashed = bytes((flags, descriptor)) + (bytes(8) if flags & 8 else b"")
    return (
        b"\x04\x22\x4d\x18" + hashed + bytes((lz4_frame.xxh32(hashed) >> 8 & 255,)) + b"".join(rest)
    )


STORED = b"\x03\x00\x00\x80abc"
END = bytes(4)


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        (b"\x04\x22\x4d\x19" + bytes(9), "invalid magic bytes"),
        (_frame(0xA0, 0x40, END), "Version 2 is unsupported"),
        (_frame(0x40, 0x40, END), "Dependent block stream"),
        (_frame(0x61, 0x40, END), "Reserved bits"),
        (_frame(0x60, 0x30, END), "between 4 and 7"),
        (_frame(0x60, 0x40, b"\x01\x00\x01\x00" + bytes(70_000)), "exceeded max: 65536"),
        (_frame(0x60, 0x40, STORED), "ended prematurely"),
        (_frame(0x70, 0x40, STORED, bytes(4), END), "Block checksum mismatch"),
        (_frame(0x64, 0x40, STORED, END), "ended prematurely"),
        (_frame(0x60, 0x40, b"\x02\x00\x00\x00\xff\xff", END), "malformed"),
    ],
)
def test_lz4_frames_kafka_refuses(frame, reason):
    with pytest.raises(C.CompressionError, match=reason):
        C.decompress(C.LZ4, frame, 1 << 20)


@pytest.mark.parametrize(
    "frame",
    [
        _frame(0x60, 0x40, STORED, END),
        _frame(0x68, 0x70, STORED, END),
        _frame(0x64, 0x40, STORED, END, b"lies"),
        _frame(0x70, 0x40, STORED, struct.pack("<I", lz4_frame.xxh32(b"abc")), END),
    ],
)
def test_lz4_frames_kafka_reads(frame):
    assert C.decompress(C.LZ4, frame, 3) == b"abc"


@pytest.mark.parametrize("codec", [5, 6, 7])
def test_unknown_codecs_are_refused(codec):
    for function in (C.compress, lambda codec, data: C.decompress(codec, data, 9)):
        with pytest.raises(C.CompressionError, match="Unknown compression type id"):
            function(codec, b"")


RAW, PACKED = b"kv", b"k" * 10_000  # which zstd keeps as they are, and in one block


@pytest.mark.parametrize(
    ("content", "tail", "read"),
    [(RAW, 1, True), (RAW, 9, True), (RAW, 10, False), (PACKED, 1, True), (PACKED, -1, True)],
    ids=["magic", "block header", "a byte of content", "magic of packed", "packed"],
)
def test_a_zstd_frame_that_is_begun_is_ignored_until_it_has_content(content, tail, read):
    """So seen on 2.8.2 and 4.3.1."""
    frame = C.compress(C.ZSTD, content)
    data = frame + frame[:tail]
    if read:
        assert C.decompress(C.ZSTD, data, 1 << 20) == content
    else:
        with pytest.raises(C.EndOfMember):
            C.decompress(C.ZSTD, data, 1 << 20)


def test_zstd_frames_follow_one_another_and_what_is_no_frame_is_refused():
    frame = C.compress(C.ZSTD, RAW)
    assert C.decompress(C.ZSTD, frame * 3, 1 << 20) == RAW * 3
    for broken in (frame + b"\0", frame[:-1], frame[:4]):
        with pytest.raises(C.CompressionError):
            C.decompress(C.ZSTD, broken, 1 << 20)
