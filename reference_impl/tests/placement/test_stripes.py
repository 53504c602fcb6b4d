"""The striped placer against KRaft's jars and its own promises.

`stripes.txt` holds what StripedReplicaPlacer of 3.9.2 answered to 150 random cases, made by
`Stripes.java` beside it; 4.3.1 answers the same but for two longer refusals.
"""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from touchstone.reference_impl.cluster.racks import EligibleBroker, PlacementError, StripedPlacer
from touchstone.reference_impl.tests.placement.java_random import JavaRandom

GOLDEN = (Path(__file__).parent / "stripes.txt").read_text().splitlines()


def broker_of(text):
    broker, rack = text.rstrip("!").split(":")
    return EligibleBroker(int(broker), None if rack == "-" else rack, text.endswith("!"))


def answer(case):
    brokers, partitions, replication, seed = case.split()
    placer = StripedPlacer([broker_of(b) for b in brokers.split(",")], JavaRandom(int(seed)))
    try:
        rows = placer.place(int(partitions), int(replication))
    except PlacementError as refused:
        return f"! {refused.message}"
    return " ".join(",".join(map(str, row)) for row in rows)


def test_the_jars_answer_the_same():
    pairs = [line.split(" => ") for line in GOLDEN]
    assert len(pairs) == 150
    assert [case for case, expected in pairs if answer(case) != expected] == []


@pytest.mark.parametrize(
    ("brokers", "replication", "message"),
    [
        (
            "0:-,1:-",
            3,
            "The target replication factor of 3 cannot be reached because only 2 broker(s) are "
            "registered or some brokers have all their log directories cordoned.",
        ),
        (
            "0:-!",
            1,
            "All brokers are currently fenced, or have all their log directories cordoned.",
        ),
    ],
)
def test_4_3_mentions_cordoned_directories(brokers, replication, message):
    """Observed: StripedReplicaPlacer of the 4.3.1 jar."""
    placer = StripedPlacer([broker_of(b) for b in brokers.split(",")], JavaRandom(0))
    with pytest.raises(PlacementError) as refused:
        placer.place(1, replication, cordons=True)
    assert refused.value.message == message


@settings(derandomize=True, deadline=None)
@given(
    st.lists(st.sampled_from(["a", "b", "c", None]), min_size=1, max_size=9),
    st.integers(1, 9),
    st.integers(0, 1000),
)
def test_promises_for_any_cluster(racks, replication, seed):
    """TOPIC-30, the part that KRaft keeps: no broker twice, racks distinct while they last."""
    replication = min(replication, len(racks))
    placer = StripedPlacer(
        [EligibleBroker(i, rack) for i, rack in enumerate(racks)], JavaRandom(seed)
    )
    for row in placer.place(12, replication):
        assert len(set(row)) == replication
        held = {racks[broker] for broker in row}
        assert len(held) == min(replication, len(set(racks)))
