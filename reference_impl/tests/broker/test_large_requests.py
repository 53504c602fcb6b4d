"""What a request says once costs once, however many partitions stand beside it. No clock is read.

A name of 32 KB and some thousand partitions fit into 100 KB. Hashed for each partition, such a
group's name holds everybody up for ten seconds; written for each, such a topic's name is 500 MB.
"""

from __future__ import annotations

import sys
import tracemalloc
from types import FrameType

import pytest

from touchstone.reference_impl.broker.control.internal_topics import SHARES
from touchstone.reference_impl.broker.effects import Reply
from touchstone.reference_impl.cluster import kraft_controller
from touchstone.reference_impl.group.placement import java_hash
from touchstone.reference_impl.tests.broker.one_broker import OneBroker
from touchstone.reference_impl.wire.apis import by_name
from touchstone.reference_impl.wire.errors import ErrorCode as E
from touchstone.reference_impl.wire.headers import decode_response, encode_request

LONG, FEW, MANY, MIB = "x" * 30_000, 10, 500, 1 << 20


@pytest.fixture(scope="module")
def broker():
    one = OneBroker("4.3")
    one.topic("t", 4)
    one.topic(SHARES, 4)
    one.brokers[0].tick(one.now)
    return one


SHARE_STATE = {
    "InitializeShareGroupState": {"state_epoch": 0, "start_offset": 0},
    "ReadShareGroupState": {"leader_epoch": 0},
    "WriteShareGroupState": {
        "state_epoch": 0, "leader_epoch": 0, "start_offset": 0, "state_batches": [],
    },
    "DeleteShareGroupState": {},
    "ReadShareGroupStateSummary": {"leader_epoch": 0},
}  # fmt: skip


def hashed(broker, api: str, body: dict) -> int:
    """Characters that are hashed until this is answered."""
    count = 0

    def note(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        if event == "call" and frame.f_code is java_hash.__code__:
            count += len(frame.f_locals["text"])

    sys.setprofile(note)
    try:
        broker.ask(api, 0, body)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("api", SHARE_STATE)
def test_a_group_is_hashed_once_for_all_partitions_of_a_request(broker, api):
    def asked(first: int) -> dict:
        rows = [{"partition": at} | SHARE_STATE[api] for at in range(first, first + FEW)]
        topics = [{"topic_id": broker.cluster.topics["t"].id, "partitions": rows}]
        return {"group_id": LONG + api, "topics": topics}

    assert hashed(broker, api, asked(0)) >= len(LONG)
    assert 0 < hashed(broker, api, asked(FEW)) < 10 * FEW


def test_offsets_of_a_share_group_are_described_with_one_hash_of_its_name(broker):
    def asked(first: int) -> dict:
        topic = {"topic_name": "t", "partitions": [*range(first, first + FEW)]}
        return {"groups": [{"group_id": LONG, "topics": [topic]}]}

    assert hashed(broker, "DescribeShareGroupOffsets", asked(0)) >= len(LONG)
    assert 0 < hashed(broker, "DescribeShareGroupOffsets", asked(FEW)) < 10 * FEW


NAMED = {
    "ElectLeaders": (2, {
        "election_type": 0, "timeout_ms": 1000,
        "topic_partitions": [{"topic": LONG, "partitions": [*range(MANY)]}],
    }),
    "DescribeProducers": (0, {"topics": [{"name": LONG, "partition_indexes": [*range(MANY)]}]}),
    "AlterPartitionReassignments": (1, {
        "timeout_ms": 1000, "allow_replication_factor_change": True,
        "topics": [{
            "name": LONG,
            "partitions": [{"partition_index": at, "replicas": [0]} for at in range(MANY)],
        }],
    }),
}  # fmt: skip


@pytest.mark.parametrize("api", NAMED)
def test_a_long_name_that_each_row_repeats_stands_in_memory_once(broker, api):
    version, body = NAMED[api]
    frame = encode_request(by_name(api).key, version, 7, "test", body)
    tracemalloc.start()
    (effect,) = broker.send(frame)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert isinstance(effect, Reply)
    assert sum(map(len, effect.parts)) > MANY * len(LONG)
    assert most < 10 * MIB
    answer = decode_response(by_name(api).key, version, b"".join(effect.parts)).body
    (topic,) = next(each for each in answer.values() if isinstance(each, list))
    rows = next(each for each in topic.values() if isinstance(each, list))
    assert len(rows) == MANY
    assert {row["error_code"] for row in rows} <= {
        E.UNKNOWN_TOPIC_OR_PARTITION, E.INVALID_TOPIC_EXCEPTION,
    }  # fmt: skip


class Counted(list):
    """A list that counts how many of its elements are looked at."""

    seen = 0

    def __getitem__(self, at):
        self.seen += 1
        return super().__getitem__(at)

    def __iter__(self):
        for one in super().__iter__():
            self.seen += 1
            yield one


@pytest.mark.parametrize("gap", [0, 1])
def test_a_partition_that_does_not_exist_is_not_sought_among_all(gap):
    kept = 1_000
    topic = OneBroker("2.8").cluster.create("t", [[0]] * kept, indexes=range(gap, kept + gap))
    topic.partitions = Counted(topic.partitions)
    assert topic.partition(kept + 7) is None
    assert topic.partitions.seen < 20
    assert topic.partition(0) is (None if gap else topic.partitions[0])
    assert topic.partition(kept - 1 + gap) is topic.partitions[-1]


def test_a_partition_that_a_marker_names_again_gets_one_marker(broker):
    log = broker.log("t")
    before = log.log_end_offset
    marker = {
        "producer_id": 1, "producer_epoch": 0, "transaction_result": True, "coordinator_epoch": 0,
        "topics": [{"name": "t", "partition_indexes": [0] * MANY}],
    }  # fmt: skip
    answer = broker.ask("WriteTxnMarkers", 1, {"markers": [marker]})
    (row,) = answer["markers"][0]["topics"][0]["partitions"]
    assert row == {"partition_index": 0, "error_code": E.NONE}
    assert log.log_end_offset == before + 1


def test_a_move_that_is_named_again_is_worked_out_once(broker, monkeypatch):
    worked_out, real = [], kraft_controller.changed
    monkeypatch.setattr(
        kraft_controller, "changed", lambda *how: worked_out.append(how) or real(*how)
    )
    rows = [{"partition_index": 1, "replicas": [0]}] * MANY
    broker.ask("AlterPartitionReassignments", 1, {
        "timeout_ms": 1000, "allow_replication_factor_change": True,
        "topics": [{"name": "t", "partitions": rows}],
    })  # fmt: skip
    assert len(worked_out) == 1
