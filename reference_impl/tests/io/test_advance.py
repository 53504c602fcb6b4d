"""Time that whoever runs the brokers advances, and waits that are longer than a selector's."""

from __future__ import annotations

import pytest

from touchstone.reference_impl.broker.configs import profiles
from touchstone.reference_impl.io.client import Client
from touchstone.reference_impl.io.server import serve

DAY = 86_400_000
LATEST, COMMITTED = -1, 1


@pytest.fixture(params=[1, 3])
def cluster(request):
    with serve(request.param, profile="test") as running:
        yield running


@pytest.fixture
def client(cluster):
    with Client(cluster.bootstrap) as made:
        made.admin.create_topic("t", replication=len(cluster.bootstrap))
        yield made


def last_stable(client):
    part = {"partition_index": 0, "timestamp": LATEST, "current_leader_epoch": -1}
    body = {"topics": [{"name": "t", "partitions": [part]}], "replica_id": -1}
    leader = client.view.topics["t"].partitions[0].leader
    answer = client.ask("ListOffsets", body | {"isolation_level": COMMITTED}, node=leader)
    return answer["topics"][0]["partitions"][0]["offset"]


def test_a_silent_member_is_removed_when_its_session_is_over(cluster, client):
    consumer = client.consumer(group="g", topics=["t"], session_timeout_ms=60_000)
    consumer.poll()
    assert members(cluster) == 1
    cluster.advance(30_000)  # the other half is for a slow machine
    assert members(cluster) == 1
    cluster.advance(31_000)
    assert members(cluster) == 0


def members(cluster):
    """How many the group has; asked by somebody who is none of them."""
    count = 0
    for address in cluster.bootstrap:
        with Client(address) as other:
            (row,) = other.ask("DescribeGroups", {"groups": ["g"]})["groups"]
            count += len(row["members"])
    return count


def test_a_transaction_that_nobody_ends_is_aborted(cluster, client):
    producer = client.transactional_producer("id", transaction_timeout_ms=60_000)
    producer.begin()
    producer.send("t", b"a")
    producer.flush()
    cluster.advance(50_000)
    assert last_stable(client) == 0
    cluster.advance(30_000)
    assert last_stable(client) == 2  # behind the record and the marker


def test_followers_keep_up_however_much_time_passes(cluster, client):
    before = sorted(cluster.cluster.partition("t", 0).isr)
    for ms in (1, 1000, DAY):
        cluster.advance(ms)
        assert sorted(cluster.cluster.partition("t", 0).isr) == before


def test_time_does_not_go_back(cluster):
    now = cluster.clock()
    cluster.advance(0)
    with pytest.raises(ValueError, match="-1 ms are below 0"):
        cluster.advance(-1)
    assert now <= cluster.clock() < now + DAY
    cluster.advance(DAY)
    assert cluster.clock() >= now + DAY


def test_a_wait_may_be_longer_than_a_selector_s():
    """24 days are the most that poll and epoll can wait."""
    quiet = {"connections.max.idle.ms": str(1 << 53), "auto.leader.rebalance.enable": "false"}
    with serve(config=quiet) as running:
        for _ in range(2):
            with Client(running.bootstrap) as one:
                assert one.admin.list_topics() == []


def test_a_profile_that_there_is_none_of():
    with pytest.raises(ValueError, match="no profile 'quick'; there is test"):
        serve(profile="quick")
    assert profiles.settings("test", "1.0", 1)["offsets.topic.replication.factor"] == "1"
    assert profiles.settings("test", "4.3", 5)["offsets.topic.replication.factor"] == "3"
