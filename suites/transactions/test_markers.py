"""Control batches: markers that a coordinator writes into partitions, and markers that brokers
refuse.

The claims send WriteTxnMarkers as a coordinator would; a broker without an authorizer accepts it
from any client.

Sources: KafkaApis.handleWriteTxnMarkersRequest, ProducerAppendInfo at 1.0.2, 2.8.2;
EndTransactionMarker; KIP-98; all five releases were asked.
"""

from touchstone.harness.model.claim import claim, every, range_
from touchstone.harness.model.expect import all_of, answer, batches, by_release, records
from touchstone.harness.model.placeholders import Ref
from touchstone.harness.model.steps import a_topic, fetch, list_offsets, produce, producer_ready
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.records import ONE, TWO, from_producer
from touchstone.suites.kit.transactions import (
    ABORT,
    CLUSTER,
    COMMIT,
    PRODUCED,
    PRODUCER,
    READ_COMMITTED,
    a_producer,
    add_partitions,
    describe,
    end,
    markers,
    record,
    send,
    stable,
)

ROW = "responses[0].partitions[0]"
WRITTEN = "markers[0].topics[0].partitions[0].error_code"
END = "topics[0].partitions[0].offset"
SOMEBODY = Ref("producer ids", "producer_id")
MARKERS = {"api": "WriteTxnMarkers", "versions": every("WriteTxnMarkers"), "config": CLUSTER}
TRANSACTIONAL, CONTROL = 0x10, 0x20
# Values of markers: version 0, then the coordinator's epoch, which rises with its restarts.
FIRST_EPOCH, LAST_EPOCH = b"\0\0\0\0\0\0", b"\0\0\x7f\xff\xff\xff"


def at_end(topic, partition=0, name="end"):
    return list_offsets(topic, partition, name=name)


@claim(
    "transactions.markers-are-control-batches",
    evidence=("MISC-06", "KIP-98"),
    api="EndTxn",
    versions=range_("EndTxn", 0),
    config=CLUSTER,
    commit=(COMMIT, ABORT),
    switches=("marker-not-written",),
)
def test_markers_are_control_batches(case):
    """A marker is a batch with control and transactional bits, no sequence and the producer's id;
    its one record has version and kind as key and the coordinator epoch in its value.
    """
    topic, transaction = case.topic(), case.transactional_id()
    kind = b"\0\0\0\1" if case.commit else b"\0\0\0\0"
    return case.scenario(
        a_topic(topic),
        a_producer(transaction),
        add_partitions(transaction, topic, name="begun"),
        send(transaction, topic, record(ONE), name="sent"),
        end(transaction, case.commit, version=case.version, name="end"),
        stable(topic, 2),
        fetch(topic, 0, 1, version=4, max_wait_ms=0, name="read"),
        expect=all_of(
            batches("read", "[0].attributes").is_(TRANSACTIONAL | CONTROL),
            batches("read", "[0].base_offset").is_(1),
            batches("read", "[0].base_sequence").is_(-1),
            batches("read", "[0].producer_id").is_(Ref("producer", "producer_id")),
            batches("read", "[0].records_count").is_(1),
            records("read", "[0].key").is_(kind),
            records("read", "[0].value").at_least(FIRST_EPOCH),
            records("read", "[0].value").at_most(LAST_EPOCH),
        ),
    )


@claim(
    "transactions.markers-can-be-written-by-request",
    evidence=("KIP-98",),
    commit=(COMMIT, ABORT),
    **MARKERS,
)
def test_markers_can_be_written_by_request(case):
    """WriteTxnMarkers ends a producer's open transaction in a partition, whoever sends it."""
    topic, transaction = case.topic(), case.transactional_id()
    return case.scenario(
        a_topic(topic, 2),
        a_producer(transaction),
        add_partitions(transaction, topic, 0, name="begun"),
        send(transaction, topic, record(ONE), name="sent"),
        markers(Ref("producer", "producer_id"), Ref("producer", "producer_epoch"), case.commit,
                topic, 0, version=case.version, name="ask"),
        fetch(topic, version=4, isolation=READ_COMMITTED, max_wait_ms=0, name="read"),
        end(transaction, case.commit, name="end"),
        expect=all_of(
            answer("ask", WRITTEN).is_(ErrorCode.NONE),
            answer("read", f"{ROW}.last_stable_offset").is_(2),
            answer("read", f"{ROW}.aborted_transactions").has_length(0 if case.commit else 1),
        ),
    )  # fmt: skip


@claim(
    "transactions.markers-need-no-transaction",
    evidence=("KIP-98",),
    commit=(COMMIT, ABORT),
    **MARKERS,
)
def test_markers_need_no_transaction(case):
    """WriteTxnMarkers without an open transaction writes a marker without effect on readers (until
    2.2 an abort is listed in aborted_transactions).
    """
    topic = case.topic()
    aborted = answer("read", f"{ROW}.aborted_transactions")
    return case.scenario(
        a_topic(topic),
        producer_ready(),
        markers(SOMEBODY, 0, case.commit, topic, version=case.version, name="ask"),
        at_end(topic),
        fetch(topic, version=4, isolation=READ_COMMITTED, max_wait_ms=0, name="read"),
        expect=all_of(
            answer("ask", WRITTEN).is_(ErrorCode.NONE),
            answer("end", END).is_(1),
            answer("read", f"{ROW}.last_stable_offset").is_(1),
            by_release(
                {
                    "1.0-2.2": aborted.has_length(0 if case.commit else 1),
                    "2.8+": aborted.has_length(0),
                }
            ),
        ),
    )


@claim("transactions.markers-of-older-epochs-are-refused", evidence=("KIP-98",), **MARKERS)
def test_markers_of_older_epochs_are_refused(case):
    """WriteTxnMarkers with a producer epoch below the newest answers INVALID_PRODUCER_EPOCH."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        producer_ready(),
        markers(SOMEBODY, 3, COMMIT, topic, version=case.version, name="newer"),
        markers(SOMEBODY, 2, COMMIT, topic, version=case.version, name="older"),
        at_end(topic),
        expect=all_of(
            answer("newer", WRITTEN).is_(ErrorCode.NONE),
            answer("older", WRITTEN).is_(ErrorCode.INVALID_PRODUCER_EPOCH),
            answer("end", END).is_(1),
        ),
    )


@claim(
    "transactions.markers-fence-their-producers",
    evidence=("MISC-06", "KIP-98"),
    switches=("producer-epoch-not-checked",),
    **MARKERS,
)
def test_markers_fence_their_producers(case):
    """After a marker with a higher producer epoch, batches of the lower epoch answer
    INVALID_PRODUCER_EPOCH.
    """
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        producer_ready(),
        produce(topic, 0, from_producer(SOMEBODY, 0, 0, ONE), name="before"),
        markers(SOMEBODY, 1, ABORT, topic, version=case.version, name="ask"),
        produce(topic, 0, from_producer(SOMEBODY, 0, 1, TWO), name="after"),
        at_end(topic),
        expect=all_of(
            answer("before", PRODUCED).is_(ErrorCode.NONE),
            answer("ask", WRITTEN).is_(ErrorCode.NONE),
            answer("after", PRODUCED).is_(ErrorCode.INVALID_PRODUCER_EPOCH),
            answer("end", END).is_(2),
        ),
    )


@claim("transactions.markers-of-former-coordinators-are-refused", evidence=("KIP-98",), **MARKERS)
def test_markers_of_former_coordinators_are_refused(case):
    """WriteTxnMarkers with an older coordinator epoch answers TRANSACTION_COORDINATOR_FENCED."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        producer_ready(),
        markers(SOMEBODY, 0, COMMIT, topic, coordinator_epoch=5, version=case.version,
                name="newer"),
        markers(SOMEBODY, 0, COMMIT, topic, coordinator_epoch=4, version=case.version,
                name="older"),
        at_end(topic),
        expect=all_of(
            answer("newer", WRITTEN).is_(ErrorCode.NONE),
            answer("older", WRITTEN).is_(ErrorCode.TRANSACTION_COORDINATOR_FENCED),
            answer("end", END).is_(1),
        ),
    )  # fmt: skip


@claim("transactions.markers-for-unknown-partitions-are-refused", evidence=("KIP-98",), **MARKERS)
def test_markers_for_unknown_partitions_are_refused(case):
    """WriteTxnMarkers answers UNKNOWN_TOPIC_OR_PARTITION for an unknown partition and writes the
    markers of the others.
    """
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        producer_ready(),
        markers(SOMEBODY, 0, COMMIT, topic, 0, 7, version=case.version, name="ask"),
        at_end(topic),
        expect=all_of(
            answer("ask", "markers[0].topics[0].partitions[*].error_code").contains(ErrorCode.NONE),
            answer("ask", "markers[0].topics[0].partitions[*].error_code").contains(
                ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            ),
            answer("end", END).is_(1),
        ),
    )


@claim(
    "transactions.old-formats-take-no-markers",
    evidence=("KIP-98",),
    releases="1.0-2.8",
    **MARKERS,
)
def test_old_formats_take_no_markers(case):
    """WriteTxnMarkers to a topic with message format 0 answers UNSUPPORTED_FOR_MESSAGE_FORMAT."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic, configs={"message.format.version": "0.10.0"}),
        producer_ready(),
        markers(SOMEBODY, 0, COMMIT, topic, version=case.version, name="ask"),
        at_end(topic),
        expect=all_of(
            answer("ask", WRITTEN).is_(ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT),
            answer("end", END).is_(0),
        ),
    )


@claim(
    "transactions.a-newer-marker-fences-before-the-coordinator-is-asked",
    evidence=("KIP-890", "observed on 3.9.2 and 4.3.1"),
    api="Produce",
    versions=range_("Produce", 11),
    config=CLUSTER,
)
def test_a_newer_marker_fences_before_the_coordinator_is_asked(case):
    """Produce with an epoch below the log's newest answers INVALID_PRODUCER_EPOCH in 4.3 before any
    partition is verified or added; 3.9 asks the coordinator first and answers
    TRANSACTION_ABORTABLE.
    """
    topic, transaction = case.topic(), case.transactional_id()
    sent = answer("ask", PRODUCED)
    return case.scenario(
        a_topic(topic),
        a_producer(transaction),
        markers(PRODUCER, 9, ABORT, topic, version=1, name="fenced"),
        send(transaction, topic, record(ONE), version=case.version, name="ask"),
        describe(transaction, name="left alone"),
        expect=all_of(
            answer("fenced", WRITTEN).is_(ErrorCode.NONE),
            by_release(
                {
                    "3.9": sent.is_(ErrorCode.TRANSACTION_ABORTABLE),
                    "4.3": sent.is_(ErrorCode.INVALID_PRODUCER_EPOCH),
                }
            ),
            answer("left alone", "transaction_states[0].transaction_state").is_("Empty"),
        ),
    )
