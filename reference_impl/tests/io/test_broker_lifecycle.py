"""Brokers that are killed, stopped, frozen and started again, over real sockets.

Sessions end at once here (a timeout of a millisecond), every verb returns when it is done, and what
is looked at afterwards is looked at through the wire.
"""

import contextlib
import socket

import pytest

from touchstone.reference_impl.io.server import serve
from touchstone.reference_impl.tests.io.test_serving import PATIENCE_S, Peer

CREATE, METADATA, DESCRIBE_CLUSTER = 19, 3, 60
SETTINGS = {
    "broker.session.timeout.ms": "1",
    "zookeeper.session.timeout.ms": "1",
    "controlled.shutdown.retry.backoff.ms": "1",
}


@pytest.fixture(params=["2.8", "4.3"])
def running(request):
    with serve(3, release=request.param, config=SETTINGS) as cluster:
        with Peer(cluster.bootstrap[0]) as peer:
            row = {"name": "t", "num_partitions": -1, "replication_factor": -1, "configs": []}
            row["assignments"] = [{"partition_index": 0, "broker_ids": [1, 2, 0]}]
            body = {"topics": [row], "timeout_ms": 9000, "validate_only": False}
            assert peer.ask(CREATE, 4, body)["topics"][0]["error_code"] == 0
        yield cluster


def seen(cluster, wanted=None):
    """(brokers, leader, sorted ISR), asked until it is as wanted; the run's deadline ends it."""
    with Peer(cluster.bootstrap[0]) as peer:
        while True:
            answer = peer.ask(METADATA, 5, {"topics": [{"name": "t"}]})
            part = answer["topics"][0]["partitions"][0]
            brokers = sorted(broker["node_id"] for broker in answer["brokers"])
            found = brokers, part["leader_id"], sorted(part["isr_nodes"])
            if wanted is None or found == wanted:
                return found


def refused(cluster, broker):
    host, _, port = cluster.bootstrap[broker].rpartition(":")
    with contextlib.suppress(ConnectionRefusedError):
        socket.create_connection((host, int(port)), timeout=60).close()
        return False
    return True


def test_the_next_replica_leads_when_a_leader_is_killed(running):
    running.kill(1)
    assert refused(running, 1)
    assert seen(running, ([0, 2], 2, [0, 2]))


def test_a_killed_broker_comes_back_on_its_port_and_into_the_isr(running):
    running.kill(2)
    assert seen(running, ([0, 1], 1, [0, 1]))
    running.start_broker(2)
    assert not refused(running, 2)
    assert seen(running, ([0, 1, 2], 1, [0, 1, 2]))


def test_who_is_named_controller_is_there(running):
    """KRaft's quorum is not among the brokers, so a client is sent to one of those that live."""
    running.stop_broker(0)
    asks = [(METADATA, {"topics": []}), (DESCRIBE_CLUSTER, {})]
    with Peer(running.bootstrap[1]) as peer:
        for key, body in asks:
            answer = peer.ask(key, 0 if key == DESCRIBE_CLUSTER else 1, body)
            assert len(answer["brokers"]) == 2
            assert answer["controller_id"] in (1, 2)


def test_a_broker_that_stops_in_order_has_left_when_the_call_returns(running):
    running.stop_broker(1)
    assert seen(running) == ([0, 2], 2, [0, 2])
    running.start_broker(1)
    assert seen(running, ([0, 1, 2], 2, [0, 1, 2]))


def test_a_frozen_broker_answers_when_it_thaws(running):
    with Peer(running.bootstrap[1]) as peer:
        running.pause(1)
        peer.send(METADATA, 5, 7, {"topics": []})
        assert seen(running, ([0, 2], 2, [0, 2]))
        peer.sock.settimeout(0.01)
        with pytest.raises(TimeoutError):
            peer.take(1)
        peer.sock.settimeout(PATIENCE_S)
        running.resume(1)
        assert peer.frame()[:4] == b"\0\0\0\7"
    assert seen(running, ([0, 1, 2], 2, [0, 1, 2]))


def test_a_broker_cut_off_from_the_registry_loses_its_session(running):
    running.links.cut(1, 100)
    assert seen(running, ([0, 2], 2, [0, 2]))
    running.links.heal(1, 100)
    running.server.wake()
    assert seen(running, ([0, 1, 2], 2, [0, 1, 2]))


def test_verbs_on_a_broker_that_is_already_so_do_nothing(running):
    running.start_broker(1)
    running.resume(1)
    running.kill(1)
    running.kill(1)
    running.stop_broker(1)
    running.start_broker(1)
    assert seen(running, ([0, 1, 2], 2, [0, 1, 2]))


def test_who_cannot_ask_the_controller_stops_without_it():
    """CTL-24: ControlledShutdown goes over the link, controlled.shutdown.max.retries times."""
    with serve(3, release="2.8", config=SETTINGS) as cluster:
        cluster.links.cut(1, 0)
        cluster.stop_broker(1)
        assert cluster.links.refused[1, 0] == 3
        cluster.stop_broker(2)
        assert cluster.links.refused[2, 0] == 0
