"""Simulated clusters keep their promises, break them when told to, and do the same thing twice."""

import pytest

from touchstone.reference_impl.broker.personas.releases import RELEASES
from touchstone.reference_impl.sim.cluster import Simulation
from touchstone.reference_impl.sim.network import Network
from touchstone.reference_impl.sim.trial import trial
from touchstone.reference_impl.sim.world import World

# The seed to try first: each other one costs seconds for nothing.
SEEN_AT = {"isr-never-shrunk": 84, "truncation-skipped": 2, "hw-too-early": 2}
# One history of each release by day, more at night (`make test-all`).
SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in (1, 2))]


@pytest.mark.slow
def test_equal_seeds_give_equal_traces():
    first, second, other = (trial(seed, seconds=3, kinds=["kill"]) for seed in (5, 5, 6))
    assert (first.digest, first.acknowledged) == (second.digest, second.acknowledged)
    assert first.digest != other.digest
    assert first.acknowledged > 50


def test_time_passes_only_when_told_to():
    world, happened = World(1), []
    world.after(100, lambda: happened.append(world.now - world.start))
    world.after(50, lambda: world.after(10, lambda: happened.append(world.now - world.start)))
    world.advance(99)
    assert happened == [60]
    world.advance(1)
    assert happened == [60, 100]
    assert world.now - world.start == 100


def test_until_stops_at_the_event_that_made_it_true():
    world, happened = World(1), []
    for ms in (10, 20, 30):
        world.after(ms, lambda ms=ms: happened.append(ms))
    assert world.until(lambda: 20 in happened, within_ms=1000)
    assert world.now - world.start == 20
    assert not world.until(lambda: 40 in happened, within_ms=1000)
    assert world.now - world.start == 1020


def test_a_cut_wire_keeps_order_and_one_direction():
    world = World(3)
    network, heard = Network(world), []
    network.cut("a", "b")
    for number in range(20):
        network.send("a", "b", lambda number=number: heard.append(number))
    network.send("b", "a", lambda: heard.append("back"))
    world.advance(10_000)
    assert heard == ["back"]
    network.heal("a", "b")
    network.send("a", "b", lambda: heard.append(20))
    world.advance(1_000)
    assert heard == ["back", *range(21)]


def test_a_leader_that_dies_is_replaced_when_its_session_ends():
    simulation = Simulation(1, session_ms=3_000)
    simulation.create_topic("t")
    simulation.advance(500)
    partition = simulation.cluster.partition("t", 0)
    assert (partition.leader, partition.leader_epoch) == (0, 0)
    simulation.kill(0)
    simulation.advance(2_000)
    assert partition.leader == 0
    simulation.advance(3_000)
    assert (partition.leader, partition.leader_epoch) == (1, 1)
    assert sorted(partition.isr) == [1, 2]
    simulation.restart(0)
    simulation.advance(5_000)
    assert sorted(partition.isr) == [0, 1, 2]
    assert partition.leader_epoch == 1


@pytest.mark.slow
@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("seed", SEEDS)
def test_promises_hold_whatever_happens(release, seed):
    found = trial(seed, seconds=20, release=release)
    assert found.violation is None, "\n".join(found.tail)
    assert found.acknowledged > 100


@pytest.mark.slow
@pytest.mark.parametrize(
    ("switch", "sentence"),
    [
        ("truncation-skipped", "another batch at committed|holds other bytes|not all replicas"),
        ("hw-too-early", "another batch at committed offset|is lost"),
        ("isr-never-shrunk", "nothing was acknowledged"),
    ],
)
def test_planted_defects_are_found(switch, sentence):
    seeds = [SEEN_AT.get(switch, 0), *range(40)]
    violations = (trial(seed, switches=[switch]).violation for seed in seeds)
    found = next(filter(None, violations), None)
    assert found is not None
    assert any(part in found for part in sentence.split("|")), found
