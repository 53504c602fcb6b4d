"""The scenario whose answers by five real Kafka releases are stored in `golden/`.

It walks through every API of the first reach, once in a version with flexible encoding where the
release has one, and does what each liar needs to be able to lie: pipelines, acks=0, several batches
and a small limit, a fetch from inside a batch. Liars answer from these files, so a run against them
uses the nonce in their header. To record anew:

    python -m touchstone.harness.tests.witness RELEASE HOST:PORT
"""

from __future__ import annotations

import secrets
import sys
from pathlib import Path

from touchstone.harness.driver import run
from touchstone.harness.model import steps
from touchstone.harness.model.scenario import Await, Name, Open, Quiet, Raw, Scenario, Send
from touchstone.harness.model.target import Endpoint
from touchstone.harness.model.transcript import Transcript, read, write
from touchstone.reference_impl.wire.records.batch import Record, encode_batch

GOLDEN = Path(__file__).parent / "golden"
STAMP = 1_700_000_000_000  # November 2023: any fixed instant

# Two records under gzip, as bytes: what another version of a codec makes of them differs.
COMPRESSED = bytes.fromhex(
    "00000000000000000000005fffffffff02941557c10001000000010000018bcfe568000000018bcfe56801ff"
    "ffffffffffffffffffffffffff000000021f8b08000000000000ff33626060e0ca4eadd4351061800326a60c"
    "a60a2320059631449701005a9d209834000000"
)

# release -> versions of what is judged; the rest takes the auxiliary ones
VERSIONS = {
    "1.0": {"CreateTopics": 2, "Metadata": 5, "Produce": 5, "Fetch": 6, "ListOffsets": 2},
    "2.2": {"CreateTopics": 3, "Metadata": 7, "Produce": 7, "Fetch": 10, "ListOffsets": 5},
    "2.8": {"CreateTopics": 7, "Metadata": 11, "Produce": 9, "Fetch": 12, "ListOffsets": 6},
    "3.9": {"CreateTopics": 7, "Metadata": 12, "Produce": 11, "Fetch": 16, "ListOffsets": 8},
    "4.3": {"CreateTopics": 7, "Metadata": 13, "Produce": 13, "Fetch": 17, "ListOffsets": 10},
}
API_VERSIONS = {"1.0": 1, "2.2": 2, "2.8": 3, "3.9": 4, "4.3": 4}
RELEASES = tuple(VERSIONS)


def batch(count: int, *, size: int = 10) -> bytes:
    records = [Record(i, i, b"key-%d" % i, bytes(size), [("h", b"x")]) for i in range(count)]
    return encode_batch(records, base_timestamp=STAMP)


def corrupt(data: bytes) -> bytes:
    """The batch with another last byte, so that its CRC is wrong."""
    return data[:-1] + bytes((data[-1] ^ 1,))


def witness(release: str) -> Scenario:
    version = VERSIONS[release]
    topic = Name("witness")
    produce = {"version": version["Produce"]}
    fetch = {"version": version["Fetch"], "max_wait_ms": 100}
    return Scenario(
        (
            steps.api_versions(version=API_VERSIONS[release], name="advertised"),
            Send("ApiVersions", 0, {}, "first"),
            Send("ApiVersions", 0, {}, "second"),
            Await("first"),
            Await("second"),
            steps.create_topic(topic, 2, version=version["CreateTopics"], name="created"),
            steps.topic_ready(topic, 2),
            steps.create_topic(topic, 2, version=version["CreateTopics"], name="created again"),
            steps.metadata(topic, version=version["Metadata"], name="described"),
            steps.produce(topic, 0, batch(3), name="produced", **produce),
            steps.produce(topic, 0, COMPRESSED, name="compressed", **produce),
            steps.produce(topic, 0, batch(4), name="more", **produce),
            steps.produce(topic, 1, batch(2), acks=0, name="unanswered", **produce),
            Quiet(name="quiet"),
            steps.produce(topic, 1, corrupt(batch(1)), name="refused", **produce),
            steps.fetch(topic, 0, 0, name="fetched", **fetch),
            steps.fetch(topic, 0, 4, name="from inside", **fetch),
            steps.fetch(topic, 0, 0, partition_max_bytes=200, name="a little", **fetch),
            steps.fetch(topic, 0, 99, name="out of range", **fetch),
            steps.list_offsets(topic, 0, 1, version=version["ListOffsets"], name="latest"),
            steps.metadata(topic, version=version["Metadata"], name="described again"),
            steps.create_partitions(topic, 3, name="grown"),
            Open("idle"),
            Raw(b"\0\x12\0\0\0\0\0\x09\0", connection="broken", name="too short"),
        )
    )


def golden(release: str) -> Transcript:
    return read(GOLDEN / f"{release}.jsonl")


def main(release: str, address: str) -> None:
    host, _, port = address.rpartition(":")
    endpoint = Endpoint(((host, int(port)),))
    target = f"kafka@{release}"
    nonce = secrets.token_hex(8)
    found = run(witness(release), endpoint, nonce=nonce, target=target, release=release)
    assert found.complete, found.events[-1]
    write(found, GOLDEN / f"{release}.jsonl")


if __name__ == "__main__":
    main(*sys.argv[1:])
