"""Each broker knows what it was told: by a ZooKeeper controller, or by the metadata log."""

import pytest

from touchstone.reference_impl.broker.control import controller_frames
from touchstone.reference_impl.broker.control.cluster_controller import ClusterController
from touchstone.reference_impl.cluster.membership import REGISTRY
from touchstone.reference_impl.cluster.replica import LeaderState
from touchstone.reference_impl.cluster.topology import Node, PartitionDeletion
from touchstone.reference_impl.io.server import serve
from touchstone.reference_impl.tests.replication.wires import Wires
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.headers import decode_request, encode_request

OLD = pytest.mark.parametrize("release", ["1.0", "2.2", "2.8"])
LEADERS, STOP, METADATA = 4, 5, 6
UNKNOWN, STALE = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.STALE_CONTROLLER_EPOCH


def seen(wires: Wires, broker: int, name: str):
    """(error, leader, ISR) of partition 0 as this broker tells it."""
    topic = {"topics": [{"name": name}], "allow_auto_topic_creation": False}
    row = wires.answer(wires.send(broker, "Metadata", 5, topic), "Metadata", 5)["topics"][0]
    if row["error_code"]:
        return row["error_code"]
    first = row["partitions"][0]
    return first["error_code"], first["leader_id"], first["isr_nodes"]


def told(wires: Wires, peer: int, since: int = 0) -> list:
    """Keys of what the controller sent to this broker; of a StopReplica, whether it deletes."""
    keys = []
    for _, target, frame in wires.frames[since:]:
        if target == peer and frame[0] == 0 and frame[1] in (LEADERS, STOP, METADATA):
            body = decode_request(frame).body
            deletes = body.get("delete_partitions") or any(
                row["delete_partition"]
                for topic in body.get("topic_states") or ()
                for row in topic["partition_states"]
                if "delete_partition" in row
            )
            keys.append((frame[1], bool(deletes)) if frame[1] == STOP else frame[1])
    return keys


# ------------------------------------------------------------------------ ZooKeeper: by frames


@OLD
def test_a_broker_that_is_cut_off_tells_what_was_and_is_told_when_it_is_back(release):
    wires = Wires(release)
    wires.topic()
    wires.cut.add(2)
    wires.topic("late", (0, 1))
    wires.elect(1, (0, 1, 2))
    assert [seen(wires, b, "late") for b in (0, 1, 2)] == [(0, 0, [0, 1])] * 2 + [UNKNOWN]
    assert [seen(wires, b, "t")[:2] for b in (0, 1, 2)] == [(0, 1), (0, 1), (0, 0)]
    assert wires.replica(2).leader == 0
    wires.cut.clear()
    wires.run(100)
    assert [seen(wires, b, "late") for b in (0, 1, 2)] == [(0, 0, [0, 1])] * 3
    assert [seen(wires, b, "t")[:2] for b in (0, 1, 2)] == [(0, 1)] * 3
    assert wires.replica(2).leader == 1


@OLD
def test_leaders_come_before_metadata_and_a_topic_goes_before_its_replicas(release):
    """As state change logs of 2.8.2 have it."""
    wires = Wires(release)
    wires.run()
    assert told(wires, 2) == [METADATA]
    before = len(wires.frames)
    wires.topic("a", (1, 2))
    assert told(wires, 2, before) == [LEADERS, METADATA]
    before = len(wires.frames)
    wires.brokers[0].room(ClusterController).active.delete("a")
    wires.run()
    assert told(wires, 2, before) == [METADATA, (STOP, False), (STOP, True)]
    assert (wires.replica(2, "a"), seen(wires, 2, "a")) == (None, UNKNOWN)


@OLD
def test_a_smaller_isr_is_metadata_only_and_a_replica_that_left_is_stopped(release):
    wires = Wires(release)
    wires.topic()
    controller, partition = (
        wires.brokers[0].room(ClusterController).active,
        wires.cluster.partition("t", 0),
    )
    before = len(wires.frames)
    controller.isr_changed(partition, [0, 1])
    wires.run()
    assert (told(wires, 2, before), seen(wires, 1, "t")) == ([METADATA], (0, 0, [0, 1]))
    before = len(wires.frames)
    controller.reassign(partition, [0, 1])
    wires.run()
    assert told(wires, 2, before) == [METADATA, (STOP, False), (STOP, True)]
    assert told(wires, 1, before) == [LEADERS, METADATA]
    assert wires.replica(2) is None


@OLD
def test_who_shuts_down_is_stopped_where_it_follows(release):
    """CTL-24: what it led it is to follow, what it followed it is to let be."""
    wires = Wires(release)
    wires.topic("led", (2, 1))
    wires.topic("followed", (1, 2))
    before = len(wires.frames)
    wires.brokers[0].room(ClusterController).active.shutdown(2)
    wires.run()
    assert told(wires, 2, before) == [LEADERS, METADATA, (STOP, False)]
    assert wires.replica(2, "led").leader == 1
    assert wires.replica(2, "followed") is None
    assert [seen(wires, 1, name) for name in ("led", "followed")] == [(0, 1, [1])] * 2


@OLD
def test_who_registers_anew_is_told_everything(release):
    wires = Wires(release)
    wires.topic()
    controller = wires.brokers[0].room(ClusterController).active
    wires.cut.add(2)
    controller.left(2)
    wires.run(500)
    before = len(wires.frames)
    assert seen(wires, 1, "t") == (0, 0, [0, 1])
    wires.cut.clear()
    wires.run(500)
    assert told(wires, 2, before) == []  # nobody talks to the dead
    controller.register(2)
    controller.joined(2)
    wires.run()
    assert told(wires, 2, before)[:3] == [METADATA, LEADERS, METADATA]
    assert [seen(wires, b, "t")[:2] for b in (0, 1, 2)] == [(0, 0)] * 3


@OLD
def test_the_next_controller_tells_everybody_and_the_last_is_not_believed(release):
    wires = Wires(release)
    wires.topic()
    wires.cut.add(0)
    wires.brokers[0].room(ClusterController).active.left(0)
    wires.run(100)
    assert wires.cluster.controller_epoch == 2
    assert [seen(wires, b, "t") for b in (1, 2)] == [(0, 1, [1, 2])] * 2
    assert seen(wires, 0, "t") == (0, 0, [0, 1, 2])
    version = wires.brokers[1].persona.broker_listener[METADATA][1]
    body = {"controller_id": 0, "controller_epoch": 1, "broker_epoch": -1, "live_brokers": []}
    answer = wires.send(1, "UpdateMetadata", version, body)
    assert wires.answer(answer, "UpdateMetadata", version)["error_code"] == STALE
    body["controller_epoch"] = 3
    answer = wires.send(1, "UpdateMetadata", version, body)
    assert wires.answer(answer, "UpdateMetadata", version)["error_code"] == 0
    assert wires.brokers[1].metadata.alive == []


@pytest.mark.parametrize("form", [controller_frames.LEADER_AND_ISR, controller_frames.STOP_REPLICA,
                                  controller_frames.UPDATE_METADATA])  # fmt: skip
def test_every_version_of_a_frame_says_the_same(form):
    wires = Wires("2.8")
    wires.topic("a")
    wires.topic("b", (1,))
    for version in range(4):
        states = wires.cluster.snapshot().partitions
        body = form.body(wires.cluster, version, list(states))
        frame = encode_request(form.key, version, 1, "c", {
            "controller_id": 0, "controller_epoch": 1, "broker_epoch": 5, **body,
        })  # fmt: skip
        assert str(decode_request(frame).body).count("'partition_index'") in (0, 2)


def test_what_is_told_is_what_was_said():
    wires = Wires("2.8")
    wires.topic("a")
    (state,) = wires.cluster.snapshot().partitions
    gone = PartitionDeletion("old", 3, (1, 2))
    form = controller_frames.UPDATE_METADATA
    for version in range(form.key, 8):
        body = form.body(wires.cluster, version, [state, gone])
        frame = encode_request(form.key, version, 1, "c", {
            "controller_id": 0, "controller_epoch": 1, "broker_epoch": 5, **body,
        })  # fmt: skip
        read = {"live_brokers": [], "topic_states": [], "ungrouped_partition_states": []}
        read |= decode_request(frame).body
        nodes = controller_frames.told_brokers(read)
        assert [(n.id, n.host, n.port) for n in nodes] == [
            (n.id, n.host, n.port) for n in wires.cluster.alive
        ]
        heard, went = controller_frames.told_partitions(read)
        assert went == gone
        assert isinstance(heard, LeaderState)
        assert heard[3:8] == state[3:8]


@OLD
def test_who_does_not_know_that_it_was_replaced_speaks_under_its_own_epoch(release):
    """Found by simulation: under the next one's epoch it would be believed."""
    wires = Wires(release)
    wires.topic()
    before = len(wires.frames)
    wires.cluster.controller_id, wires.cluster.controller_epoch = 1, 2  # and 0 has not heard of it
    wires.brokers[0].cluster_changed(Node(2, "127.0.0.1", 9999, epoch=5))
    wires.run()
    said = [decode_request(frame).body for by, _, frame in wires.frames[before:]
            if by == 0 and frame[1] in (LEADERS, METADATA)]  # fmt: skip
    assert {body["controller_epoch"] for body in said} == {1}


# --------------------------------------------------------------------- KRaft: by the metadata log


def test_a_kraft_broker_without_its_controller_tells_what_was():
    with serve(3, release="4.3") as running:
        cluster, server, broker = running.cluster, running.server, running.brokers[2]

        def now(job):
            return server.call(lambda _: job()).result(60)

        def known(name):
            turns = [now(lambda: broker.metadata.partition(name, 0)) for _ in range(3)]
            return turns[-1] is not None

        now(lambda: cluster.create("early", [[0, 1, 2]]))
        assert known("early")
        running.links.cut(REGISTRY, 2)
        now(lambda: None)
        now(lambda: cluster.configure("early", {"max.message.bytes": "7"}))
        assert now(lambda: broker.config_of("early")).max_message_bytes > 7
        now(lambda: (cluster.create("late", [[0, 1]]), cluster.delete("early")))
        assert (known("late"), known("early")) == (False, True)
        assert now(lambda: broker.replicas.get("early", 0)) is not None
        running.links.heal(REGISTRY, 2)
        assert (known("late"), known("early")) == (True, False)
        assert now(lambda: broker.replicas.get("early", 0)) is None
