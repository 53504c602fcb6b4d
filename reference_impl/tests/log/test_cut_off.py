"""Records and payloads that end too early, cut at every byte, as five releases answer them.

Observed on 1.0.2, 2.2.1, 2.8.2, 3.9.2 and 4.3.1, one record of nine bytes and each codec.
"""

from __future__ import annotations

import struct
from itertools import groupby

import pytest

from touchstone.reference_impl.log.rules import LogError
from touchstone.reference_impl.tests.log.test_appending import NOW, a_log
from touchstone.reference_impl.wire.errors import ErrorCode as E
from touchstone.reference_impl.wire.records import GZIP, NONE, ZSTD, compress
from touchstone.reference_impl.wire.records.crc import crc32c

RECORD = bytes.fromhex("10000000026b027600")  # key "k", value "v"
CODES = {"1.0": E.CORRUPT_MESSAGE, "2.2": E.CORRUPT_MESSAGE}


def a_batch(codec: int, payload: bytes, count: int = 1) -> bytes:
    tail = struct.pack(">hiqqqhii", codec, count - 1, NOW, NOW, -1, -1, -1, count) + payload
    head = struct.pack(">qiib", 0, len(tail) + 9, -1, 2)
    return head + struct.pack(">I", crc32c(tail)) + tail


def answers(release: str, codec: int, payload: bytes) -> list[tuple[int, int]]:
    """(first cut with it, error code) for each change of the answer, shortest payload first."""
    found = []
    for cut in range(len(payload)):
        with pytest.raises(LogError) as refused:
            a_log(release).append(a_batch(codec, payload[:cut]), now=NOW)
        found.append((cut, refused.value.code))
    return [next(same) for _, same in groupby(found, key=lambda row: row[1])]


@pytest.mark.parametrize("release", ["1.0", "2.2", "2.8"])
def test_gzip_that_ends_within_a_record_is_invalid_before_3_9(release):
    invalid = CODES.get(release, E.INVALID_RECORD)
    shown = answers(release, GZIP, compress(GZIP, RECORD))
    assert shown == [
        (0, E.UNKNOWN_SERVER_ERROR), (10, invalid), (20, E.UNKNOWN_SERVER_ERROR),
    ]  # fmt: skip


@pytest.mark.parametrize("release", ["3.9", "4.3"])
def test_gzip_that_ends_early_has_no_code_since_3_9(release):
    shown = answers(release, GZIP, compress(GZIP, RECORD))
    assert shown == [(0, E.UNKNOWN_SERVER_ERROR)]


@pytest.mark.parametrize("release", ["2.2", "2.8", "3.9", "4.3"])
def test_zstd_without_a_frame_is_invalid(release):
    invalid = CODES.get(release, E.INVALID_RECORD)
    shown = answers(release, ZSTD, compress(ZSTD, RECORD))
    assert shown == [(0, invalid), (1, E.UNKNOWN_SERVER_ERROR)]


@pytest.mark.parametrize(
    ("release", "code", "last"),
    [
        ("1.0", E.UNKNOWN_SERVER_ERROR, E.CORRUPT_MESSAGE),
        ("2.8", E.UNKNOWN_SERVER_ERROR, E.INVALID_RECORD),
        ("3.9", E.INVALID_RECORD, E.INVALID_RECORD),
        ("4.3", E.INVALID_RECORD, E.INVALID_RECORD),
    ],
)
def test_a_record_longer_than_its_batch(release, code, last):
    """A reader that had null for it trips, unless it was the last and bytes are left over."""
    for count, wanted in ((3, code), (2, last)):
        with pytest.raises(LogError) as refused:
            a_log(release).append(a_batch(NONE, RECORD + RECORD[:5], count), now=NOW)
        assert refused.value.code == wanted
