"""A cluster's ids, racks and internal partitions are exchanged for a scenario's, and back."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given

from touchstone.harness.model.translation import (
    NODE_FIELDS,
    REPLICA_LISTS,
    Translation,
    java_hash,
    partition_of,
)

THREE = Translation(nodes=(5, 0, 7))
RACKS = Translation(nodes=(1,), racks={"eu-1a": "a", "eu-1b": "b"})
NO_RACKS = Translation(nodes=(1,), racks={"eu-1a": None})
INTERNAL = Translation(nodes=(0,), partitions={"__consumer_offsets": 17})
COUNTED = Translation(nodes=(0,), counts={"own": 1})


@pytest.mark.parametrize(("number", "node"), [(0, 5), (1, 0), (2, 7), (5, 1), (7, 2), (3, 3)])
def test_ids_are_exchanged_as_a_permutation(number, node):
    """An id that no broker of the scenario has is one that no broker of the cluster has."""
    assert THREE.node(number) == node
    assert THREE.number(node) == number


@given(st.permutations(range(9)), st.integers(1, 9))
def test_every_id_has_one_counterpart(order, brokers):
    words = Translation(nodes=tuple(order[:brokers]))
    ids = range(-1, 12)
    assert sorted(map(words.node, ids)) == list(ids)
    assert [words.number(words.node(id)) for id in ids] == list(ids)
    assert words.node(-1) == -1, "no broker at all stays that"


def test_nothing_is_needed_where_the_words_are_equal():
    assert not Translation(nodes=(0, 1, 2)).needed
    assert Translation(nodes=(0, 1, 2)).to_json() is None
    assert all(one.needed for one in (THREE, RACKS, NO_RACKS, INTERNAL))


def test_partitions_beyond_what_a_scenario_knows_of_are_not_described():
    rows = [{"partition_index": index, "replica_nodes": [0]} for index in range(4)]
    offsets = [{"partition_index": 7, "error_code": 3}]
    answer = {"topics": [{"name": "own", "partitions": rows}, {"name": "other", "partitions": rows},
                         {"name": "own", "partitions": offsets}]}  # fmt: skip
    own, other, asked = COUNTED.answer(answer)["topics"]
    assert own["partitions"] == rows[:1]
    assert other["partitions"] == rows
    assert asked["partitions"] == offsets, "somebody asked for this one"


@pytest.mark.parametrize("words", [THREE, RACKS, NO_RACKS, INTERNAL, COUNTED])
def test_it_is_stored_with_a_transcript(words):
    assert Translation.from_json(words.to_json()) == words


@pytest.mark.parametrize(
    ("asked", "sent"),
    [
        ({"leader_id": 0}, {"leader_id": 5}),
        ({"isr_nodes": [2, 0]}, {"isr_nodes": [7, 5]}),
        ({"replicas": [{"broker_id": 1}]}, {"replicas": [{"broker_id": 0}]}),
        ({"partition_index": 0, "count": 2}, {"partition_index": 0, "count": 2}),
        ({"resource_type": 4, "resource_name": "0"}, {"resource_type": 4, "resource_name": "5"}),
        ({"resource_type": 8, "resource_name": "0"}, {"resource_type": 8, "resource_name": "5"}),
        ({"resource_type": 4, "resource_name": ""}, {"resource_type": 4, "resource_name": ""}),
        ({"resource_type": 2, "resource_name": "0"}, {"resource_type": 2, "resource_name": "0"}),
        (
            {"name": REPLICA_LISTS[0], "value": "0:1,1:2"},
            {"name": REPLICA_LISTS[0], "value": "0:0,1:7"},
        ),
        ({"name": REPLICA_LISTS[1], "value": "*"}, {"name": REPLICA_LISTS[1], "value": "*"}),
    ],
)
def test_where_a_brokers_id_stands(asked, sent):
    assert THREE.request(asked) == sent
    assert THREE.answer(sent) == asked


def test_a_fetch_that_tells_no_leader_is_left_alone():
    told = {"current_leader": {"leader_id": 0, "leader_epoch": 0}}
    assert THREE.answer(told) == told
    known = {"current_leader": {"leader_id": 0, "leader_epoch": 3}}
    assert THREE.answer(known) == {"current_leader": {"leader_id": 1, "leader_epoch": 3}}


@pytest.mark.parametrize(
    ("told", "read"),
    [
        ("Broker 5 is not registered", "Broker 0 is not registered"),
        ("The leader 7 is fenced", "The leader 2 is fenced"),
        ("node id 0 is unknown", "node id 1 is unknown"),
        ("Replicas are on brokers [5, 7]", "Replicas are on brokers [0, 2]"),
        ("expected 5 or empty string", "expected 5 or empty string"),
        ("Unexpected broker id, expected 5 or", "Unexpected broker id, expected 0 or"),
        ("assignment: 5, 5 for partition id 7.", "assignment: 5, 5 for partition id 7."),
        ("in replica assignment: 5, 7 for", "in replica assignment: 0, 2 for"),
        (
            "Unknown broker(s) in replica assignment: 5.",
            "Unknown broker(s) in replica assignment: 0.",
        ),
        ("larger than available brokers: 1.", "larger than available brokers: 1."),
        ("only 1 broker(s) are registered", "only 1 broker(s) are registered"),
        ("replication factor 5", "replication factor 5"),
        ("version 7 of partition 0", "version 7 of partition 0"),
    ],
)
def test_a_message_quotes_ids_and_counts(told, read):
    assert THREE.answer({"error_message": told}) == {"error_message": read}


def test_what_a_request_says_in_words_is_the_scenarios():
    asked = {"error_message": "Broker 0"}
    assert THREE.request(asked) == asked


def test_racks_go_by_their_names_and_are_not_seen_by_who_has_none():
    assert RACKS.answer({"rack": "eu-1b"}) == {"rack": "b"}
    assert RACKS.request({"rack_id": "a"}) == {"rack_id": "eu-1a"}
    assert RACKS.answer({"rack": "elsewhere"}) == {"rack": "elsewhere"}
    assert NO_RACKS.answer({"rack": "eu-1a"}) == {"rack": None}
    assert NO_RACKS.request({"rack_id": "eu-1a"}) == {"rack_id": "eu-1a"}


def test_partition_0_of_an_internal_topic_is_where_the_cases_names_are():
    asked = {"name": "__consumer_offsets", "partitions": [{"partition_index": 0}]}
    sent = {"name": "__consumer_offsets", "partitions": [{"partition_index": 17}]}
    assert INTERNAL.request(asked) == sent
    assert INTERNAL.answer(sent) == asked
    numbers = {"topic": "__consumer_offsets", "partitions": [0, 3]}
    assert INTERNAL.request(numbers)["partitions"] == [17, 3]
    others = {"name": "orders", "partitions": [{"partition_index": 0}]}
    assert INTERNAL.request(others) == others


def test_raised_values_are_told_as_they_were_meant():
    words = Translation(nodes=(0,), configs={"consumer.heartbeat.interval.ms": {"6000": "1000"}})
    row = {"name": "consumer.heartbeat.interval.ms", "value": "6000"}
    assert words.answer(row) == row | {"value": "1000"}
    assert words.answer({"heartbeat_interval_ms": 6000}) == {"heartbeat_interval_ms": 1000}
    assert words.answer({"heartbeat_interval_ms": 5000}) == {"heartbeat_interval_ms": 5000}


IDS = st.integers(-1, 9)
FIELDS = st.sampled_from(sorted(NODE_FIELDS))
LEAVES = st.one_of(IDS, st.lists(IDS, max_size=3), st.text("abc", max_size=3), st.none())
BODIES = st.recursive(
    st.dictionaries(FIELDS | st.sampled_from(("count", "value")), LEAVES, max_size=4),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.fixed_dictionaries({"rows": st.lists(inner, max_size=3), "leader_id": IDS}),
        st.fixed_dictionaries(
            {
                "name": st.sampled_from(("__consumer_offsets", "t")),
                "partitions": st.lists(
                    st.fixed_dictionaries({"partition_index": st.integers(0, 3)}), max_size=3
                ),
                "rack": st.sampled_from(("a", "b", None)),
            }
        ),
    ),
    max_leaves=12,
)


@given(BODIES, st.permutations(range(8)), st.integers(1, 3), st.integers(0, 3))
def test_what_goes_out_and_comes_back_is_what_was_said(body, order, brokers, home):
    words = Translation(
        nodes=tuple(order[:brokers]), racks={"x": "a", "y": "b"},
        partitions={"__consumer_offsets": home},
    )  # fmt: skip
    assert words.answer(words.request(body)) == body


@pytest.mark.parametrize(
    ("text", "found"), [("", 0), ("a", 97), ("touchstone", -1578579834), ("é😀", 1996812)]
)
def test_the_partition_of_a_key_is_by_javas_hash(text, found):
    assert java_hash(text) == found
    assert partition_of(text, 50) == abs(found) % 50


def test_the_one_hash_without_an_absolute_value_is_partition_0():
    """Utils.abs of Kafka: Integer.MIN_VALUE has none."""
    assert java_hash("polygenelubricants") == -(1 << 31)
    assert partition_of("polygenelubricants", 50) == 0
