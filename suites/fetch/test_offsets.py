"""Fetch offsets: from the batch that contains the offset, at the log end, or out of range.

Sources: Log.read and ReplicaManager.readFromLog at 2.2.1, KafkaApis.handleFetchRequest at 3.9;
clauses FETCH-01, FETCH-13, FETCH-15, FETCH-23; observed on all five releases.
"""

from touchstone.harness.model.claim import claim, every, range_
from touchstone.harness.model.expect import all_of, answer, records
from touchstone.harness.model.steps import a_topic, delete_records, fetch
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.records import ONE, THREE, TWO, batch
from touchstone.suites.kit.topics import a_log, among, appended

PARTITION = "responses[0].partitions[0]"
OUTSIDE = {"above": 4, "far above": 2**62, "below": -1, "far below": -(2**63)}


@claim(
    "fetch.records-begin-at-the-offset-asked-for",
    evidence=("FETCH-01", "FETCH-13"),
    api="Fetch",
    versions=every("Fetch"),
)
def test_records_begin_at_the_offset_asked_for(case):
    """Fetch from the start of a batch answers that batch, all later ones and the high watermark."""
    topic = case.topic()
    return case.scenario(
        a_log(topic, batch(ONE), batch(TWO), batch(THREE)),
        fetch(topic, 0, 1, version=case.version, max_wait_ms=0, name="fetch"),
        expect=all_of(
            answer("fetch", f"{PARTITION}.error_code").is_(ErrorCode.NONE),
            answer("fetch", f"{PARTITION}.high_watermark").is_(3),
            records("fetch", "[*].offset").is_([1, 2]),
            records("fetch", "[*].value").is_([TWO, THREE]),
        ),
    )


@claim(
    "fetch.begins-with-the-batch-that-holds-the-offset",
    evidence=("FETCH-15",),
    api="Fetch",
    versions=range_("Fetch", 4),
    switches=("fetch-skips-mid-batch",),
    compression=(0, 1),
    where=among(4, 12, 17),
)
def test_begins_with_the_batch_that_holds_the_offset(case):
    """Fetch from the middle of a batch answers the whole batch, including its earlier records."""
    topic = case.topic()
    return case.scenario(
        a_log(topic, batch(ONE, TWO, THREE, compression=case.compression), batch(ONE)),
        fetch(topic, 0, 2, version=case.version, max_wait_ms=0, name="fetch"),
        expect=records("fetch", "[*].offset").is_([0, 1, 2, 3]),
    )


@claim(
    "fetch.the-last-batch-holds-its-offsets",
    evidence=("FETCH-15",),
    api="Fetch",
    versions=range_("Fetch", 4),
    switches=("last-batch-shut",),
    where=among(4, 12, 17),
)
def test_the_last_batch_holds_its_offsets(case):
    """Fetch from inside the log's last batch answers that batch, even from its last record."""
    topic = case.topic()
    return case.scenario(
        a_log(topic, batch(ONE), batch(ONE, TWO, THREE)),
        fetch(topic, 0, 2, version=case.version, max_wait_ms=0, name="inside"),
        fetch(topic, 0, 3, version=case.version, max_wait_ms=0, name="last"),
        expect=all_of(
            records("inside", "[*].offset").is_([1, 2, 3]),
            records("last", "[*].offset").is_([1, 2, 3]),
        ),
    )


@claim(
    "fetch.nothing-stands-at-the-end-of-the-log",
    evidence=("FETCH-13",),
    api="Fetch",
    versions=every("Fetch"),
    where=among(0, 4, 7, 12, 17),
)
def test_nothing_stands_at_the_end_of_the_log(case):
    """Fetch from the log end answers no records and no error."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        fetch(topic, 0, 0, version=case.version, max_wait_ms=0, name="empty"),
        appended(topic, batch(ONE)),
        fetch(topic, 0, 1, version=case.version, max_wait_ms=0, name="at the end"),
        expect=all_of(
            answer("empty", f"{PARTITION}.error_code").is_(ErrorCode.NONE),
            answer("empty", f"{PARTITION}.records").has_length(0),
            answer("at the end", f"{PARTITION}.error_code").is_(ErrorCode.NONE),
            answer("at the end", f"{PARTITION}.high_watermark").is_(1),
            answer("at the end", f"{PARTITION}.records").has_length(0),
        ),
    )


@claim(
    "fetch.offsets-outside-the-log-are-out-of-range",
    evidence=("FETCH-13", "FETCH-21"),
    api="Fetch",
    versions=every("Fetch"),
    where=among(0, 4, 12, 17),
)
def test_offsets_outside_the_log_are_out_of_range(case):
    """Fetch below the log start offset or above the log end answers OFFSET_OUT_OF_RANGE."""
    topic = case.topic()
    return case.scenario(
        a_log(topic, batch(ONE, TWO, THREE)),
        [
            fetch(topic, 0, offset, version=case.version, max_wait_ms=0, name=word)
            for word, offset in OUTSIDE.items()
        ],
        expect=all_of(
            *(
                answer(word, f"{PARTITION}.error_code").is_(ErrorCode.OFFSET_OUT_OF_RANGE)
                for word in OUTSIDE
            ),
            *(answer(word, f"{PARTITION}.high_watermark").is_(-1) for word in OUTSIDE),
        ),
    )


@claim(
    "fetch.deleted-records-are-out-of-range",
    evidence=("FETCH-23", "FETCH-13"),
    api="Fetch",
    versions=every("Fetch"),
    where=among(0, 4, 12, 17),
)
def test_deleted_records_are_out_of_range(case):
    """After DeleteRecords a Fetch below the new log start offset answers OFFSET_OUT_OF_RANGE; one
    from it succeeds.
    """
    topic = case.topic()
    return case.scenario(
        a_log(topic, batch(ONE), batch(TWO), batch(THREE)),
        delete_records(topic, 0, 2, name="delete"),
        fetch(topic, 0, 1, version=case.version, max_wait_ms=0, name="below"),
        fetch(topic, 0, 2, version=case.version, max_wait_ms=0, name="from"),
        expect=all_of(
            answer("delete", "topics[0].partitions[0].low_watermark").is_(2),
            answer("below", f"{PARTITION}.error_code").is_(ErrorCode.OFFSET_OUT_OF_RANGE),
            records("from", "[*].offset").is_([2]),
        ),
    )


@claim(
    "fetch.answers-say-where-the-log-starts",
    evidence=("FETCH-23", "KIP-107"),
    api="Fetch",
    versions=range_("Fetch", 5),
    where=among(5, 12, 18),
)
def test_answers_say_where_the_log_starts(case):
    """From version 5 on Fetch answers the log start offset, which DeleteRecords moves."""
    topic = case.topic()
    start = f"{PARTITION}.log_start_offset"
    return case.scenario(
        a_log(topic, batch(ONE), batch(TWO)),
        fetch(topic, 0, 1, version=case.version, max_wait_ms=0, name="before"),
        delete_records(topic, 0, 1, name="delete"),
        fetch(topic, 0, 1, version=case.version, max_wait_ms=0, name="after"),
        expect=all_of(answer("before", start).is_(0), answer("after", start).is_(1)),
    )
