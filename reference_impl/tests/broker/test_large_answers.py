"""A small request that names the same thing again and again gets no answer without a bound.

Each names what takes much to describe some thousand times; a frame of 100 MB may do so ten million
times. What is described stands in memory once, and an answer has a limit of parts and bytes.
"""

from __future__ import annotations

import tracemalloc

import pytest

from touchstone.reference_impl.broker.effects import Reply
from touchstone.reference_impl.tests.broker.one_broker import OneBroker, batch
from touchstone.reference_impl.wire import compiler, headers, interpreter
from touchstone.reference_impl.wire.apis import API, by_name
from touchstone.reference_impl.wire.errors import ErrorCode as E
from touchstone.reference_impl.wire.headers import decode_response, encode_request

MANY, PARTITIONS, PRODUCERS, MIB = 2_000, 500, 100, 1 << 20
FEW_PARTS = 20_000


@pytest.fixture(scope="module")
def broker():
    one = OneBroker("4.3")
    one.topic("t", PARTITIONS)
    one.topic("__consumer_offsets", 1)
    one.brokers[0].tick(one.now)
    row = {"committed_offset": 1, "committed_leader_epoch": -1, "committed_metadata": "m" * 100}
    rows = [{"partition_index": index} | row for index in range(PARTITIONS)]
    who = {"group_id": "g", "generation_id_or_member_epoch": -1, "member_id": ""}
    topics = [{"name": "t", "partitions": rows}]
    one.ask("OffsetCommit", 7, who | {"group_instance_id": None, "topics": topics})
    for number in range(PRODUCERS):
        one.produce(batch(b"v", producer_id=number, producer_epoch=0, base_sequence=0))
    return one


REPEATED = {
    "OffsetFetch": (9, {
        "groups": [{"group_id": "g", "member_id": None, "member_epoch": -1, "topics": None}] * MANY,
        "require_stable": True,
    }),
    "DescribeProducers": (0, {"topics": [{"name": "t", "partition_indexes": [0] * MANY}]}),
    "DescribeConfigs": (4, {
        "resources": [
            {"resource_type": 4, "resource_name": "0", "configuration_keys": None}
        ] * MANY,
        "include_synonyms": False, "include_documentation": False,
    }),
}  # fmt: skip


@pytest.fixture
def few_parts(monkeypatch):
    """A limit of so few parts, in encoders that are made anew for it."""
    monkeypatch.setattr(interpreter, "MOST_PARTS", FEW_PARTS)
    monkeypatch.setattr(compiler, "MOST_PARTS", FEW_PARTS)
    tables = [API[by_name(name).key].response.encoders for name in REPEATED]
    made = [dict(table) for table in tables]
    for table in tables:
        table.clear()
    yield
    for table, before in zip(tables, made, strict=True):
        table.clear()
        table.update(before)


@pytest.mark.parametrize("name", REPEATED)
def test_what_is_named_many_times_is_described_once_and_answered_within_a_limit(
    broker, few_parts, name
):
    version, body = REPEATED[name]
    frame = encode_request(by_name(name).key, version, 7, "test", body)
    tracemalloc.start()
    (effect,) = broker.send(frame)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 10 * MIB
    assert isinstance(effect, Reply)
    answer = decode_response(by_name(name).key, version, b"".join(effect.parts)).body
    (rows,) = [each for each in answer.values() if isinstance(each, list)]
    rows = rows[0].get("partitions", rows)
    assert len(rows) in (1, MANY)
    assert {row["error_code"] for row in rows} == {E.UNKNOWN_SERVER_ERROR}


def test_an_answer_has_a_limit_of_bytes(broker, monkeypatch):
    version, body = REPEATED["OffsetFetch"]
    body = body | {"groups": body["groups"][:3]}
    whole = broker.ask("OffsetFetch", version, body)
    assert {row["error_code"] for row in whole["groups"]} == {E.NONE}
    monkeypatch.setattr(headers, "_MOST_JOINED", 50_000)
    answer = broker.ask("OffsetFetch", version, body)
    assert {row["error_code"] for row in answer["groups"]} == {E.UNKNOWN_SERVER_ERROR}
