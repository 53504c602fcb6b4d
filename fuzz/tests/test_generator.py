"""What the generator draws is a valid request of every pair there is, and keeps away from harm."""

from __future__ import annotations

import random

import pytest

from touchstone.fuzz.generator import (
    GUARDED,
    STOPPING,
    TOPICS,
    Generator,
    Pair,
    harmful,
    harmless,
    pairs_of,
)
from touchstone.fuzz.overlay import MARKS, Overlay, overlay, spellings
from touchstone.fuzz.roles import BadRole, Subject, record_sets, records
from touchstone.fuzz.world import MEMBERS, Member, Topic, World
from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.embedded.consumer_protocol import decode_assignment
from touchstone.reference_impl.wire.headers import (
    decode_request,
    decode_response,
    encode_request,
    encode_response,
)
from touchstone.reference_impl.wire.records import read
from touchstone.reference_impl.wire.records.batch import read_header
from touchstone.reference_impl.wire.schema import walk

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


@pytest.mark.parametrize("key", API)
def test_a_response_decodes_whole_and_encodes_to_the_same_bytes(key):
    for version in API[key].versions:
        pair = Pair(key, version)
        generator = Generator([pair], random.Random(f"{SEED}/{key}/{version}"))
        for _ in range(4):
            frame = generator.response_to(pair, 5)[4:]
            response = decode_response(key, version, frame)
            again = encode_response(key, version, 5, response.body)
            assert (response.correlation_id, response.end, again) == (5, len(frame), frame)


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
    assert key in STOPPING or key in GUARDED


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
    return records(Subject(random.Random(SEED), 0, version, World()))


def test_every_record_set_reads():
    assert all(read(records) for magic in (0, 1, 2) for records in record_sets(magic))


def test_nobody_is_asked_to_wait_long():
    waits = [body["max_wait_ms"] for body in bodies(Pair(1, 12))]
    assert max(waits) <= 10


def carried(key: int, version: int, count: int, take):
    """What `take` finds in so many responses."""
    pair = Pair(key, version)
    generator = Generator([pair], random.Random(f"{SEED}/{key}/{version}"))
    return [one for _ in range(count) for one in take(generator.response_body(pair))]


def test_fetch_answers_carry_batches_and_control_batches():
    def batches(body):
        return [p["records"] for t in body["responses"] for p in t["partitions"] if p["records"]]

    found = carried(1, 12, 200, batches)
    assert all(read(one) for one in found)
    assert {read_header(one, 0).control for one in found} == {False, True}


def test_group_answers_carry_the_embedded_consumer_protocol():
    def assigned(body):
        return [body["assignment"]]

    assert all(decode_assignment(one)[2] == len(one) for one in carried(14, 3, 20, assigned))


def test_telemetry_carries_metrics():
    pushed = [body["metrics"] for body in bodies(Pair(72, 0))]
    assert all(one[:1] == bytes([1 << 3 | 2]) and one[1] == len(one) - 2 for one in pushed)


def test_fields_of_one_request_agree_about_a_member():
    members = tuple(Member(f"g{n}", f"m{n}", n) for n in range(8))
    world = World(members={**MEMBERS, "classic": members})
    generator = Generator([Pair(12, 0)], random.Random(SEED), world)
    for _ in range(40):
        body = generator.body(Pair(12, 0))
        number = body["generation_id"]
        assert (body["group_id"], body["member_id"]) == (f"g{number}", f"m{number}")


def test_no_array_names_an_element_twice():
    for body in bodies(Pair(3, 9), 200):
        names = [topic["name"] for topic in body["topics"] or ()]
        assert len(names) == len(set(names))


def test_the_values_that_a_target_said_are_drawn():
    topics = {kind: (Topic("t", b"\7" * 16),) for kind in World().topics}
    generator = Generator([Pair(1, 13)], random.Random(SEED), World(topics=topics))
    asked = [t["topic_id"] for _ in range(20) for t in generator.body(Pair(1, 13))["topics"]]
    assert set(asked) == {b"\7" * 16}


def test_every_row_of_the_overlay_is_about_a_field():
    known = {
        spelling
        for key, api in API.items()
        for message in (api.request, api.response)
        for path, _ in walk(message.fields)
        for spelling in spellings(key, path)
    }
    table = overlay()
    rows = {*table.fields, *table.responses, *(n for m in table.marks.values() for n in m)}
    assert sorted(rows - known) == []


def test_a_role_that_does_not_exist_is_named(tmp_path):
    path = tmp_path / "roles.toml"
    marks = "".join(f"{mark} = []\n" for mark in MARKS)
    path.write_text(f'{marks}[fields]\n"acks" = "no_such"\n[responses]\n[impossible]\n')
    with pytest.raises(BadRole, match="acks: no role 'no_such'"):
        Overlay(path)
