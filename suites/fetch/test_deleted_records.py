"""DeleteRecords beside what else goes by offsets: readers of the middle, lookups, writers.

Sources: KIP-107; UnifiedLog.maybeIncrementLogStartOffset, fetchOffsetByTimestamp at 2.8.2 and
3.9.2; clauses FETCH-23, META-02.
"""

from touchstone.harness.model.claim import claim, every, only
from touchstone.harness.model.expect import all_of, answer, records
from touchstone.harness.model.placeholders import Now
from touchstone.harness.model.steps import a_topic, delete_records, fetch, list_offsets, produce
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.records import ONE, THREE, TWO, batch
from touchstone.suites.kit.topics import a_log, among, appended

ROW = "topics[0].partitions[0]"
FETCHED = "responses[0].partitions[0]"
FETCHES = {"api": "Fetch", "versions": every("Fetch"), "where": among(4, 12, 17)}


@claim("fetch.a-log-may-start-within-a-batch", evidence=("FETCH-23", "KIP-107"), **FETCHES)
def test_a_log_may_start_within_a_batch(case):
    """Fetch of an offset that DeleteRecords removed answers OFFSET_OUT_OF_RANGE; at the new log
    start, within a batch, it returns the whole batch and tells the log start offset."""
    topic = case.topic()
    how = {"version": case.version, "max_wait_ms": 0}
    start = answer("at it", f"{FETCHED}.log_start_offset")
    return case.scenario(
        a_log(topic, batch(ONE), batch(TWO, THREE)),
        delete_records(topic, 0, 2, name="deleted"),
        fetch(topic, 0, 1, **how, name="below"),
        fetch(topic, 0, 2, **how, name="at it"),
        fetch(topic, 0, 3, **how, name="end"),
        expect=all_of(
            answer("below", f"{FETCHED}.error_code").is_(ErrorCode.OFFSET_OUT_OF_RANGE),
            answer("at it", f"{FETCHED}.error_code").is_(ErrorCode.NONE),
            records("at it", "[*].offset").is_([1, 2]),
            answer("end", f"{FETCHED}.error_code").is_(ErrorCode.NONE),
            *([start.is_(2)] if case.version >= 5 else []),
        ),
    )


@claim("fetch.deleted-records-are-not-found-by-time", evidence=("FETCH-23", "META-02"),
       api="ListOffsets", versions=only("ListOffsets", 1))  # fmt: skip
def test_deleted_records_are_not_found_by_time(case):
    """ListOffsets by a time that only deleted records and later ones are as new as finds the first
    record from the log start on."""
    topic = case.topic()
    return case.scenario(
        a_log(topic, batch(ONE, at=-3000), batch(TWO, at=-2000), batch(THREE, at=-1000)),
        list_offsets(topic, timestamp=Now(-3000), name="before"),
        delete_records(topic, 0, 2, name="deleted"),
        list_offsets(topic, timestamp=Now(-3000), name="after"),
        expect=all_of(
            answer("before", f"{ROW}.offset").is_(0),
            answer("after", f"{ROW}.offset").is_(2),
            answer("after", f"{ROW}.timestamp").is_(Now(-1000)),
        ),
    )


@claim("fetch.an-emptied-log-goes-on-at-its-end", evidence=("FETCH-23", "KIP-107"), **FETCHES)
def test_an_emptied_log_goes_on_at_its_end(case):
    """Produce to a log whose records were all deleted gets the offset after the last of them, and
    Fetch from there returns the new record alone."""
    topic = case.topic()
    written = "responses[0].partition_responses[0]"
    return case.scenario(
        a_log(topic, batch(ONE), batch(TWO)),
        delete_records(topic, 0, -1, name="deleted"),
        produce(topic, 0, batch(THREE), version=3, name="more"),
        fetch(topic, 0, 2, version=case.version, max_wait_ms=0, name="fetch"),
        expect=all_of(
            answer("more", f"{written}.base_offset").is_(2),
            records("fetch", "[*].value").is_([THREE]),
        ),
    )


@claim("fetch.delete-records-of-partitions-each-for-itself", evidence=("FETCH-23",),
       api="DeleteRecords", versions=every("DeleteRecords"))  # fmt: skip
def test_delete_records_of_partitions_each_for_itself(case):
    """DeleteRecords at the log end deletes all and one above it nothing, and what one partition
    loses another keeps."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic, 2),
        appended(topic, batch(ONE), batch(TWO)),
        appended(topic, batch(ONE), partition=1),
        delete_records(topic, 0, 2, version=case.version, name="at the end"),
        delete_records(topic, 1, 2, version=case.version, name="above"),
        list_offsets(topic, 0, timestamp=-2, name="zero"),
        list_offsets(topic, 1, timestamp=-2, name="one"),
        expect=all_of(
            answer("at the end", f"{ROW}.low_watermark").is_(2),
            answer("above", f"{ROW}.error_code").is_(ErrorCode.OFFSET_OUT_OF_RANGE),
            answer("zero", f"{ROW}.offset").is_(2),
            answer("one", f"{ROW}.offset").is_(0),
        ),
    )
