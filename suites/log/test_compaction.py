"""What the cleaner keeps of a compacted log, batch by batch.

Logs are written first and told to be compact afterwards, so that every release cleans them once and
from the same state; a reader from offset 0 then sees the cleaned segment and nothing else, down to
the fields of its batches. `leaves` is that segment's size.

Sources: KIP-58 (min.compaction.lag.ms), KIP-71 (compact,delete), KIP-98 (producers), KIP-354
(max.compaction.lag.ms), KIP-534 (delete horizon); Cleaner and LogCleanerManager at 1.0.2, 2.2.1,
2.8.2, 3.9.2; 4.3.1 observed; clauses LOG-23 to LOG-25.
"""

from touchstone.harness.model.claim import claim, only
from touchstone.harness.model.expect import all_of, answer, batches, by_release, records
from touchstone.harness.model.placeholders import Now, Records, Ref
from touchstone.harness.model.steps import (
    alter_configs,
    fetch,
    init_producer_id,
    list_offsets,
    produce,
    producer_ready,
)
from touchstone.suites.kit.producing import stored_at
from touchstone.suites.kit.records import ONE, THREE, TWO, from_producer, keyed, pairs
from touchstone.suites.kit.segments import (
    BATCH,
    COMPACT,
    END,
    FAST_LOG_MANAGER,
    FIRST,
    HOUR,
    LAST,
    MINUTE,
    NEXT,
    READ,
    RECORD,
    SECOND,
    SEGMENT_MS,
    THIRD,
    TOMBSTONE,
    A,
    B,
    C,
    cleaned,
    closing,
    compacted,
    earliest,
    segmented,
    shrunk,
)
from touchstone.suites.kit.topics import appended, ends_at, log_end

ROW = "topics[0].partitions[0]"


@claim(
    "log.the-last-value-of-each-key-stays",
    evidence=("LOG-24",),
    switches=("compaction-drops-last-value",),
    **READ,
)
def test_the_last_value_of_each_key_stays(case):
    """Compaction keeps the last record of each key at its own offset and in order; log start and
    log end stay."""
    topic = case.topic()
    many = (
        keyed(A, ONE, at=FIRST), keyed(B, ONE, at=FIRST), keyed(A, TWO, at=SECOND),
        keyed(C, ONE, at=THIRD), keyed(B, TWO, at=THIRD),
    )  # fmt: skip
    return case.scenario(
        compacted(topic, *many, closing(), leaves=3 * RECORD),
        log_end(topic),
        earliest(topic),
        expect=all_of(
            records("cleaned", "[*].offset").is_([2, 3, 4]),
            records("cleaned", "[*].key").is_([A, C, B]),
            records("cleaned", "[*].value").is_([TWO, ONE, TWO]),
            answer("earliest", f"{ROW}.offset").is_(0),
            ends_at(6),
        ),
    )


@claim(
    "log.a-removed-offset-leads-to-the-next",
    evidence=(
        "LOG-24",
        "FETCH-15",
    ),
    **READ,
)
def test_a_removed_offset_leads_to_the_next(case):
    """A Fetch from an offset whose record compaction removed returns the records that follow it."""
    topic = case.topic()
    many = keyed(A, ONE, at=FIRST), keyed(A, TWO, at=SECOND), keyed(B, ONE, at=THIRD)
    return case.scenario(
        compacted(topic, *many, closing(), leaves=2 * RECORD),
        fetch(topic, 0, 0, max_wait_ms=0, name="first"),
        fetch(topic, 0, 1, max_wait_ms=0, name="second"),
        fetch(topic, 0, 2, max_wait_ms=0, name="third"),
        expect=all_of(
            records("first", "[*].offset").is_([1, 2]),
            records("second", "[*].offset").is_([1, 2]),
            records("third", "[*].offset").is_([2]),
        ),
    )


@claim("log.the-active-segment-is-not-cleaned", evidence=("LOG-24",), **READ)
def test_the_active_segment_is_not_cleaned(case):
    """Compaction neither removes records of the active segment nor lets them replace older records
    of their keys."""
    topic = case.topic()
    many = keyed(A, ONE, at=FIRST), keyed(A, TWO, at=SECOND)
    active = keyed(A, THREE, at=LAST), keyed(A, ONE, at=LAST)
    return case.scenario(
        compacted(topic, *many, *active, leaves=RECORD),
        fetch(topic, 0, 2, max_wait_ms=0, name="active"),
        expect=all_of(
            records("cleaned", "[*].value").is_([TWO]),
            records("active", "[*].value").is_([THREE, ONE]),
        ),
    )


@claim("log.part-of-a-batch-stays-a-batch", evidence=("LOG-24",), **READ)
def test_part_of_a_batch_stays_a_batch(case):
    """A batch that loses some records to compaction keeps its base offset, its last offset and the
    offsets of the records that remain."""
    topic = case.topic()
    many = pairs((A, ONE), (B, ONE), (C, ONE), at=FIRST), pairs((A, TWO), (C, TWO), at=SECOND)
    return case.scenario(
        compacted(topic, *many, closing(), leaves=RECORD + 97),
        expect=all_of(
            batches("cleaned", "[*].base_offset").is_([0, 3]),
            batches("cleaned", "[*].last_offset_delta").is_([2, 1]),
            batches("cleaned", "[*].records_count").is_([1, 2]),
            records("cleaned", "[*].offset").is_([1, 3, 4]),
        ),
    )


@claim(
    "log.what-is-left-keeps-its-times",
    evidence=(
        "LOG-24",
        "META-02",
    ),
    **READ,
)
def test_what_is_left_keeps_its_times(case):
    """Records keep their timestamps through compaction, and a batch takes the newest timestamp that
    remains as its max_timestamp; ListOffsets by time finds them."""
    topic = case.topic()
    mixed = Records(
        {
            "magic": 2,
            "records": [
                {"key": A, "value": ONE, "timestamp": Now(FIRST)},
                {"key": B, "value": ONE, "timestamp": Now(FIRST + 100)},
                {"key": C, "value": ONE, "timestamp": Now(FIRST + 900)},
            ],
        }
    )
    return case.scenario(
        segmented(topic, mixed, pairs((A, TWO), (C, TWO), at=FIRST + 950), closing()),
        alter_configs(topic, {"segment.ms": SEGMENT_MS} | COMPACT, name="compact"),
        shrunk(topic, 200),
        list_offsets(topic, timestamp=Now(FIRST), name="by time"),
        list_offsets(topic, timestamp=Now(FIRST + 101), name="later"),
        expect=all_of(
            batches("cleaned", "[0].max_timestamp").is_(Now(FIRST + 100)),
            records("cleaned", "[*].offset").is_([1, 3, 4]),
            records("cleaned", "[0].timestamp").is_(Now(FIRST + 100)),
            answer("by time", f"{ROW}.offset").is_(1),
            answer("later", f"{ROW}.offset").is_(3),
        ),
    )


@claim("log.a-key-may-be-empty", evidence=("LOG-24",), **READ)
def test_a_key_may_be_empty(case):
    """Compaction treats the empty key like any other key and keeps its last value."""
    topic = case.topic()
    many = keyed(b"", ONE, at=FIRST), keyed(b"", TWO, at=SECOND)
    return case.scenario(
        compacted(topic, *many, closing(), leaves=RECORD - 1),
        expect=records("cleaned", "[*].value").is_([TWO]),
    )


@claim(
    "log.headers-stay-with-their-record",
    evidence=(
        "LOG-24",
        "KIP-82",
    ),
    **READ,
)
def test_headers_stay_with_their_record(case):
    """A record with headers survives the compaction of another record of its batch, headers
    included."""
    topic = case.topic()
    header = {"key": B, "value": ONE, "headers": [("h", b"1"), ("h", None)]}
    mixed = Records(
        {"magic": 2, "records": [{"key": A, "value": ONE}, header], "timestamp": Now(FIRST)}
    )
    return case.scenario(
        compacted(topic, mixed, keyed(A, TWO, at=SECOND), closing(), leaves=2 * RECORD + 7),
        expect=all_of(
            records("cleaned", "[*].key").is_([B, A]),
            records("cleaned", "[0].headers").is_([[b"h", b"1"], [b"h", None]]),
        ),
    )


@claim(
    "log.compressed-batches-stay-compressed", evidence=("LOG-24",), codec=("gzip", "lz4"), **READ
)
def test_compressed_batches_stay_compressed(case):
    """A compressed batch that loses some records to compaction stays compressed with its codec."""
    topic, codec = case.topic(), {"gzip": 1, "lz4": 3}[case.codec]
    many = (
        keyed(A, b"x" * 500, at=FIRST),
        pairs((A, ONE), (B, b"value" * 200), (C, ONE), at=FIRST, compression=codec),
        keyed(A, TWO, at=SECOND),
    )
    return case.scenario(
        segmented(topic, *many, closing()),
        alter_configs(topic, {"segment.ms": SEGMENT_MS} | COMPACT, name="compact"),
        shrunk(topic, 500),
        expect=all_of(
            batches("cleaned", "[*].attributes").is_([codec, 0]),
            records("cleaned", "[*].key").is_([B, C, A]),
        ),
    )


@claim(
    "log.a-tombstone-removes-and-stays",
    evidence=(
        "LOG-24",
        "KIP-534",
    ),
    **READ,
)
def test_a_tombstone_removes_and_stays(case):
    """A record with a null value removes the earlier records of its key and stays itself until
    delete.retention.ms ends; since 3.1 its batch carries the delete horizon."""
    topic = case.topic()
    many = keyed(A, ONE, at=FIRST), keyed(B, ONE, at=FIRST), keyed(A, None, at=SECOND)
    marked = batches("cleaned", "[1].attributes")
    return case.scenario(
        segmented(topic, *many, closing()),
        alter_configs(topic, {"segment.ms": SEGMENT_MS} | COMPACT, name="compact"),
        shrunk(topic, 2 * RECORD + TOMBSTONE),
        expect=all_of(
            records("cleaned", "[*].key").is_([B, A]),
            records("cleaned", "[1].value").is_(None),
            by_release({"1.0-2.8": marked.is_(0), "3.9+": marked.is_(0x40)}),
        ),
    )


@claim(
    "log.tombstones-go-in-the-end",
    evidence=(
        "LOG-24",
        "KIP-534",
    ),
    switches=("tombstone-kept-forever",),
    **READ,
)
def test_tombstones_go_in_the_end(case):
    """A cleaning after delete.retention.ms has passed removes the tombstone."""
    topic = case.topic()
    at_once = {"segment.ms": SEGMENT_MS, "delete.retention.ms": 0}
    many = keyed(A, ONE, at=FIRST), keyed(B, ONE, at=FIRST), keyed(A, None, at=SECOND)
    return case.scenario(
        segmented(topic, *many, closing(NEXT), configs=at_once),
        alter_configs(topic, at_once | COMPACT, name="compact"),
        shrunk(topic, 2 * RECORD + TOMBSTONE),
        produce(topic, 0, keyed(C, ONE, at=LAST), name="more"),
        cleaned(topic, 2 * RECORD, name="cleaned again"),
        expect=all_of(
            records("cleaned", "[*].key").is_([B, A]),
            records("cleaned again", "[*].key").is_([B, END]),
        ),
    )


@claim("log.a-later-value-replaces-a-tombstone", evidence=("LOG-24",), **READ)
def test_a_later_value_replaces_a_tombstone(case):
    """A record that follows a tombstone of the same key replaces it: compaction keeps that record
    alone."""
    topic = case.topic()
    many = keyed(A, ONE, at=FIRST), keyed(A, None, at=SECOND), keyed(A, TWO, at=THIRD)
    return case.scenario(
        compacted(topic, *many, closing(), leaves=RECORD),
        expect=records("cleaned", "[*].value").is_([TWO]),
    )


@claim(
    "log.the-last-batch-of-a-producer-stays",
    evidence=(
        "LOG-25",
        "KIP-98",
    ),
    api="Produce",
    versions=only("Produce", 3),
    config=FAST_LOG_MANAGER,
)
def test_the_last_batch_of_a_producer_stays(case):
    """Compaction keeps the last batch of each idempotent producer, without records if need be, so a
    repeated sequence is still answered with its offset and the next one is accepted."""
    topic, producer = case.topic(), Ref("init", "producer_id")

    def send(sequence, value, at, name):
        record = {"key": A, "value": value}
        batch = from_producer(producer, 0, sequence, record, timestamp=Now(at))
        return produce(topic, 0, batch, name=name)

    configs = {"segment.ms": SEGMENT_MS}
    return case.scenario(
        segmented(topic),
        producer_ready(),
        init_producer_id(name="init"),
        send(0, ONE, FIRST, "one"),
        send(1, TWO, SECOND, "two"),
        appended(topic, keyed(A, THREE, at=THIRD), closing()),
        alter_configs(topic, configs | COMPACT, name="compact"),
        cleaned(topic, BATCH + RECORD),
        send(1, TWO, SECOND, "two again"),
        send(2, ONE, LAST, "three"),
        expect=all_of(
            batches("cleaned", "[*].records_count").is_([0, 1]),
            batches("cleaned", "[0].base_sequence").is_(1),
            records("cleaned", "[*].value").is_([THREE]),
            stored_at("two again", 1),
            stored_at("three", 4),
        ),
    )


@claim("log.several-segments-become-one", evidence=("LOG-24",), **READ)
def test_several_segments_become_one(case):
    """Compaction merges small segments into one: a single Fetch then returns the records of all of
    them."""
    topic = case.topic()
    many = keyed(A, ONE, at=-3 * MINUTE), keyed(B, ONE, at=FIRST), keyed(C, ONE, at=NEXT)
    return case.scenario(
        segmented(topic, keyed(C, TWO, at=-HOUR), *many, closing()),
        fetch(topic, 0, 1, max_wait_ms=0, name="before"),
        alter_configs(topic, {"segment.ms": SEGMENT_MS} | COMPACT, name="compact"),
        cleaned(topic, 3 * RECORD),
        expect=all_of(
            records("before", "[*].key").is_([A]),
            records("cleaned", "[*].key").is_([A, B, C]),
        ),
    )


@claim(
    "log.what-is-clean-can-get-dirty",
    evidence=(
        "LOG-24",
        "LOG-25",
    ),
    **READ,
)
def test_what_is_clean_can_get_dirty(case):
    """A second cleaning removes a record that the first one kept when a newer value of its key has
    been written."""
    topic = case.topic()
    many = keyed(A, ONE, at=FIRST), keyed(A, TWO, at=SECOND), keyed(B, ONE, at=NEXT)
    return case.scenario(
        compacted(topic, *many, leaves=RECORD),
        produce(topic, 0, keyed(A, THREE, at=NEXT), name="newer"),
        produce(topic, 0, closing(), name="close"),
        cleaned(topic, 2 * RECORD, name="again"),
        expect=all_of(
            records("cleaned", "[*].value").is_([TWO]),
            records("again", "[*].value").is_([ONE, THREE]),
        ),
    )
