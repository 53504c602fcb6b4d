"""What it takes to write records, to read them, and to ask where they are.

Sources: KafkaApis.handleProduceRequest, handleFetchRequest, handleListOffsetRequest,
handleDeleteRecordsRequest, handleOffsetForLeaderEpochRequest at 1.0.2 to 4.3.1; KIP-11; clauses
FETCH-21, META-05.
"""

from touchstone.harness.model.claim import claim, only
from touchstone.harness.model.expect import answer
from touchstone.harness.model.steps import (
    a_topic,
    delete_records,
    fetch,
    list_offsets,
    offset_for_leader_epoch,
    produce,
)
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.records import WITH_BATCHES, batch, messages
from touchstone.suites.kit.rights import asked, rights, said
from touchstone.suites.kit.security import (
    DELETE,
    DESCRIBE,
    READ,
    TOPIC,
    WRITE,
    authorizer,
)

REFUSED = ErrorCode.TOPIC_AUTHORIZATION_FAILED


@claim(
    "authorizer.produce-needs-write",
    evidence=("KIP-11",),
    api="Produce",
    versions=only("Produce", 3),
    switches=("denials-ignored",),
)
def test_produce_needs_write(case):
    """Produce answers TOPIC_AUTHORIZATION_FAILED for a topic that its client may not WRITE, and
    stores nothing."""
    topic = case.topic()
    records = batch(b"x") if case.version >= WITH_BATCHES else messages(b"x")
    return case.scenario(
        a_topic(topic),
        rights(case, TOPIC, topic, WRITE),
        asked(lambda who: produce(topic, 0, records, version=case.version, **who)),
        list_offsets(topic, name="end"),
        expect=said(
            "responses[0].partition_responses[0].error_code",
            REFUSED,
            ErrorCode.NONE,
            answer("end", "topics[0].partitions[0].offset").is_(1),
        ),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.fetch-needs-read",
    evidence=("FETCH-21", "KIP-11"),
    api="Fetch",
    versions=only("Fetch", 4),
    switches=("reads-unguarded",),
)
def test_fetch_needs_read(case):
    """Fetch answers TOPIC_AUTHORIZATION_FAILED and no records for a topic that its client may
    not READ."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        produce(topic, 0, batch(b"x"), name="stored"),
        rights(case, TOPIC, topic, READ),
        asked(lambda who: fetch(topic, max_wait_ms=0, version=case.version, **who)),
        expect=said("responses[0].partitions[0].error_code", REFUSED),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.list-offsets-needs-describe",
    evidence=("META-05", "KIP-11"),
    api="ListOffsets",
    versions=only("ListOffsets", 1),
)
def test_list_offsets_needs_describe(case):
    """ListOffsets answers TOPIC_AUTHORIZATION_FAILED for a topic that its client may not
    DESCRIBE."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        rights(case, TOPIC, topic, DESCRIBE),
        asked(lambda who: list_offsets(topic, version=case.version, **who)),
        expect=said("topics[0].partitions[0].error_code", REFUSED),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.epochs-need-describe",
    evidence=("KIP-320",),
    api="OffsetForLeaderEpoch",
    releases="2.2+",
    versions=only("OffsetForLeaderEpoch", 2),
)
def test_epochs_need_describe(case):
    """OffsetForLeaderEpoch answers TOPIC_AUTHORIZATION_FAILED for a topic that its client may
    not DESCRIBE."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        rights(case, TOPIC, topic, DESCRIBE),
        asked(
            lambda who: offset_for_leader_epoch(
                topic, 0, 0, replica_id=-1, version=case.version, **who
            )
        ),
        expect=said("topics[0].partitions[0].error_code", REFUSED),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.delete-records-needs-delete",
    evidence=("KIP-11", "observed on 1.0.2", "observed on 4.3.1"),
    api="DeleteRecords",
    versions=only("DeleteRecords", 0),
)
def test_delete_records_needs_delete(case):
    """DeleteRecords answers TOPIC_AUTHORIZATION_FAILED for a topic whose records its client may
    not DELETE."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        rights(case, TOPIC, topic, DELETE),
        asked(lambda who: delete_records(topic, 0, -1, version=case.version, **who)),
        expect=said("topics[0].partitions[0].error_code", REFUSED),
        config=authorizer(case.release),
    )
