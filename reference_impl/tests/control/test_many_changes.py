"""Thousands of new topics are opened a few at a time; who asks meanwhile is served."""

from __future__ import annotations

import itertools
import random

import pytest

from touchstone.reference_impl.broker.assembly import Assembly
from touchstone.reference_impl.broker.control import metadata_publisher
from touchstone.reference_impl.broker.effects import Connection
from touchstone.reference_impl.broker.handlers import k19_create_topics
from touchstone.reference_impl.cluster.topology import Cluster, Node
from touchstone.reference_impl.tests.broker.one_broker import NOW, OneBroker

NAMES = [f"t{number}" for number in range(6)]
BODY = {
    "topics": [
        {"name": name, "num_partitions": 1, "replication_factor": 1, "assignments": [],
         "configs": []} for name in NAMES
    ],
    "timeout_ms": 1000,
    "validate_only": False,
}  # fmt: skip


@pytest.fixture(autouse=True)
def one_at_once(monkeypatch):
    monkeypatch.setattr(metadata_publisher, "_AT_ONCE", 1)


class Slow(OneBroker):
    """A broker of which each look at the thread's time finds 20 ms used."""

    def __init__(self) -> None:
        parts = Assembly.of("4.3", {}, ())
        self.cluster = parts.cluster([Node(0, "127.0.0.1", 9092)], Cluster, random.Random(0))
        ticks = itertools.count(0, 20_000_000).__next__
        self.brokers = [
            parts.broker(self.cluster, 0, parts.memory(self.cluster, 0), thread_time=ticks)
        ]
        self.connection, self.now = Connection(1), NOW

    @property
    def opened(self) -> list[str]:
        return [replica.topic for replica in self.brokers[0].replicas]


def test_new_partitions_are_opened_a_few_at_a_time_and_in_their_order():
    one = Slow()
    broker = one.brokers[0]
    answer = one.ask("CreateTopics", 5, BODY)
    assert [row["error_code"] for row in answer["topics"]] == [0] * len(NAMES)
    counts = []
    while len(one.opened) < len(NAMES):
        counts.append(len(one.opened))
        assert broker.deadline() == one.now + 1  # nobody has to ask for the rest
        assert one.ask("ApiVersions", 0, {})["error_code"] == 0
        one.now += 1
        broker.tick(one.now)
    assert counts == [1, 2, 3, 4, 5]
    assert one.opened == NAMES
    assert broker.deadline() is None or broker.deadline() > one.now + 1


def test_what_comes_later_waits_for_what_came_before():
    one = Slow()
    one.ask("CreateTopics", 5, BODY)
    one.cluster.delete("t5")
    for _ in range(10):
        one.now += 1
        one.brokers[0].tick(one.now)
    assert one.opened == NAMES[:-1]


def test_topics_with_the_same_configs_have_them_worked_out_once(monkeypatch):
    asked = []
    real = k19_create_topics.config_view.topic_entries
    monkeypatch.setattr(
        k19_create_topics.config_view,
        "topic_entries",
        lambda node, configs, **how: asked.append(configs) or real(node, configs, **how),
    )
    own = {**BODY["topics"][0], "name": "own", "configs": [
        {"name": "cleanup.policy", "value": "compact"}
    ]}  # fmt: skip
    answer = OneBroker().ask("CreateTopics", 5, {**BODY, "topics": [*BODY["topics"], own]})
    assert len(asked) == 2
    policies = [
        next(each["value"] for each in row["configs"] if each["name"] == "cleanup.policy")
        for row in answer["topics"]
    ]
    assert policies == ["delete"] * len(NAMES) + ["compact"]


@pytest.mark.parametrize("release", ["1.0", "4.3"])
def test_all_is_done_at_once_where_it_takes_no_time(release):
    one = OneBroker(release)
    for name in NAMES:
        one.topic(name)
    one.brokers[0].tick(one.now)
    assert sorted(replica.topic for replica in one.brokers[0].replicas) == NAMES
