"""Quotas of replication hold back who is behind, and nobody else (KIP-73)."""

from __future__ import annotations

import pytest

from touchstone.reference_impl.broker.replication.replication_quota import LEADER, ReplicationQuota
from touchstone.reference_impl.tests.replication.wires import LAG, Wires

VALUE = b"v" * 1000


def behind(side: str, **configs: str) -> Wires:
    """Follower 2 lacks 40 batches of 1,000 bytes, 1 of them more than a second's worth."""
    wires = Wires(replica_fetch_max_bytes="1000")
    wires.topic()
    wires.cut.add(2)
    for _ in range(40):
        wires.produce(0, VALUE, acks=1)
    wires.run(2 * LAG)
    assert wires.cluster.partition("t", 0).isr == [0, 1]
    wires.cluster.configure("t", {f"{side}.replication.throttled.replicas": "*", **configs})
    broker = "0" if side == "leader" else "2"
    wires.cluster.dynamic_configs[broker] = {f"{side}.replication.throttled.rate": "2000"}
    wires.run(12_000)  # what went before is forgotten
    wires.cut.clear()
    return wires


@pytest.mark.parametrize("side", ["leader", "follower"])
def test_a_follower_that_is_behind_comes_back_slowly(side):
    wires = behind(side)
    wires.run(10_000)
    assert 10 < wires.ends()[2] < 32
    wires.run(15_000)
    assert wires.ends() == [40, 40, 40]
    assert wires.cluster.partition("t", 0).isr == [0, 1, 2]


@pytest.mark.parametrize(
    "listed", ["", "1:0,1:2", "0:1"], ids=["nobody", "another partition", "another broker"]
)
def test_what_is_not_listed_is_not_held_back(listed):
    wires = behind("leader", **{"leader.replication.throttled.replicas": listed})
    wires.run(2000)
    assert wires.ends()[2] == 40


@pytest.mark.parametrize("side", ["leader", "follower"])
def test_who_is_in_sync_is_never_held_back(side):
    wires = Wires()
    wires.topic(**{f"{side}.replication.throttled.replicas": "*"})
    for broker in "012":
        wires.cluster.dynamic_configs[broker] = {f"{side}.replication.throttled.rate": "1"}
    at = wires.now
    for number in range(20):
        assert wires.produce(0, VALUE) == (0, number)
    assert wires.now == at


def test_the_rate_is_that_of_the_last_windows():
    quota = ReplicationQuota(Wires().brokers[0], LEADER)
    assert quota.rate(0) == 0
    quota.record(500, 0)
    assert quota.rate(10) == 500  # of at least a second
    quota.record(1500, 1000)
    assert quota.rate(2000) == 1000
    assert quota.rate(11_500) == 1500 * 1000 / 10_500  # the oldest window is forgotten
    assert quota.rate(60_000) == 0


@pytest.mark.parametrize(("release", "held"), [("2.8", False), ("4.3", True)])
def test_before_kraft_a_new_topic_is_not_throttled_until_it_is_altered(release, held):
    wires, configs = Wires(release), {"leader.replication.throttled.replicas": "*"}
    body = {"name": "t", "num_partitions": 1, "replication_factor": 1, "assignments": []}
    body |= {"configs": [{"name": name, "value": value} for name, value in configs.items()]}
    wires.send(0, "CreateTopics", 4, {"topics": [body], "timeout_ms": 1, "validate_only": False})
    wires.run()
    quota = ReplicationQuota(wires.brokers[0], LEADER)
    assert quota.throttles("t", 0) == held
    wires.cluster.configure("t", configs)
    assert quota.throttles("t", 0)
