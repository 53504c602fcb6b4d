"""Idempotent producers: sequence numbers, epochs and duplicates, as one partition remembers them.

Sources: ProducerStateManager at 1.0.2 and 2.2.1, ProducerAppendInfo and ProducerStateEntry at 2.8.2
and 3.9; KIP-98, KIP-360; clauses APPEND-11, 17, 18, 19; the five releases were asked.
"""

from touchstone.harness.model.claim import OBSERVED, claim, range_
from touchstone.harness.model.expect import all_of, answer, by_release
from touchstone.harness.model.placeholders import Records, Ref
from touchstone.harness.model.steps import a_topic, fetch, produce, producer_ready
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.producing import CODE, produce_many, refused_with, stored_at
from touchstone.suites.kit.records import coded, from_producer
from touchstone.suites.kit.topics import among, ends_at, log_end

LAST_SEQUENCE = 2147483647
PRODUCER = Ref("producer ids", "producer_id")
IN_ORDER = {"api": "Produce", "versions": range_("Produce", 3), "where": among(3, 9, 13)}


@claim(
    "produce.duplicates-answer-with-their-first-offsets",
    evidence=("APPEND-17", "KIP-98"),
    switches=("duplicate-appended",),
    **IN_ORDER,
)
def test_duplicates_answer_with_their_first_offsets(case):
    """A repeated batch of an idempotent producer answers its first base offset and is not appended
    again.
    """
    topic = case.topic()
    first = from_producer(PRODUCER, 0, 0, b"a", b"b")
    return case.scenario(
        a_topic(topic),
        producer_ready(),
        produce(topic, 0, first, version=case.version, name="first"),
        produce(topic, 0, coded(b"between"), version=case.version, name="between"),
        produce(topic, 0, first, version=case.version, name="again"),
        log_end(topic),
        expect=all_of(stored_at("first", 0), stored_at("again", 0), ends_at(3)),
    )


@claim(
    "produce.five-batches-are-remembered",
    evidence=("APPEND-17",),
    **IN_ORDER,
)
def test_five_batches_are_remembered(case):
    """A partition recognizes the last five batches of a producer as duplicates; an older one
    answers OUT_OF_ORDER_SEQUENCE_NUMBER.
    """
    topic = case.topic()
    sends = [
        produce(topic, 0, from_producer(PRODUCER, 0, n, b"%d" % n), name=f"send {n}")
        for n in range(6)
    ]
    fifth, sixth = (from_producer(PRODUCER, 0, n, b"%d" % n) for n in (1, 0))
    forgotten = refused_with("sixth", ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER)
    return case.scenario(
        a_topic(topic),
        producer_ready(),
        sends,
        produce(topic, 0, fifth, version=case.version, name="fifth"),
        produce(topic, 0, sixth, version=case.version, name="sixth"),
        log_end(topic),
        expect=all_of(stored_at("fifth", 1), forgotten, ends_at(6)),
    )


@claim(
    "produce.duplicates-must-be-whole",
    evidence=("APPEND-17",),
    **IN_ORDER,
)
def test_duplicates_must_be_whole(case):
    """A batch that covers only part of an earlier batch's sequences answers
    OUT_OF_ORDER_SEQUENCE_NUMBER.
    """
    topic = case.topic()
    part = from_producer(PRODUCER, 0, 0, b"a")
    return case.scenario(
        a_topic(topic),
        producer_ready(),
        produce(topic, 0, from_producer(PRODUCER, 0, 0, b"a", b"b"), name="whole"),
        produce(topic, 0, part, version=case.version, name="part"),
        log_end(topic),
        expect=all_of(refused_with("part", ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER), ends_at(2)),
    )


@claim(
    "produce.sequence-gaps-are-refused",
    evidence=("APPEND-18", "APPEND-19"),
    switches=("sequence-gap-accepted",),
    **IN_ORDER,
)
def test_sequence_gaps_are_refused(case):
    """A batch that skips a sequence answers OUT_OF_ORDER_SEQUENCE_NUMBER; the right sequence is
    appended afterwards.
    """
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        producer_ready(),
        produce(topic, 0, from_producer(PRODUCER, 0, 0, b"a"), name="first"),
        produce(topic, 0, from_producer(PRODUCER, 0, 2, b"c"), version=case.version, name="gap"),
        produce(topic, 0, from_producer(PRODUCER, 0, 1, b"b"), version=case.version, name="right"),
        log_end(topic),
        expect=all_of(
            refused_with("gap", ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER),
            stored_at("right", 1),
            ends_at(2),
        ),
    )


@claim(
    "produce.older-producer-epochs-are-refused",
    evidence=("APPEND-18",),
    switches=("producer-epoch-not-checked",),
    **IN_ORDER,
)
def test_older_producer_epochs_are_refused(case):
    """A batch with a producer epoch below the newest answers INVALID_PRODUCER_EPOCH."""
    topic = case.topic()
    old = from_producer(PRODUCER, 3, 1, b"b")
    return case.scenario(
        a_topic(topic),
        producer_ready(),
        produce(topic, 0, from_producer(PRODUCER, 4, 0, b"a"), name="first"),
        produce(topic, 0, old, version=case.version, name="old"),
        log_end(topic),
        expect=all_of(refused_with("old", ErrorCode.INVALID_PRODUCER_EPOCH), ends_at(1)),
    )


@claim(
    "produce.newer-producer-epochs-begin-at-zero",
    evidence=("APPEND-18",),
    **IN_ORDER,
)
def test_newer_producer_epochs_begin_at_zero(case):
    """The first batch of a new producer epoch must have sequence 0; another answers
    OUT_OF_ORDER_SEQUENCE_NUMBER.
    """
    topic = case.topic()
    wrong, right = from_producer(PRODUCER, 1, 1, b"b"), from_producer(PRODUCER, 1, 0, b"c")
    return case.scenario(
        a_topic(topic),
        producer_ready(),
        produce(topic, 0, from_producer(PRODUCER, 0, 0, b"a"), name="first"),
        produce(topic, 0, wrong, version=case.version, name="wrong"),
        produce(topic, 0, right, version=case.version, name="right"),
        log_end(topic),
        expect=all_of(
            refused_with("wrong", ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER),
            stored_at("right", 1),
            ends_at(2),
        ),
    )


@claim(
    "produce.sequences-of-unknown-producers",
    evidence=("APPEND-18", "KIP-360"),
    **IN_ORDER,
)
def test_sequences_of_unknown_producers(case):
    """The first batch of an unknown producer may have any sequence since KIP-360; before, one that
    is not 0 answers UNKNOWN_PRODUCER_ID.
    """
    topic = case.topic()
    records = from_producer(PRODUCER, 0, 9, b"a")
    refusal = all_of(refused_with("send", ErrorCode.UNKNOWN_PRODUCER_ID), ends_at(0))
    return case.scenario(
        a_topic(topic),
        producer_ready(),
        produce(topic, 0, records, version=case.version, name="send"),
        log_end(topic),
        expect=by_release(
            {"1.0-2.2": refusal, "2.8+": all_of(stored_at("send", 0), ends_at(1))}
        ),
    )  # fmt: skip


@claim(
    "produce.sequences-wrap-to-zero",
    evidence=("APPEND-18",),
    releases="2.8+",
    within=(False, True),
    **IN_ORDER,
)
def test_sequences_wrap_to_zero(case):
    """Sequence 0 follows sequence 2147483647, between two batches and within one."""
    topic = case.topic()
    values, following = ((b"a", b"b", b"c"), 1) if case.within else ((b"a",), 0)
    start = LAST_SEQUENCE - 1 if case.within else LAST_SEQUENCE
    last = from_producer(PRODUCER, 0, start, *values)
    after = from_producer(PRODUCER, 0, following, b"d")
    wrong = from_producer(PRODUCER, 0, following + 2, b"e")
    end = len(values) + 1
    return case.scenario(
        a_topic(topic),
        producer_ready(),
        produce(topic, 0, last, version=case.version, name="last"),
        produce(topic, 0, after, version=case.version, name="after"),
        produce(topic, 0, wrong, version=case.version, name="wrong"),
        produce(topic, 0, last, version=case.version, name="again"),
        log_end(topic),
        expect=all_of(
            stored_at("last", 0),
            stored_at("after", end - 1),
            refused_with("wrong", ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER),
            stored_at("again", 0),
            ends_at(end),
        ),
    )


@claim(
    "produce.producers-need-a-sequence",
    evidence=("APPEND-11",),
    sequence=(-1, -2),
    **IN_ORDER,
)
def test_producers_need_a_sequence(case):
    """A batch with a producer id and a negative sequence answers INVALID_RECORD (CORRUPT_MESSAGE
    before 2.8).
    """
    topic = case.topic()
    records = from_producer(PRODUCER, 0, case.sequence, b"a")
    return case.scenario(
        a_topic(topic),
        producer_ready(),
        produce(topic, 0, records, version=case.version, name="send"),
        log_end(topic),
        expect=all_of(
            by_release(
                {
                    "1.0-2.2": refused_with("send", ErrorCode.CORRUPT_MESSAGE),
                    "2.8+": refused_with("send", ErrorCode.INVALID_RECORD),
                }
            ),
            ends_at(0),
        ),
    )


@claim(
    "produce.partitions-know-producers-each-for-itself",
    evidence=("APPEND-18",),
    **IN_ORDER,
)
def test_partitions_know_producers_each_for_itself(case):
    """Each partition counts a producer's sequences separately, even within one request."""
    topic = case.topic()
    zero, one = from_producer(PRODUCER, 0, 0, b"a"), from_producer(PRODUCER, 0, 1, b"b")
    both, gap = ((topic, ((0, zero), (1, zero))),), ((topic, ((0, one), (1, zero))),)
    return case.scenario(
        a_topic(topic, 2),
        producer_ready(),
        produce_many(both, version=case.version, name="both"),
        produce_many(gap, version=case.version, name="again"),
        log_end(topic, 0, name="end 0"),
        log_end(topic, 1, name="end 1"),
        expect=all_of(
            answer("both", "responses[0].partition_responses[*].base_offset").each_is(0),
            answer("again", "responses[0].partition_responses[*].error_code").each_is(
                ErrorCode.NONE
            ),
            ends_at(2, step="end 0"),
            ends_at(1, step="end 1"),
        ),
    )


@claim(
    "produce.refused-batches-leave-no-producer-state",
    evidence=("APPEND-19",),
    **IN_ORDER,
)
def test_refused_batches_leave_no_producer_state(case):
    """A batch refused with CORRUPT_MESSAGE leaves no producer state: its sequence can be sent
    again.
    """
    topic = case.topic()
    good = from_producer(PRODUCER, 0, 0, b"a")
    wrong = Records(good.build, patch=((17, b"\0\0\0\1"),))
    return case.scenario(
        a_topic(topic),
        producer_ready(),
        produce(topic, 0, wrong, version=case.version, name="wrong"),
        produce(topic, 0, good, version=case.version, name="good"),
        fetch(topic, name="read"),
        log_end(topic),
        expect=all_of(
            refused_with("wrong", ErrorCode.CORRUPT_MESSAGE), stored_at("good", 0), ends_at(1)
        ),
    )


@claim(
    "produce.transactional-batches-need-an-id",
    evidence=("KIP-98", "observed on 1.0.2, 2.2.1, 2.8.2, 3.9.2 and 4.3.1"),
    level=OBSERVED,
    **IN_ORDER,
)
def test_transactional_batches_need_an_id(case):
    """A transactional batch without a transactional id in the request answers
    TRANSACTIONAL_ID_AUTHORIZATION_FAILED (1.0 accepts it).
    """
    topic = case.topic()
    records = from_producer(PRODUCER, 0, 0, b"a", transactional=True)
    refusal = refused_with("send", ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    return case.scenario(
        a_topic(topic),
        producer_ready(),
        produce(topic, 0, records, version=case.version, name="send"),
        log_end(topic),
        expect=by_release(
            {"1.0": answer("send", CODE).is_(ErrorCode.NONE), "2.2+": all_of(refusal, ends_at(0))}
        ),
    )  # fmt: skip
