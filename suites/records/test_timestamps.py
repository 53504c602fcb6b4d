"""Timestamps of records: whose clock counts, and how far a producer's may be off.

Sources: LogValidator.validateTimestamp and validateRecord at 1.0.2, 2.8.2 and 3.9; KIP-32, KIP-937;
clause APPEND-09; the five releases were asked.
"""

from touchstone.harness.model.claim import claim, range_
from touchstone.harness.model.expect import (
    Expectation,
    all_of,
    answer,
    batches,
    by_release,
    records,
)
from touchstone.harness.model.placeholders import Now
from touchstone.harness.model.steps import a_topic, fetch, list_offsets, produce
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.producing import refused_with, stored_at
from touchstone.suites.kit.records import coded, damaged, messages
from touchstone.suites.kit.topics import among, ends_at, log_end

APPEND_TIME = "responses[0].partition_responses[0].log_append_time_ms"
LOG_APPEND_TIME = {"message.timestamp.type": "LogAppendTime"}
WITH_BATCHES = {"api": "Produce", "versions": range_("Produce", 3), "where": among(3, 9, 13)}
# Before version 8 no message is told; those of bounds name instants that no two runs share.
SILENT = {"api": "Produce", "versions": range_("Produce", 3), "where": among(3, 7)}
MINUTE = 60_000


def out_of_bounds() -> Expectation:
    return all_of(refused_with("send", ErrorCode.INVALID_TIMESTAMP), ends_at(0))


@claim(
    "records.log-append-time-replaces-timestamps",
    evidence=("APPEND-09", "KIP-32"),
    switches=("log-append-time-ignored",),
    codec=("none", "gzip"),
    **WITH_BATCHES,
)
def test_log_append_time_replaces_timestamps(case):
    """A topic with message.timestamp.type=LogAppendTime stamps records with the broker's clock, and
    Produce returns that time."""
    topic = case.topic()
    old = [{"value": b"a", "timestamp": 5}, {"value": b"b", "timestamp": 9}]
    return case.scenario(
        a_topic(topic, configs=LOG_APPEND_TIME),
        produce(topic, 0, coded(*old, codec=case.codec), version=case.version, name="send"),
        fetch(topic, name="read"),
        expect=all_of(
            answer("send", APPEND_TIME).at_least(Now(-5_000)),
            batches("read", "[0].attributes").is_(0x08 | (1 if case.codec == "gzip" else 0)),
            records("read", "[0].timestamp").at_least(Now(-5_000)),
            records("read", "[1].timestamp").at_least(Now(-5_000)),
        ),
    )


@claim(
    "records.log-append-time-of-old-formats",
    evidence=("APPEND-09",),
    api="Produce",
    versions=range_("Produce", 2, 2),
    releases="1.0-3.9",
    codec=("none", "gzip"),
)
def test_log_append_time_of_old_formats(case):
    """Produce of messages in format 1 to a topic with LogAppendTime returns the broker's time."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic, configs=LOG_APPEND_TIME),
        produce(
            topic, 0, messages(b"a", b"b", codec=case.codec), version=case.version, name="send"
        ),
        fetch(topic, name="read"),
        expect=answer("send", APPEND_TIME).at_least(Now(-5_000)),
    )


@claim(
    "records.producers-may-not-claim-log-append-time",
    evidence=("APPEND-09", "observed on 1.0.2, 2.2.1, 2.8.2, 3.9.2 and 4.3.1"),
    kind=("CreateTime", "LogAppendTime"),
    **WITH_BATCHES,
)
def test_producers_may_not_claim_log_append_time(case):
    """Produce of a batch marked LogAppendTime answers INVALID_TIMESTAMP and stores nothing; since
    3.9 only on a topic with that timestamp type."""
    topic = case.topic()
    stored = all_of(stored_at("send", 0), ends_at(1))
    newer = stored if case.kind == "CreateTime" else out_of_bounds()
    return case.scenario(
        a_topic(topic, configs={"message.timestamp.type": case.kind}),
        produce(topic, 0, damaged(attributes=0x08), version=case.version, name="send"),
        log_end(topic),
        expect=by_release({"1.0-2.8": out_of_bounds(), "3.9+": newer}),
    )


@claim(
    "records.timestamps-must-be-near-the-clock",
    evidence=("APPEND-09", "KIP-32"),
    releases="1.0-3.9",
    off=(-2 * MINUTE, 2 * MINUTE),
    codec=("none", "gzip"),
    **SILENT,
)
def test_timestamps_must_be_near_the_clock(case):
    """Produce of a record further from the broker's clock than message.timestamp.difference.max.ms
    answers INVALID_TIMESTAMP and stores nothing."""
    topic = case.topic()
    values = [{"value": b"a", "timestamp": Now()}, {"value": b"b", "timestamp": Now(case.off)}]
    return case.scenario(
        a_topic(topic, configs={"message.timestamp.difference.max.ms": MINUTE}),
        produce(topic, 0, coded(*values, codec=case.codec), version=case.version, name="send"),
        log_end(topic),
        expect=out_of_bounds(),
    )


@claim(
    "records.past-and-future-have-bounds-of-their-own",
    evidence=("KIP-937",),
    releases="3.9+",
    bound=("before", "after"),
    off=(-2 * MINUTE, 2 * MINUTE),
    **SILENT,
)
def test_past_and_future_have_bounds_of_their_own(case):
    """message.timestamp.before.max.ms limits how old a record may be and
    message.timestamp.after.max.ms how far ahead: beyond it Produce answers INVALID_TIMESTAMP."""
    topic = case.topic()
    beyond = case.off < 0 if case.bound == "before" else case.off > 0
    stored = all_of(stored_at("send", 0), ends_at(1))
    record = {"value": b"a", "timestamp": Now(case.off)}
    return case.scenario(
        a_topic(topic, configs={f"message.timestamp.{case.bound}.max.ms": MINUTE}),
        produce(topic, 0, coded(record), version=case.version, name="send"),
        log_end(topic),
        expect=out_of_bounds() if beyond else stored,
    )


@claim(
    "records.the-far-future-is-refused-by-default",
    evidence=("KIP-1030", "observed on 1.0.2, 2.2.1, 2.8.2, 3.9.2 and 4.3.1"),
    **SILENT,
)
def test_the_far_future_is_refused_by_default(case):
    """Produce of a record two hours ahead of the clock answers INVALID_TIMESTAMP on 4.x, whose
    default limit is one hour, and is stored before."""
    topic = case.topic()
    record = {"value": b"a", "timestamp": Now(120 * MINUTE)}
    stored = all_of(stored_at("send", 0), ends_at(1))
    return case.scenario(
        a_topic(topic),
        produce(topic, 0, coded(record), version=case.version, name="send"),
        log_end(topic),
        expect=by_release({"1.0-3.9": stored, "4.3": out_of_bounds()}),
    )


@claim(
    "records.no-timestamp-is-a-timestamp",
    evidence=("KIP-32", "observed on 1.0.2, 2.2.1, 2.8.2, 3.9.2 and 4.3.1"),
    **WITH_BATCHES,
)
def test_no_timestamp_is_a_timestamp(case):
    """A record without a timestamp (-1) is stored as it is."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        produce(topic, 0, coded(b"a", timestamp=-1), version=case.version, name="send"),
        fetch(topic, name="read"),
        list_offsets(topic, timestamp=0, name="by time"),
        expect=all_of(stored_at("send", 0), records("read", "[0].timestamp").is_(-1)),
    )
