"""A broker that cannot reach quorum or ZooKeeper: what it needs them for waits, or times out."""

import pytest

from touchstone.reference_impl.broker.control.auto_create import AutoTopicCreation
from touchstone.reference_impl.broker.control.forwarding import FORWARDED, RETRY_MS
from touchstone.reference_impl.broker.effects import Reply
from touchstone.reference_impl.broker.registry import handler
from touchstone.reference_impl.tests.control.node import Peer, brokers
from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.headers import decode_response, encode_request

CREATE, VERSION, NOW = 19, 5, 1_000_000
KRAFT = pytest.mark.parametrize("release", ["3.9", "4.3"])
ROW = {"name": "t", "num_partitions": 1, "replication_factor": 1, "assignments": [], "configs": []}
BODY = {"topics": [ROW], "timeout_ms": 5_000, "validate_only": False}
FRAME = encode_request(CREATE, VERSION, 7, "test", BODY)


def cut_off(release, broker=1):
    made = brokers(release, 2)
    made[0].cluster.reachable = lambda number: number != broker
    return made[broker]


def code(effects):
    (reply,) = [each for each in effects if isinstance(each, Reply)]
    body = decode_response(CREATE, VERSION, b"".join(reply.parts)).body
    return body["topics"][0]["error_code"]


@KRAFT
def test_it_waits_a_minute_for_a_controller_that_it_cannot_reach(release):
    broker = cut_off(release)
    peer = Peer(broker)
    assert broker.receive(peer.connection, FRAME, NOW) == []
    assert broker.tick(NOW + RETRY_MS - 1) == []
    assert code(broker.tick(NOW + RETRY_MS)) == ErrorCode.REQUEST_TIMED_OUT
    assert "t" not in broker.cluster.topics


@KRAFT
def test_it_is_served_when_the_broker_is_back(release):
    broker = cut_off(release)
    peer = Peer(broker)
    broker.receive(peer.connection, FRAME, NOW)
    broker.cluster.reachable = lambda number: True
    broker.cluster.subscribe(broker.id, broker.cluster_changed)
    effects = [*broker.tick(NOW + 10), *broker.tick(NOW + 10)]
    assert (code(effects), "t" in broker.cluster.topics) == (ErrorCode.NONE, True)


@KRAFT
def test_others_and_other_requests_are_served(release):
    broker = cut_off(release, broker=0)
    assert Peer(broker).ask(3, 9, {"topics": None})["brokers"]
    other = brokers(release, 2)[1]
    assert code(other.receive(Peer(other).connection, FRAME, NOW) + other.tick(NOW)) == 0


@pytest.mark.parametrize("release", ["1.0", "2.2", "2.8"])
def test_a_broker_that_is_back_answers_what_waited_for_zookeeper(release):
    broker = cut_off(release)
    cluster = broker.cluster
    cluster.create("t", [[1]])
    row = {"resource_type": 2, "resource_name": "t", "configuration_keys": None}
    frame = encode_request(32, 0, 7, "test", {"resources": [row]})
    broker.tick(NOW)
    assert not [e for e in broker.receive(Peer(broker).connection, frame, NOW) if type(e) is Reply]
    cluster.reachable = lambda number: True
    cluster.subscribe(broker.id, broker.cluster_changed)
    assert [e for e in broker.tick(NOW + 10) if type(e) is Reply]


@KRAFT
def test_it_makes_no_topic_that_is_only_asked_for(release):
    broker = cut_off(release)
    assert (
        broker.room(AutoTopicCreation).missing_topic("u", allowed=True)[1]
        == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    )
    assert "u" not in broker.cluster.topics


@pytest.mark.parametrize("release", ["1.0", "2.2", "2.8"])
def test_configs_of_topics_wait_for_zookeeper_however_long(release):
    broker = cut_off(release)
    broker.cluster.create("t", [[1]])
    peer = Peer(broker)
    row = {"resource_type": 2, "resource_name": "t", "configuration_keys": None}
    frame = encode_request(32, 0, 7, "test", {"resources": [row]})
    assert peer.send(32, 0, frame) == "silent"
    assert Peer(broker.cluster.cores[0]).send(32, 0, frame)["results"][0]["error_code"] == 0
    other = row | {"resource_type": 4, "resource_name": "1"}
    assert peer.ask(32, 0, {"resources": [other]})["results"][0]["error_code"] == 0


@pytest.mark.parametrize("key", sorted(FORWARDED))
def test_whatever_is_passed_on_can_time_out(key):
    """Each has a way to say so in its newest version."""
    said = getattr(handler(key), "fail", None)
    assert said or any(field.name == "error_code" for field in API[key].response.fields)
