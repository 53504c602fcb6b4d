"""Produce: the largest batch that a broker appends, as sent and as rewritten by the broker.

A batch of one record without a key has 61 bytes of header and, for values of up to 63 bytes, 7
bytes around the value.

Sources: Log.analyzeAndValidateRecords and Log.append at 1.0.2 and 2.8.2, UnifiedLog at 3.9; clauses
APPEND-13, 14.
"""

from touchstone.harness.model.claim import claim, range_
from touchstone.harness.model.expect import all_of
from touchstone.harness.model.steps import a_topic, produce
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.producing import refused_with, stored_at
from touchstone.suites.kit.records import coded
from touchstone.suites.kit.topics import among, ends_at, log_end

AROUND = 61 + 7


@claim(
    "produce.batches-above-max-message-bytes-are-refused",
    evidence=("APPEND-13",),
    api="Produce",
    versions=range_("Produce", 3),
    where=among(3, 9, 13),
    switches=("max-message-bytes-ignored",),
)
def test_batches_above_max_message_bytes_are_refused(case):
    """A batch of max.message.bytes is stored; one byte more answers MESSAGE_TOO_LARGE."""
    topic = case.topic()
    fits, exceeds = coded(b"x" * (100 - AROUND)), coded(b"x" * (101 - AROUND))
    return case.scenario(
        a_topic(topic, configs={"max.message.bytes": 100}),
        produce(topic, 0, fits, version=case.version, name="fits"),
        produce(topic, 0, exceeds, version=case.version, name="exceeds"),
        log_end(topic),
        expect=all_of(
            stored_at("fits", 0), refused_with("exceeds", ErrorCode.MESSAGE_TOO_LARGE), ends_at(1)
        ),
    )


@claim(
    "produce.the-size-of-a-batch-is-its-compressed-size",
    evidence=("APPEND-13",),
    api="Produce",
    versions=range_("Produce", 3),
    where=among(3, 9, 13),
)
def test_the_size_of_a_batch_is_its_compressed_size(case):
    """max.message.bytes limits the compressed size of a batch, not what it decompresses to."""
    topic = case.topic()
    packed = coded(bytes(5000), codec="gzip")
    return case.scenario(
        a_topic(topic, configs={"max.message.bytes": 200}),
        produce(topic, 0, packed, version=case.version, name="send"),
        log_end(topic),
        expect=all_of(stored_at("send", 0), ends_at(1)),
    )


@claim(
    "produce.a-batch-that-grows-too-large-is-refused",
    evidence=("APPEND-12", "APPEND-13"),
    api="Produce",
    versions=range_("Produce", 3),
    where=among(3, 9, 13),
)
def test_a_batch_that_grows_too_large_is_refused(case):
    """A batch that exceeds max.message.bytes after the broker decompresses it answers
    MESSAGE_TOO_LARGE.
    """
    topic = case.topic()
    configs = {"max.message.bytes": 200, "compression.type": "uncompressed"}
    packed = coded(bytes(5000), codec="gzip")
    return case.scenario(
        a_topic(topic, configs=configs),
        produce(topic, 0, packed, version=case.version, name="send"),
        produce(topic, 0, coded(b"a"), version=case.version, name="next"),
        log_end(topic),
        expect=all_of(
            refused_with("send", ErrorCode.MESSAGE_TOO_LARGE), stored_at("next", 0), ends_at(1)
        ),
    )


@claim(
    "produce.records-above-segment-bytes-are-refused",
    evidence=("APPEND-14",),
    api="Produce",
    versions=range_("Produce", 3),
    releases="1.0-3.9",
    where=among(3, 9),
)
def test_records_above_segment_bytes_are_refused(case):
    """A batch larger than segment.bytes answers RECORD_LIST_TOO_LARGE."""
    topic = case.topic()
    fits, exceeds = coded(b"x" * (100 - AROUND)), coded(b"x" * (101 - AROUND))
    return case.scenario(
        a_topic(topic, configs={"segment.bytes": 100}),
        produce(topic, 0, fits, version=case.version, name="fits"),
        produce(topic, 0, exceeds, version=case.version, name="exceeds"),
        log_end(topic),
        expect=all_of(
            stored_at("fits", 0),
            refused_with("exceeds", ErrorCode.RECORD_LIST_TOO_LARGE),
            ends_at(1),
        ),
    )
