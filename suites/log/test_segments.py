"""Where a segment ends and the next begins, as a reader sees it: a Fetch never crosses the border.

Sources: Log.maybeRoll and LogSegment.shouldRoll at 1.0.2, 2.2.1, 2.8.2 and 3.9.2, Log.read;
clauses LOG-10, LOG-12, LOG-29.
"""

from touchstone.harness.model.claim import claim, only
from touchstone.harness.model.expect import all_of, answer, batches, records
from touchstone.harness.model.placeholders import Now, Records, Ref
from touchstone.harness.model.steps import (
    delete_records,
    fetch,
    init_producer_id,
    list_offsets,
    offset_for_leader_epoch,
    produce,
    producer_ready,
)
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.producing import stored_at
from touchstone.suites.kit.records import ONE, SIZE, THREE, TWO, batch, from_producer
from touchstone.suites.kit.segments import MINUTE, SEGMENT_MS, segmented
from touchstone.suites.kit.topics import a_log, log_end

ALL = "[*].value"
ROW = "topics[0].partitions[0]"


READ = {"api": "Fetch", "versions": only("Fetch", 4)}


def read(topic, offset=0, name=None, **how):
    return fetch(topic, 0, offset, name=name or f"from {offset}", max_wait_ms=0, **how)


@claim("log.segments-roll-by-size", evidence=("LOG-10",), releases="1.0-3.9", **READ)
def test_segments_roll_by_size(case):
    """A batch that would make the active segment larger than segment.bytes starts a new segment."""
    topic = case.topic()
    return case.scenario(
        a_log(topic, batch(ONE), batch(TWO), batch(THREE), configs={"segment.bytes": 2 * SIZE}),
        read(topic, 0),
        read(topic, 2),
        expect=all_of(records("from 0", ALL).is_([ONE, TWO]), records("from 2", ALL).is_([THREE])),
    )


@claim("log.a-batch-is-never-split", evidence=("LOG-10",), releases="1.0-3.9", **READ)
def test_a_batch_is_never_split(case):
    """A batch that does not fit into the rest of a segment goes whole into the next one."""
    topic = case.topic()
    return case.scenario(
        a_log(topic, batch(ONE), batch(TWO, THREE), configs={"segment.bytes": 2 * SIZE}),
        read(topic, 0),
        read(topic, 1),
        expect=all_of(records("from 0", ALL).is_([ONE]), records("from 1", ALL).is_([TWO, THREE])),
    )


@claim(
    "log.segments-roll-by-the-time-of-records",
    evidence=("LOG-10",),
    past=(SEGMENT_MS, SEGMENT_MS + 1),
    **READ,
)
def test_segments_roll_by_the_time_of_records(case):
    """A batch more than segment.ms newer than the first batch of the active segment starts a new
    segment."""
    topic = case.topic()
    first, second = batch(ONE, at=-MINUTE), batch(TWO, at=-MINUTE + case.past)
    return case.scenario(
        segmented(topic, first, second),
        read(topic, 0),
        expect=records("from 0", ALL).is_([ONE, TWO] if case.past == SEGMENT_MS else [ONE]),
    )


@claim("log.the-first-batch-starts-the-clock", evidence=("LOG-10",), **READ)
def test_the_first_batch_starts_the_clock(case):
    """The age of a segment for segment.ms counts from its first batch and not from its last one."""
    topic = case.topic()
    times = (-MINUTE, -MINUTE + 600, -MINUTE + 1200, -MINUTE + 1800, -MINUTE + 2300)
    return case.scenario(
        segmented(topic, *(batch(b"%d" % time, at=time) for time in times)),
        read(topic, 0),
        read(topic, 2),
        read(topic, 4),
        expect=all_of(
            records("from 0", "[*].offset").is_([0, 1]),
            records("from 2", "[*].offset").is_([2, 3]),
            records("from 4", "[*].offset").is_([4]),
        ),
    )


@claim("log.older-records-do-not-roll", evidence=("LOG-10",), **READ)
def test_older_records_do_not_roll(case):
    """A batch older than the first batch of the active segment stays in that segment, however much
    older it is."""
    topic = case.topic()
    return case.scenario(
        segmented(topic, batch(ONE), batch(TWO, at=-MINUTE), batch(THREE, at=1000)),
        read(topic, 0),
        expect=records("from 0", ALL).is_([ONE, TWO, THREE]),
    )


@claim("log.the-newest-record-of-a-batch-counts", evidence=("LOG-10",), **READ)
def test_the_newest_record_of_a_batch_counts(case):
    """The newest record of a batch, wherever it stands in it, decides whether the batch is more
    than segment.ms newer."""
    topic = case.topic()
    late = Records(
        {
            "magic": 2,
            "records": [
                {"value": TWO, "timestamp": Now(-MINUTE + 2 * SEGMENT_MS)},
                {"value": THREE, "timestamp": Now(-MINUTE)},
            ],
        }
    )
    return case.scenario(
        segmented(topic, batch(ONE, at=-MINUTE), late),
        read(topic, 0),
        read(topic, 1),
        expect=all_of(records("from 0", ALL).is_([ONE]), records("from 1", ALL).is_([TWO, THREE])),
    )


@claim(
    "log.segments-roll-when-their-index-is-full",
    evidence=(
        "LOG-10",
        "LOG-12",
    ),
    **READ,
)
def test_segments_roll_when_their_index_is_full(case):
    """A full time index of segment.index.bytes, which fills before the offset index, ends its
    segment."""
    topic = case.topic()
    configs = {"segment.index.bytes": 36, "index.interval.bytes": 1}
    many = [batch(ONE, at=index) for index in range(7)]
    return case.scenario(
        a_log(topic, *many, configs=configs),
        read(topic, 0),
        read(topic, 3),
        read(topic, 6),
        expect=all_of(
            records("from 0", "[*].offset").is_([0, 1, 2]),
            records("from 3", "[*].offset").is_([3, 4, 5]),
            records("from 6", "[*].offset").is_([6]),
        ),
    )


@claim("log.one-time-is-indexed-once", evidence=("LOG-12",), **READ)
def test_one_time_is_indexed_once(case):
    """Batches with the same timestamp take one entry of the time index, so the larger offset index
    ends their segment."""
    topic = case.topic()
    configs = {"segment.index.bytes": 36, "index.interval.bytes": 1}
    return case.scenario(
        a_log(topic, *[batch(ONE) for _ in range(7)], configs=configs),
        read(topic, 0),
        read(topic, 5),
        expect=all_of(
            records("from 0", "[*].offset").is_([0, 1, 2, 3, 4]),
            records("from 5", "[*].offset").is_([5, 6]),
        ),
    )


@claim("log.the-index-grows-by-its-interval", evidence=("LOG-12",), **READ)
def test_the_index_grows_by_its_interval(case):
    """The index gains an entry after more than index.interval.bytes were appended since the last
    entry, and not with each batch."""
    topic = case.topic()
    configs = {"segment.index.bytes": 36, "index.interval.bytes": 2 * SIZE}
    many = [batch(ONE, at=index) for index in range(12)]
    return case.scenario(
        a_log(topic, *many, configs=configs),
        read(topic, 0),
        read(topic, 7),
        expect=all_of(
            records("from 0", "[*].offset").is_(list(range(7))),
            records("from 7", "[*].offset").is_(list(range(7, 12))),
        ),
    )


@claim("log.log-append-time-rolls-by-the-brokers-clock", evidence=("LOG-10",), **READ)
def test_log_append_time_rolls_by_the_brokers_clock(case):
    """With message.timestamp.type=LogAppendTime the timestamps that producers give do not roll a
    segment."""
    topic = case.topic()
    configs = {"message.timestamp.type": "LogAppendTime", "segment.ms": 10 * MINUTE}
    return case.scenario(
        a_log(topic, batch(ONE, at=-50 * MINUTE), batch(TWO), configs=configs),
        read(topic, 0),
        expect=records("from 0", ALL).is_([ONE, TWO]),
    )


@claim(
    "log.a-read-ends-with-its-segment",
    evidence=("LOG-10",),
    **READ,
)
def test_a_read_ends_with_its_segment(case):
    """A Fetch returns records of one segment only, however much room it gives; the next Fetch goes
    on in the next segment."""
    topic = case.topic()
    first, second = (batch(ONE, at=-MINUTE), batch(TWO, at=-MINUTE)), batch(THREE)
    return case.scenario(
        segmented(topic, *first, second),
        read(topic, 0),
        read(topic, 1),
        read(topic, 2),
        expect=all_of(
            records("from 0", ALL).is_([ONE, TWO]),
            records("from 1", ALL).is_([TWO]),
            records("from 2", ALL).is_([THREE]),
            answer("from 0", "responses[0].partitions[0].high_watermark").is_(3),
        ),
    )


@claim("log.deleting-records-within-a-segment-keeps-its-batches", evidence=("LOG-19",), **READ)
def test_deleting_records_within_a_segment_keeps_its_batches(case):
    """After DeleteRecords within a batch, a Fetch at the log start returns the whole batch and one
    below it answers OFFSET_OUT_OF_RANGE."""
    topic = case.topic()
    return case.scenario(
        segmented(topic, batch(ONE, TWO, at=-MINUTE), batch(THREE)),
        delete_records(topic, 0, 1, name="delete"),
        read(topic, 1),
        read(topic, 0),
        expect=all_of(
            batches("from 1", "[0].base_offset").is_(0),
            answer("from 0", "responses[0].partitions[0].error_code").is_(
                ErrorCode.OFFSET_OUT_OF_RANGE
            ),
        ),
    )


@claim(
    "log.times-are-found-across-segments",
    evidence=(
        "LOG-12",
        "META-02",
    ),
    api="ListOffsets",
    versions=only("ListOffsets", 1),
)
def test_times_are_found_across_segments(case):
    """ListOffsets by time returns the first record in the log's order, across segments, whose
    timestamp is the time asked for or later, and -1 where there is none."""
    topic = case.topic()
    many = batch(ONE, at=-3 * MINUTE), batch(TWO, at=-MINUTE), batch(THREE, at=-2 * MINUTE)
    return case.scenario(
        segmented(topic, *many, batch(ONE)),
        list_offsets(topic, timestamp=Now(-2 * MINUTE), name="between"),
        list_offsets(topic, timestamp=Now(-MINUTE + 1), name="later"),
        list_offsets(topic, timestamp=Now(1), name="never"),
        expect=all_of(
            answer("between", f"{ROW}.offset").is_(1),
            answer("later", f"{ROW}.offset").is_(3),
            answer("never", f"{ROW}.offset").is_(-1),
        ),
    )


@claim(
    "log.producers-are-known-across-segments",
    evidence=(
        "LOG-29",
        "APPEND-17",
    ),
    api="Produce",
    versions=only("Produce", 3),
)
def test_producers_are_known_across_segments(case):
    """A repeated batch of an idempotent producer is answered with its first offset after its
    segment has ended."""
    topic, producer = case.topic(), Ref("init", "producer_id")
    return case.scenario(
        segmented(topic),
        producer_ready(),
        init_producer_id(name="init"),
        *(
            produce(topic, 0, from_producer(producer, 0, number, ONE, timestamp=Now(at)), name=name)
            for number, at, name in (
                (0, -3 * MINUTE, "one"), (1, -2 * MINUTE, "two"), (2, 0, "three"),
                (0, -3 * MINUTE, "one again"), (3, 0, "four"),
            )
        ),
        read(topic, 0),
        expect=all_of(
            stored_at("one again", 0), stored_at("four", 3),
            records("from 0", "[*].offset").is_([0]),
        ),
    )  # fmt: skip


@claim(
    "log.an-epoch-spans-segments",
    evidence=(
        "LOG-10",
        "APPEND-16",
    ),
    api="OffsetForLeaderEpoch",
    versions=only("OffsetForLeaderEpoch", 3),
    releases="2.8+",
)
def test_an_epoch_spans_segments(case):
    """OffsetForLeaderEpoch returns the log end for the leader's epoch, however many segments the
    log has."""
    topic = case.topic()
    return case.scenario(
        segmented(topic, batch(ONE, at=-3 * MINUTE), batch(TWO, at=-MINUTE), batch(THREE)),
        offset_for_leader_epoch(topic, 0, 0, version=case.version, name="epoch"),
        log_end(topic),
        expect=answer("epoch", f"{ROW}.end_offset").is_(3),
    )


@claim(
    "log.old-style-offsets-are-segments",
    evidence=(
        "LOG-11",
        "META-04",
    ),
    api="ListOffsets",
    versions=only("ListOffsets", 0),
)
def test_old_style_offsets_are_segments(case):
    """ListOffsets 0 returns the base offset of each segment and the log end, newest first, with the
    log start in place of the oldest base offset after DeleteRecords."""
    topic = case.topic()
    many = batch(ONE, TWO, at=-3 * MINUTE), batch(THREE, at=-MINUTE), batch(ONE)

    def ask(name):
        return list_offsets(topic, timestamp=-1, version=0, max_num_offsets=10, name=name)

    return case.scenario(
        segmented(topic, *many),
        ask("all"),
        delete_records(topic, 0, 1, name="delete"),
        ask("from one"),
        expect=all_of(
            answer("all", f"{ROW}.old_style_offsets").is_([4, 3, 2, 0]),
            answer("from one", f"{ROW}.old_style_offsets").is_([4, 3, 2, 1]),
        ),
    )
