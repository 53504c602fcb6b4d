"""A cluster of simulated brokers: `advance(ms)` drives every timer, equal seeds give equal traces.

    simulation = Simulation(seed=7, brokers=3)
    simulation.create_topic("t", partitions=2)
    simulation.advance(60_000)

The cores are the ones that serve sockets. The controller with its registry is a host of its own
("ctl") that cannot die: its decisions reach brokers over wires that can be cut, and it gives up on
a broker whose heartbeats stop for a session. A killed broker keeps its logs, but comes back with
the high watermarks of its last checkpoint, as a process on a disk would.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Required, TypedDict, Unpack

from touchstone.reference_impl.broker.assembly import Assembly
from touchstone.reference_impl.broker.broker import Broker
from touchstone.reference_impl.broker.configs.config_view import spread_defaults
from touchstone.reference_impl.broker.control.cluster_controller import ClusterController
from touchstone.reference_impl.cluster.random_ids import RandomSource
from touchstone.reference_impl.cluster.topology import Change, Cluster, Node
from touchstone.reference_impl.sim.client import SimClient
from touchstone.reference_impl.sim.host import Host
from touchstone.reference_impl.sim.network import Network
from touchstone.reference_impl.sim.world import World

CONTROLLER = "ctl"
SETTINGS = {
    "replica.lag.time.max.ms": "2000",
    "replica.fetch.wait.max.ms": "200",
    "replica.fetch.backoff.ms": "200",
    "replica.socket.timeout.ms": "2000",
    "default.replication.factor": "3",
    "min.insync.replicas": "2",
    "unclean.leader.election.enable": "false",
    "offsets.topic.replication.factor": "3",
    "transaction.state.log.replication.factor": "3",
}


class ClusterOptions(TypedDict, total=False):
    """What `Assembly.cluster` gives to the registry that it makes."""

    random: Required[RandomSource]
    topic_ids: bool
    reachable: Callable[[int], bool]


class _Registry(Cluster):
    """The registry whose changes reach brokers over a wire."""

    def __init__(
        self,
        nodes: Iterable[Node],
        *,
        reach: Callable[[int, Callable[[], None]], None],
        **options: Unpack[ClusterOptions],
    ) -> None:
        """`reach(broker, call)` has `call` happen when a message to the broker arrives."""
        super().__init__(nodes, **options)
        self._reach = reach

    def subscribe(self, broker: int, receive: Callable[[Change], None]) -> None:
        super().subscribe(broker, lambda change: self._reach(broker, lambda: receive(change)))


class Simulation:
    def __init__(
        self,
        seed: int,
        brokers: int = 3,
        *,
        release: str = "4.3",
        racks: Sequence[str | None] = (),
        config: Mapping[str, str] | None = None,
        switches: Sequence[str] = (),
        session_ms: int = 3_000,
        checkpoint_ms: int = 5_000,
    ) -> None:
        self.world = World(seed)
        self.network = Network(self.world)
        self._parts = Assembly.of(release, {**SETTINGS, **(config or {})}, switches)
        self.persona = self._parts.persona
        self._session_ms = session_ms
        self._checkpoint_ms = checkpoint_ms
        nodes = [
            Node(number, "sim", number, racks[number] if number < len(racks) else None)
            for number in range(brokers)
        ]
        self.cluster = self._parts.cluster(
            nodes, _Registry, self.world.random, reach=self._reach, reachable=self._reachable
        )
        self.hosts = {node.id: Host(node.id, self.world, self.network) for node in nodes}
        self.clients: list[SimClient] = []
        self._logs = {number: self._parts.memory(self.cluster, number) for number in self.hosts}
        self._checkpoints: dict[int, dict[tuple[str, int], int]] = {n: {} for n in self.hosts}
        self._last_beats: dict[int, int] = dict.fromkeys(self.hosts, self.world.now)
        self._incarnation = dict.fromkeys(self.hosts, 0)
        for number, host in self.hosts.items():
            host.hosts = self.hosts
            core = self._new_core(number)
            if not number:
                spread_defaults(core)
            host.start(core)
            self._controller = core.room(ClusterController).active
            self._controller.register(number)
            self._beat(number, self._incarnation[number])
        self._watch_sessions()

    # --- what a user does ----------------------------------------------------------------------

    def advance(self, ms: int) -> None:
        self.world.advance(ms)

    def client(self, name: str) -> SimClient:
        client = SimClient(name, self.world, self.network, self.hosts)
        self.clients.append(client)
        return client

    def create_topic(self, name: str, partitions: int = 1, replication: int | None = None) -> None:
        """Placed round the brokers; live once the decision has reached them."""
        ids = sorted(self.hosts)
        copies = replication or len(ids)
        replicas = [
            [ids[(first + step) % len(ids)] for step in range(copies)]
            for first in range(partitions)
        ]
        self.cluster.create(name, replicas)
        self.cluster.publish()

    def _reachable(self, broker: int) -> bool:
        """Whether a broker can ask, or write, whoever keeps the registry."""
        cuts, name = self.network.cuts, f"b{broker}"
        return not (cuts(name, CONTROLLER) or cuts(CONTROLLER, name))

    def is_leader(self, broker: int) -> bool:
        """Partitions, or the cluster, where one of its brokers is controller."""
        if not self.persona.kraft and self.cluster.controller_id == broker:
            return True
        return any(partition.leader == broker for partition in self.cluster.all_partitions())

    # --- faults --------------------------------------------------------------------------------

    def kill(self, broker: int) -> None:
        host = self.hosts[broker]
        for replica in host.running.replicas:
            at = self._checkpoints[broker].get((replica.topic, replica.index), 0)
            replica.log.high_watermark = max(at, replica.log.log_start_offset)
        self.cluster.unsubscribe(broker)
        self._incarnation[broker] += 1
        host.kill()

    def restart(self, broker: int) -> None:
        """A new process on the old logs; the controller learns of it by its first heartbeat."""
        host = self.hosts[broker]
        core = self._new_core(broker)
        host.start(core)
        self._beat(broker, self._incarnation[broker], register=True)

    def pause(self, broker: int) -> None:
        self.hosts[broker].pause()

    def resume(self, broker: int) -> None:
        self.hosts[broker].resume()

    def isolate(self, broker: int, *, inwards: bool = True, outwards: bool = True) -> None:
        """Cut it off from brokers and controller; clients still reach it."""
        for other in self._others(broker):
            if inwards:
                self.network.cut(other, f"b{broker}")
            if outwards:
                self.network.cut(f"b{broker}", other)

    def rejoin(self, broker: int) -> None:
        for other in self._others(broker):
            self.network.heal(other, f"b{broker}")
            self.network.heal(f"b{broker}", other)

    def slow(self, broker: int, extra_ms: int) -> None:
        for other in self._others(broker):
            self.network.slow(other, f"b{broker}", extra_ms)
            self.network.slow(f"b{broker}", other, extra_ms)

    def _others(self, broker: int) -> list[str]:
        return [CONTROLLER, *(host.name for host in self.hosts.values() if host.id != broker)]

    # --- brokers -------------------------------------------------------------------------------

    def _new_core(self, broker: int) -> Broker:
        return self._parts.broker(self.cluster, broker, self._logs[broker])

    def _reach(self, broker: int, apply: Callable[[], None]) -> None:
        host = self.hosts[broker]
        self.network.send(CONTROLLER, host.name, lambda: host.receive_change(apply))

    # --- sessions and checkpoints --------------------------------------------------------------

    def _beat(self, broker: int, incarnation: int, *, register: bool = False) -> None:
        """A heartbeat of one process of a broker, and the next one after it."""
        host = self.hosts[broker]
        if self._incarnation[broker] != incarnation or not host.up:
            return
        if not host.paused:
            self._checkpoint(host)
            self.network.send(
                host.name, CONTROLLER, partial(self._beat_arrived, broker, incarnation, register)
            )
            register = False
        self.world.after(
            max(1, self._session_ms // 3),
            lambda: self._beat(broker, incarnation, register=register),
        )

    def _beat_arrived(self, broker: int, incarnation: int, register: bool) -> None:
        if self._incarnation[broker] != incarnation:
            return
        self._last_beats[broker] = self.world.now
        controller, node = self._controller, self.cluster.brokers[broker]
        if register and node.alive:  # it was faster than its session: the old life is over first
            self.world.tell(CONTROLLER, f"b{broker} is back before its session ended")
            controller.left(broker)
        if not node.alive:
            self.world.tell(CONTROLLER, f"b{broker} joins")
            controller.register(broker)
            controller.joined(broker, clean=False)
            self.cluster.publish()

    def _watch_sessions(self) -> None:
        for broker, last in self._last_beats.items():
            node = self.cluster.brokers[broker]
            if node.alive and self.world.now - last > self._session_ms:
                self.world.tell(CONTROLLER, f"session of b{broker} ended")
                self._controller.left(broker)
                self.cluster.publish()
        self.world.after(max(1, self._session_ms // 6), self._watch_sessions)

    def _checkpoint(self, host: Host) -> None:
        """High watermarks as a disk would have them."""
        kept = self._checkpoints[host.id]
        last = kept.get(("", -1), -self._checkpoint_ms)
        if self.world.now - last < self._checkpoint_ms:
            return
        kept["", -1] = self.world.now
        for replica in host.running.replicas:
            kept[replica.topic, replica.index] = replica.log.high_watermark
