"""Produce: base offsets, errors per partition, and what one request may contain.

Sources: ReplicaManager.appendRecords, Log.append and ProduceRequest at 1.0.2, 2.2.1, 2.8.2 and 3.9;
clauses APPEND-01, 02, 07, 08; the five releases were asked.
"""

from touchstone.harness.model.claim import OBSERVED, claim, every, range_
from touchstone.harness.model.expect import all_of, answer, by_release, records, refused
from touchstone.harness.model.placeholders import Joined, Now, Records
from touchstone.harness.model.steps import a_topic, fetch, metadata, produce
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.producing import CODE, produce_many, refused_with, stored_at
from touchstone.suites.kit.records import coded, messages, of_version
from touchstone.suites.kit.topics import among, ends_at, log_end

ERROR = "responses[0].partition_responses[{}].error_code"
BASE = "responses[0].partition_responses[{}].base_offset"
NO_SUCH_ID = bytes(range(16))


@claim(
    "produce.base-offsets-count-up",
    evidence=("APPEND-08",),
    api="Produce",
    versions=every("Produce"),
    switches=("offset-off-by-one",),
)
def test_base_offsets_count_up(case):
    """Produce answers the offset of its first record, and k records advance the log end offset by
    k.
    """
    topic = case.topic()
    one, two, three = (
        of_version(case.version, *values) for values in ([b"a"], [b"b", b"c"], [b"d", b"e", b"f"])
    )
    return case.scenario(
        a_topic(topic),
        produce(topic, 0, one, version=case.version, name="one"),
        produce(topic, 0, two, version=case.version, name="two"),
        produce(topic, 0, three, version=case.version, name="three"),
        log_end(topic),
        expect=all_of(
            stored_at("one", 0), stored_at("two", 1), stored_at("three", 3), ends_at(6)
        ),
    )  # fmt: skip


@claim(
    "produce.partitions-succeed-or-fail-alone",
    evidence=("APPEND-01", "APPEND-02"),
    api="Produce",
    versions=every("Produce"),
    where=among(3, 9, 13),
)
def test_partitions_succeed_or_fail_alone(case):
    """A corrupt batch or an unknown partition in a Produce does not affect its other partitions."""
    topic = case.topic()
    good, other = coded(b"a", b"b"), coded(b"c")
    wrong = Records(coded(b"d").build, patch=((17, b"\0\0\0\1"),))
    parts = ((0, good), (1, wrong), (2, other), (7, other))
    return case.scenario(
        a_topic(topic, 3),
        produce_many(((topic, parts),), version=case.version, name="send"),
        log_end(topic, 0, name="end 0"),
        log_end(topic, 1, name="end 1"),
        log_end(topic, 2, name="end 2"),
        expect=all_of(
            answer("send", "responses[0].partition_responses[*].error_code").contains(
                ErrorCode.NONE
            ),
            answer("send", "responses[0].partition_responses[*].error_code").contains(
                ErrorCode.CORRUPT_MESSAGE
            ),
            answer("send", "responses[0].partition_responses[*].error_code").contains(
                ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            ),
            ends_at(2, step="end 0"),
            ends_at(0, step="end 1"),
            ends_at(1, step="end 2"),
        ),
    )


@claim(
    "produce.topics-are-written-alone",
    evidence=("APPEND-01",),
    api="Produce",
    versions=every("Produce"),
    where=among(3, 9, 13),
)
def test_topics_are_written_alone(case):
    """Produce of two topics appends each batch at its own topic's log end and answers both."""
    one, two = case.topic("one"), case.topic("two")
    both = ((one, ((0, coded(b"a")),)), (two, ((0, coded(b"b", b"c")),)))
    return case.scenario(
        a_topic(one),
        a_topic(two),
        produce(one, 0, coded(b"before"), name="before"),
        produce_many(both, version=case.version, name="send"),
        log_end(one, name="end one"),
        log_end(two, name="end two"),
        expect=all_of(
            answer("send", "responses").has_length(2),
            answer("send", "responses[*].partition_responses[*].error_code").each_is(
                ErrorCode.NONE
            ),
            answer("send", "responses[*].partition_responses[*].base_offset").is_one_of(
                [[0], [1]], [[1], [0]]
            ),
            ends_at(2, step="end one"),
            ends_at(2, step="end two"),
        ),
    )


@claim(
    "produce.unknown-topics-are-refused",
    evidence=("APPEND-02",),
    api="Produce",
    versions=every("Produce"),
    where=among(2, 3, 9, 12),
)
def test_unknown_topics_are_refused(case):
    """Produce to a topic that does not exist answers UNKNOWN_TOPIC_OR_PARTITION and creates
    nothing.
    """
    topic = case.topic()
    return case.scenario(
        produce(topic, 0, of_version(case.version, b"a"), version=case.version, name="send"),
        metadata(topic, name="after"),
        expect=all_of(
            refused_with("send", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
            answer("after", "topics[0].error_code").is_(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ),
    )


@claim(
    "produce.unknown-topic-ids-are-refused",
    evidence=("KIP-516", "observed on 4.3.1"),
    api="Produce",
    versions=range_("Produce", 13),
    topic_id=(NO_SUCH_ID, bytes(16)),
)
def test_unknown_topic_ids_are_refused(case):
    """From version 13 on Produce to an unknown topic id answers UNKNOWN_TOPIC_ID."""
    to_nobody = ((case.topic_id, ((0, coded(b"a")),)),)
    return case.scenario(
        produce_many(to_nobody, version=case.version, name="send"),
        expect=refused_with("send", ErrorCode.UNKNOWN_TOPIC_ID),
    )


@claim(
    "produce.unknown-partitions-are-refused",
    evidence=("APPEND-02",),
    api="Produce",
    versions=every("Produce"),
    where=among(3, 9, 13),
    partition=(-1, 1, 2147483647),
)
def test_unknown_partitions_are_refused(case):
    """Produce to a partition that its topic lacks answers UNKNOWN_TOPIC_OR_PARTITION."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        produce(topic, case.partition, coded(b"a"), version=case.version, name="send"),
        log_end(topic),
        expect=all_of(refused_with("send", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION), ends_at(0)),
    )


@claim(
    "produce.an-empty-message-set-is-accepted",
    evidence=("APPEND-07",),
    api="Produce",
    versions=range_("Produce", 0, 2),
    releases="1.0-3.9",
)
def test_an_empty_message_set_is_accepted(case):
    """Before version 3 a Produce with an empty message set succeeds and takes no offset; 2.2 closes
    the connection.
    """
    topic = case.topic()
    accepted = all_of(answer("send", CODE).is_(ErrorCode.NONE), ends_at(1))
    return case.scenario(
        a_topic(topic),
        produce(topic, 0, of_version(2, b"a"), version=2, name="before"),
        produce(topic, 0, b"", version=case.version, name="send", connection="b"),
        log_end(topic),
        expect=by_release(
            {
                "1.0": accepted,
                "2.2": all_of(refused("send"), ends_at(1)),
                "2.8-3.9": accepted,
            }
        ),
    )


@claim(
    "produce.empty-records-are-refused",
    evidence=("APPEND-07", "observed on 1.0.2, 2.2.1, 2.8.2, 3.9.2 and 4.3.1"),
    level=OBSERVED,
    api="Produce",
    versions=range_("Produce", 3),
    where=among(3, 9, 13),
)
def test_empty_records_are_refused(case):
    """From version 3 on a Produce with empty records answers INVALID_RECORD; before 2.8 the
    connection closes.
    """
    topic = case.topic()
    refusal = refused_with("send", ErrorCode.INVALID_RECORD)
    return case.scenario(
        a_topic(topic),
        produce(topic, 0, b"", version=case.version, name="send", connection="b"),
        log_end(topic),
        expect=all_of(by_release({"1.0-2.2": refused("send"), "2.8+": refusal}), ends_at(0)),
    )


@claim(
    "produce.bytes-behind-the-batch-are-cut",
    evidence=("APPEND-07",),
    api="Produce",
    versions=range_("Produce", 3),
    where=among(3, 9, 13),
    tail=("five zeros", "half a batch"),
)
def test_bytes_behind_the_batch_are_cut(case):
    """The broker ignores incomplete bytes after a batch and appends the batch."""
    topic = case.topic()
    good = coded(b"a", b"b")
    rest = bytes(5) if case.tail == "five zeros" else bytes(8) + b"\0\0\1\0" + bytes(40)
    return case.scenario(
        a_topic(topic),
        produce(topic, 0, Joined((good, rest)), version=case.version, name="send"),
        produce(topic, 0, good, version=case.version, name="next"),
        fetch(topic, name="read"),
        expect=all_of(
            stored_at("send", 0),
            stored_at("next", 2),
            records("read", "[*].value").is_([b"a", b"b", b"a", b"b"]),
        ),
    )


@claim(
    "produce.two-batches-are-refused",
    evidence=("KIP-98", "observed on 1.0.2, 2.2.1, 2.8.2, 3.9.2 and 4.3.1"),
    api="Produce",
    versions=range_("Produce", 3),
    where=among(3, 9, 13),
)
def test_two_batches_are_refused(case):
    """From version 3 on two batches for one partition are refused with INVALID_RECORD (2.2:
    CORRUPT_MESSAGE; 1.0 closes the connection), and neither is appended.
    """
    topic = case.topic()
    both = Joined((coded(b"a"), coded(b"b")))
    return case.scenario(
        a_topic(topic),
        produce(topic, 0, both, version=case.version, name="send", connection="b"),
        log_end(topic),
        expect=all_of(
            by_release(
                {
                    "1.0": refused("send"),
                    "2.2": refused_with("send", ErrorCode.CORRUPT_MESSAGE),
                    "2.8+": refused_with("send", ErrorCode.INVALID_RECORD),
                }
            ),
            ends_at(0),
        ),
    )


@claim(
    "produce.message-sets-may-hold-many-messages",
    evidence=("APPEND-08",),
    api="Produce",
    versions=range_("Produce", 0, 2),
    releases="1.0-3.9",
    magic=(0, 1),
)
def test_message_sets_may_hold_many_messages(case):
    """Before version 3 a message set may hold many messages, and each gets its own offset."""
    topic = case.topic()
    three = messages(b"a", b"b", b"c", magic=case.magic)
    return case.scenario(
        a_topic(topic),
        produce(topic, 0, three, version=case.version, name="one"),
        produce(topic, 0, three, version=case.version, name="two"),
        log_end(topic),
        expect=all_of(stored_at("one", 0), stored_at("two", 3), ends_at(6)),
    )


@claim(
    "produce.a-partition-named-twice-counts-once",
    evidence=("observed on 1.0.2, 2.2.1, 2.8.2, 3.9.2 and 4.3.1",),
    level=OBSERVED,
    api="Produce",
    versions=range_("Produce", 3),
    where=among(3, 9, 13),
)
def test_a_partition_named_twice_counts_once(case):
    """If a Produce names a partition twice, the broker appends only the last records and answers
    once.
    """
    topic = case.topic()
    twice = ((topic, ((0, coded(b"first")), (0, coded(b"last")))),)
    return case.scenario(
        a_topic(topic),
        produce_many(twice, version=case.version, name="send"),
        fetch(topic, name="read"),
        log_end(topic),
        expect=all_of(
            answer("send", "responses[0].partition_responses").has_length(1),
            ends_at(1),
            records("read", "[*].value").is_([b"last"]),
        ),
    )


@claim(
    "produce.a-request-for-nothing-is-answered",
    evidence=("observed on 1.0.2, 2.2.1, 2.8.2, 3.9.2 and 4.3.1",),
    level=OBSERVED,
    api="Produce",
    versions=every("Produce"),
    where=among(0, 3, 9, 13),
)
def test_a_request_for_nothing_is_answered(case):
    """Produce without topics answers with no topic."""
    return case.scenario(
        produce_many((), version=case.version, name="send"),
        expect=answer("send", "responses").has_length(0),
    )


@claim(
    "produce.log-start-offsets-are-told",
    evidence=("schema Produce.log_start_offset",),
    api="Produce",
    versions=range_("Produce", 5),
    where=among(5, 8, 9, 13),
)
def test_log_start_offsets_are_told(case):
    """From version 5 on Produce answers the log start offset."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        produce(topic, 0, coded(b"a"), version=case.version, name="send"),
        expect=answer("send", "responses[0].partition_responses[0].log_start_offset").is_(0),
    )


@claim(
    "produce.records-keep-the-time-of-their-producer",
    evidence=("APPEND-09",),
    api="Produce",
    versions=range_("Produce", 3),
    where=among(3, 9, 13),
)
def test_records_keep_the_time_of_their_producer(case):
    """With message.timestamp.type=CreateTime records keep their timestamps and Produce answers
    log_append_time_ms -1.
    """
    topic = case.topic()
    moments = [{"value": b"v", "timestamp": Now(at)} for at in (-5, 0, -9)]
    return case.scenario(
        a_topic(topic),
        produce(topic, 0, coded(*moments), version=case.version, name="send"),
        fetch(topic, name="read"),
        expect=all_of(
            answer("send", "responses[0].partition_responses[0].log_append_time_ms").is_(-1),
            records("read", "[*].timestamp").is_([Now(-5), Now(0), Now(-9)]),
        ),
    )
