"""A cluster of three is prepared through any of its brokers.

The controller creates, the broker that the cases go to leads, whoever coordinates says that groups
are served.
"""

from __future__ import annotations

import pytest

from touchstone.fuzz import neighbours
from touchstone.fuzz.cases import corpus
from touchstone.fuzz.corpus_run import create_topics, has_leader, prepare, serves_groups
from touchstone.fuzz.runner import Link, NotLoopback
from touchstone.reference_impl.io.server import serve

BROKERS = (0, 1, 2)


def link_to(cluster, broker: int) -> Link:
    host, _, port = cluster.bootstrap[broker].rpartition(":")
    return Link(host, int(port))


@pytest.fixture(scope="module", params=["1.0", "2.8", "4.3"])
def three(request):
    with serve(brokers=3, release=request.param) as cluster:
        yield cluster


@pytest.mark.slow
@pytest.mark.parametrize("broker", BROKERS)
def test_a_cluster_is_prepared_through_any_of_its_brokers(three, broker):
    with link_to(three, broker) as link:
        assert neighbours.own_id(link) == broker
        prepare(link, corpus())
        _, answer = neighbours.listing(link, *{each for case in corpus() for each in case.topics})
        parts = [part for topic in answer["topics"] for part in topic["partitions"]]
        assert {part["leader_id"] for part in parts} == {broker}
        assert all(part["replica_nodes"] == [broker] for part in parts)


def test_a_leader_elsewhere_is_asked_there(three):
    with link_to(three, 0) as here, link_to(three, 2) as there:
        create_topics(there, {"elsewhere": False})
        assert has_leader(here, "elsewhere")


def test_the_only_broker_is_at_the_link_wherever_it_says():
    with serve(advertise=["localhost:1"]) as cluster, link_to(cluster, 0) as link:
        assert neighbours.own_id(link) == 0
        create_topics(link, {"t": False})
        assert serves_groups(link) or has_leader(link, "t")


def test_a_neighbour_on_another_machine_is_not_asked():
    elsewhere = ["10.0.0.1:1", "10.0.0.1:2"]
    with (
        serve(brokers=2, advertise=elsewhere) as cluster,
        link_to(cluster, 0) as link,
        pytest.raises(NotLoopback),
    ):
        create_topics(link, {"t": False})
