"""Who may come and go, and when: sessions, shutdowns in order, returns; instants are made up."""

import random

import pytest

from touchstone.reference_impl.cluster.kraft_controller import KRaftController
from touchstone.reference_impl.cluster.membership import Event, Membership, MembershipRules
from touchstone.reference_impl.cluster.topology import Cluster, Node
from touchstone.reference_impl.cluster.zookeeper_controller import ZooKeeperController

RULES = MembershipRules(session_ms=9_000, shutdown_tries=3, shutdown_backoff_ms=500)


def world(kind=ZooKeeperController, rules=RULES, **topics):
    cluster = Cluster([Node(i, "h", 9092 + i) for i in range(3)], random=random.Random(0))
    for name, rows in topics.items():
        cluster.create(name, rows)
    return cluster, Membership(kind(cluster, rules=None), rules)


def leader(cluster, name="t"):
    return cluster.partition(name, 0).leader


def test_a_killed_broker_leads_until_its_session_ends():
    cluster, members = world(t=[[1, 2]])
    members.killed(1, 100)
    assert members.deadline() == 9_100
    assert (members.tick(9_099), leader(cluster)) == ([], 1)
    assert (members.tick(9_100), leader(cluster)) == ([], 2)
    assert [node.id for node in cluster.alive] == [0, 2]


def test_a_second_silence_does_not_lengthen_the_first():
    _, members = world(t=[[1, 2]])
    members.killed(1, 100)
    members.killed(1, 5_000)
    assert members.deadline() == 9_100


def test_a_broker_that_speaks_in_time_keeps_its_session():
    cluster, members = world(t=[[1, 2]])
    members.killed(1, 0)
    members.resumed(1)
    assert (members.deadline(), members.tick(20_000), leader(cluster)) == (None, [], 1)


def test_one_that_speaks_too_late_registers_anew():
    cluster, members = world(t=[[1, 2]])
    members.controller.register(1)
    first = cluster.brokers[1].epoch
    members.killed(1, 0)
    members.tick(9_000)
    members.resumed(1)
    assert cluster.brokers[1].alive and cluster.brokers[1].epoch > first
    assert leader(cluster) == 2


def test_a_start_waits_for_the_old_session():
    _, members = world(t=[[1, 2]])
    members.killed(1, 0)
    members.start(1)
    assert members.tick(8_999) == []
    assert members.tick(9_000) == [(Event.MAY_START, 1)]


def test_a_broker_that_ended_in_order_may_start_at_once():
    cluster, members = world(t=[[1, 2]])
    members.stop(1, 0)
    assert members.tick(0) == [(Event.MAY_GO, 1)]
    assert leader(cluster) == 2
    members.ended(1)
    members.start(1)
    assert members.tick(0) == [(Event.MAY_START, 1)]


def test_a_shutdown_is_tried_again_while_leaders_stay_and_then_goes_on():
    cluster, members = world(t=[[1, 2]])
    members.controller.isr_changed(cluster.partition("t", 0), [1])
    members.stop(1, 0)
    assert (members.tick(0), members.deadline()) == ([], 500)
    assert (members.tick(500), members.deadline()) == ([], 1_000)
    assert members.tick(1_000) == [(Event.MAY_GO, 1)]
    assert leader(cluster) == 1


def test_a_shutdown_that_is_not_controlled_asks_nobody():
    cluster, members = world(rules=MembershipRules(shutdown_tries=0), t=[[1, 2]])
    members.stop(1, 0)
    assert (members.tick(0), leader(cluster)) == ([(Event.MAY_GO, 1)], 1)


@pytest.mark.parametrize("clean, leads", [(True, 1), (False, 1)])
def test_kraft_elects_a_returning_sole_replica_however_it_had_gone(clean, leads):
    cluster, members = world(KRaftController, t=[[1]])
    if clean:
        members.stop(1, 0)
        members.tick(0)
        members.ended(1)
    else:
        members.killed(1, 0)
        members.tick(9_000)
    assert leader(cluster) == -1
    members.join(1)
    assert leader(cluster) == leads


def test_nothing_is_elected_while_the_controller_itself_is_silent():
    cluster, members = world(t=[[1, 2]])
    members.killed(0, 0)
    members.killed(1, 0)
    members.sessions.spoke(0)
    members.tick(9_000)
    assert leader(cluster) == 1
    members.controller.set_reachable(True)
    assert leader(cluster) == 2


def test_a_dead_controller_is_replaced_under_the_next_epoch():
    cluster, members = world(t=[[0, 1]])
    members.killed(0, 0)
    members.tick(9_000)
    assert (cluster.controller_id, cluster.controller_epoch, leader(cluster)) == (1, 2, 1)


@pytest.mark.parametrize("kind", [ZooKeeperController, KRaftController])
def test_leaders_go_home_when_the_balance_is_looked_at(kind):
    cluster, members = world(kind, MembershipRules(balance_ms=300_000), t=[[1, 2]])
    members.began(0)
    members.killed(1, 0)
    members.tick(9_000)
    members.join(1)
    members.controller.isr_changed(cluster.partition("t", 0), [2, 1])
    assert leader(cluster) == 2
    members.tick(members.deadline())
    assert leader(cluster) == 1


def test_no_leader_goes_home_while_a_partition_has_no_replicas():
    cluster, members = world(rules=MembershipRules(balance_ms=300_000), t=[[1, 2]])
    members.began(0)
    members.killed(1, 0)
    members.tick(9_000)
    members.join(1)
    members.controller.isr_changed(cluster.partition("t", 0), [2, 1])
    cluster.create("empty", [[]])
    members.tick(members.deadline())
    assert leader(cluster) == 2
