"""What a broker does with odd record data: one line a case, the same for any broker.

`acceptance.txt` holds the lines of Apache Kafka 1.0.2, 2.2.1, 2.8.2, 3.9.2 and 4.3.1. They were
written by this program, and the test wants the same lines from the reference broker. With one
address for each release:

    python -m touchstone.reference_impl.tests.records.acceptance HOST:PORT ...
"""

import struct
import sys
import zlib

import cramjam

from touchstone.reference_impl.broker.personas.releases import RELEASES
from touchstone.reference_impl.io.client import Client
from touchstone.reference_impl.wire import records as R
from touchstone.reference_impl.wire.errors import name_of
from touchstone.reference_impl.wire.records import batch, compression, varint
from touchstone.reference_impl.wire.records.batch import BatchHeader, Record

ONE = batch.encode_record(Record(0, 0, b"key", b"value"))
NEWEST, OLD = 3, 2  # Produce versions: the first with record batches, the last without


def _deltas(*deltas: int) -> bytes:
    return batch.encode_records([Record(d, 0, b"k", b"v%d" % d) for d in deltas])


PAYLOADS = {
    "deltas 0,0,0": (_deltas(0, 0, 0), 3),
    "deltas 2,1,0": (_deltas(2, 1, 0), 3),
    "deltas 0,5": (_deltas(0, 5), 2),
    "record one byte shorter than it says": (bytes((ONE[0] + 2,)) + ONE[1:], 1),
    "record one byte longer than it says": (bytes((ONE[0] - 2,)) + ONE[1:], 1),
    "byte after the records": (ONE + b"\0", 1),
    "more records than counted": (ONE + ONE, 1),
    "fewer records than counted": (ONE, 2),
    "key length in a longer varint": (b"\x16\0\0\0\x86\0abc\x02v\0", 1),
    "null key as -3": (b"\x0e\0\0\0\x05\x02v\0", 1),
    "key beyond the end": (ONE[:4] + b"\x7e" + ONE[5:], 1),
    "-1 headers": (ONE[:-1] + b"\x01", 1),
    "null header key": (varint.encode(8) + b"\0\0\0\x01\x01\x02\x01\x01", 1),
    "record attributes": (ONE[:1] + b"\x77" + ONE[2:], 1),
    "no records": (b"", 0),
    "length in a varint without an end": (b"\xff" * 10, 1),
}
HEADERS = {
    "last offset delta too large": {"last_offset_delta": 5},
    "last offset delta negative": {"last_offset_delta": -1},
    "base offset 7": {"base_offset": 7},
    "unknown attribute bits": {"attributes": 0x7F80},
    "delete horizon bit": {"attributes": 0x40},
    "control bit": {"attributes": 0x20},
    "wrong max timestamp": {"max_timestamp": 12},
    "producer without sequence": {"producer_id": 77, "producer_epoch": 0},
}


def _batch(now: int, payload: bytes, count: int, codec: int, **fields: int) -> bytes:
    header = BatchHeader(0, 0, -1, 2, 0, codec, count - 1, now, now, -1, -1, -1, count)
    fields["attributes"] = fields.get("attributes", 0) | codec
    packed = compression.compress(codec, payload) if codec else payload
    return header._replace(**fields).encode(packed)


def _packed(now: int, codec: int, packed: bytes) -> bytes:
    return BatchHeader(0, 0, -1, 2, 0, codec, 0, now, now, -1, -1, -1, 1).encode(packed)


def _other_checksum(magic: int, now: int) -> bytes:
    right, wrong = (b"\x1a", b"\x82") if magic == 0 else (b"\x82", b"\x1a")
    head = b"\x04\x22\x4d\x18\x60\x40"
    data = bytearray(
        R.build(magic, [b"a"], R.LZ4, timestamp=now).replace(head + right, head + wrong)
    )
    struct.pack_into(">I", data, 12, zlib.crc32(data[16:]))
    return bytes(data)


def cases(now: int) -> dict[str, tuple[int, bytes]]:
    """Name -> Produce version and records."""
    found: dict[str, tuple[int, bytes]] = {}
    for codec in (R.NONE, R.GZIP, R.SNAPPY, R.LZ4):
        name = compression.NAMES[codec]
        good = _batch(now, ONE, 1, codec)
        for what, (payload, count) in PAYLOADS.items():
            found[f"{name}: {what}"] = NEWEST, _batch(now, payload, count, codec)
        for what, fields in HEADERS.items():
            found[f"{name}: {what}"] = NEWEST, _batch(now, ONE, 1, codec, **fields)
        found[f"{name}: wrong crc"] = NEWEST, R.rewrite(good, crc=1)
        found[f"{name}: magic 3"] = NEWEST, R.rewrite(good, magic=3)
        found[f"{name}: bytes behind the batch"] = NEWEST, good + bytes(5)
        found[f"{name}: half a batch behind it"] = NEWEST, good + good[:-3]
        found[f"{name}: two batches"] = NEWEST, good + good
    found |= {f"codec: {what}": (NEWEST, data) for what, data in _codec_cases(now).items()}
    for magic in (0, 1):
        for codec in range(4):
            data = R.build(magic, [(b"k", b"v"), (b"l", b"w")], codec, timestamp=now)
            found[f"magic {magic}: {compression.NAMES[codec]}"] = OLD, data
        found[f"magic {magic}: other lz4 checksum"] = OLD, _other_checksum(magic, now)
        found[f"magic {magic}: in Produce v3"] = NEWEST, R.build(magic, [b"a"], timestamp=now)
    found["magic 2: in Produce v2"] = OLD, _batch(now, ONE, 1, R.NONE)
    return found


def _codec_cases(now: int) -> dict[str, bytes]:
    pack = compression.compress
    gzip, lz4, snappy = (pack(codec, ONE) for codec in (R.GZIP, R.LZ4, R.SNAPPY))
    halves = pack(R.GZIP, ONE[:5]) + pack(R.GZIP, ONE[5:])
    return {
        "raw snappy": _packed(now, R.SNAPPY, bytes(cramjam.snappy.compress_raw(ONE))),
        "snappy of nothing": _packed(now, R.SNAPPY, pack(R.SNAPPY, b"")),
        "chunk of no bytes after snappy": _packed(now, R.SNAPPY, snappy + b"\0\0\0\0"),
        "two bytes after snappy": _packed(now, R.SNAPPY, snappy + b"zz"),
        "lz4 with the checksum of magic 0": _packed(now, R.LZ4, pack(R.LZ4, ONE, magic=0)),
        "bytes after lz4": _packed(now, R.LZ4, lz4 + b"zzz"),
        "lz4 without its end mark": _packed(now, R.LZ4, lz4[:-4]),
        "lz4 cut short": _packed(now, R.LZ4, lz4[:-6]),
        "bytes after gzip": _packed(now, R.GZIP, gzip + b"zzz"),
        "gzip with a wrong crc": _packed(now, R.GZIP, gzip[:-8] + b"12345678"),
        "gzip cut short": _packed(now, R.GZIP, gzip[:-3]),
        "gzip of two members": _packed(now, R.GZIP, halves),
        "gzip and the header of another": _packed(now, R.GZIP, gzip + gzip[:10]),
        "gzip and 18 bytes of another": _packed(now, R.GZIP, gzip + gzip[:18]),
        "gzip and 19 bytes of another": _packed(now, R.GZIP, gzip + gzip[:19]),
        "gzip without a byte": _packed(now, R.GZIP, b""),
        "not gzip": _packed(now, R.GZIP, b"not gzip at all"),
        "zstd in Produce v3": _packed(now, R.ZSTD, pack(R.ZSTD, ONE)),
        "codec 5": _packed(now, 5, ONE),
        "codec 7": _packed(now, 7, ONE),
    }


def outcome(client: Client, topic: str, version: int, data: bytes) -> str:
    """The error, or what can be fetched of it afterwards."""
    rows = [{"name": topic, "partition_data": [{"index": 0, "records": data}]}]
    body = {"transactional_id": None, "acks": -1, "timeout_ms": 5000, "topic_data": rows}
    leader = client.view.leader(topic, 0).leader
    try:
        answer = client.ask("Produce", body, leader, versions=(version, version))
    except ConnectionError:
        return "closed"
    (part,) = answer["responses"][0]["partition_responses"]
    if part["error_code"]:
        return name_of(part["error_code"])
    first = part["base_offset"]
    wanted = {"partition": 0, "fetch_offset": first, "partition_max_bytes": 1 << 20}
    fetch = {
        "replica_id": -1,
        "max_wait_ms": 500,
        "min_bytes": 1,
        "max_bytes": 1 << 20,
        "isolation_level": 0,
        "topics": [{"topic": topic, "partitions": [wanted]}],
    }
    answer = client.ask("Fetch", fetch, leader, versions=(4, 4))
    stored = answer["responses"][0]["partitions"][0]["records"]
    return _described(stored, data, first)


def _described(stored: bytes, sent: bytes, first: int) -> str:
    sizes = [size for _, size, magic in R.entries(stored) if magic == 2]
    if not sizes:
        return "stored in an old format"
    batched = sent[batch.MAGIC_AT] == 2
    same = batched and _timeless(stored[: sizes[0]]) == _timeless(sent[: sizes[0]])
    header = R.read_header(stored)
    how = "stored as it is" if same else "stored anew"
    moved = "" if header.max_timestamp != 12 else ", max timestamp kept"
    bits = f"attributes {header.attributes & 0xFFFF:#x}"
    try:
        offsets = [row["offset"] - first for row in R.read(stored)]
    except R.RecordError:
        return f"{how}, {bits}{moved}, unreadable"
    return f"{how}, {bits}{moved}, offsets {offsets}"


def _timeless(data: bytes) -> bytes:
    """Without what every broker sets."""
    return R.rewrite(data, base_offset=0, partition_leader_epoch=-1)


def lines(client: Client, topic: str) -> dict[str, str]:
    client.admin.create_topic(topic)
    found = {
        name: outcome(client, topic, version, data)
        for name, (version, data) in cases(client.now()).items()
    }
    client.admin.delete_topics([topic])
    return found


def main(addresses: list[str]) -> None:
    rows: dict[str, dict[str, list[str]]] = {}
    for release, address in zip(RELEASES, addresses, strict=True):
        with Client(address) as client:
            for name, said in lines(client, f"acceptance-{client.now()}").items():
                rows.setdefault(name, {}).setdefault(said, []).append(release)
    for name, answers in rows.items():
        for said, releases in answers.items():
            print(f"{name} | {' '.join(releases)} | {said}")


if __name__ == "__main__":
    main(sys.argv[1:])
