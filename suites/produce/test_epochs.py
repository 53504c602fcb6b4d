"""Idempotent producers across epochs: what the one before left behind counts no more.

Sources: ProducerStateEntry and ProducerAppendInfo at 1.0.2 to 3.9.2; KIP-98, KIP-360; clauses
APPEND-17, APPEND-18.
"""

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of
from touchstone.harness.model.scenario import Until
from touchstone.harness.model.steps import (
    a_topic,
    create_topic,
    delete_records,
    delete_topic,
    metadata,
    produce,
    producer_ready,
    topic_ready,
)
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.producing import refused_with, stored_at
from touchstone.suites.kit.records import from_producer
from touchstone.suites.kit.topics import among, ends_at, log_end
from touchstone.suites.produce.test_idempotence import IN_ORDER, PRODUCER

LAST_EPOCH = 2**15 - 1


def _sends(case, topic, epoch, sequence, name):
    records = from_producer(PRODUCER, epoch, sequence, name.encode())
    return produce(topic, 0, records, version=case.version, name=name)


@claim("produce.a-new-epoch-repeats-no-batch", evidence=("APPEND-17", "APPEND-18"), **IN_ORDER)
def test_a_new_epoch_repeats_no_batch(case):
    """Batches of a new producer epoch are appended, although batches of the epoch before had the
    same sequences; a repeated one is a duplicate of the new epoch's."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        producer_ready(),
        _sends(case, topic, 0, 0, "a"),
        _sends(case, topic, 0, 1, "b"),
        _sends(case, topic, 1, 0, "c"),
        _sends(case, topic, 1, 1, "d"),
        _sends(case, topic, 1, 1, "d again"),
        log_end(topic),
        expect=all_of(stored_at("c", 2), stored_at("d", 3), stored_at("d again", 3), ends_at(4)),
    )


@claim("produce.a-new-epoch-does-not-go-on-counting", evidence=("APPEND-18",), **IN_ORDER)
def test_a_new_epoch_does_not_go_on_counting(case):
    """A batch of the old producer epoch is refused once the new one has begun, also the one that
    would have followed; in the new epoch a gap is OUT_OF_ORDER_SEQUENCE_NUMBER."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        producer_ready(),
        _sends(case, topic, 3, 0, "old"),
        _sends(case, topic, 4, 0, "new"),
        _sends(case, topic, 3, 1, "late"),
        _sends(case, topic, 4, 2, "gap"),
        _sends(case, topic, 4, 1, "next"),
        log_end(topic),
        expect=all_of(
            refused_with("late", ErrorCode.INVALID_PRODUCER_EPOCH),
            refused_with("gap", ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER),
            stored_at("next", 2),
            ends_at(3),
        ),
    )


@claim("produce.the-last-epoch-is-an-epoch", evidence=("APPEND-18",), **IN_ORDER)
def test_the_last_epoch_is_an_epoch(case):
    """A producer epoch of 32767 is accepted, and 0 is refused after it."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        producer_ready(),
        _sends(case, topic, LAST_EPOCH, 0, "last"),
        _sends(case, topic, 0, 0, "first"),
        _sends(case, topic, LAST_EPOCH, 1, "next"),
        log_end(topic),
        expect=all_of(
            stored_at("last", 0),
            refused_with("first", ErrorCode.INVALID_PRODUCER_EPOCH),
            stored_at("next", 1),
            ends_at(2),
        ),
    )


@claim("produce.a-topic-made-anew-knows-no-producer", evidence=("APPEND-18",),
       **IN_ORDER | {"where": among(3, 9)})  # fmt: skip
def test_a_topic_made_anew_knows_no_producer(case):
    """A topic that is deleted and made anew by its name has forgotten its producers: an older
    epoch and a sequence that was used are accepted."""
    topic = case.topic()
    missing = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return case.scenario(
        a_topic(topic),
        producer_ready(),
        _sends(case, topic, 5, 0, "a"),
        delete_topic(topic, name="deleted"),
        Until(metadata(topic, name="gone"), "topics[0].error_code", "==", missing),
        Until(create_topic(topic, name="anew"), "topics[0].error_code", "==", 0),
        topic_ready(topic, again=" anew"),
        _sends(case, topic, 2, 0, "b"),
        log_end(topic),
        expect=all_of(stored_at("a", 0), stored_at("b", 0), ends_at(1)),
    )


@claim("produce.deleted-records-are-still-known", evidence=("APPEND-17",),
       releases="2.8+", **IN_ORDER)  # fmt: skip
def test_deleted_records_are_still_known(case):
    """After DeleteRecords of all records a producer goes on with its next sequence."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        producer_ready(),
        _sends(case, topic, 0, 0, "a"),
        _sends(case, topic, 0, 1, "b"),
        delete_records(topic, 0, 2, name="deleted"),
        _sends(case, topic, 0, 2, "c"),
        log_end(topic),
        expect=all_of(stored_at("c", 2), ends_at(3)),
    )
