"""Planted defects of replication, each under the fault that brings it to light, and judged.

The same story is told twice: by a sound reference cluster, whose history must conform, and by one
with a switch on, whose history must not. Waits are for what a client can see (an ISR, a number of
acknowledged sends), never for time; lag bounds are longer than any story, so that nobody leaves an
ISR by being slow. One producer of two is hasty and asks for acks=1: what it was promised ends with
a leader, and what a leader took from it alone is what nobody else has. Whose sends are waited for
is said, since threads share a machine as they like; and where a defect shows to readers only,
somebody reads then and there.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from touchstone.harness.checkers.histories import CONFORMS, Report, judge
from touchstone.harness.driver.workload import Plan, Workload, consumers
from touchstone.harness.driver.workload.consumers import ISOLATIONS, poll, seek
from touchstone.harness.model import history as histories
from touchstone.reference_impl.broker.faults.fault_plan import Rule
from touchstone.reference_impl.client.metadata import refresh
from touchstone.reference_impl.client.offsets import LATEST, READ_UNCOMMITTED, offsets_for
from touchstone.reference_impl.io.client import Client
from touchstone.reference_impl.io.server import RunningCluster, serve

pytestmark = pytest.mark.slow
LEADER, FIRST, SECOND = 0, 1, 2
CAREFUL, HASTY = "producer-0", "producer-1"  # acks=all and idempotent; acks=1
PLACE = ("t", 0)
CONFIG = {
    "replica.lag.time.max.ms": "60000",
    "broker.session.timeout.ms": "400",
    "broker.heartbeat.interval.ms": "100",
    "zookeeper.session.timeout.ms": "400",
}
PATIENCE_S = 120.0
_NEVER = threading.Event()
Story = Callable[[RunningCluster, Workload], None]


@contextmanager
def told(path: Path, story: Story, *switches: str, brokers: int = 3) -> Iterator[Report]:
    """The judgement of a story on a cluster of one partition that broker 0 leads."""
    with serve(brokers=brokers, config=CONFIG, switches=switches) as running:
        with Client(running.bootstrap) as client:
            client.admin.create_topic("t", assignments={0: list(range(brokers))})
        plan = Plan(
            tuple(running.bootstrap), ("t",), partitions=1, replication=brokers, transactional=0,
            producers=2, acks=(-1, 1), idempotent=(True, False), delivery_ms=60_000,
            request_ms=1_000, burst=1,  # a batch has one record, so each log fits on each other
        )  # fmt: skip
        with Workload(plan, path) as workload:
            story(running, workload)
            assert workload.finish(PATIENCE_S)
    with path.open(encoding="utf-8") as lines:
        yield judge(histories.read(lines, str(path)))


def until(done: Callable[[], bool]) -> None:
    deadline = time.perf_counter() + PATIENCE_S
    while not done():
        assert time.perf_counter() < deadline, "it never came to pass"
        _NEVER.wait(0.01)  # who works here needs this thread's turn


def acknowledged(workload: Workload, more: int, whose: str = CAREFUL) -> None:
    """Wait until so many more sends of this producer were acknowledged."""
    counts, what = workload.recorder.counts, f"{whose} send ok"
    wanted = counts[what] + more
    until(lambda: counts[what] >= wanted)


def read(running: RunningCluster, workload: Workload) -> None:
    """Somebody reads all that can be read now."""
    with Client(running.bootstrap) as client:
        end = client.run(offsets_for(client.view, {PLACE: LATEST}))[PLACE]
        consumer = client.consumer([PLACE], isolation=READ_UNCOMMITTED, reset="none")
        seek(workload.recorder, "reader", consumer, PLACE, 0)
        while consumer.positions[PLACE] < end:
            poll(workload.recorder, "reader", ISOLATIONS[READ_UNCOMMITTED], consumer)


def settled(running: RunningCluster, *, leader: int, isr: set[int]) -> None:
    """Wait until the cluster says so."""
    with Client(running.bootstrap) as client:

        def so() -> bool:
            client.run(refresh(client.view, ["t"]))
            part = client.view.topic("t").partitions[0]
            return part.leader == leader and set(part.isr) == isr

        until(so)


def replicas(running: RunningCluster, *numbers: int) -> list[int]:
    """The log ends of these brokers' replicas."""
    ends = {b.id: b.replicas.get("t", 0).log.log_end_offset for b in running.brokers}
    return [ends[number] for number in numbers]


# --- stories -----------------------------------------------------------------------------------


def calm(running: RunningCluster, workload: Workload) -> None:
    """Nothing happens at all."""
    acknowledged(workload, 20)


def lost_answers(running: RunningCluster, workload: Workload) -> None:
    """What the careful one sends is carried out and the answer lost, some times."""
    acknowledged(workload, 20)
    lost = Rule(action="close", api="Produce", client_id=CAREFUL, times=2)
    number = running.faults.add(lost)
    until(lambda: all(s.hits == 2 for s in running.faults.standing() if s.number == number))
    acknowledged(workload, 20)


def alone_then_dead(running: RunningCluster, workload: Workload) -> None:
    """The leader's followers get nothing more; it takes records all the same; then it dies."""
    acknowledged(workload, 20)
    _alone(running, workload)
    running.kill(LEADER)
    settled(running, leader=FIRST, isr={FIRST, SECOND})
    for other in (FIRST, SECOND):
        running.links.heal(other, LEADER)
    acknowledged(workload, 20)
    read(running, workload)
    running.start_broker(LEADER)


def dead_then_leader_again(running: RunningCluster, workload: Workload) -> None:
    """As before, and then the one that has more than it should is the only one left."""
    alone_then_dead(running, workload)
    settled(running, leader=FIRST, isr={LEADER, FIRST, SECOND})
    running.kill(FIRST)
    running.kill(SECOND)
    settled(running, leader=LEADER, isr={LEADER})
    acknowledged(workload, 5)
    for other in (FIRST, SECOND):
        running.start_broker(other)


def _alone(running: RunningCluster, workload: Workload) -> None:
    """Cut followers off from their leader, until it has what nobody else will have.

    What waits for its answer is sent again to the next leader and may come to the same offsets;
    what was acknowledged with acks=1 is not.
    """
    for other in (FIRST, SECOND):
        running.links.cut(other, LEADER)
    before = max(replicas(running, FIRST, SECOND))
    until(lambda: replicas(running, LEADER)[0] > before)
    acknowledged(workload, 20, HASTY)
    read(running, workload)


# --- verdicts ----------------------------------------------------------------------------------

STORIES: list[tuple[Story, str, set[str]]] = [
    # what happens, the switch that it brings to light, the properties that may say so
    (calm, "lost-write", {"lost-write", "inconsistent-offset"}),
    (lost_answers, "duplicate-appended", {"duplicate"}),
    (alone_then_dead, "hw-too-early", {"lost-write", "vanished-read", "inconsistent-offset"}),
    (dead_then_leader_again, "truncation-skipped", {"inconsistent-offset", "lost-write"}),
]


@pytest.mark.parametrize("story", [row[0] for row in STORIES], ids=lambda story: story.__name__)
def test_a_sound_cluster_keeps_every_promise(tmp_path, story):
    with told(tmp_path / "sound.history.jsonl", story) as report:
        assert report.verdict == CONFORMS, report.broken or report.counts


@pytest.mark.parametrize(("story", "switch", "names"), STORIES, ids=lambda each: str(each)[:40])
def test_a_planted_defect_is_caught(tmp_path, monkeypatch, story, switch, names):
    monkeypatch.setattr(consumers, "GRACE_S", 1.0)  # what was lost is not waited for
    with told(tmp_path / "planted.history.jsonl", story, switch) as report:
        assert names & set(report.names()), f"{report.verdict}: {report.counts}"
