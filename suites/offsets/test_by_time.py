"""Offsets by time: the first record, by offset, that is not older than the time asked for.

Sources: KIP-33 (time index), KIP-79 (ListOffsets v1), Log.fetchOffsetByTimestamp at 2.2.1 and
2.8.2; clauses META-02, META-03.
"""

from touchstone.harness.model.claim import claim, range_
from touchstone.harness.model.expect import all_of, answer
from touchstone.harness.model.placeholders import Now
from touchstone.harness.model.steps import delete_records, list_offsets
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.records import stamped
from touchstone.suites.kit.topics import a_log, among

ROW = "topics[0].partitions[0]"
VERSIONS = among(1, 2, 5, 9, 11)
TIMES = (10_000, 20_000, 30_000)


def asked(topic, version, *times):
    """One ListOffsets per time; the step is named after it."""
    return [
        list_offsets(topic, timestamp=Now(time), version=version, name=f"at {time}")
        for time in times
    ]


def at(time, offset, stamp):
    """What the answer at a time names: the offset, and the timestamp of the record there."""
    return all_of(
        answer(f"at {time}", f"{ROW}.error_code").is_(ErrorCode.NONE),
        answer(f"at {time}", f"{ROW}.offset").is_(offset),
        answer(f"at {time}", f"{ROW}.timestamp").is_(-1 if stamp is None else Now(stamp)),
    )


@claim(
    "offsets.by-time-is-the-first-record-not-older",
    evidence=("META-02",),
    api="ListOffsets",
    versions=range_("ListOffsets", 1),
    switches=("list-offsets-by-time-off",),
    stored=("one batch", "three batches", "gzip"),
    where=VERSIONS,
)
def test_by_time_is_the_first_record_not_older(case):
    """ListOffsets by time returns the first record whose timestamp is not older than the time asked
    for, with that timestamp, and offset -1 where there is none."""
    topic = case.topic()
    stored = {
        "one batch": [stamped(*TIMES)],
        "three batches": [stamped(time) for time in TIMES],
        "gzip": [stamped(*TIMES, compression=1)],
    }[case.stored]
    return case.scenario(
        a_log(topic, *stored),
        asked(topic, case.version, 0, 10_000, 10_001, 20_000, 30_000, 30_001),
        expect=all_of(
            at(0, 0, 10_000),
            at(10_000, 0, 10_000),
            at(10_001, 1, 20_000),
            at(20_000, 1, 20_000),
            at(30_000, 2, 30_000),
            at(30_001, -1, None),
        ),
    )


@claim(
    "offsets.by-time-goes-by-offset-when-times-are-out-of-order",
    evidence=("META-03", "META-02"),
    api="ListOffsets",
    versions=range_("ListOffsets", 1),
    stored=("one batch", "four batches"),
    where=among(1, 5, 9),
)
def test_by_time_goes_by_offset_when_times_are_out_of_order(case):
    """ListOffsets by time returns the first match by offset where timestamps are out of order."""
    topic = case.topic()
    times = (10_000, 30_000, 20_000, 40_000)
    stored = [stamped(*times)] if case.stored == "one batch" else [stamped(one) for one in times]
    return case.scenario(
        a_log(topic, *stored),
        asked(topic, case.version, 15_000, 20_000, 35_000),
        expect=all_of(at(15_000, 1, 30_000), at(20_000, 1, 30_000), at(35_000, 3, 40_000)),
    )


@claim(
    "offsets.by-time-finds-nothing-that-was-deleted",
    evidence=("META-02", "FETCH-23"),
    api="ListOffsets",
    versions=range_("ListOffsets", 1),
    where=among(1, 5, 9),
)
def test_by_time_finds_nothing_that_was_deleted(case):
    """After DeleteRecords, ListOffsets by time returns a record at or above the log start."""
    topic = case.topic()
    return case.scenario(
        a_log(topic, *(stamped(time) for time in TIMES)),
        delete_records(topic, 0, 1, name="delete"),
        asked(topic, case.version, 10_000, 15_000),
        expect=at(15_000, 1, 20_000),
    )


@claim(
    "offsets.equal-times-give-the-first-record",
    evidence=("META-02",),
    api="ListOffsets",
    versions=range_("ListOffsets", 1),
    where=among(1, 5, 9),
)
def test_equal_times_give_the_first_record(case):
    """ListOffsets by time returns the lowest offset of the records with equal timestamps."""
    topic = case.topic()
    return case.scenario(
        a_log(topic, stamped(10_000, 20_000, 20_000), stamped(20_000)),
        asked(topic, case.version, 20_000),
        expect=at(20_000, 1, 20_000),
    )
