"""A workload names the clients of a trial and says how it is judged in the end.

`plain` writes and reads. `groups` adds members of a group that read what is written and come and
go, `consumer-groups` those of a group of KIP-848; `transactions` adds copiers that carry it to two
other topics, each record exactly once; `all` is `groups` and `transactions`. A workload is asked
for its actors once, told when calm begins, and stopped in steps: who feeds others goes first, so
that what the others must still get done can be waited for.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

from touchstone.reference_impl.client.offsets import READ_COMMITTED
from touchstone.reference_impl.sim.actor import Actor, ActorLifecycle
from touchstone.reference_impl.sim.copying import AUDIT, COPIES, Copier, CopyHistory, judged
from touchstone.reference_impl.sim.groups import (
    HEARTBEAT_MS,
    SESSION_MS,
    GroupHistory,
    GroupMember,
    ObservedConsumer,
    ObservedKip848Consumer,
)
from touchstone.reference_impl.sim.workload import History, Reader, Writer
from touchstone.reference_impl.wire.apis import by_name

if TYPE_CHECKING:
    from touchstone.reference_impl.sim.cluster import Simulation
    from touchstone.reference_impl.sim.invariants import Invariants, StoredValues

ORDERS = "orders"
TARGETS = {COPIES: 2, AUDIT: 1}
# few partitions: a simulated second costs what there is to replicate
SETTINGS = {
    "offsets.topic.num.partitions": "2",
    "transaction.state.log.num.partitions": "2",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000",
    "group.initial.rebalance.delay.ms": "500",
}


class Plain:
    """Writers that are told what became of each record, and a reader."""

    settings: dict[str, str] = {}
    needs: str | None = None  # a quirk of the releases that it is for; None: all of them
    writers = 2
    gap_ms = 150

    def __init__(self, simulation: Simulation, partitions: int) -> None:
        self.simulation = simulation
        self.history = History()
        self.topics = (ORDERS,)
        self.places = [(ORDERS, index) for index in range(partitions)]
        simulation.create_topic(ORDERS, partitions)

    def actors(self) -> list[Actor | ActorLifecycle]:
        world, client = self.simulation.world, self.simulation.client
        self.fed = [
            Writer(client(f"p{number}"), world, self.history, self.places, gap_ms=self.gap_ms)
            for number in range(self.writers)
        ]
        self.fed_by: list[Actor | ActorLifecycle] = [
            Reader(client("c0"), world, self.history, self.places, gap_ms=300)
        ]
        return [*self.fed, *self.fed_by]

    def end_faults(self) -> None:
        """End all faults: no actor leaves any more."""
        for each in self.fed_by:
            if isinstance(each, ActorLifecycle):
                each.stay()

    def steps(self) -> list[list[Actor | ActorLifecycle]]:
        """The actors that are stopped together, in order."""
        return [[*self.fed, *self.fed_by]]

    def settle(self, invariants: Invariants) -> StoredValues:
        return invariants.settle(self.history, self.topics)

    def figures(self) -> dict[str, int]:
        """The counts of what was done besides writing and reading."""
        return {}

    def caught_up(self) -> bool:
        """Whether those who are fed have all that they were given."""
        return True

    def ends(self) -> dict[tuple[str, int], int]:
        """The log end of each partition that is read."""
        found = {}
        for place in self.places:
            partition = self.simulation.cluster.partition(*place)
            host = self.simulation.hosts.get(partition.leader) if partition else None
            replica = host.core.replicas.get(*place) if host and host.core else None
            found[place] = replica.log.high_watermark if replica else -1
        return found


class Groups(Plain):
    """And members of one group, some of them static, all eager or all cooperative."""

    settings = SETTINGS
    gap_ms = 300
    members = 3

    def actors(self) -> list[Actor | ActorLifecycle]:
        actors = super().actors()
        self.group = GroupHistory()
        world = self.simulation.world
        choices = (("range",), ("roundrobin",), ("cooperative-sticky",))
        self._assignors = world.random.choice(choices)
        self._static = world.random.randrange(self.members + 1)
        lives = [ActorLifecycle(world, partial(self._member, slot)) for slot in range(self.members)]
        self.fed_by += lives
        return [*actors, *lives]

    def _member(self, slot: int, life: int) -> GroupMember:
        client = self.simulation.client(f"g{slot}.{life}")
        static = f"static-{slot}" if slot < self._static else None
        consumer = ObservedConsumer(
            client, self.group, "readers", assignors=self._assignors, instance_id=static
        )
        return GroupMember(client, self.simulation.world, self.group, [ORDERS], consumer)

    def steps(self) -> list[list[Actor | ActorLifecycle]]:
        return [list(self.fed), self.fed_by]

    def settle(self, invariants: Invariants) -> StoredValues:
        stored = super().settle(invariants)
        self._all_read(invariants, self.group, "readers")
        for place, rows in stored.items():
            below = {offset for offset in rows if offset < self.group.committed.get(place, 0)}
            missed = below - self.group.given.get(place, set())
            if missed:
                invariants.broken(f"{place}: nobody was given {min(missed)}, but it is committed")
        return stored

    def figures(self) -> dict[str, int]:
        return {"rebalances": self.group.rebalances, "commits": self.group.commits}

    def caught_up(self) -> bool:
        return self._behind(self.group) is None

    def _behind(self, group: GroupHistory) -> str | None:
        for place, end in self.ends().items():
            at = group.committed.get(place, 0)
            if at != end:
                return f"{at} of {place}, which ends at {end}"
        return None

    def _all_read(self, invariants: Invariants, group: GroupHistory, name: str) -> None:
        if group.complaints:
            invariants.broken(f"group {name}: {group.complaints[0]}")
        if behind := self._behind(group):
            invariants.broken(f"group {name} stands at {behind}")


class ConsumerGroups(Groups):
    """And members of one group of KIP-848, whose coordinators read their logs in many turns."""

    settings = SETTINGS | {
        "offsets.load.buffer.size": "1",
        "group.consumer.min.session.timeout.ms": str(SESSION_MS),
        "group.consumer.session.timeout.ms": str(SESSION_MS),
        "group.consumer.min.heartbeat.interval.ms": str(HEARTBEAT_MS),
        "group.consumer.heartbeat.interval.ms": str(HEARTBEAT_MS),
    }
    needs = "groups.consumer-protocol-is-on"

    def actors(self) -> list[Actor | ActorLifecycle]:
        actors = super().actors()
        self.group.apart = True
        return actors

    def _member(self, slot: int, life: int) -> GroupMember:
        client = self.simulation.client(f"g{slot}.{life}")
        consumer = ObservedKip848Consumer(client, self.group, "readers")
        return GroupMember(client, self.simulation.world, self.group, [ORDERS], consumer)


class Transactions(Groups):
    """And copiers instead of members."""

    members = 2
    whole = False  # with the members too

    def __init__(self, simulation: Simulation, partitions: int) -> None:
        super().__init__(simulation, partitions)
        for topic, count in TARGETS.items():
            simulation.create_topic(topic, count)

    def actors(self) -> list[Actor | ActorLifecycle]:
        actors = super().actors() if self.whole else Plain.actors(self)
        world, simulation = self.simulation.world, self.simulation
        self.copies, self.copiers, self.seen = CopyHistory(), GroupHistory(), History()
        assignors = world.random.choice((("range",), ("cooperative-sticky",)))
        by_generation = simulation.persona.serves(by_name("TxnOffsetCommit").key, 3)
        # Where nobody looks at the epoch of offsets, a zombie's count with its successor's next
        # transaction, and records are copied again: in Kafka until KAFKA-9144 (2.4.1).
        zombies = not simulation.persona.quirk("append.trusts-coordinators")

        def place(slot: int) -> ActorLifecycle:
            return ActorLifecycle(
                world,
                lambda life: Copier(
                    simulation.client(f"x{slot}.{life}"),
                    world,
                    self.copies,
                    self.copiers,
                    ORDERS if by_generation else self.places[slot],
                    TARGETS,
                    transactional_id=f"copier-{slot}",
                    assignors=assignors,
                ),
                ends=("leaves", "dies", "sleeps") if zombies else ("leaves", "dies"),
            )

        slots = self.members if by_generation else len(self.places)
        lives = [place(slot) for slot in range(slots)]
        outputs = [(topic, i) for topic, count in TARGETS.items() for i in range(count)]
        reader = Reader(
            simulation.client("r0"), world, self.seen, outputs, isolation=READ_COMMITTED, gap_ms=300
        )
        self.fed_by += [*lives, reader]
        return [*actors, *lives, reader]

    def steps(self) -> list[list[Actor | ActorLifecycle]]:
        return [list(self.fed), self.fed_by[:-1], self.fed_by[-1:]]

    def settle(self, invariants: Invariants) -> StoredValues:
        settle = super().settle if self.whole else super(Groups, self).settle
        stored = settle(invariants)
        wrong = judged(self.copies, self.copiers.committed, stored, self.seen.reads, list(TARGETS))
        if wrong:
            invariants.broken(wrong)
        self._all_read(invariants, self.copiers, "copiers")
        return stored

    def figures(self) -> dict[str, int]:
        found = super().figures() if self.whole else {}
        return found | Counter(self.copies.ends.values())

    def caught_up(self) -> bool:
        members = self._behind(self.group) is None if self.whole else True
        return members and self._behind(self.copiers) is None


class AllWorkloads(Transactions):
    whole = True


WORKLOADS: dict[str, type[Plain]] = {
    "plain": Plain,
    "groups": Groups,
    "consumer-groups": ConsumerGroups,
    "transactions": Transactions,
    "all": AllWorkloads,
}
