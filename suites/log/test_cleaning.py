"""When compaction happens, and when it does not: lags, dirtiness, policies that change, formats.

Sources: KIP-58 (min.compaction.lag.ms), KIP-71 (compact,delete), KIP-354 (max.compaction.lag.ms);
LogCleanerManager at 1.0.2, 2.2.1, 2.8.2, 3.9.2; clauses LOG-23 to LOG-25.
"""

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, batches, records
from touchstone.harness.model.placeholders import Now, Records
from touchstone.harness.model.scenario import Until
from touchstone.harness.model.steps import (
    a_topic,
    alter_configs,
    fetch,
    produce,
)
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.producing import CODE
from touchstone.suites.kit.records import ONE, THREE, TWO, keyed, pairs
from touchstone.suites.kit.segments import (
    COMPACT,
    END,
    FIRST,
    HOUR,
    LAST,
    MINUTE,
    NEXT,
    READ,
    RECORD,
    SECOND,
    SEGMENT_MS,
    A,
    B,
    C,
    cleaned,
    closing,
    compacted,
    segmented,
    shrunk,
)
from touchstone.suites.kit.topics import appended


@claim(
    "log.young-records-are-not-compacted-yet",
    evidence=(
        "LOG-25",
        "KIP-58",
    ),
    **READ,
)
def test_young_records_are_not_compacted_yet(case):
    """The cleaner compacts records that are older than min.compaction.lag.ms and keeps every value
    of a key in younger segments."""
    topic = case.topic()
    configs = {"segment.ms": SEGMENT_MS, "min.compaction.lag.ms": 10 * MINUTE}
    many = (
        keyed(A, ONE, at=-HOUR), keyed(A, TWO, at=-HOUR + 100),
        keyed(B, ONE, at=FIRST), keyed(B, TWO, at=SECOND),
    )  # fmt: skip
    return case.scenario(
        segmented(topic, *many, closing(), configs=configs),
        alter_configs(topic, configs | COMPACT, name="compact"),
        cleaned(topic, RECORD),
        fetch(topic, 0, 2, max_wait_ms=0, name="young"),
        expect=all_of(
            records("cleaned", "[*].value").is_([TWO]),
            records("young", "[*].value").is_([ONE, TWO]),
        ),
    )


@claim("log.a-log-that-is-not-dirty-enough-waits", evidence=("LOG-25",), **READ)
def test_a_log_that_is_not_dirty_enough_waits(case):
    """A compacted log whose share of uncleaned bytes does not exceed min.cleanable.dirty.ratio is
    not cleaned, though another log is meanwhile."""
    topic, witness = case.topic(), case.topic("witness")
    half = {"segment.ms": SEGMENT_MS, "cleanup.policy": "compact"}
    small, large = {"max.message.bytes": RECORD}, keyed(END, b"x" * 200, at=FIRST)
    return case.scenario(
        segmented(topic, keyed(A, ONE, at=-HOUR), keyed(A, TWO, at=-HOUR), closing(FIRST)),
        alter_configs(topic, half | COMPACT | small, name="compact"),
        cleaned(topic, RECORD),
        alter_configs(topic, half | {"min.cleanable.dirty.ratio": 1}, name="raise"),
        Until(produce(topic, 0, large, name="same key"), CODE, "==", ErrorCode.NONE),
        produce(topic, 0, closing(LAST), name="close"),
        compacted_witness(witness),
        fetch(topic, 0, 2, max_wait_ms=0, name="dirty"),
        expect=records("dirty", "[*].key").is_([END, END]),
    )


def compacted_witness(witness):
    """Another log that gets dirty and clean."""
    many = keyed(A, ONE, at=FIRST), keyed(A, TWO, at=SECOND), closing()
    configs = {"segment.ms": SEGMENT_MS} | COMPACT
    return [
        segmented(witness, configs=configs),
        *(produce(witness, 0, batch, name=f"witness {index}") for index, batch in enumerate(many)),
        cleaned(witness, RECORD, name="witness cleaned"),
    ]


@claim(
    "log.compaction-cannot-wait-for-ever",
    evidence=(
        "KIP-354",
        "LOG-25",
    ),
    releases="2.8+",
    **READ,
)
def test_compaction_cannot_wait_for_ever(case):
    """Records older than max.compaction.lag.ms are compacted, the active segment being rolled for
    it, even where min.cleanable.dirty.ratio is 1."""
    topic = case.topic()
    configs = {
        "cleanup.policy": "compact",
        "min.cleanable.dirty.ratio": 1,
        "max.compaction.lag.ms": 10 * MINUTE,
    }
    many = keyed(A, ONE, at=-HOUR), keyed(A, TWO, at=-HOUR + 100), closing(LAST)
    return case.scenario(
        a_topic(topic, configs=configs),
        appended(topic, *many),
        cleaned(topic, RECORD),
        expect=records("cleaned", "[*].value").is_([TWO]),
    )


@claim(
    "log.compact-and-delete-compacts",
    evidence=(
        "LOG-24",
        "KIP-71",
    ),
    **READ,
)
def test_compact_and_delete_compacts(case):
    """With cleanup.policy=compact,delete the cleaner keeps the last value of each key, as with
    compact alone."""
    topic = case.topic()
    both = {"segment.ms": SEGMENT_MS, **COMPACT, "cleanup.policy": "compact,delete"}
    many = keyed(A, ONE, at=FIRST), keyed(A, TWO, at=SECOND)
    return case.scenario(
        segmented(topic, *many, closing()),
        alter_configs(topic, both, name="both"),
        cleaned(topic, RECORD),
        expect=records("cleaned", "[*].value").is_([TWO]),
    )


@claim(
    "log.a-log-that-is-compact-no-more-keeps-what-comes",
    evidence=(
        "LOG-23",
        "DYN-10",
    ),
    **READ,
)
def test_a_log_that_is_compact_no_more_keeps_what_comes(case):
    """A topic whose cleanup.policy changes from compact back to delete is not cleaned any more and
    accepts records without a key."""
    topic = case.topic()
    many = keyed(A, ONE, at=FIRST), keyed(A, TWO, at=SECOND), closing(NEXT)
    keyless = Records({"magic": 2, "records": [ONE], "timestamp": Now(NEXT)})
    return case.scenario(
        compacted(topic, *many, leaves=RECORD),
        alter_configs(topic, {"segment.ms": SEGMENT_MS}, name="delete"),
        Until(produce(topic, 0, keyless, name="keyless"), CODE, "==", ErrorCode.NONE),
        produce(topic, 0, closing(LAST), name="close"),
        compacted_witness(case.topic("witness")),
        fetch(topic, 0, 2, max_wait_ms=0, name="rest"),
        expect=records("rest", "[*].key").is_([END, None]),
    )


@claim(
    "log.append-times-survive-compaction",
    evidence=(
        "LOG-24",
        "APPEND-09",
    ),
    releases="2.2+",
    **READ,
)
def test_append_times_survive_compaction(case):
    """A batch with LogAppendTime keeps that timestamp type when the cleaner removes some of its
    records."""
    topic = case.topic()
    # So small an index is full at once: each batch is a segment, whenever it came.
    stamped = {"message.timestamp.type": "LogAppendTime", "segment.index.bytes": 12}
    return case.scenario(
        a_topic(topic, configs=stamped),
        appended(topic, pairs((A, ONE), (C, ONE)), keyed(A, TWO), closing()),
        alter_configs(topic, stamped | COMPACT, name="compact"),
        cleaned(topic, RECORD),
        expect=all_of(
            batches("cleaned", "[0].attributes").is_(8),
            records("cleaned", "[*].key").is_([C]),
        ),
    )


@claim(
    "log.old-messages-are-compacted-in-their-format",
    evidence=("LOG-24",),
    releases="1.0-2.8",
    codec=("none", "gzip"),
    format=("0.9.0.0", "0.10.0"),
    **READ,
)
def test_old_messages_are_compacted_in_their_format(case):
    """The cleaner compacts a log in message format 0 or 1, single messages and compressed sets, and
    keeps the last message of a key."""
    topic = case.topic()
    configs = {"segment.index.bytes": 36, "index.interval.bytes": 1,
               "message.format.version": case.format}  # fmt: skip
    if case.codec == "none":
        first = [keyed(key, ONE, at=FIRST) for key in (A, B, C)]
    else:
        first = [pairs((A, ONE), (B, ONE), (C, ONE), at=FIRST, compression=1)]
    filler = [keyed(A, THREE, at=FIRST + index) for index in range(6)]
    return case.scenario(
        a_topic(topic, configs=configs),
        appended(topic, *first, keyed(B, TWO, at=FIRST), *filler),
        alter_configs(topic, configs | COMPACT, name="compact"),
        shrunk(topic, 160),
        expect=all_of(
            records("cleaned", "[0].key").is_(C),
            records("cleaned", "[0].value").is_(ONE),
            records("cleaned", "[1].key").is_(B),
            records("cleaned", "[1].value").is_(TWO),
            batches("cleaned", "[0].magic").is_(0 if case.format == "0.9.0.0" else 1),
        ),
    )
