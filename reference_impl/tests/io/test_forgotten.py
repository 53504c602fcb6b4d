"""UnregisterBroker over real sockets: a broker that is forgotten can come back, or end."""

import pytest

from touchstone.reference_impl.io.server import serve
from touchstone.reference_impl.tests.io.test_broker_lifecycle import SETTINGS, seen
from touchstone.reference_impl.tests.io.test_serving import Peer

CREATE, UNREGISTER, VOTER = 19, 64, 80


@pytest.fixture
def running():
    with serve(3, release="4.3", config=SETTINGS) as cluster:
        with Peer(cluster.bootstrap[0]) as peer:
            row = {"name": "t", "num_partitions": -1, "replication_factor": -1, "configs": []}
            row["assignments"] = [{"partition_index": 0, "broker_ids": [1, 2]}]
            body = {"topics": [row], "timeout_ms": 9000, "validate_only": False}
            assert peer.ask(CREATE, 4, body)["topics"][0]["error_code"] == 0
        yield cluster


def forget(cluster, broker):
    with Peer(cluster.bootstrap[0]) as peer:
        return peer.ask(UNREGISTER, 0, {"broker_id": broker})["error_code"]


def test_a_stopped_broker_is_forgotten_once_and_comes_back(running):
    running.stop_broker(2)
    assert (forget(running, 2), forget(running, 2)) == (0, 102)
    assert seen(running) == ([0, 1], 1, [1])
    running.start_broker(2)
    assert seen(running, ([0, 1, 2], 1, [1, 2])) == ([0, 1, 2], 1, [1, 2])


def test_a_live_broker_that_was_forgotten_can_still_end(running):
    assert forget(running, 2) == 0
    running.kill(2)
    assert seen(running) == ([0, 1], 1, [1])


@pytest.mark.parametrize("broker", [0, 2])
def test_a_live_broker_that_was_forgotten_is_out_and_at_no_fault(running, broker, caplog):
    """Broker 0 is the one that is asked; 4.3.1 says of it, too, that nobody knows it any more."""
    assert (forget(running, broker), forget(running, broker)) == (0, 102)
    there = [number for number in range(3) if number != broker]
    isr = [number for number in (1, 2) if number != broker]
    assert seen(running, (there, 1, isr)) == (there, 1, isr)
    running.advance(60_000)
    assert not [each.message for each in caplog.records if each.exc_info]
    running.stop_broker(broker)
    running.start_broker(broker)
    everybody = ([0, 1, 2], 1, [1, 2])
    assert seen(running, everybody) == everybody


def test_a_quorum_of_the_settings_takes_no_voter(running):
    body = {"cluster_id": None, "timeout_ms": 1, "voter_id": 5, "voter_directory_id": b"\1" * 16}
    body["listeners"] = [{"name": "CONTROLLER", "host": "localhost", "port": 1}]
    wrong = ({"cluster_id": "other"}, {"voter_id": -1}, {"listeners": []}, {})
    with Peer(running.bootstrap[0]) as peer:
        codes = [peer.ask(VOTER, 0, body | each)["error_code"] for each in wrong]
    assert codes == [104, 42, 42, 35]
