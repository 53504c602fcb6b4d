"""Share groups through brokers: three of them with the three parts on different ones, under virtual
time, and one that is started again from its data.
"""

from __future__ import annotations

import pytest

from touchstone.reference_impl.broker.control.internal_topics import OFFSETS, SHARES
from touchstone.reference_impl.io.server import serve
from touchstone.reference_impl.tests.io.test_serving import Peer
from touchstone.reference_impl.tests.replication.wires import WAITING, Wires
from touchstone.reference_impl.wire.errors import ErrorCode as E
from touchstone.reference_impl.wire.records import build

GROUP, TOPIC = "g", "t"
LEADER, STATES, GROUPS = 0, 1, 2  # the broker of the topic, of the states, of the group
ALL = (0, 1, 2)
SETTINGS = {
    "offsets.topic.num.partitions": "1",
    "share.coordinator.state.topic.num.partitions": "1",
    "group.share.assignment.interval.ms": "0",
    "share.auto.offset.reset": "earliest",
}


class Shared:
    """Three brokers, a topic with three records, and what its readers ask."""

    def __init__(self, **more: str) -> None:
        self.wires = Wires(**{k.replace(".", "_"): v for k, v in (SETTINGS | more).items()})
        self.wires.cluster.group_configs[GROUP] = {"share.auto.offset.reset": "earliest"}
        self.wires.topic(TOPIC)
        self.wires.topic(OFFSETS)
        self.wires.topic(SHARES)
        self.wires.elect(GROUPS, ALL, OFFSETS)
        self.wires.elect(STATES, ALL, SHARES)
        self.wires.produce(LEADER, b"a", b"b", b"c")

    @property
    def topic_id(self) -> bytes:
        return self.wires.cluster.topics[TOPIC].id

    def say(self, broker: int, api: str, version: int, body: dict, ms: int = 200):
        client = self.wires.send(broker, api, version, body)
        self.wires.run(ms)
        return self.wires.answer(client, api, version)

    def beat(self, member: str = "m", epoch: int = 0, names=None, broker: int = GROUPS):
        body = {"group_id": GROUP, "member_id": member, "member_epoch": epoch}
        return self.say(broker, "ShareGroupHeartbeat", 1, body | {"subscribed_topic_names": names})

    def fetch(self, member: str = "m", *, wait: int = 0, broker: int = LEADER):
        """Acquired runs, in a session that begins anew."""
        row = {"partition_index": 0, "acknowledgement_batches": []}
        body = {
            "group_id": GROUP, "member_id": member, "share_session_epoch": 0,
            "max_wait_ms": wait, "min_bytes": 1, "max_bytes": 1 << 20, "max_records": 100,
            "batch_size": 100, "forgotten_topics_data": [],
            "topics": [{"topic_id": self.topic_id, "partitions": [row]}],
        }  # fmt: skip
        answer = self.say(broker, "ShareFetch", 2, body, ms=max(wait, 100))
        if answer == WAITING:
            return answer
        rows = [row for topic in answer["responses"] for row in topic["partitions"]]
        return [tuple(run.values()) for row in rows for run in row["acquired_records"]]

    def ack(self, first: int, last: int, kind: int, member: str = "m", epoch: int = 1):
        run = {"first_offset": first, "last_offset": last, "acknowledge_types": [kind]}
        row = {"partition_index": 0, "acknowledgement_batches": [run]}
        body = {
            "group_id": GROUP, "member_id": member, "share_session_epoch": epoch,
            "topics": [{"topic_id": self.topic_id, "partitions": [row]}],
        }  # fmt: skip
        answer = self.say(LEADER, "ShareAcknowledge", 2, body)
        return answer["responses"][0]["partitions"][0]["error_code"]

    def joined(self) -> None:
        self.beat(names=[TOPIC])
        self.wires.run(1000)
        assert self.beat(epoch=2)["assignment"]["topic_partitions"]

    def offset(self, broker: int = GROUPS) -> tuple[int, int]:
        """(start offset, lag)"""
        body = {"groups": [{"group_id": GROUP, "topics": None}]}
        answer = self.say(broker, "DescribeShareGroupOffsets", 1, body)
        row = answer["groups"][0]["topics"][0]["partitions"][0]
        return row["start_offset"], row["lag"]


def test_three_brokers_have_three_parts():
    shared = Shared()
    shared.joined()
    assert shared.fetch(wait=500) == [(0, 2, 1)]
    assert shared.ack(0, 1, 1) == E.NONE
    assert shared.offset() == (0, 1)
    assert shared.beat(names=[TOPIC], broker=LEADER)["error_code"] == E.NOT_COORDINATOR


def test_locks_end_in_virtual_time():
    shared = Shared(**{"group.share.record.lock.duration.ms": "1000"})
    shared.joined()
    assert shared.fetch(wait=500) == [(0, 2, 1)]
    assert shared.fetch("n") == []
    shared.wires.run(1000)
    assert shared.ack(0, 2, 1) == E.INVALID_RECORD_STATE
    assert shared.fetch("n") == [(0, 2, 2)]


def test_another_leader_knows_what_was_acknowledged():
    shared = Shared()
    shared.joined()
    shared.fetch(wait=500)
    shared.ack(0, 0, 1)
    shared.ack(1, 1, 2, epoch=2)
    shared.wires.elect(STATES, ALL, TOPIC)
    assert shared.fetch("n", wait=500, broker=STATES) == [(1, 1, 2), (2, 2, 1)]
    assert shared.fetch("n") == []  # the old leader does not serve


def test_another_coordinator_of_states_finds_them():
    shared = Shared()
    shared.joined()
    shared.fetch(wait=500)
    shared.ack(0, 0, 1)
    shared.wires.elect(LEADER, ALL, SHARES)
    assert shared.offset() == (0, 2)
    assert shared.ack(1, 1, 1, epoch=2) == E.NONE
    assert shared.offset() == (1, 1)


def test_another_coordinator_of_groups_finds_members():
    shared = Shared()
    shared.joined()
    shared.wires.elect(LEADER, ALL, OFFSETS)
    assert shared.beat(epoch=3, broker=LEADER)["member_epoch"] == 3
    assert shared.beat(epoch=3)["error_code"] == E.NOT_COORDINATOR
    assert shared.offset(LEADER) == (-1, -1)
    shared.wires.run(45_000)  # nobody beats
    groups = {"group_ids": [GROUP], "include_authorized_operations": False}
    row = shared.say(LEADER, "ShareGroupDescribe", 1, groups)["groups"][0]
    assert (row["group_state"], row["members"]) == ("Empty", [])


def test_deleted_topics_take_their_states_along():
    shared = Shared()
    shared.joined()
    shared.fetch(wait=500)
    topic_id = shared.topic_id
    shared.wires.cluster.delete(TOPIC)
    shared.wires.run(200)
    row = {"partition": 0, "leader_epoch": 0}
    body = {"group_id": GROUP, "topics": [{"topic_id": topic_id, "partitions": [row]}]}
    answer = shared.say(STATES, "ReadShareGroupState", 0, body)
    code = answer["results"][0]["partitions"][0]["error_code"]
    assert code in (E.INVALID_REQUEST, E.UNKNOWN_TOPIC_OR_PARTITION)
    assert shared.beat(epoch=3)["assignment"] is not None  # there is nothing left to read


def test_states_in_a_failed_log_directory_are_left_to_the_next_coordinator(caplog):
    """Their tombstones cannot be written: no error beyond that (KIP-112)."""
    shared = Shared()
    shared.joined()
    shared.fetch(wait=500)
    shared.wires.brokers[STATES].replicas.get(SHARES, 0).offline = True
    shared.wires.cluster.delete(TOPIC)
    shared.wires.run(200)
    assert not [record for record in caplog.records if record.exc_info]


@pytest.mark.parametrize("turns", range(4))
def test_a_topic_that_is_deleted_while_its_offsets_are_gathered_is_no_fault(turns, caplog):
    shared = Shared()
    shared.joined()
    shared.fetch(wait=500)
    topics = [{"topic_name": TOPIC, "partitions": [0]}]
    body = {"groups": [{"group_id": GROUP, "topics": topics}]}
    client = shared.wires.send(GROUPS, "DescribeShareGroupOffsets", 1, body)
    for _ in range(turns):
        shared.wires._turn()
    shared.wires.cluster.delete(TOPIC)
    shared.wires.run(200)
    answer = shared.wires.answer(client, "DescribeShareGroupOffsets", 1)
    assert answer["groups"][0]["topics"][0]["topic_name"] == TOPIC
    assert not [record for record in caplog.records if record.exc_info]


def test_share_groups_can_be_off():
    shared = Shared()
    shared.joined()
    shared.wires.cluster.features["share.version"] = 0
    assert shared.beat(names=[TOPIC])["error_code"] == E.UNSUPPORTED_VERSION
    body = {"groups": [{"group_id": GROUP, "topics": None}]}
    answer = shared.say(GROUPS, "DescribeShareGroupOffsets", 1, body)
    assert answer["groups"][0]["error_code"] == E.UNSUPPORTED_VERSION


@pytest.mark.slow
def test_share_groups_outlive_their_broker(tmp_path):
    """Members, start offsets and deliveries are there again with --data."""
    beat = {"group_id": GROUP, "member_id": "m", "rack_id": None}
    configs = [{"name": "share.auto.offset.reset", "config_operation": 0, "value": "earliest"}]
    with serve(data=tmp_path, config=SETTINGS) as running, Peer(running.bootstrap[0]) as peer:
        alter = {"resource_type": 32, "resource_name": GROUP, "configs": configs}
        peer.ask(44, 1, {"resources": [alter], "validate_only": False})
        running.cluster.create(TOPIC, [[0]], {})
        peer.ask(10, 4, {"key_type": 0, "coordinator_keys": [GROUP]})
        joins = beat | {"member_epoch": 0, "subscribed_topic_names": [TOPIC]}
        assert peer.ask(76, 1, joins)["error_code"] == 0
        goes_on = beat | {"member_epoch": 2, "subscribed_topic_names": [TOPIC]}
        beats = (peer.ask(76, 1, goes_on) for _ in range(10_000))
        assert any(each["assignment"]["topic_partitions"] for each in beats)
        topic_id = running.cluster.topics[TOPIC].id
        batch = build(2, [b"a", b"b"], timestamp=1_700_000_000_000)
        row = {"index": 0, "records": batch}
        peer.ask(0, 9, {
            "transactional_id": None, "acks": -1, "timeout_ms": 9000,
            "topic_data": [{"name": TOPIC, "partition_data": [row]}],
        })  # fmt: skip
        assert _fetched(peer, topic_id) == [(0, 1, 1)]
        assert _ended(peer, topic_id) == 0
    with serve(data=tmp_path, config=SETTINGS) as running, Peer(running.bootstrap[0]) as peer:
        goes_on = beat | {"member_epoch": 3, "subscribed_topic_names": [TOPIC]}
        assert peer.ask(76, 1, goes_on)["error_code"] in (0, E.FENCED_MEMBER_EPOCH)
        assert _fetched(peer, topic_id) == [(1, 1, 2)]


def _fetched(peer: Peer, topic_id: bytes) -> list:
    row = {"partition_index": 0, "acknowledgement_batches": []}
    answer = peer.ask(78, 2, {
        "group_id": GROUP, "member_id": "m", "share_session_epoch": 0, "max_wait_ms": 5000,
        "min_bytes": 1, "max_bytes": 1 << 20, "max_records": 100, "batch_size": 100,
        "share_acquire_mode": 0, "is_renew_ack": False, "forgotten_topics_data": [],
        "topics": [{"topic_id": topic_id, "partitions": [row]}],
    })  # fmt: skip
    found = answer["responses"][0]["partitions"][0]
    return [tuple(run.values()) for run in found["acquired_records"]]


def _ended(peer: Peer, topic_id: bytes) -> int:
    """The first record is accepted, the other goes back with the session."""
    run = {"first_offset": 0, "last_offset": 0, "acknowledge_types": [1]}
    row = {"partition_index": 0, "acknowledgement_batches": [run]}
    answer = peer.ask(79, 2, {
        "group_id": GROUP, "member_id": "m", "share_session_epoch": -1, "is_renew_ack": False,
        "topics": [{"topic_id": topic_id, "partitions": [row]}],
    })  # fmt: skip
    return answer["responses"][0]["partitions"][0]["error_code"]
