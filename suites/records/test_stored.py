"""What Fetch gives back of what Produce was given: formats, codecs, keys, headers, odd batches.

A broker stores a sound batch as it came and sets the base offset, the leader epoch and, if it must,
the newest timestamp; where codec or format differ from the topic's it writes it anew.
Sources: LogValidator at 1.0.2, 2.2.1, 2.8.2 and 3.9, DefaultRecordBatch.setMaxTimestamp at 2.8.2;
KIP-82, KIP-98, KIP-110; clause APPEND-12; the five releases were asked.
"""

from touchstone.harness.model.claim import OBSERVED, claim, every, range_
from touchstone.harness.model.expect import all_of, answer, batches, records
from touchstone.harness.model.placeholders import Now
from touchstone.harness.model.steps import a_topic, fetch, produce
from touchstone.reference_impl.wire.records import batch as format_2
from touchstone.reference_impl.wire.records.batch import Record
from touchstone.suites.kit.producing import stored_at
from touchstone.suites.kit.records import CODECS, coded, damaged, messages
from touchstone.suites.kit.topics import among, ends_at, log_end

EVERY_CODEC = tuple(CODECS)
WITHOUT_ZSTD = EVERY_CODEC[:4]
FOR_EVER = {"retention.ms": -1}
WITH_BATCHES = {"api": "Produce", "versions": range_("Produce", 3), "where": among(3, 9, 13)}
ONCE = {"api": "Produce", "versions": range_("Produce", 3), "where": among(3)}
READS_ZSTD = 10


def read_back(case, sent, *, configs=None, expect, fetch_version=None):
    """Produce once, read all of it."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic, configs=configs),
        produce(topic, 0, sent, version=case.version, name="send"),
        fetch(topic, version=fetch_version, name="read"),
        log_end(topic),
        expect=expect,
    )


@claim(
    "records.every-codec-comes-back",
    evidence=("APPEND-12", "KIP-110"),
    api="Produce",
    versions=range_("Produce", 3),
    where=lambda row: (
        row["version"] in (3, 7, 9, 13) and (row["codec"] != "zstd" or row["version"] >= 7)
    ),
    codec=EVERY_CODEC,
)
def test_every_codec_comes_back(case):
    """Fetch returns a batch in the codec of its producer, with its records unchanged."""
    sent = coded((b"k", b"one"), (b"l", b"two"), (None, b"three" * 30), codec=case.codec)
    return read_back(
        case,
        sent,
        fetch_version=READS_ZSTD if case.codec == "zstd" else None,
        expect=all_of(
            batches("read", "[0].attributes").is_(CODECS[case.codec]),
            records("read", "[*].value").is_([b"one", b"two", b"three" * 30]),
            records("read", "[*].offset").is_([0, 1, 2]),
        ),
    )


@claim(
    "records.topics-may-choose-the-codec",
    evidence=("APPEND-12",),
    wanted=("uncompressed", "gzip", "snappy", "lz4"),
    codec=WITHOUT_ZSTD,
    full=True,
    **ONCE,
)
def test_topics_may_choose_the_codec(case):
    """A topic with compression.type stores every batch in that codec, whatever codec the producer
    used."""
    stored = 0 if case.wanted == "uncompressed" else CODECS[case.wanted]
    return read_back(
        case,
        coded((b"k", b"one"), {"value": b"two", "headers": [(b"h", b"x")]}, codec=case.codec),
        configs={"compression.type": case.wanted},
        expect=all_of(
            batches("read", "[*].attributes").is_([stored]),
            records("read", "[*].value").is_([b"one", b"two"]),
        ),
    )


@claim(
    "records.topics-may-choose-zstd",
    evidence=("APPEND-12", "KIP-110"),
    releases="2.2+",
    codec=WITHOUT_ZSTD,
    **ONCE,
)
def test_topics_may_choose_zstd(case):
    """A topic with compression.type=zstd stores zstd batches of producers that use another
    codec."""
    return read_back(
        case,
        coded(b"one", b"two", codec=case.codec),
        configs={"compression.type": "zstd"},
        fetch_version=READS_ZSTD,
        expect=all_of(
            batches("read", "[*].attributes").is_([CODECS["zstd"]]),
            records("read", "[*].value").is_([b"one", b"two"]),
        ),
    )


@claim(
    "records.rewritten-batches-keep-their-producer",
    evidence=("APPEND-12", "KIP-98"),
    codec=("none", "gzip"),
    **ONCE,
)
def test_rewritten_batches_keep_their_producer(case):
    """A batch that the broker recompresses keeps its producer id, epoch and sequence."""
    producer = {"producer_id": 77, "producer_epoch": 3, "base_sequence": 0}
    return read_back(
        case,
        coded(b"a", b"b", codec=case.codec, **producer),
        configs={"compression.type": "lz4"},
        expect=all_of(
            batches("read", "[0].producer_id").is_(77),
            batches("read", "[0].producer_epoch").is_(3),
            batches("read", "[0].base_sequence").is_(0),
        ),
    )


@claim(
    "records.old-formats-are-stored-as-batches",
    evidence=("APPEND-12",),
    api="Produce",
    versions=range_("Produce", 0, 2),
    releases="1.0-3.9",
    magic=(0, 1),
    codec=WITHOUT_ZSTD,
)
def test_old_formats_are_stored_as_batches(case):
    """Produce of messages in format 0 or 1, compressed or not, stores them as one batch of format
    2."""
    return read_back(
        case,
        messages((b"k", b"one"), (None, b"two"), (b"m", None), magic=case.magic, codec=case.codec),
        expect=all_of(
            stored_at("send", 0),
            batches("read", "[*].magic").is_([2]),
            records("read", "[*].value").is_([b"one", b"two", None]),
            records("read", "[*].offset").is_([0, 1, 2]),
            ends_at(3),
        ),
    )


@claim(
    "records.batches-may-come-in-old-versions",
    evidence=("observed on 1.0.2, 2.2.1, 2.8.2 and 3.9.2",),
    level=OBSERVED,
    api="Produce",
    versions=range_("Produce", 0, 2),
    releases="1.0-3.9",
)
def test_batches_may_come_in_old_versions(case):
    """Produce 0 to 2 stores a batch of format 2."""
    return read_back(
        case, coded(b"a", b"b"), expect=all_of(stored_at("send", 0), ends_at(2))
    )  # fmt: skip


@claim(
    "records.old-readers-get-old-formats",
    evidence=("KIP-98", "KIP-32"),
    api="Fetch",
    versions=every("Fetch"),
    releases="1.0-3.9",
    where=among(0, 1, 2, 3, 4),
)
def test_old_readers_get_old_formats(case):
    """Fetch returns messages in format 0 before version 2, in format 1 before version 4 and batches
    of format 2 since."""
    topic = case.topic()
    magic = 0 if case.version < 2 else 1 if case.version < 4 else 2
    return case.scenario(
        a_topic(topic),
        produce(topic, 0, coded((b"k", b"one"), (None, b"two")), name="send"),
        fetch(topic, version=case.version, name="read"),
        expect=all_of(
            batches("read", "[0].magic").is_(magic),
            records("read", "[*].value").is_([b"one", b"two"]),
        ),
    )


@claim(
    "records.keys-values-and-headers-come-back",
    evidence=("KIP-82", "schema Produce.records"),
    codec=("none", "gzip"),
    **WITH_BATCHES,
)
def test_keys_values_and_headers_come_back(case):
    """Fetch returns keys, values and headers as they were produced, null and empty ones apart and
    repeated header keys included."""
    headers = [(b"h", b""), (b"h", None), ("\u00fc".encode(), b"\xff"), (b"", b"x")]
    sent = coded(
        {"key": None, "value": None},
        {"key": b"", "value": b""},
        {"key": b"k", "value": b"\0\xff" * 200, "headers": headers},
        codec=case.codec,
    )
    return read_back(
        case,
        sent,
        expect=all_of(
            records("read", "[*].key").is_([None, b"", b"k"]),
            records("read", "[*].value").is_([None, b"", b"\0\xff" * 200]),
            records("read", "[2].headers").has_length(4),
        ),
    )


@claim(
    "records.leader-epochs-are-stamped",
    evidence=("KIP-101", "APPEND-12"),
    sent_epoch=(-1, 77),
    **WITH_BATCHES,
)
def test_leader_epochs_are_stamped(case):
    """The leader writes its epoch into each batch, whatever epoch the producer sent."""
    sent = coded(b"a", partition_leader_epoch=case.sent_epoch)
    return read_back(
        case, sent, expect=batches("read", "[0].partition_leader_epoch").is_(0)
    )  # fmt: skip


@claim(
    "records.unknown-attributes-are-kept",
    evidence=("observed on 1.0.2, 2.2.1, 2.8.2, 3.9.2 and 4.3.1",),
    level=OBSERVED,
    attributes=(0x40, 0x80, 0x7F80, 0x4000),
    **ONCE,
)
def test_unknown_attributes_are_kept(case):
    """Attribute bits of a batch without a meaning are stored as they were sent."""
    return read_back(
        case,
        damaged(attributes=case.attributes),
        configs=FOR_EVER,
        expect=batches("read", "[0].attributes").is_(case.attributes),
    )


@claim(
    "records.the-newest-timestamp-is-the-broker-s-to-say",
    evidence=("APPEND-12",),
    codec=("none", "gzip"),
    said=(12, 2_000_000_000_000),
    **WITH_BATCHES,
)
def test_the_newest_timestamp_is_the_broker_s_to_say(case):
    """A batch with a wrong max_timestamp is stored with the right one."""
    first = damaged(codec=case.codec)
    right = format_2.read_header(first).base_timestamp
    return read_back(
        case,
        damaged(codec=case.codec, max_timestamp=case.said),
        configs=FOR_EVER,
        expect=batches("read", "[0].max_timestamp").is_(right),
    )


@claim(
    "records.offsets-of-plain-batches-are-believed",
    evidence=("observed on 1.0.2, 2.2.1, 2.8.2, 3.9.2 and 4.3.1",),
    level=OBSERVED,
    deltas=((0, 0, 0), (2, 1, 0), (0, 5, 2)),
    **ONCE,
)
def test_offsets_of_plain_batches_are_believed(case):
    """Offset deltas of records in an uncompressed batch are not checked: the batch takes as many
    offsets as it has records."""
    topic = case.topic()
    payload = format_2.encode_records([Record(delta, 0, b"k", b"v") for delta in case.deltas])
    odd = damaged(payload, len(case.deltas))
    return case.scenario(
        a_topic(topic),
        produce(topic, 0, odd, version=case.version, name="send"),
        produce(topic, 0, coded(b"a"), version=case.version, name="next"),
        log_end(topic),
        expect=all_of(stored_at("send", 0), stored_at("next", 3), ends_at(4)),
    )


@claim(
    "records.long-varints-are-read",
    evidence=("observed on 1.0.2, 2.2.1, 2.8.2, 3.9.2 and 4.3.1",),
    level=OBSERVED,
    shape=("key length in two bytes", "null as minus three", "attributes of a record"),
    **ONCE,
)
def test_long_varints_are_read(case):
    """Varints that are longer than needed, and any negative length as null, are accepted in
    records."""
    payload = {
        "key length in two bytes": b"\x16\0\0\0\x86\0abc\x02v\0",
        "null as minus three": b"\x0e\0\0\0\x05\x02v\0",
        "attributes of a record": b"\x0e\x77\0\0\x01\x02v\0",
    }[case.shape]
    return read_back(
        case,
        damaged(payload),
        configs=FOR_EVER,
        expect=all_of(stored_at("send", 0), records("read", "[0].value").is_(b"v")),
    )


@claim(
    "records.far-timestamps-fit-one-batch",
    evidence=("KIP-98", "schema Produce.records"),
    codec=("none", "lz4"),
    **WITH_BATCHES,
)
def test_far_timestamps_fit_one_batch(case):
    """A batch may hold timestamps decades apart, and Fetch returns each of them."""
    times = (Now(), 1, 1_000_000_000_000)
    values = [{"value": b"%d" % n, "timestamp": time} for n, time in enumerate(times)]
    return read_back(
        case,
        coded(*values, codec=case.codec),
        expect=records("read", "[*].timestamp").is_(list(times)),
    )


@claim(
    "records.bytes-behind-a-compressed-stream-are-no-fault",
    evidence=("observed on 1.0.2, 2.2.1, 2.8.2, 3.9.2 and 4.3.1",),
    level=OBSERVED,
    codec=("gzip", "snappy", "lz4"),
    **ONCE,
)
def test_bytes_behind_a_compressed_stream_are_no_fault(case):
    """Produce of a compressed batch with bytes behind its compressed stream is stored."""
    sound = damaged(codec=case.codec)
    header = format_2.read_header(sound)
    longer = header.encode(sound[format_2.HEADER_SIZE :] + b"zz")
    return read_back(
        case,
        longer,
        configs=FOR_EVER,
        expect=all_of(stored_at("send", 0), answer("read", "responses").has_length(1)),
    )
