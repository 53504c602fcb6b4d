"""What a consumer of given partitions reads, and from where (CONS-10 to CONS-29)."""

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, client
from touchstone.harness.model.steps import delete_records, produce
from touchstone.suites.kit.clients import (
    QUICK,
    C,
    Hear,
    Tell,
    Watch,
    a_topic,
    assign,
    consumer,
    reads,
    seek,
    stored,
    texts,
)
from touchstone.suites.kit.records import coded

READ = {"client": C, "field": "value"}


@claim("consumer.records-come-once-and-in-order", evidence=("CONS-25", "CONS-45"), role="client",
       switches=("reads-backwards", "reads-twice", "skips-a-record"))  # fmt: skip
def test_records_come_once_and_in_order(case):
    """A consumer of a partition gives its application each record once, in order of offset."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        *(stored(topic, one) for one in texts(12)),
        consumer(),
        assign(topic),
        reads(12),
        expect=all_of(
            client("consumed", client=C, field="offset").is_(list(range(12))),
            client("consumed", **READ).is_(texts(12)),
        ),
    )


@claim("consumer.latest-begins-at-the-end", evidence=("CONS-21", "CONS-19"), role="client",
       switches=("reset-ignored",))  # fmt: skip
def test_latest_begins_at_the_end(case):
    """A consumer with auto.offset.reset latest reads what is written after its first fetch."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        stored(topic, "old"),
        consumer(config={"auto.offset.reset": "latest"}),
        assign(topic),
        Watch("Fetch", 1),
        stored(topic, "new"),
        reads(1),
        expect=client("consumed", **READ).is_(["new"]),
    )


@claim("consumer.without-a-policy-no-position-is-an-error", evidence=("CONS-21",), role="client",
       switches=("reset-ignored",))  # fmt: skip
def test_without_a_policy_no_position_is_an_error(case):
    """A consumer with auto.offset.reset none and no committed offset reports an error."""
    topic, group = case.topic(), case.group()
    return case.scenario(
        a_topic(topic),
        stored(topic, "old"),
        consumer(config={"auto.offset.reset": "none", "group.id": group}),
        assign(topic),
        Hear("consumer_error", C),
        expect=client("consumed", **READ).is_([]),
        config=QUICK,
    )


@claim("consumer.seek-moves-the-position", evidence=("CONS-11",), role="client",
       switches=("skips-a-record",))  # fmt: skip
def test_seek_moves_the_position(case):
    """After a seek the next record that the application gets is that of the offset."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        stored(topic, *texts(6)),
        consumer(),
        assign(topic),
        reads(6),
        seek(topic, 4),
        reads(8),
        expect=client("consumed", client=C, field="offset").is_([0, 1, 2, 3, 4, 5, 4, 5]),
    )


@claim("consumer.records-below-the-position-are-left-out", evidence=("CONS-38",), role="client",
       switches=("skips-a-record",))  # fmt: skip
def test_records_below_the_position_are_left_out(case):
    """A consumer at an offset within a batch leaves out the records of the batch before it."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        stored(topic, *texts(5)),
        consumer(config={"auto.offset.reset": "latest"}),
        assign(topic),
        Watch("Fetch", 1),
        seek(topic, 3),
        reads(2),
        expect=client("consumed", client=C, field="offset").is_([3, 4]),
    )


@claim("consumer.out-of-range-is-reset", evidence=("CONS-37",), role="client",
       switches=("reset-ignored",))  # fmt: skip
def test_out_of_range_is_reset(case):
    """A consumer with reset policy earliest whose offset is gone goes on at the log's start."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        stored(topic, "a"),
        stored(topic, "b"),
        stored(topic, "c"),
        delete_records(topic, 0, 2),
        consumer(),
        assign(topic),
        reads(1),
        seek(topic, 0),
        reads(2),
        expect=client("consumed", client=C, field="offset").is_([2, 2]),
    )


@claim("consumer.a-batch-above-the-fetch-size-is-read", evidence=("KIP-74",), role="client",
       switches=("skips-a-record",))  # fmt: skip
def test_a_batch_above_the_fetch_size_is_read(case):
    """A record that is larger than max.partition.fetch.bytes and fetch.max.bytes is read."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        stored(topic, "x" * 5000),
        stored(topic, "small"),
        consumer(config={"max.partition.fetch.bytes": 1000, "fetch.max.bytes": 1000}),
        assign(topic),
        reads(2),
        expect=client("consumed", **READ).is_(["x" * 5000, "small"]),
    )


@claim("consumer.max-poll-records-bounds-a-poll", evidence=("CONS-24",), role="client",
       switches=("max-poll-records-ignored",))  # fmt: skip
def test_max_poll_records_bounds_a_poll(case):
    """A poll gives at most max.poll.records, and the rest comes without loss."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        stored(topic, *texts(7)),
        consumer(config={"max.poll.records": 2}),
        assign(topic),
        reads(7),
        expect=all_of(
            client("events", name="records_consumed", path="count").each_is_one_of(1, 2),
            client("consumed", **READ).is_(texts(7)),
        ),
    )


@claim("consumer.a-paused-partition-rests", evidence=("CONS-47", "CONS-29"), role="client",
       switches=("pause-ignored",))  # fmt: skip
def test_a_paused_partition_rests(case):
    """A paused partition gives no records until it is resumed, and then goes on where it was."""
    topic = case.topic()
    paused = {"partitions": [{"topic": topic, "partition": 0}]}
    return case.scenario(
        a_topic(topic, 2),
        stored(topic, "a"),
        consumer(),
        assign(topic, 0, 1),
        reads(1),
        Tell("pause", C, paused),
        Hear("command_done", C, where={"command": "pause"}),
        stored(topic, "b"),
        stored(topic, "other", partition=1),
        reads(2),
        Tell("resume", C, paused),
        reads(3),
        expect=client("consumed", **READ).is_(["a", "other", "b"]),
    )


@claim("consumer.fetch-names-the-isolation-level", evidence=("KIP-98",), role="client",
       switches=("isolation-ignored",),
       isolation=("read_uncommitted", "read_committed"))  # fmt: skip
def test_fetch_names_the_isolation_level(case):
    """Each Fetch of a consumer names the isolation.level of its configuration."""
    topic = case.topic()
    level = {"read_uncommitted": 0, "read_committed": 1}[case.isolation]
    return case.scenario(
        a_topic(topic),
        stored(topic, "a"),
        consumer(config={"isolation.level": case.isolation}),
        assign(topic),
        reads(1),
        expect=client("asked", api="Fetch", path="isolation_level").each_is(level),
    )


def _reads(case, codec, version):
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        produce(topic, 0, coded(b"z" * 300, b"end", codec=codec), version=version),
        consumer(),
        assign(topic),
        reads(2),
        expect=client("consumed", **READ).is_(["z" * 300, "end"]),
    )


@claim("consumer.every-codec-is-read", evidence=("KIP-98",), role="client",
       switches=("skips-a-record",), codec=("gzip", "snappy", "lz4"))  # fmt: skip
def test_every_codec_is_read(case):
    """A consumer reads batches that are compressed by gzip, snappy or lz4."""
    return _reads(case, case.codec, 3)


@claim("consumer.zstd-is-read", evidence=("KIP-110",), role="client", releases="2.2+",
       switches=("skips-a-record",))  # fmt: skip
def test_zstd_is_read(case):
    """A consumer reads batches that are compressed by zstd."""
    return _reads(case, "zstd", 7)
