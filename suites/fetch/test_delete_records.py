"""DeleteRecords: it moves the log start offset, below which no reader gets records.

Sources: KIP-107, ReplicaManager.deleteRecordsOnLocalLog at 1.0.2, 2.2.1 and 3.9; clause FETCH-23.
"""

from touchstone.harness.model.claim import claim, every
from touchstone.harness.model.expect import all_of, answer
from touchstone.harness.model.steps import EARLIEST, a_topic, delete_records, list_offsets
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.records import ONE, THREE, TWO, batch
from touchstone.suites.kit.topics import a_log

ROW = "topics[0].partitions[0]"


@claim(
    "fetch.delete-records-moves-the-log-start",
    evidence=("FETCH-23", "KIP-107"),
    api="DeleteRecords",
    versions=every("DeleteRecords"),
)
def test_delete_records_moves_the_log_start(case):
    """DeleteRecords moves the log start offset to the given offset, or to the high watermark for
    -1, and answers it.
    """
    topic = case.topic()
    return case.scenario(
        a_log(topic, batch(ONE, TWO), batch(THREE)),
        delete_records(topic, 0, 1, version=case.version, name="within a batch"),
        list_offsets(topic, timestamp=EARLIEST, name="earliest"),
        delete_records(topic, 0, -1, version=case.version, name="all"),
        list_offsets(topic, timestamp=EARLIEST, name="after all"),
        expect=all_of(
            answer("within a batch", f"{ROW}.low_watermark").is_(1),
            answer("earliest", f"{ROW}.offset").is_(1),
            answer("all", f"{ROW}.low_watermark").is_(3),
            answer("after all", f"{ROW}.offset").is_(3),
        ),
    )


@claim(
    "fetch.delete-records-never-moves-back",
    evidence=("FETCH-23", "KIP-107"),
    api="DeleteRecords",
    versions=every("DeleteRecords"),
)
def test_delete_records_never_moves_back(case):
    """DeleteRecords below the log start offset changes nothing and answers the log start offset."""
    topic = case.topic()
    return case.scenario(
        a_log(topic, batch(ONE), batch(TWO), batch(THREE)),
        delete_records(topic, 0, 2, version=case.version, name="first"),
        delete_records(topic, 0, 1, version=case.version, name="back"),
        delete_records(topic, 0, 2, version=case.version, name="again"),
        list_offsets(topic, timestamp=EARLIEST, name="earliest"),
        expect=all_of(
            answer("back", f"{ROW}.low_watermark").is_(2),
            answer("earliest", f"{ROW}.offset").is_(2),
        ),
    )


@claim(
    "fetch.delete-records-ends-at-the-high-watermark",
    evidence=("FETCH-23", "KIP-107"),
    api="DeleteRecords",
    versions=every("DeleteRecords"),
)
def test_delete_records_ends_at_the_high_watermark(case):
    """DeleteRecords above the high watermark or below -1 answers OFFSET_OUT_OF_RANGE and deletes
    nothing.
    """
    topic = case.topic()
    code = f"{ROW}.error_code"
    return case.scenario(
        a_log(topic, batch(ONE), batch(TWO)),
        delete_records(topic, 0, 3, version=case.version, name="above"),
        delete_records(topic, 0, -2, version=case.version, name="negative"),
        list_offsets(topic, timestamp=EARLIEST, name="earliest"),
        expect=all_of(
            answer("above", code).is_(ErrorCode.OFFSET_OUT_OF_RANGE),
            answer("above", f"{ROW}.low_watermark").is_(-1),
            answer("negative", code).is_(ErrorCode.OFFSET_OUT_OF_RANGE),
            answer("earliest", f"{ROW}.offset").is_(0),
        ),
    )


@claim(
    "fetch.delete-records-of-unknown-partitions-is-refused",
    evidence=("FETCH-23", "KIP-107"),
    api="DeleteRecords",
    versions=every("DeleteRecords"),
)
def test_delete_records_of_unknown_partitions_is_refused(case):
    """DeleteRecords of an unknown topic or partition answers UNKNOWN_TOPIC_OR_PARTITION."""
    topic, nowhere = case.topic(), case.topic("nowhere")
    return case.scenario(
        a_topic(topic),
        delete_records(topic, 6, 0, version=case.version, name="partition", timeout_ms=500),
        delete_records(nowhere, 0, 0, version=case.version, name="topic", timeout_ms=500),
        expect=all_of(
            answer("partition", f"{ROW}.error_code").is_(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
            answer("topic", f"{ROW}.error_code").is_(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ),
    )


@claim(
    "fetch.delete-records-needs-a-policy-that-deletes",
    evidence=("FETCH-23", "KIP-107"),
    api="DeleteRecords",
    versions=every("DeleteRecords"),
    policy=("compact", "compact,delete"),
)
def test_delete_records_needs_a_policy_that_deletes(case):
    """DeleteRecords with cleanup.policy=compact answers POLICY_VIOLATION; with compact,delete it
    succeeds.
    """
    topic = case.topic()
    refused = case.policy == "compact"
    return case.scenario(
        a_log(
            topic,
            batch({"key": b"k", "value": ONE}),
            configs={"cleanup.policy": case.policy},
        ),
        delete_records(topic, 0, 1, version=case.version, name="delete"),
        expect=answer("delete", f"{ROW}.error_code").is_(
            ErrorCode.POLICY_VIOLATION if refused else ErrorCode.NONE
        ),
    )
