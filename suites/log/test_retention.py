"""What retention takes away, by time, by size and by log start, and what it must leave.

Nothing is judged by how long it takes. "It goes" is awaited; "it stays" is looked at after the same
pass took something else, or after `retention_passes`.

Sources: Log.deleteOldSegments and its three rules at 1.0.2, 2.2.1, 2.8.2, UnifiedLog at 3.9.2 and
4.3.1, LogManager.cleanupLogs; clauses LOG-16 to LOG-20, LOG-27.
"""

from touchstone.harness.model.claim import claim, only
from touchstone.harness.model.expect import all_of, answer, records
from touchstone.harness.model.placeholders import Now
from touchstone.harness.model.steps import (
    delete_records,
    fetch,
    list_offsets,
    offset_for_leader_epoch,
    produce,
)
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.producing import stored_at
from touchstone.suites.kit.records import ONE, SIZE, THREE, TWO, batch, keyed, stamped
from touchstone.suites.kit.segments import (
    FAST_LOG_MANAGER,
    FOREVER,
    LOOK,
    MINUTE,
    OLD,
    OLDER,
    SIZES,
    TEN_MINUTES,
    describe_log_dirs,
    earliest,
    retention_passes,
    segmented,
    size_is,
    starts_at,
    stays_at,
)
from touchstone.suites.kit.topics import ends_at, log_end

ROW = "topics[0].partitions[0]"
FETCHED = "responses[0].partitions[0]"


def only_the_first_goes(case, *many):
    """A log of these segments loses the first one only, however often retention passes."""
    topic = case.topic()
    return case.scenario(
        segmented(topic, *many, configs=TEN_MINUTES),
        starts_at(topic, 1),
        retention_passes(case.topic("witness")),
        earliest(topic, "after"),
        expect=stays_at(1, "after"),
    )


@claim(
    "log.retention-by-time",
    evidence=(
        "LOG-16",
        "LOG-17",
        "LOG-20",
    ),
    switches=("retention-ignored",),
    **LOOK,
)
def test_retention_by_time(case):
    """Retention deletes the oldest segments whose newest record is older than retention.ms; the log
    start follows and the log end stays."""
    topic = case.topic()
    many = batch(ONE, at=OLDER), batch(TWO, at=OLD), batch(THREE)
    return case.scenario(
        segmented(topic, *many, configs=TEN_MINUTES),
        starts_at(topic, 2),
        log_end(topic),
        fetch(topic, 0, 2, max_wait_ms=0, name="rest"),
        expect=all_of(
            answer("earliest", f"{ROW}.offset").is_(2),
            ends_at(3),
            records("rest", "[*].value").is_([THREE]),
        ),
    )


@claim(
    "log.what-retention-took-is-out-of-range",
    evidence=(
        "LOG-20",
        "FETCH-13",
    ),
    api="Fetch",
    versions=only("Fetch", 5),
    config=FAST_LOG_MANAGER,
)
def test_what_retention_took_is_out_of_range(case):
    """A Fetch below the log start that retention left answers OFFSET_OUT_OF_RANGE; one at the log
    start returns it as log_start_offset."""
    topic = case.topic()
    return case.scenario(
        segmented(topic, batch(ONE, at=OLD), batch(TWO), configs=TEN_MINUTES),
        starts_at(topic, 1),
        fetch(topic, 0, 0, version=case.version, max_wait_ms=0, name="below"),
        fetch(topic, 0, 1, version=case.version, max_wait_ms=0, name="at"),
        expect=all_of(
            answer("below", f"{FETCHED}.error_code").is_(ErrorCode.OFFSET_OUT_OF_RANGE),
            answer("at", f"{FETCHED}.log_start_offset").is_(1),
        ),
    )


@claim(
    "log.times-are-looked-up-in-what-is-left",
    evidence=(
        "LOG-20",
        "META-02",
    ),
    **LOOK,
)
def test_times_are_looked_up_in_what_is_left(case):
    """ListOffsets for a time whose records retention deleted returns the first record that
    remains."""
    topic = case.topic()
    return case.scenario(
        segmented(topic, batch(ONE, at=OLD), batch(TWO), configs=TEN_MINUTES),
        starts_at(topic, 1),
        list_offsets(topic, timestamp=Now(OLDER), name="by time"),
        expect=answer("by time", f"{ROW}.offset").is_(1),
    )


@claim("log.retention-stops-at-the-first-segment-that-stays", evidence=("LOG-16",), **LOOK)
def test_retention_stops_at_the_first_segment_that_stays(case):
    """Retention keeps a segment older than retention.ms that follows a younger one: it deletes from
    the beginning of the log only."""
    many = batch(ONE, at=OLD), stamped(-MINUTE, OLD), batch(TWO, at=10_000), batch(THREE, at=OLD)
    return only_the_first_goes(case, *many)


@claim("log.one-young-record-keeps-a-segment", evidence=("LOG-17",), **LOOK)
def test_one_young_record_keeps_a_segment(case):
    """Retention keeps a segment whose newest record is younger than retention.ms, even where older
    records follow that one."""
    many = batch(ONE, at=OLDER), stamped(-MINUTE, OLD), batch(THREE)
    return only_the_first_goes(case, *many)


@claim("log.a-record-from-the-future-keeps-its-segment", evidence=("LOG-17",), **LOOK)
def test_a_record_from_the_future_keeps_its_segment(case):
    """Retention keeps a segment with a record stamped in the future, and all segments behind it."""
    topic = case.topic()
    many = batch(ONE, at=OLD), batch(TWO, at=30 * MINUTE), batch(THREE, at=40 * MINUTE)
    return case.scenario(
        segmented(topic, *many, configs={"retention.ms": 1}),
        starts_at(topic, 1),
        retention_passes(case.topic("witness")),
        earliest(topic, "after"),
        expect=stays_at(1, "after"),
    )


@claim(
    "log.negative-retention-keeps-everything",
    evidence=(
        "LOG-17",
        "LOG-18",
    ),
    **LOOK,
)
def test_negative_retention_keeps_everything(case):
    """With retention.ms=-1 and retention.bytes=-1 retention deletes nothing."""
    topic = case.topic()
    configs = FOREVER | {"retention.bytes": -1}
    return case.scenario(
        segmented(topic, batch(ONE, at=OLD), batch(TWO), configs=configs),
        retention_passes(case.topic("witness")),
        earliest(topic),
        expect=stays_at(0),
    )


@claim("log.when-all-is-old-the-log-is-empty", evidence=("LOG-20",), **LOOK)
def test_when_all_is_old_the_log_is_empty(case):
    """When every segment is older than retention.ms, retention deletes the active one too: the log
    is empty, and the next record takes the next offset."""
    topic = case.topic()
    return case.scenario(
        segmented(topic, batch(ONE, at=OLDER), batch(TWO, at=OLD), configs=TEN_MINUTES),
        starts_at(topic, 2),
        log_end(topic),
        fetch(topic, 0, 2, max_wait_ms=0, name="empty"),
        produce(topic, 0, batch(THREE), name="next"),
        fetch(topic, 0, 2, max_wait_ms=0, name="read"),
        expect=all_of(
            ends_at(2),
            answer("empty", f"{FETCHED}.error_code").is_(ErrorCode.NONE),
            answer("empty", f"{FETCHED}.records").has_length(0),
            stored_at("next", 2),
            records("read", "[*].value").is_([THREE]),
        ),
    )


@claim(
    "log.an-emptied-log-keeps-its-epoch",
    evidence=("LOG-20",),
    api="OffsetForLeaderEpoch",
    versions=only("OffsetForLeaderEpoch", 3),
    config=FAST_LOG_MANAGER,
    releases="2.8+",
)
def test_an_emptied_log_keeps_its_epoch(case):
    """OffsetForLeaderEpoch returns the log end for the leader's epoch after retention deleted every
    record."""
    topic = case.topic()
    return case.scenario(
        segmented(topic, batch(ONE, at=OLD), configs=TEN_MINUTES),
        starts_at(topic, 1),
        offset_for_leader_epoch(topic, 0, 0, version=case.version, name="epoch"),
        expect=answer("epoch", f"{ROW}.end_offset").is_(1),
    )


@claim(
    "log.retention-by-size",
    evidence=(
        "LOG-16",
        "LOG-18",
    ),
    more=(0, 1),
    **LOOK,
)
def test_retention_by_size(case):
    """Retention deletes the oldest segments as long as at least retention.bytes remain."""
    topic = case.topic()
    times = (-4 * MINUTE, -3 * MINUTE, -2 * MINUTE, -MINUTE)
    configs = {"retention.bytes": 2 * SIZE + case.more}
    return case.scenario(
        segmented(topic, *(batch(ONE, at=time) for time in times), configs=configs),
        starts_at(topic, 2 - case.more),
        retention_passes(case.topic("witness")),
        earliest(topic, "after"),
        expect=stays_at(2 - case.more, "after"),
    )


@claim("log.a-large-old-segment-stays-whole", evidence=("LOG-18",), **LOOK)
def test_a_large_old_segment_stays_whole(case):
    """Retention keeps a first segment larger than the surplus over retention.bytes, and the smaller
    segments behind it."""
    topic = case.topic()
    many = batch(ONE, TWO, THREE, at=-3 * MINUTE), batch(ONE, at=-2 * MINUTE), batch(TWO)
    return case.scenario(
        segmented(topic, *many, configs={"retention.bytes": 2 * SIZE + 1}),
        retention_passes(case.topic("witness")),
        earliest(topic),
        expect=stays_at(0),
    )


@claim(
    "log.no-bytes-kept-empties-the-log",
    evidence=(
        "LOG-18",
        "LOG-20",
    ),
    **LOOK,
)
def test_no_bytes_kept_empties_the_log(case):
    """With retention.bytes=0 retention deletes every segment, the active one included; the log end
    stays."""
    topic = case.topic()
    return case.scenario(
        segmented(topic, batch(ONE, at=-MINUTE), batch(TWO), configs={"retention.bytes": 0}),
        starts_at(topic, 2),
        log_end(topic),
        expect=all_of(answer("earliest", f"{ROW}.offset").is_(2), ends_at(2)),
    )


@claim(
    "log.segments-below-the-log-start-go",
    evidence=(
        "LOG-19",
        "LOG-21",
    ),
    api="DescribeLogDirs",
    versions=only("DescribeLogDirs", 1),
    config=FAST_LOG_MANAGER,
    releases="2.2+",
)
def test_segments_below_the_log_start_go(case):
    """After DeleteRecords the segments that lie wholly below the new log start are deleted, and the
    segment that contains it keeps its size."""
    topic = case.topic()
    times = (-4 * MINUTE, -3 * MINUTE, -2 * MINUTE)
    return case.scenario(
        segmented(topic, *(batch(ONE, TWO, at=time) for time in times), configs=FOREVER),
        describe_log_dirs(topic, version=case.version, name="before"),
        delete_records(topic, 0, 3, name="delete"),
        size_is(topic, 2 * 95, version=case.version, name="after"),
        expect=all_of(
            answer("before", SIZES).each_is(3 * 95), answer("after", SIZES).each_is(2 * 95)
        ),
    )


@claim("log.compacted-logs-know-no-retention", evidence=("LOG-16",), **LOOK)
def test_compacted_logs_know_no_retention(case):
    """A topic with cleanup.policy=compact loses nothing to retention.ms or retention.bytes."""
    topic = case.topic()
    never = {"cleanup.policy": "compact", "min.cleanable.dirty.ratio": 1}
    configs = never | {"retention.ms": 1, "retention.bytes": 1}
    many = keyed(b"a", ONE, at=OLDER), keyed(b"b", TWO, at=OLD), keyed(b"c", THREE)
    return case.scenario(
        segmented(topic, *many, configs=configs),
        retention_passes(case.topic("witness")),
        earliest(topic),
        expect=stays_at(0),
    )


@claim(
    "log.compact-and-delete-deletes",
    evidence=(
        "LOG-16",
        "KIP-71",
    ),
    **LOOK,
)
def test_compact_and_delete_deletes(case):
    """A topic with cleanup.policy=compact,delete loses segments older than retention.ms although it
    is not dirty enough to be compacted."""
    topic = case.topic()
    never = {"cleanup.policy": "compact,delete", "min.cleanable.dirty.ratio": 1}
    many = keyed(b"a", ONE, at=OLD), keyed(b"a", TWO, at=-MINUTE), keyed(b"c", THREE)
    return case.scenario(
        segmented(topic, *many, configs=TEN_MINUTES | never),
        starts_at(topic, 1),
        fetch(topic, 0, 1, max_wait_ms=0, name="rest"),
        expect=records("rest", "[*].key").is_([b"a"]),
    )


@claim(
    "log.append-time-decides-where-it-is-stamped",
    evidence=(
        "LOG-17",
        "APPEND-09",
    ),
    **LOOK,
)
def test_append_time_decides_where_it_is_stamped(case):
    """With message.timestamp.type=LogAppendTime retention counts from a record's arrival and not
    from the time that its producer gave it."""
    topic = case.topic()
    configs = TEN_MINUTES | {"message.timestamp.type": "LogAppendTime"}
    return case.scenario(
        segmented(topic, batch(ONE, at=OLD), configs=configs),
        retention_passes(case.topic("witness")),
        earliest(topic),
        expect=stays_at(0),
    )


@claim(
    "log.records-without-time-are-as-old-as-their-segment",
    evidence=("LOG-17",),
    releases="1.0-2.8",
    **LOOK,
)
def test_records_without_time_are_as_old_as_their_segment(case):
    """Retention keeps a segment of messages without timestamps (format 0) that was written to
    within retention.ms."""
    topic = case.topic()
    configs = TEN_MINUTES | {"message.format.version": "0.9.0.0"}
    return case.scenario(
        segmented(topic, batch(ONE, at=OLD), configs=configs),
        retention_passes(case.topic("witness")),
        earliest(topic),
        fetch(topic, 0, 0, max_wait_ms=0, name="read"),
        expect=all_of(stays_at(0), records("read", "[*].timestamp").is_([-1])),
    )
