"""The ring algorithm against the clauses' tables, Kafka's jars and its own promises.

`ring.txt` holds what AdminUtils.assignReplicasToBrokers of 1.0.2 answered to 150 random cases
(2.2.1 and 2.8.2 answered the same bytes), made by `Ring.java` beside it.
"""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from touchstone.reference_impl.cluster.racks import (
    EligibleBroker,
    PlacementError,
    alternate,
    assign,
    continue_assignment,
    without_racks,
)
from touchstone.reference_impl.tests.placement.java_random import JavaRandom

GOLDEN = (Path(__file__).parent / "ring.txt").read_text().splitlines()
NINE = {0: "rack1", 1: "rack1", 2: "rack1", 3: "rack2", 4: "rack2", 5: "rack2"} | {
    6: "rack3",
    7: "rack3",
    8: "rack3",
}


def brokers_of(*ids, racks=None):
    return [EligibleBroker(i, (racks or {}).get(i)) for i in ids]


def table(text):
    return [[int(broker) for broker in row] for row in text.split()]


EXAMPLES = {
    "TOPIC-20": (brokers_of(0, 1, 2), 6, 3, {"start": 2}, "201 012 120 210 021 102"),
    "TOPIC-21": (brokers_of(0, 1, 2), 6, 3, {"start": 2, "shift": 1}, "210 021 102 201 012 120"),
    "TOPIC-22": (brokers_of(2, 5, 8), 6, 3, {"start": 2}, "825 258 582 852 285 528"),
    "TOPIC-23": (
        brokers_of(0, 1, 2, 3, 4),
        10,
        3,
        {"start": 0},
        "012 123 234 340 401 023 134 240 301 412",
    ),
    "TOPIC-27": (
        brokers_of(*NINE, racks=NINE),
        12,
        3,
        {"start": 0},
        "036 361 614 147 472 725 258 580 803 047 372 625",
    ),
    "TOPIC-28 two": (
        brokers_of(*NINE, racks=NINE),
        9,
        2,
        {"start": 0},
        "03 36 61 14 47 72 25 58 80",
    ),
    "TOPIC-28 four": (brokers_of(*NINE, racks=NINE), 3, 4, {"start": 0}, "0361 3614 6147"),
    "TOPIC-29": (
        brokers_of(*range(6), racks={0: "r1", 1: "r3", 2: "r3", 3: "r2", 4: "r2", 5: "r1"}),
        7,
        3,
        {"start": 0},
        "031 315 154 542 420 203 042",
    ),
}


@pytest.mark.parametrize("clause", EXAMPLES)
def test_the_clauses_tables(clause):
    brokers, partitions, replication, fixed, expected = EXAMPLES[clause]
    assert assign(brokers, partitions, replication, **fixed) == table(expected)


def test_racks_alternate_and_spent_racks_are_left_out():
    """TOPIC-24."""
    assert alternate(NINE) == [0, 3, 6, 1, 4, 7, 2, 5, 8]
    assert alternate({0: "a", 1: "a", 2: "a", 3: "b", 4: "c"}) == [0, 3, 4, 1, 2]


def test_one_replica_never_divides_by_zero():
    """TOPIC-19."""
    assert assign(brokers_of(7), 3, 1, start=0) == [[7], [7], [7]]


def test_three_brokers_have_six_tables():
    """TOPIC-31."""
    tables = {
        str(assign(brokers_of(0, 1, 2), 6, 3, start=start, shift=shift))
        for start in range(3)
        for shift in range(3)
    }
    assert len(tables) == 6


def test_growth_continues_the_walk():
    """TOPIC-33."""
    assert continue_assignment(brokers_of(0, 1, 2), [[1, 2, 0]], 4) == table("210 021 120")


def test_growth_past_the_last_broker_starts_at_the_first():
    assert continue_assignment(brokers_of(0, 1), [[5]], 3) == [[1], [0]]


REFUSALS = {
    "TOPIC-11": (brokers_of(0), 0, 1, "partitions", "Number of partitions must be larger than 0."),
    "TOPIC-12": (brokers_of(0), 1, 0, "replication", "Replication factor must be larger than 0."),
    "TOPIC-13": (
        brokers_of(0, 1, 2),
        1,
        4,
        "replication",
        "Replication factor: 4 larger than available brokers: 3.",
    ),
    "TOPIC-14": (brokers_of(0), 0, 0, "partitions", "Number of partitions must be larger than 0."),
    "TOPIC-15": (
        brokers_of(0, 1, racks={0: "a"}),
        1,
        1,
        "racks",
        "Not all brokers have rack information for replica rack aware assignment.",
    ),
}


@pytest.mark.parametrize("clause", REFUSALS)
def test_refusals_and_their_order(clause):
    brokers, partitions, replication, kind, message = REFUSALS[clause]
    with pytest.raises(PlacementError) as refused:
        assign(brokers, partitions, replication, start=0)
    assert (refused.value.kind, refused.value.message) == (kind, message)


def test_auto_creation_ignores_racks_unless_all_have_one():
    """TOPIC-03."""
    assert without_racks(brokers_of(0, 1, racks={0: "a"})) == brokers_of(0, 1)
    assert without_racks(brokers_of(0, racks={0: "a"})) == brokers_of(0, racks={0: "a"})


def answer(case):
    brokers, partitions, replication, start, first, seed = case.split()
    pairs = [pair.split(":") for pair in brokers.split(",")]
    cluster = [EligibleBroker(int(i), None if rack == "-" else rack) for i, rack in pairs]
    try:
        rows = assign(
            cluster,
            int(partitions),
            int(replication),
            random=JavaRandom(int(seed)),
            start=int(start),
            first_partition=int(first),
        )
    except PlacementError as refused:
        return f"! {refused.message}"
    return " ".join(",".join(map(str, row)) for row in rows)


def test_the_jars_answer_the_same():
    differing = [line for line in GOLDEN if not _same(line)]
    assert len(GOLDEN) == 150 and differing == []


def _same(line):
    case, expected = line.split(" => ")
    return answer(case) == expected


@settings(derandomize=True, deadline=None)
@given(st.data())
def test_promises_for_any_cluster(data):
    """TOPIC-30."""
    ids = sorted(data.draw(st.sets(st.integers(0, 40), min_size=1, max_size=10)))
    names = data.draw(st.none() | st.lists(st.sampled_from("abcd"), min_size=10, max_size=10))
    racks = dict(zip(ids, names, strict=False)) if names else {}
    replication = data.draw(st.integers(1, len(ids)))
    fixed = data.draw(st.tuples(st.integers(0, 12), st.integers(0, 12)))
    rows = assign(brokers_of(*ids, racks=racks), 23, replication, start=fixed[0], shift=fixed[1])
    for row in rows:
        assert len(set(row)) == len(row) == replication
        held = {racks.get(broker) for broker in row}
        assert len(held) == min(replication, len(set(racks.values()))) or not racks
    firsts = Counter(row[0] for row in rows)
    assert max(firsts.values()) - min(firsts[i] for i in ids) <= 1
