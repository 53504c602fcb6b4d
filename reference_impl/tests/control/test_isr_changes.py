"""1.0 and 2.2 write a new ISR at once and tell it later (REPL-17, CTL-19, CTL-20)."""

import pytest

from touchstone.reference_impl.broker.control.cluster_controller import ClusterController
from touchstone.reference_impl.cluster.announcements import ISR_CHANGES, LOG_DIR_EVENTS
from touchstone.reference_impl.tests.control.test_controller_channel_manager import (
    METADATA,
    seen,
    told,
)
from touchstone.reference_impl.tests.replication.wires import LAG, Wires

WRITERS = pytest.mark.parametrize("release", ["1.0", "2.2"])
OLD = pytest.mark.parametrize("release", ["1.0", "2.2", "2.8"])
ALL, TWO = (0, 1, [1, 2, 0]), (0, 1, [1, 0])
SECOND = 1_000


def shrunk(release: str, *, age: int = 0, switches: tuple[str, ...] = ()) -> Wires:
    """Broker 1 leads and has just taken broker 2 out of the ISR, `age` ms after they began."""
    wires = Wires(release, switches=switches)
    wires.run(age)
    wires.topic("t", (1, 2, 0))
    wires.cut.add(2)
    wires.produce(1, acks=1)
    until(wires, lambda: partition(wires).isr == [1, 0], LAG * 2)
    return wires


def until(wires: Wires, done, patience: int = 70 * SECOND) -> int:
    """How many ms passed until it was so."""
    begun = wires.now
    while not done():
        assert wires.now < begun + patience, "it did not come"
        wires.run(10)
    return wires.now - begun


def partition(wires: Wires, name: str = "t"):
    return wires.cluster.partition(name, 0)


def standing(wires: Wires) -> list[str]:
    return list(wires.cluster.announcements.standing)


@WRITERS
def test_a_new_isr_is_written_at_once_and_told_when_it_was_quiet_for_five_seconds(release):
    wires = shrunk(release)
    before = len(wires.frames)
    assert [seen(wires, b, "t") for b in (0, 1)] == [ALL, ALL]
    passed = until(wires, lambda: seen(wires, 0, "t") == TWO)
    assert 5 * SECOND < passed <= 7.5 * SECOND + 10
    assert seen(wires, 1, "t") == TWO
    assert (told(wires, 1, before), standing(wires)) == ([METADATA], [])


@WRITERS
def test_who_announced_nothing_for_a_minute_does_it_at_the_next_look(release):
    wires = shrunk(release, age=60 * SECOND)
    assert until(wires, lambda: seen(wires, 0, "t") == TWO) <= 2.5 * SECOND + 10


def test_with_alter_partition_it_is_told_at_once():
    wires = shrunk("2.8")
    assert [seen(wires, b, "t") for b in (0, 1)] == [TWO, TWO]


@WRITERS
def test_a_leader_that_tells_at_once_is_noticed(release):
    wires = shrunk(release, switches=("isr-told-at-once",))
    assert seen(wires, 0, "t") == TWO


@WRITERS
def test_what_nobody_reads_stays_and_the_next_controller_may_drop_it(release):
    wires = shrunk(release)
    controller = wires.brokers[0].room(ClusterController).active
    controller.set_reachable(False)
    wires.run(10 * SECOND)
    assert standing(wires) == [f"{ISR_CHANGES}/isr_change_0000000000"]
    assert seen(wires, 1, "t") == ALL
    controller.resign()
    wires.run()
    assert seen(wires, 1, "t") == TWO  # it has read every state
    assert len(standing(wires)) == (release == "1.0")


@WRITERS
def test_a_controller_that_wakes_reads_what_was_left(release):
    wires = shrunk(release)
    wires.brokers[0].room(ClusterController).active.set_reachable(False)
    wires.run(10 * SECOND)
    wires.brokers[0].room(ClusterController).active.set_reachable(True)
    wires.run()
    assert (seen(wires, 1, "t"), standing(wires)) == (TWO, [])


@WRITERS
def test_a_broker_that_dies_makes_its_partitions_be_read_anew(release):
    """It is out of the ISR already; the controller looks, and all hear of it."""
    wires = shrunk(release)
    wires.brokers[0].room(ClusterController).active.left(2)
    wires.run()
    assert seen(wires, 0, "t") == TWO


@OLD
def test_a_directory_that_failed_is_announced_by_its_broker(release):
    wires = Wires(release)
    wires.topic("t", (1, 2, 0))
    wires.brokers[0].room(ClusterController).active.set_reachable(False)
    wires.brokers[1].replicas.directory_failed([("t", 0)])
    wires.run()
    ((path, text),) = wires.cluster.announcements.standing.items()
    assert path == f"{LOG_DIR_EVENTS}/log_dir_event_0000000000"
    assert text == '{"version":1,"broker":1,"event":1}'
    assert seen(wires, 0, "t")[1] == 1
    wires.brokers[0].room(ClusterController).active.set_reachable(True)
    wires.run()
    assert (standing(wires), seen(wires, 0, "t")) == ([], (0, 2, [2, 0]))
