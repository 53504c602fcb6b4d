"""Record batches that a broker must refuse, and what it says about each.

Each batch is sound but for one thing, under a right checksum unless the checksum is the thing.
Sources: DefaultRecordBatch.ensureValid and iterator, DefaultRecord.readFrom, LogValidator at 1.0.2,
2.2.1, 2.8.2 and 3.9; KIP-98, KIP-467; clauses APPEND-06, 10, 11; the five releases were asked.
"""

from touchstone.harness.model.claim import OBSERVED, claim, range_
from touchstone.harness.model.expect import Expectation, all_of, by_release, refused
from touchstone.harness.model.placeholders import Records
from touchstone.harness.model.steps import a_topic, fetch, produce
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.records import varint
from touchstone.suites.kit.producing import refused_with, stored_at
from touchstone.suites.kit.records import RECORD, coded, damaged, messages
from touchstone.suites.kit.topics import among, ends_at, log_end

CODECS = ("none", "gzip", "snappy", "lz4")
WITH_BATCHES = {"api": "Produce", "versions": range_("Produce", 3), "where": among(3, 9, 13)}
ONCE = {"api": "Produce", "versions": range_("Produce", 3), "where": among(3, 9)}
NULL_HEADER_KEY = varint.encode(8) + b"\0\0\0\x01\x01\x02\x01\x01"
BROKEN_RECORDS = {
    "shorter than it says": (bytes((RECORD[0] + 2,)) + RECORD[1:], 1),
    "longer than it says": (bytes((RECORD[0] - 2,)) + RECORD[1:], 1),
    "key beyond the end": (RECORD[:4] + b"\x7e" + RECORD[5:], 1),
    "negative header count": (RECORD[:-1] + b"\x01", 1),
    "header without key": (NULL_HEADER_KEY, 1),
}


def refusal(step: str = "send") -> Expectation:
    """How a faulty record is refused: KIP-467 gave it a code of its own."""
    return by_release(
        {
            "1.0-2.2": refused_with(step, ErrorCode.CORRUPT_MESSAGE),
            "2.8+": refused_with(step, ErrorCode.INVALID_RECORD),
        }
    )


def judged(case, records, expectation: Expectation):
    """The one batch is sent; nothing of it is stored."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        produce(topic, 0, records, version=case.version, name="send", connection="b"),
        log_end(topic),
        expect=all_of(expectation, ends_at(0)),
    )


@claim(
    "records.wrong-crc-is-refused",
    evidence=("APPEND-06",),
    switches=("crc-not-checked",),
    codec=CODECS,
    **WITH_BATCHES,
)
def test_wrong_crc_is_refused(case):
    """Produce of a batch with a wrong CRC answers CORRUPT_MESSAGE and stores nothing."""
    wrong = Records(coded(b"a", codec=case.codec).build, patch=((17, b"\0\0\0\1"),))
    return judged(case, wrong, refused_with("send", ErrorCode.CORRUPT_MESSAGE))


@claim(
    "records.wrong-crc-of-a-message-is-refused",
    evidence=("APPEND-06",),
    api="Produce",
    versions=range_("Produce", 0, 2),
    releases="1.0-3.9",
    magic=(0, 1),
)
def test_wrong_crc_of_a_message_is_refused(case):
    """Produce of a message in format 0 or 1 with a wrong CRC answers CORRUPT_MESSAGE and stores
    nothing."""
    wrong = Records(messages(b"a", magic=case.magic).build, patch=((12, b"\0\0\0\1"),))
    return judged(case, wrong, refused_with("send", ErrorCode.CORRUPT_MESSAGE))


@claim(
    "records.count-must-equal-the-offset-range",
    evidence=("APPEND-11", "observed on 2.2.1, 2.8.2, 3.9.2 and 4.3.1"),
    releases="2.2+",
    switches=("record-count-not-checked",),
    delta=(5, -1),
    **WITH_BATCHES,
)
def test_count_must_equal_the_offset_range(case):
    """Produce of a batch whose last offset delta is not its record count minus one answers
    INVALID_RECORD (CORRUPT_MESSAGE before 2.4) and stores nothing."""
    return judged(case, damaged(last_offset_delta=case.delta), refusal())


@claim(
    "records.count-must-equal-the-records",
    evidence=("APPEND-11",),
    records=("more", "fewer", "a byte behind"),
    codec=CODECS,
    **ONCE,
)
def test_count_must_equal_the_records(case):
    """Produce of a batch with more or fewer records than it counts, or bytes behind them, answers
    INVALID_RECORD (CORRUPT_MESSAGE before 2.4) and stores nothing."""
    payload, count = {
        "more": (RECORD + RECORD, 1),
        "fewer": (RECORD, 2),
        "a byte behind": (RECORD + b"\0", 1),
    }[case.records]
    return judged(case, damaged(payload, count, case.codec), refusal())


@claim(
    "records.broken-records-are-refused",
    evidence=("KIP-98", "KIP-467"),
    fault=tuple(BROKEN_RECORDS),
    **ONCE,
)
def test_broken_records_are_refused(case):
    """Produce of a batch with a record of impossible lengths, or a header without a key, answers
    INVALID_RECORD (CORRUPT_MESSAGE before 2.4) and stores nothing."""
    return judged(case, damaged(*BROKEN_RECORDS[case.fault]), refusal())


@claim(
    "records.batches-without-records-are-refused",
    evidence=("APPEND-11",),
    codec=("none", "lz4"),
    **WITH_BATCHES,
)
def test_batches_without_records_are_refused(case):
    """Produce of a batch without records answers INVALID_RECORD (CORRUPT_MESSAGE before 2.4) and
    stores nothing."""
    return judged(case, damaged(b"", 0, case.codec), refusal())


@claim(
    "records.control-batches-are-refused",
    evidence=("APPEND-11", "KIP-98"),
    **WITH_BATCHES,
)
def test_control_batches_are_refused(case):
    """Produce of a control batch answers INVALID_RECORD (CORRUPT_MESSAGE before 2.4) and stores
    nothing."""
    return judged(case, damaged(attributes=0x20), refusal())


@claim(
    "records.base-offsets-are-zero",
    evidence=("APPEND-06",),
    offset=(1, -1, 2**62),
    **ONCE,
)
def test_base_offsets_are_zero(case):
    """Produce of a batch with a base offset other than 0 answers INVALID_RECORD (CORRUPT_MESSAGE
    before 2.4) and stores nothing."""
    return judged(case, damaged(base_offset=case.offset), refusal())


@claim(
    "records.unknown-formats-are-refused",
    evidence=("KIP-98", "observed on 1.0.2, 2.2.1, 2.8.2, 3.9.2 and 4.3.1"),
    level=OBSERVED,
    magic=(3, 127, 255),
    **ONCE,
)
def test_unknown_formats_are_refused(case):
    """Produce of a batch with an unknown magic answers CORRUPT_MESSAGE and stores nothing; 1.0 and
    2.2 close the connection."""
    records = Records(coded(b"a").build, patch=((16, bytes((case.magic,))),))
    return judged(
        case,
        records,
        by_release(
            {"1.0-2.2": refused("send"), "2.8+": refused_with("send", ErrorCode.CORRUPT_MESSAGE)}
        ),
    )


@claim(
    "records.old-formats-are-refused-since-version-3",
    evidence=("KIP-98", "observed on 1.0.2, 2.2.1, 2.8.2, 3.9.2 and 4.3.1"),
    magic=(0, 1),
    **WITH_BATCHES,
)
def test_old_formats_are_refused_since_version_3(case):
    """Produce since version 3 answers INVALID_RECORD for messages in format 0 or 1; 2.2 answers
    CORRUPT_MESSAGE and 1.0 closes the connection."""
    return judged(
        case,
        messages(b"a", magic=case.magic),
        by_release(
            {
                "1.0": refused("send"),
                "2.2": refused_with("send", ErrorCode.CORRUPT_MESSAGE),
                "2.8+": refused_with("send", ErrorCode.INVALID_RECORD),
            }
        ),
    )


@claim(
    "records.impossible-lengths-are-refused",
    evidence=("APPEND-06", "observed on 1.0.2, 2.2.1, 2.8.2, 3.9.2 and 4.3.1"),
    level=OBSERVED,
    length=(-1, 0, 10, 48),
    **ONCE,
)
def test_impossible_lengths_are_refused(case):
    """Produce of a batch that is shorter than its header answers CORRUPT_MESSAGE and stores
    nothing; 1.0 and 2.2 may close the connection."""
    word = case.length.to_bytes(4, "big", signed=True)
    records = Records(coded(b"a").build, patch=((8, word),))
    corrupt = refused_with("send", ErrorCode.CORRUPT_MESSAGE)
    by_parser = corrupt if case.length == 48 else refused("send")
    return judged(case, records, by_release({"1.0-2.2": by_parser, "2.8+": corrupt}))


@claim(
    "records.compacted-topics-refuse-records-without-key",
    evidence=("APPEND-10", "KIP-467"),
    switches=("keyless-on-compacted-accepted",),
    codec=CODECS,
    policy=("compact", "compact,delete"),
    **WITH_BATCHES,
)
def test_compacted_topics_refuse_records_without_key(case):
    """Produce to a compacted topic answers INVALID_RECORD (CORRUPT_MESSAGE before 2.4) for a batch
    with a record without a key and stores none of it."""
    topic = case.topic()
    mixed = coded((b"k", b"v"), b"keyless", (b"l", b"w"), b"keyless too", codec=case.codec)
    keyed = coded((b"k", b"v"), (b"", b"empty key"), (b"gone", None), codec=case.codec)
    return case.scenario(
        a_topic(topic, configs={"cleanup.policy": case.policy}),
        produce(topic, 0, mixed, version=case.version, name="send"),
        produce(topic, 0, keyed, version=case.version, name="keyed"),
        log_end(topic),
        expect=all_of(refusal(), stored_at("keyed", 0), ends_at(3)),
    )


@claim(
    "records.zstd-needs-version-7",
    evidence=("KIP-110",),
    releases="2.2+",
    api="Produce",
    versions=range_("Produce", 3),
    where=among(3, 6, 7, 9, 13),
)
def test_zstd_needs_version_7(case):
    """Produce of a zstd batch answers UNSUPPORTED_COMPRESSION_TYPE before version 7 and stores it
    since."""
    topic = case.topic()
    unsupported = all_of(refused_with("send", ErrorCode.UNSUPPORTED_COMPRESSION_TYPE), ends_at(0))
    return case.scenario(
        a_topic(topic),
        produce(topic, 0, coded(b"a", codec="zstd"), version=case.version, name="send"),
        log_end(topic),
        fetch(topic, version=10, max_wait_ms=0, name="read"),
        expect=unsupported if case.version < 7 else all_of(stored_at("send", 0), ends_at(1)),
    )
