"""What three real brokers did, step by step, and what our controllers make of the same steps.

Each row is a step and, for the partitions looked at, "leader epoch ISR" as Metadata (and the state
znodes) of the real cluster showed them afterwards. Topics: `a` on all three brokers with
min.insync.replicas=2, `u` the same with unclean leaders allowed, `s` with one replica each.
"""

import random

import pytest

from touchstone.reference_impl.cluster.controller import PREFERRED, UNCLEAN, ControlRules
from touchstone.reference_impl.cluster.kraft_controller import KRaftController
from touchstone.reference_impl.cluster.topology import Cluster, Node
from touchstone.reference_impl.cluster.zookeeper_controller import ZooKeeperController

CONTROLLERS = {
    "2.2": (ZooKeeperController, ControlRules(elections_skip_needless=False)),
    "2.8": (ZooKeeperController, ControlRules(takeover_shrinks_isr=True)),
    "3.9": (KRaftController, ControlRules()),
    "4.3": (KRaftController, ControlRules(elr=True, isr_is_sorted=True)),
}
ROTATED = [[0, 1, 2], [1, 2, 0], [2, 0, 1]]

# step -> partition -> leader, epoch, ISR
SEEN = {
    "2.2": [
        ("kill 1", {"a0": "0 1 02", "a1": "2 1 20", "a2": "2 1 20"}),
        ("kill 2", {"a0": "0 2 0", "a1": "0 2 0", "a2": "0 2 0"}),
        ("start 1", {"a0": "0 2 01", "s1": "1 2 1"}),
        ("start 2", {"a0": "0 2 012", "a1": "0 2 012", "a2": "0 2 012"}),
        ("elect a", {"a0": "0 2 012", "a1": "1 3 012", "a2": "2 3 012"}),
        ("elect *", {"u1": "1 3 012", "u2": "2 3 012"}),
        ("stop 0", {"a0": "1 3 12", "a1": "1 4 12", "a2": "2 4 12"}),
        ("stop 2", {"a0": "1 4 1", "a1": "1 5 1", "a2": "1 5 1", "s1": "1 2 1"}),
        ("start 0", {"a0": "1 4 10", "s0": "0 1 0"}),
        ("start 2", {"a0": "1 4 102", "a2": "1 5 102"}),
        ("kill 0", {"a0": "1 5 12", "a1": "1 6 12"}),
        ("kill 1", {"a0": "2 6 2", "a1": "2 7 2"}),
        ("start 0", {"a0": "2 6 20", "s0": "0 3 0"}),
        ("kill 2", {"a0": "0 7 0", "a1": "0 8 0", "a2": "0 8 0"}),
        ("start 1", {"a0": "0 7 01", "s1": "1 3 1"}),
        ("start 2", {"a0": "0 7 012"}),
        ("stop 1", {}),
        ("stop 0", {"a0": "2 9 2", "a1": "2 10 2", "a2": "2 10 2"}),
        ("relay 2 0", {"u0": "0 10 0", "u1": "0 11 0", "s0": "0 3 0"}),
    ],
    "2.8": [
        ("kill 1", {"a0": "0 1 02", "a1": "2 1 20", "s1": "-1 1 1"}),
        ("kill 2", {"a0": "0 2 0", "a1": "0 2 0", "a2": "0 2 0"}),
        ("start 1", {"a0": "0 2 01", "s1": "1 2 1"}),
        ("start 2", {"a0": "0 2 012", "a1": "0 2 012", "a2": "0 2 012"}),
        ("elect a", {"a0": "0 2 012", "a1": "1 3 012", "a2": "2 3 012"}),
        ("elect *", {"u1": "1 3 012", "u2": "2 3 012"}),
        ("stop 0", {"a0": "1 3 12", "a1": "1 4 12", "a2": "2 4 12", "s0": "-1 1 0"}),
        ("stop 2", {"a0": "1 4 1", "a1": "1 5 1", "a2": "1 5 1"}),
        ("start 0", {"a0": "1 4 10", "a1": "1 5 10", "s0": "0 2 0"}),
        ("start 2", {"a0": "1 4 102", "a1": "1 5 102", "a2": "1 5 102"}),
        ("kill 0", {"a0": "1 5 12", "a1": "1 6 12", "s0": "-1 3 0"}),
        ("kill 1", {"a0": "2 7 2", "a1": "2 8 2", "s0": "-1 4 0", "s1": "-1 3 1"}),
        ("start 0", {"a0": "2 7 20", "a1": "2 8 20", "s0": "0 5 0"}),
        ("kill 2", {"a0": "0 9 0", "a1": "0 10 0", "a2": "0 10 0", "s1": "-1 4 1"}),
        ("start 1", {"a0": "0 9 01", "s1": "1 5 1"}),
        ("start 2", {"a0": "0 9 012"}),
        ("stop 1", {}),
        ("stop 0", {"a0": "2 11 2", "a1": "2 12 2", "s0": "-1 6 0", "s1": "-1 7 1"}),
        ("relay 2 0", {"a0": "-1 12 2", "u0": "0 13 0", "s0": "0 7 0", "s1": "-1 8 1"}),
        ("elect! a", {"a0": "0 13 0", "a1": "0 14 0", "a2": "0 14 0"}),
    ],
    "3.9": [
        ("kill 1", {"a0": "0 0 02", "a1": "2 1 20", "a2": "2 0 20", "s1": "-1 1 1"}),
        ("kill 2", {"a0": "0 0 0", "a1": "0 2 0", "a2": "0 1 0"}),
        ("start 1", {"a0": "0 0 01", "s1": "1 2 1"}),
        ("start 2", {"a0": "0 0 012", "a1": "0 2 012", "a2": "0 1 012"}),
        ("elect a", {"a0": "0 0 012", "a1": "1 3 012", "a2": "2 2 012"}),
        ("elect *", {"u1": "1 3 012", "u2": "2 2 012"}),
        ("stop 0", {"a0": "1 1 12", "a1": "1 3 12", "a2": "2 2 12", "s0": "-1 1 0"}),
        ("stop 2", {"a0": "1 1 1", "a1": "1 3 1", "a2": "1 3 1"}),
        ("start 0", {"a0": "1 1 10", "s0": "0 2 0"}),
        ("start 2", {"a0": "1 1 102"}),
        ("kill 0", {"a0": "1 1 12", "s0": "-1 3 0"}),
        ("kill 1", {"a0": "2 2 2", "a1": "2 4 2", "s1": "-1 3 1"}),
        ("start 0", {"a0": "2 2 20", "s0": "0 4 0"}),
        ("kill 2", {"a0": "0 3 0", "a1": "0 5 0", "a2": "0 5 0"}),
        ("start 1", {"a0": "0 3 01", "s1": "1 4 1"}),
        ("start 2", {"a0": "0 3 012"}),
        ("stop 1", {}),
        ("stop 0", {"a0": "2 4 2", "a1": "2 6 2", "s0": "-1 5 0", "s1": "-1 5 1"}),
        ("relay 2 0", {"a0": "-1 5 2", "u0": "0 5 0", "s0": "0 6 0"}),
        ("elect! a", {"a0": "0 6 0", "a1": "0 8 0", "a2": "0 8 0"}),
    ],
    "4.3": [
        ("kill 1", {"a0": "0 0 02", "a1": "2 1 20", "s1": "-1 1 - elr 1 last 1"}),
        ("kill 2", {"a0": "0 0 0 elr 2 last -", "a1": "0 2 0 elr 2 last -", "u0": "0 0 0"}),
        ("start 1", {"a0": "0 0 01 elr - last -", "s1": "1 2 1 elr - last -"}),
        ("start 2", {"a0": "0 0 012", "a1": "0 2 012", "a2": "0 1 012"}),
        ("elect a", {"a0": "0 0 012", "a1": "1 3 012", "a2": "2 2 012"}),
        ("elect *", {"u1": "1 3 012", "u2": "2 2 012"}),
        ("stop 0", {"a0": "1 1 12", "a2": "2 2 12", "s0": "-1 1 - elr 0 last 0"}),
        ("stop 2", {"a0": "1 1 1 elr 2 last -", "a2": "1 3 1 elr 2 last -"}),
        ("start 0", {"a0": "1 1 01 elr - last -", "s0": "0 2 0 elr - last -"}),
        ("start 2", {"a0": "1 1 012", "a1": "1 3 012"}),
        ("kill 0", {"a0": "1 1 12", "s0": "-1 3 - elr 0 last 0"}),
        ("kill 1", {"a0": "2 2 2 elr 1 last -", "a1": "2 4 2", "u0": "2 2 2 elr - last -"}),
        ("start 0", {"a0": "2 2 02", "s0": "0 4 0"}),
        ("kill 2", {"a0": "0 3 0 elr 2 last -", "a1": "0 5 0"}),
        ("start 1", {"a0": "0 3 01", "s1": "1 4 1"}),
        ("start 2", {"a0": "0 3 012"}),
        ("stop 1", {}),
        ("stop 0", {"a0": "2 4 2 elr 0 last -", "s0": "-1 5 - elr 0 last 0"}),
        ("relay 2 0", {"a0": "0 5 0 elr 2 last -", "u0": "0 5 0", "s0": "0 6 0"}),
    ],
}


class World:
    def __init__(self, release: str) -> None:
        kind, rules = CONTROLLERS[release]
        nodes = [Node(i, "h", 9092 + i) for i in range(3)]
        self.cluster = Cluster(nodes, random=random.Random(0))
        self.controller = kind(self.cluster, rules)
        self.cluster.create("a", ROTATED, {"min.insync.replicas": "2"})
        self.cluster.create("u", ROTATED, {"unclean.leader.election.enable": "true"})
        self.cluster.create("s", [[0], [1]])

    def step(self, words: str) -> None:
        verb, *names = words.split()
        getattr(self, {"elect!": "elect_unclean"}.get(verb, verb))(*names)

    def kill(self, broker: str) -> None:
        self.controller.left(int(broker))

    def stop(self, broker: str) -> None:
        self.controller.shutdown(int(broker))
        self.controller.left(int(broker))

    def start(self, broker: str) -> None:
        """It registers, catches up, and every leader takes it in."""
        self.controller.register(int(broker))
        self.controller.joined(int(broker), clean=False)
        for partition in list(self.cluster.all_partitions()):
            outside = int(broker) in partition.replicas and int(broker) not in partition.isr
            if outside and partition.leader >= 0:
                self.controller.isr_changed(partition, [*partition.isr, int(broker)])

    def relay(self, dead: str, back: str) -> None:
        """The last broker dies while another, which had shut down cleanly, is on its way back."""
        if int(dead) == self.cluster.controller_id:
            self.controller.set_reachable(False)
        self.controller.register(int(back))
        self.controller.joined(int(back), clean=True)
        self.controller.left(int(dead))

    def elect(self, name: str) -> None:
        self._elect(PREFERRED, name)

    def elect_unclean(self, name: str) -> None:
        self._elect(UNCLEAN, name)

    def _elect(self, kind: int, name: str) -> None:
        places = None if name == "*" else [(name, i) for i in range(3)]
        self.controller.elect(kind, places)

    def seen(self, place: str) -> str:
        partition = self.cluster.partition(place[0], int(place[1:]))
        sets = [partition.isr, partition.elr, partition.last_known_elr]
        isr, elr, last = ("".join(map(str, s)) or "-" for s in sets)
        return f"{partition.leader} {partition.leader_epoch} {isr} elr {elr} last {last}"


@pytest.mark.parametrize("release", SEEN)
def test_the_same_steps_give_the_same_leaders_epochs_and_isrs(release):
    world = World(release)
    for step, expected in SEEN[release]:
        world.step(step)
        for place, words in expected.items():
            got = world.seen(place)
            assert got.startswith(words), f"{release}, after {step}: {place}"
