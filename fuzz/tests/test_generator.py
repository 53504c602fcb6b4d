"""What the generator draws is a valid request of every pair there is, and keeps away from harm."""

from __future__ import annotations

import random

import pytest

from touchstone.fuzz.generator import (
    STOPPING,
    TOPICS,
    Generator,
    Pair,
    harmful,
    harmless,
    pairs_of,
    record_sets,
    role_of,
)
from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.headers import decode_request, encode_request
from touchstone.reference_impl.wire.records import read

PAIRS = [Pair(key, version) for key, api in API.items() for version in api.versions]
SEED = 11


def bodies(pair: Pair, count: int = 40):
    generator = Generator([pair], random.Random(f"{SEED}/{pair}"))
    return [decode_request(generator.frame(5)[1][4:]).body for _ in range(count)]


@pytest.mark.parametrize("key", API)
def test_a_frame_decodes_whole_and_encodes_to_the_same_bytes(key):
    for version in API[key].versions:
        generator = Generator([Pair(key, version)], random.Random(f"{SEED}/{key}/{version}"))
        for _ in range(4):
            pair, wire = generator.frame(5)
            request = decode_request(wire[4:])
            again = encode_request(key, version, 5, request.header.client_id, request.body)
            assert (pair, request.end, again) == (Pair(key, version), len(wire) - 4, wire[4:])


def test_the_size_prefix_is_the_length_of_the_frame():
    _, wire = Generator(PAIRS, random.Random(SEED)).frame(1)
    assert int.from_bytes(wire[:4], "big") == len(wire) - 4


def test_the_same_draw_gives_the_same_frames():
    one, other = (Generator(PAIRS, random.Random(SEED)) for _ in range(2))
    assert [one.frame(i) for i in range(100)] == [other.frame(i) for i in range(100)]


def test_pairs_of_takes_what_is_advertised_and_known():
    assert pairs_of({3: (0, 1), 18: (4, 9), 999: (0, 5)}) == [Pair(3, 0), Pair(3, 1), Pair(18, 4)]


def test_harmless_leaves_out_what_stops_a_broker():
    assert not {pair.key for pair in harmless(PAIRS)} & STOPPING.keys()


@pytest.mark.parametrize("key", [4, 5, 6, 7, 57, 64, 80, 81, 82])
def test_keys_that_take_a_broker_out_of_service_are_known(key):
    assert key in STOPPING


@pytest.mark.parametrize("key", [33, 44])
def test_configurations_are_altered_of_topics_only(key):
    kinds = {
        resource["resource_type"] for body in bodies(Pair(key, 0)) for resource in body["resources"]
    }
    assert kinds == {2}


def request(key: int, version: int, body: dict) -> bytes:
    frame = encode_request(key, version, 1, None, body)
    return len(frame).to_bytes(4, "big") + frame


def topics_of(partitions: int) -> bytes:
    row = {"name": "t", "num_partitions": partitions, "replication_factor": 1}
    return request(19, 2, {"topics": [row], "timeout_ms": 1})


@pytest.mark.parametrize(
    ("wire", "harms"),
    [
        (topics_of(16), False),
        (topics_of(17), True),
        (topics_of(1) + topics_of(256), True),
        (request(37, 0, {"topics": [{"name": "t", "count": 256}], "timeout_ms": 1}), True),
        (request(7, 1, {"broker_id": 0}), True),
        (request(7, 1, {"broker_id": 0})[:-1], False),
        (request(18, 0, {}), False),
    ],
)
def test_a_mutant_that_would_keep_a_broker_busy_is_known(wire, harms):
    assert harmful(wire) is harms


def test_produce_names_mostly_topics_that_exist():
    names = [topic["name"] for body in bodies(Pair(0, 9)) for topic in body["topic_data"]]
    assert sum(name in TOPICS for name in names) > len(names) * 0.7


@pytest.mark.parametrize("version", [1, 2, 3, 12])
def test_produce_carries_records_that_read(version):
    carried = [
        partition["records"]
        for body in bodies(Pair(0, version))
        for topic in body["topic_data"]
        for partition in topic["partition_data"]
        if partition["records"] is not None
    ]
    assert carried and all(read(records) for records in carried)


def test_produce_carries_the_magic_of_its_version():
    assert [records[16] for version in (0, 2, 3) for records in [drawn(version)]] == [0, 1, 2]


def drawn(version: int) -> bytes:
    return role_of(0, "topic_data.partition_data.records", "records")(
        random.Random(SEED), Pair(0, version)
    )


def test_every_record_set_reads():
    assert all(read(records) for magic in (0, 1, 2) for records in record_sets(magic))


def test_nobody_is_asked_to_wait_long():
    waits = [body["max_wait_ms"] for body in bodies(Pair(1, 12))]
    assert max(waits) <= 10
