"""The two ends of a log, and the names that later versions gave to other places in it.

Sources: KafkaApis.handleListOffsetRequest at 1.0.2, 2.2.1, 2.8.2, 3.9; KIP-79 (v1), KIP-734 (max
timestamp, v7), KIP-405 (local log start, v8), KIP-1005 (v9), KIP-1023 (v11); clauses META-01,
META-04, FETCH-23.
"""

from touchstone.harness.model.claim import OBSERVED, claim, every, range_
from touchstone.harness.model.expect import all_of, answer, by_release
from touchstone.harness.model.steps import (
    EARLIEST,
    LATEST,
    MAX_TIMESTAMP,
    a_topic,
    delete_records,
    list_offsets,
)
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.records import ONE, THREE, TWO, batch, stamped
from touchstone.suites.kit.topics import a_log, among, appended

EARLIEST_LOCAL, LATEST_TIERED, EARLIEST_PENDING = -4, -5, -6
ROW = "topics[0].partitions[0]"


def names_offset(step: str, version: int, offset: int):
    """The offset an answer names; version 0 has a list."""
    if version == 0:
        return answer(step, f"{ROW}.old_style_offsets").is_([offset])
    return answer(step, f"{ROW}.offset").is_(offset)


@claim(
    "offsets.latest-and-earliest-are-the-ends-of-the-log",
    evidence=("META-01",),
    api="ListOffsets",
    versions=every("ListOffsets"),
)
def test_latest_and_earliest_are_the_ends_of_the_log(case):
    """ListOffsets returns the high watermark for timestamp -1 and the log start for -2."""
    topic = case.topic()
    return case.scenario(
        a_log(topic, batch(ONE, TWO), batch(THREE)),
        list_offsets(topic, timestamp=LATEST, version=case.version, name="latest"),
        list_offsets(topic, timestamp=EARLIEST, version=case.version, name="earliest"),
        expect=all_of(
            answer("latest", f"{ROW}.error_code").is_(ErrorCode.NONE),
            names_offset("latest", case.version, 3),
            names_offset("earliest", case.version, 0),
        ),
    )


@claim(
    "offsets.an-empty-log-has-both-ends-at-0",
    evidence=("META-01", "META-02"),
    api="ListOffsets",
    versions=range_("ListOffsets", 0),
    where=among(0, 1, 4, 9, 11),
)
def test_an_empty_log_has_both_ends_at_0(case):
    """ListOffsets of an empty log returns 0 for both ends and -1 for any time."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        list_offsets(topic, timestamp=LATEST, version=case.version, name="latest"),
        list_offsets(topic, timestamp=EARLIEST, version=case.version, name="earliest"),
        [list_offsets(topic, timestamp=1, version=case.version, name="by time")]
        if case.version
        else [],
        expect=all_of(
            names_offset("latest", case.version, 0),
            names_offset("earliest", case.version, 0),
            *([answer("by time", f"{ROW}.offset").is_(-1)] if case.version else []),
        ),
    )


@claim(
    "offsets.delete-records-moves-the-earliest",
    evidence=("META-01", "FETCH-23"),
    api="ListOffsets",
    versions=every("ListOffsets"),
    where=among(0, 1, 4, 7, 9, 11),
)
def test_delete_records_moves_the_earliest(case):
    """After DeleteRecords, ListOffsets for timestamp -2 returns the new log start."""
    topic = case.topic()
    return case.scenario(
        a_log(topic, batch(ONE, TWO), batch(THREE)),
        delete_records(topic, 0, 1, name="delete"),
        list_offsets(topic, timestamp=EARLIEST, version=case.version, name="earliest"),
        list_offsets(topic, timestamp=LATEST, version=case.version, name="latest"),
        expect=all_of(
            names_offset("earliest", case.version, 1),
            answer("latest", f"{ROW}.error_code").is_(ErrorCode.NONE),
        ),
    )


@claim(
    "offsets.version-0-lists-segments-newest-first",
    evidence=("META-04",),
    api="ListOffsets",
    versions=range_("ListOffsets", 0, 0),
    most=(0, 1, 2, 10),
    timestamp=(LATEST, EARLIEST),
)
def test_version_0_lists_segments_newest_first(case):
    """ListOffsets 0 returns the log end and the base offsets of the segments, newest first, up to
    max_num_offsets."""
    topic = case.topic()
    return case.scenario(
        a_log(topic, batch(ONE, TWO), batch(THREE)),
        list_offsets(
            topic, timestamp=case.timestamp, version=0, max_num_offsets=case.most, name="ask"
        ),
        expect=answer("ask", f"{ROW}.old_style_offsets").is_(
            ([3, 0] if case.timestamp == LATEST else [0])[: case.most]
        ),
    )


@claim(
    "offsets.the-largest-timestamp-is-found",
    evidence=("KIP-734",),
    api="ListOffsets",
    versions=range_("ListOffsets", 7),
    where=among(7, 9, 11),
)
def test_the_largest_timestamp_is_found(case):
    """ListOffsets for timestamp -3 returns the record with the largest timestamp since version 7,
    and -1 for an empty log."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        list_offsets(topic, timestamp=MAX_TIMESTAMP, version=case.version, name="empty"),
        appended(topic, stamped(10), stamped(90), stamped(40)),
        list_offsets(topic, timestamp=MAX_TIMESTAMP, version=case.version, name="largest"),
        expect=all_of(
            answer("empty", f"{ROW}.offset").is_(-1), answer("largest", f"{ROW}.offset").is_(1)
        ),
    )


@claim(
    "offsets.without-tiers-the-local-log-is-the-log",
    evidence=("KIP-405", "KIP-1005", "KIP-1023"),
    api="ListOffsets",
    versions=range_("ListOffsets", 8),
)
def test_without_tiers_the_local_log_is_the_log(case):
    """Without tiered storage ListOffsets returns the log start for timestamp -4 and -1 for -5;
    versions without these timestamps answer UNSUPPORTED_VERSION."""
    topic = case.topic()
    code = f"{ROW}.error_code"
    return case.scenario(
        a_log(topic, batch(ONE, TWO)),
        delete_records(topic, 0, 1, name="delete"),
        list_offsets(topic, timestamp=EARLIEST_LOCAL, version=case.version, name="local"),
        list_offsets(topic, timestamp=LATEST_TIERED, version=case.version, name="tiered"),
        list_offsets(topic, timestamp=EARLIEST_PENDING, version=case.version, name="pending"),
        expect=all_of(
            answer("local", f"{ROW}.offset").is_(1),
            answer("tiered", f"{ROW}.offset").is_(-1),
            answer("tiered", code).is_(
                ErrorCode.NONE if case.version >= 9 else ErrorCode.UNSUPPORTED_VERSION
            ),
            answer("pending", code).is_(
                ErrorCode.NONE if case.version >= 11 else ErrorCode.UNSUPPORTED_VERSION
            ),
        ),
    )


@claim(
    "offsets.timestamps-that-a-version-does-not-define",
    evidence=("KIP-734", "observed on 1.0.2, 2.2.1, 2.8.2, 3.9.2 and 4.3.1"),
    level=OBSERVED,
    api="ListOffsets",
    versions=range_("ListOffsets", 1),
    where=among(1, 2, 5, 6),
)
def test_timestamps_that_a_version_does_not_define(case):
    """ListOffsets treats a timestamp below -2 that its version does not define as a time before
    3.0, and answers UNSUPPORTED_VERSION since."""
    topic = case.topic()
    return case.scenario(
        a_log(topic, batch(ONE, TWO)),
        list_offsets(topic, timestamp=-3, version=case.version, name="-3"),
        list_offsets(topic, timestamp=-100, version=case.version, name="-100"),
        expect=by_release(
            {
                "1.0-2.8": all_of(
                    answer("-3", f"{ROW}.offset").is_(0), answer("-100", f"{ROW}.offset").is_(0)
                ),
                "3.9+": all_of(
                    answer("-3", f"{ROW}.error_code").is_(ErrorCode.UNSUPPORTED_VERSION),
                    answer("-100", f"{ROW}.error_code").is_(ErrorCode.UNSUPPORTED_VERSION),
                ),
            }
        ),
    )
