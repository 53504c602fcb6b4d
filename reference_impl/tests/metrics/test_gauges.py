"""Gauges say how things stand now, on three brokers that follow each other."""

from __future__ import annotations

import pytest

from touchstone.reference_impl.broker.metrics.readings import observe
from touchstone.reference_impl.broker.personas.releases import RELEASES
from touchstone.reference_impl.tests.metrics.measured import measured
from touchstone.reference_impl.tests.replication.wires import LAG, Wires

ISR = ("UnderReplicatedPartitions",), ("UnderMinIsrPartitionCount",), ("AtMinIsrPartitionCount",)
PARTITION = ("UnderReplicated", "UnderMinIsr", "AtMinIsr", "InSyncReplicasCount", "ReplicasCount")


def replicated(release: str = "4.3") -> Wires:
    wires = Wires(release)
    wires.topic(min_insync_replicas="2")
    for broker in wires.brokers:
        observe(broker)
    return wires


def isr(wires: Wires, broker: int = 0) -> list[float]:
    found = measured(wires.brokers[broker])
    return [found[name] for name in ISR]


@pytest.mark.parametrize("release", RELEASES)
def test_an_isr_that_shrinks_and_grows_shows_at_its_leader(release):
    wires = replicated(release)
    assert isr(wires) == [0, 0, 0]
    wires.cut.add(2)
    wires.produce(0)
    wires.run(3 * LAG)
    assert isr(wires) == [1, 0, 1]
    wires.cut.add(1)
    wires.produce(0, b"more", acks=1)
    wires.run(3 * LAG)
    assert isr(wires) == [1, 1, 0]
    found = measured(wires.brokers[0])
    assert (found["IsrShrinksPerSec",], found["IsrExpandsPerSec",]) == (2, 0)
    assert [found[name, "t", "0"] for name in PARTITION] == [1, 1, 0, 1, 3]
    wires.cut.clear()
    wires.run(3 * LAG)
    assert isr(wires) == [0, 0, 0]
    assert measured(wires.brokers[0])["IsrExpandsPerSec",] == 2


def test_a_follower_counts_what_it_copies_and_leads_nothing():
    wires = replicated()
    wires.produce(0)
    leader, follower = (measured(wires.brokers[each]) for each in (0, 1))
    size = wires.replica(0).log.size
    assert leader["ReplicationBytesOutPerSec",] == 2 * size
    assert follower["ReplicationBytesInPerSec",] == size
    assert leader["BytesOutPerSec",] == follower["BytesInPerSec",] == 0
    assert leader["RequestsPerSec", "FetchFollower", "18"] > 0
    assert (leader["LeaderCount",], follower["LeaderCount",]) == (1, 0)
    assert (leader["PartitionCount",], follower["PartitionCount",]) == (1, 1)
    assert follower["InSyncReplicasCount", "t", "0"] == 0


def test_sizes_and_offsets_are_those_of_the_log():
    wires = replicated()
    wires.produce(0)
    log, found = wires.replica(0).log, measured(wires.brokers[0])
    names = "Size", "LogStartOffset", "LogEndOffset", "NumLogSegments"
    assert [found[name, "t", "0"] for name in names] == [log.size, 0, 3, 1]


@pytest.mark.parametrize("release", RELEASES)
def test_what_is_the_clusters_a_zookeeper_controller_alone_tells(release):
    wires = Wires(release)
    wires.topic(replicas=(1, 0, 2))
    wires.elect(0, (0, 1, 2))
    found = [measured(broker) for broker in wires.brokers]
    controller = wires.cluster.controller_id
    active = [each["ActiveControllerCount",] for each in found]
    assert active == [broker.id == controller for broker in wires.brokers]
    told = [each["GlobalPartitionCount",] for each in found]
    kraft = wires.brokers[0].persona.kraft
    assert told == ([1, 1, 1] if kraft else active)
    assert found[controller]["PreferredReplicaImbalanceCount",] == 1
    wires.elect(-1, (0,))
    assert measured(wires.brokers[controller])["OfflinePartitionsCount",] == 1
