"""What a log accepts and refuses, rule by rule, under made-up instants and several releases."""

from __future__ import annotations

from dataclasses import replace

import pytest

from touchstone.reference_impl.broker.data.log_rules import rules_of
from touchstone.reference_impl.broker.defects import plant
from touchstone.reference_impl.broker.personas import PERSONAS, persona
from touchstone.reference_impl.log.partition_log import AppendResult, PartitionLog
from touchstone.reference_impl.log.rules import LogError
from touchstone.reference_impl.log.topic_config import TopicConfig
from touchstone.reference_impl.tests.log import stores
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.records import (
    GZIP,
    LZ4,
    NONE,
    SNAPPY,
    ZSTD,
    Message,
    Record,
    build,
    check_crc,
    compress,
    encode_batch,
    entries,
    read,
    rewrite,
)

NOW = 1_700_000_000_000
HOUR = 3_600_000


class LedAlone(PartitionLog):
    """The log of a leader without followers: all it has is seen at once."""

    def append(self, records: bytes, **how: object) -> AppendResult:
        result = super().append(records, **how)
        self.advance_high_watermark(self.log_end_offset)
        return result


def a_log(release: str = "4.3", switches: tuple[str, ...] = (), **config: object) -> PartitionLog:
    settings = replace(TopicConfig(), **config)
    log = LedAlone(
        "t",
        0,
        lambda: settings,
        rules=rules_of(persona(release)),
        store=stores.chosen[-1](lambda: settings),
    )
    return plant(log, switches)


def a_batch(*values: bytes, codec: int = NONE, **fields: object) -> bytes:
    return build(2, list(values) or [b"a", b"b", b"c"], codec, timestamp=NOW, **fields)


def refusal(log: PartitionLog, records: bytes) -> LogError:
    """The error of an append, which must have left no trace (APPEND-19)."""
    before = (log.log_end_offset, log.size, dict(log.producers.producers))
    with pytest.raises(LogError) as caught:
        log.append(records, now=NOW)
    assert (log.log_end_offset, log.size, log.producers.producers) == before
    return caught.value


def test_offsets_count_up_from_the_log_end():
    log = a_log()
    first, second = log.append(a_batch(), now=NOW), log.append(a_batch(b"d"), now=NOW)
    assert (first.base_offset, first.last_offset, second.base_offset) == (0, 2, 3)
    assert [row["offset"] for row in read(log.read(0, 10_000).records)] == [0, 1, 2, 3]


@pytest.mark.parametrize("codec", [NONE, GZIP, SNAPPY, LZ4, ZSTD])
def test_stored_batches_carry_offset_epoch_and_a_right_checksum(codec):
    log = a_log()
    log.append(a_batch(), now=NOW, leader_epoch=4)
    log.append(a_batch(codec=codec), now=NOW, leader_epoch=7)
    stored = log.read(3, 10_000).records
    for pos, size, magic in entries(stored):
        check_crc(stored, pos, size, magic)
    rows = read(stored)
    assert [row["offset"] for row in rows] == [3, 4, 5]
    assert {row["partition_leader_epoch"] for row in rows} == {7}


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"crc": 5}, ErrorCode.CORRUPT_MESSAGE),
        ({"base_offset": 3}, ErrorCode.INVALID_RECORD),
        ({"records_count": 2}, ErrorCode.INVALID_RECORD),
        ({"records_count": 0}, ErrorCode.INVALID_RECORD),
        ({"last_offset_delta": -1}, ErrorCode.INVALID_RECORD),
        ({"attributes": 0x20}, ErrorCode.INVALID_RECORD),
        ({"producer_id": 5}, ErrorCode.INVALID_RECORD),
        ({"attributes": 5}, ErrorCode.UNKNOWN_SERVER_ERROR),
    ],
)
def test_a_batch_that_lies_is_refused(fields, code):
    assert refusal(a_log(), rewrite(a_batch(), **fields)).code == code


@pytest.mark.parametrize(
    ("switch", "fields"),
    [("crc-not-checked", {"crc": 5}), ("record-count-not-checked", {"last_offset_delta": 4})],
)
def test_a_planted_defect_lets_the_lie_pass(switch, fields):
    lie = rewrite(a_batch(), **fields)
    refusal(a_log(), lie)
    assert a_log(switches=(switch,)).append(lie, now=NOW).base_offset == 0


def test_the_first_release_counts_records_not_offsets():
    log = a_log("1.0")
    log.append(rewrite(a_batch(), last_offset_delta=7), now=NOW)
    assert log.log_end_offset == 3


@pytest.mark.parametrize("release", PERSONAS)
def test_an_invalid_record_has_the_code_of_its_release(release):
    expected = ErrorCode.CORRUPT_MESSAGE if release < "2.4" else ErrorCode.INVALID_RECORD
    error = refusal(a_log(release, cleanup_policy=("compact",)), a_batch(b"no key"))
    assert error.code == expected
    assert bool(error.record_errors) == error.told == (release > "2.4")


def test_each_refused_record_is_named():
    error = refusal(a_log(cleanup_policy=("compact",)), build(2, [(b"k", b"v"), b"x"]))
    assert [fault.index for fault in error.record_errors] == [1]
    assert "without key" in error.record_errors[0].message
    assert "1 record errors in total" in error.message


@pytest.mark.parametrize(
    ("stamp", "bounds", "accepted"),
    [
        (NOW + HOUR, {}, True),
        (NOW + HOUR + 1, {}, False),
        (0, {}, True),
        (NOW - 11, {"message_timestamp_before_max_ms": 10}, False),
        (NOW - 10, {"message_timestamp_before_max_ms": 10}, True),
        (NOW + 11, {"message_timestamp_difference_max_ms": 10}, False),
        (-1, {"message_timestamp_before_max_ms": 10}, True),
    ],
)
def test_own_timestamps_stay_within_the_topics_bounds(stamp, bounds, accepted):
    records = build(2, [b"a"], timestamp=stamp)
    if accepted:
        assert a_log(**bounds).append(records, now=NOW).log_append_time == -1
    else:
        assert refusal(a_log(**bounds), records).code == ErrorCode.INVALID_TIMESTAMP


@pytest.mark.parametrize("codec", [NONE, LZ4])
def test_log_append_time_replaces_timestamps(codec):
    log = a_log(message_timestamp_type="LogAppendTime")
    result = log.append(a_batch(codec=codec), now=NOW + 5)
    stored = log.read(0, 10_000).records
    check_crc(stored, 0, len(stored), 2)
    assert result.log_append_time == NOW + 5
    assert {row["timestamp"] for row in read(stored)} == {NOW + 5}


def test_a_planted_defect_keeps_the_producers_timestamps():
    log = a_log(switches=("log-append-time-ignored",), message_timestamp_type="LogAppendTime")
    log.append(a_batch(), now=NOW + 5)
    assert {row["timestamp"] for row in read(log.read(0, 10_000).records)} == {NOW}


def test_a_wrong_newest_timestamp_is_put_right():
    log = a_log()
    log.append(rewrite(a_batch(), max_timestamp=NOW + 99), now=NOW)
    stored = log.read(0, 10_000).records
    check_crc(stored, 0, len(stored), 2)
    assert int.from_bytes(stored[35:43], "big") == NOW


@pytest.mark.parametrize("target", ["gzip", "snappy", "lz4", "zstd", "uncompressed"])
def test_the_topics_codec_replaces_the_producers(target):
    log = a_log(compression_type=target)
    log.append(a_batch(codec=NONE if target != "uncompressed" else GZIP), now=NOW)
    rows = read(log.read(0, 10_000).records)
    assert {row["compression"] for row in rows} == {target.replace("uncompressed", "none")}
    assert [row["value"] for row in rows] == [b"a", b"b", b"c"]


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", [NONE, GZIP])
def test_old_formats_are_stored_in_the_new_one(magic, codec):
    log = a_log("2.8")
    log.append(build(magic, [b"a", b"b"], codec, timestamp=NOW), now=NOW)
    rows = read(log.read(0, 10_000).records)
    assert [(row["offset"], row["magic"], row["value"]) for row in rows] == [
        (0, 2, b"a"),
        (1, 2, b"b"),
    ]


@pytest.mark.parametrize(("version", "magic"), [("0.9.0", 0), ("0.10.0", 1), ("1.0", 2)])
def test_an_old_release_may_store_an_old_format(version, magic):
    log = a_log("1.0", message_format_version=version)
    log.append(build(1, [b"a", b"b"], timestamp=NOW), now=NOW)
    assert {row["magic"] for row in read(log.read(0, 10_000).records)} == {magic}


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("release", ["1.0", "2.2", "2.8", "3.9"])
def test_a_message_inside_a_wrapper_has_a_crc_of_its_own(release, magic):
    inner = bytearray(build(magic, [b"a"], timestamp=NOW))
    for wrong, code in ((False, None), (True, ErrorCode.CORRUPT_MESSAGE)):
        inner[-1] ^= wrong
        wrapper = Message(0, magic, GZIP, NOW, None, compress(GZIP, bytes(inner))).encode()
        try:
            a_log(release).append(wrapper, now=NOW)
            refused = None
        except LogError as error:
            refused = error.code
        assert refused == code


def test_sizes_are_limited_by_batch_and_by_segment():
    assert refusal(a_log(max_message_bytes=60), a_batch()).code == ErrorCode.MESSAGE_TOO_LARGE
    assert refusal(a_log(segment_bytes=60), a_batch()).code == ErrorCode.RECORD_LIST_TOO_LARGE
    loose = a_log(switches=("max-message-bytes-ignored",), max_message_bytes=60)
    assert loose.append(a_batch(), now=NOW).base_offset == 0


def test_nothing_and_trailing_bytes_are_no_append():
    log = a_log()
    assert log.append(b"", now=NOW).base_offset == -1
    log.append(a_batch() + b"\0\0\0", now=NOW)
    assert log.size == len(a_batch())


def test_two_batches_in_one_append_depend_on_the_release():
    two = a_batch() + a_batch()
    assert a_log("2.2").append(two, now=NOW).last_offset == 5
    assert refusal(a_log("2.8"), two).code == ErrorCode.INVALID_RECORD


@pytest.mark.parametrize(
    ("release", "codec", "target", "stored"),
    [
        ("2.2", GZIP, "producer", True),
        ("2.8", GZIP, "producer", False),
        ("4.3", GZIP, "producer", False),
        ("4.3", GZIP, "lz4", True),
        ("4.3", NONE, "producer", True),
    ],
)
def test_odd_offset_deltas_of_a_compressed_batch(release, codec, target, stored):
    odd = encode_batch(
        [Record(delta, 0, b"k", b"v") for delta in (0, 2)], base_timestamp=NOW, compression=codec
    )
    odd = rewrite(odd, last_offset_delta=1)
    log = a_log(release, compression_type=target)
    if stored:
        assert log.append(odd, now=NOW).last_offset == 1
    else:
        assert refusal(log, odd).code == ErrorCode.UNKNOWN_SERVER_ERROR
