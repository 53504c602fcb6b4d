"""A segment that was durable and is damaged now: what can be read is served, nothing is removed.

Each row was tried on 3.9.2 and 4.3.1 after a clean end: Kafka starts, keeps all files as they are,
serves every other segment, and answers CORRUPT_MESSAGE where a reader meets what is no batch.
"""

from __future__ import annotations

import pytest

from touchstone.reference_impl.log.rules import LogError
from touchstone.reference_impl.tests.log_dirs.test_recovery import a_clean_end, file_of, reopened
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.records import entries as positions
from touchstone.reference_impl.wire.records import read

SHORTEST = 17  # bytes up to the magic of a batch


def offsets(log, since: int = 0) -> list[int]:
    """What a reader gets from there on, segment by segment; he ignores a rest that is too short."""
    found = []
    while since < log.log_end_offset:
        data, at = bytes(log.read(since, 1 << 20).records), 0
        while len(data) - at > SHORTEST:
            size = 12 + int.from_bytes(data[at + 8 : at + 12], "big")
            found += [record["offset"] for record in read(data[at : at + size])]
            at += size
        since = found[-1] + 1
    return found


def stored(root) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (root / "words-0").glob("*.log")}


@pytest.mark.parametrize("base", [0, 3])
def test_stray_bytes_behind_a_closed_segment_cost_nothing(tmp_path, base):
    a_clean_end(tmp_path)
    path = file_of(tmp_path, base, "log")
    path.write_bytes(path.read_bytes() + bytes(13))
    before = stored(tmp_path)
    dirs, log = reopened(tmp_path)
    assert offsets(log) == list(range(8))
    assert stored(tmp_path) == before
    dirs.release()


def test_zeros_at_a_batch_are_said_to_be_corrupt_and_stay(tmp_path):
    a_clean_end(tmp_path)
    path = file_of(tmp_path, 3, "log")
    data = bytearray(path.read_bytes())
    at = [position for position, _, _ in positions(bytes(data))][1]
    data[at : at + 100] = bytes(100)
    path.write_bytes(data)
    before = stored(tmp_path)
    dirs, log = reopened(tmp_path)
    assert offsets(log, 6) == [6, 7]
    with pytest.raises(LogError) as refused:
        log.read(4, 1 << 20)
    assert refused.value.code == ErrorCode.CORRUPT_MESSAGE
    assert (log.log_end_offset, stored(tmp_path)) == (8, before)
    dirs.release()
