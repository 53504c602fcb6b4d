"""The embedded registry keeps its values consistent while topics come, grow and go."""

import random

import pytest

from touchstone.reference_impl.cluster.topology import (
    NO_LEADER,
    NO_TOPIC_ID,
    Cluster,
    Node,
    PartitionDeletion,
)
from touchstone.reference_impl.log.topic_config import LONG_MAX, TopicConfig


def cluster(count=3, **options):
    nodes = [Node(i, "h", 9092 + i) for i in reversed(range(count))]
    return Cluster(nodes, random=random.Random(1), **options)


def test_nodes_stand_in_the_order_of_their_ids():
    """TOPIC-17."""
    made = cluster()
    made.brokers[1].alive = False
    assert [node.id for node in made.alive] == [0, 2]
    assert made.controller_id == 0


def test_the_first_live_replica_leads():
    made = cluster()
    made.brokers[2].alive = False
    first, second = made.create("a", [[2, 1], [7]]).partitions
    assert (first.leader, first.isr) == (1, [1])
    assert (second.leader, second.isr) == (NO_LEADER, [])


def test_brokers_hear_of_partitions_that_are_there_come_and_go():
    made, heard = cluster(), []
    made.create("a", [[0]])
    made.publish()
    made.subscribe(0, heard.append)
    made.grow("a", [[1], [2]])
    made.publish()
    made.delete("a")
    made.publish()
    everything = heard.pop(0)
    assert [(each.topic, each.index) for each in everything.partitions] == [("a", 0)]
    assert sorted(node.id for node in everything.brokers) == [0, 1, 2]
    assert [(each.topic, each.index) for each in heard] == [("a", i) for i in (1, 2, 0, 1, 2)]
    assert [isinstance(change, PartitionDeletion) for change in heard] == [False] * 2 + [True] * 3
    assert [change.is_new for change in heard[:2]] == [True, True]


def test_a_broker_that_is_cut_off_goes_on_by_the_settings_it_has_heard_of():
    """DYN-08; as brokers of 2.8.2 and 4.3.1 did that were cut off from all others."""
    made = cluster()
    made.create("a", [[0, 1]], {"max.message.bytes": "50"})

    def limits():
        return [made.config_of("a", broker).max_message_bytes for broker in (0, 1)]

    made.subscribe(1, lambda change: None)
    made.cut_off(1)
    made.configure("a", {"max.message.bytes": "70"})
    assert limits() == [70, 50]
    assert [made.overrides_of("a", b)["max.message.bytes"] for b in (0, 1)] == ["70", "50"]
    made.subscribe(1, lambda change: None)
    assert limits() == [70, 70]
    made.cut_off(1)
    made.configure("a", {})
    made.unsubscribe(1)
    assert limits()[0] == limits()[1] > 70


def test_ids_are_fresh_and_forgotten():
    made = cluster()
    first = made.create("a", [[0]]).id
    made.delete("a")
    second = made.create("a", [[0]]).id
    assert first != second and list(made.by_id) == [second]
    assert second[6] >> 4 == 4 and second[8] >> 6 == 0b10  # a random UUID


def test_before_topic_ids_there_are_none():
    made = cluster(topic_ids=False)
    assert made.create("a", [[0]]).id == NO_TOPIC_ID and made.by_id == {}


def test_a_name_is_taken_once():
    made = cluster()
    made.create("a", [[0]])
    with pytest.raises(ValueError, match="exists"):
        made.create("a", [[0]])


def test_collisions_end_with_their_topics():
    """TOPIC-07."""
    made = cluster()
    made.create("a.b", [[0]])
    assert made.colliding("a_b") == ["a.b"] and made.colliding("a.b") == []
    made.delete("a.b")
    assert made.colliding("a_b") == []


def test_partition_ids_may_have_a_hole():
    made = cluster()
    topic = made.create("a", [[0], [1]], indexes=[0, 2])
    assert topic.partition(1) is None and topic.partition(2).replicas == [1]
    assert made.partition("a", 2) is topic.partition(2)
    assert made.partition("b", 0) is None


def test_every_change_is_seen():
    made, seen = cluster(), []
    for change in (
        lambda: made.create("a", [[0]]),
        lambda: made.grow("a", [[0]]),
        lambda: made.configure("a", {"retention.ms": "1"}),
        lambda: made.set_topic_defaults({}),
        lambda: made.delete("a"),
        lambda: made.join(Node(9, "h", 1)),
    ):
        change()
        seen.append(made.generation)
    assert seen == sorted(set(seen))


def test_overrides_win_over_defaults_and_are_parsed_once():
    """DYN-10."""
    made = cluster()
    made.set_topic_defaults({"retention.ms": "7", "cleanup.policy": "compact"})
    made.create("a", [[0]], {"retention.ms": " 9 "})
    config = made.config_of("a")
    assert (config.retention_ms, config.compact, config.delete) == (9, True, False)
    assert made.config_of("a") is config
    made.configure("a", {})
    assert made.config_of("a").retention_ms == 7
    assert made.config_of("not there").retention_ms == 7


def test_topic_configs_have_4_3s_defaults():
    config = TopicConfig.resolve({"unknown.name": "x", "preallocate": "TRUE"})
    assert config.preallocate and config.flush_ms == LONG_MAX
    assert config.max_message_bytes == 1_048_588 and not config.log_append_time
