"""The sticky assignor gives what 4.3.1's gave to the same members."""

from __future__ import annotations

from touchstone.reference_impl.group.java_heap import JavaHeap
from touchstone.reference_impl.group.streams.assignor import Taker, assign
from touchstone.reference_impl.group.streams.configured import ConfiguredSubtopology
from touchstone.reference_impl.group.streams.tasks import Tasks, by_subtopology
from touchstone.reference_impl.group.streams.topology import InternalTopic, Subtopology

STATEFUL = Subtopology("", changelogs=(InternalTopic("log"),))
THREE = {name: ConfiguredSubtopology(4, STATEFUL) for name in "012"}


class Members:
    """Members by process, and the target they had last."""

    def __init__(self, **processes: str) -> None:
        self.processes = processes
        self.target: dict[str, Tasks] = {}

    def assign(self, subtopologies, replicas=0):
        takers = [Taker(m, p, self.target.get(m, Tasks())) for m, p in self.processes.items()]
        self.target = assign(takers, subtopologies, replicas)
        return {
            member: (by_subtopology(tasks.active), by_subtopology(tasks.standby))
            for member, tasks in self.target.items()
        }


def test_tasks_and_standbys_of_two_processes():
    """Seen on 4.3.1: three subtopologies of four tasks, one standby of each."""
    members = Members(m0="p1")
    assert members.assign(THREE, 1) == {"m0": (dict.fromkeys("012", [0, 1, 2, 3]), {})}
    members.processes["m3"] = "p2"
    assert members.assign(THREE, 1) == {
        "m0": (dict.fromkeys("012", [0, 1]), dict.fromkeys("012", [2, 3])),
        "m3": (dict.fromkeys("012", [2, 3]), dict.fromkeys("012", [0, 1])),
    }
    members.processes["m1"] = "p3"
    assert members.assign(THREE, 1)["m0"][0] == {"0": [0, 1], "1": [0], "2": [0]}


def test_nobody_and_nothing():
    assert Members(a="p").assign({}) == {"a": ({}, {})}


def test_stateless_subtopologies_have_no_standbys():
    plain = {"0": ConfiguredSubtopology(2, Subtopology("0"))}
    found = Members(a="p", b="q").assign(plain, 1)
    assert [standby for _, standby in found.values()] == [{}, {}]


def test_two_members_of_one_process_share_its_load():
    plain = {"0": ConfiguredSubtopology(6, Subtopology("0"))}
    found = Members(a="p", b="p", c="q").assign(plain)
    assert sorted(len(active["0"]) for active, _ in found.values()) == [2, 2, 2]
    again = Members(a="p", b="p").assign({"0": ConfiguredSubtopology(2, STATEFUL)}, 2)
    assert all(not standby for _, standby in again.values()), "a process has a task once"


def test_equals_leave_the_heap_as_java_has_it():
    """java.util.PriorityQueue of equal loads: the last comes to the front after the first poll."""
    heap = JavaHeap("abcd", lambda _: 0)
    assert [heap.poll() for _ in range(4)] == ["a", "d", "c", "b"]
