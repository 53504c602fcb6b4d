"""Brokers of one process, put together and run: in a thread for tests, or in the foreground.

`serve(...)` gives a `RunningCluster`, a context manager whose `bootstrap` is ready for clients when
it is returned. The same pieces run under `run_forever` until a signal comes. While it runs, its
brokers can be killed, stopped, started, paused and resumed, each as a process of its own could be.
"""

from __future__ import annotations

import contextlib
import importlib
import random
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from touchstone.reference_impl.broker.assembly import Assembly
from touchstone.reference_impl.broker.broker import Broker
from touchstone.reference_impl.broker.configs import profiles
from touchstone.reference_impl.broker.configs.config_view import GENERATED, spread_defaults
from touchstone.reference_impl.broker.configs.listener_settings import LISTENERS, ListenerSettings
from touchstone.reference_impl.broker.control.cluster_controller import (
    membership_rules,
)
from touchstone.reference_impl.broker.faults.fault_plan import Plan, Rule
from touchstone.reference_impl.broker.personas.persona import Persona
from touchstone.reference_impl.broker.replication.replicas import Logs
from touchstone.reference_impl.cluster.endpoints import PLAINTEXT, Address, Endpoint
from touchstone.reference_impl.cluster.membership import Membership
from touchstone.reference_impl.cluster.topology import Cluster, Node
from touchstone.reference_impl.cluster.znodes import Form, RegistryError
from touchstone.reference_impl.cluster.zookeeper_controller import ZooKeeperController
from touchstone.reference_impl.extras import hint
from touchstone.reference_impl.io.event_loop import Server
from touchstone.reference_impl.io.lifecycle import Lifecycle
from touchstone.reference_impl.io.links import Links
from touchstone.reference_impl.io.listeners import advertised_by_listener, endpoint, require_size
from touchstone.reference_impl.io.wall_clock import WallClock

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.metrics.mbeans import Metric
    from touchstone.reference_impl.io.data_dir import DataDir
    from touchstone.reference_impl.io.zookeeper import ZooKeeper

LIFE_SECONDS = 120.0  # how long a verb on a broker may take
_METRICS = "touchstone.reference_impl.broker.metrics.readings"
_MOST_STEPS = 200  # of one `advance`, which may be one of weeks


class RunningCluster:
    """Some brokers and the loop that serves them."""

    def __init__(
        self,
        server: Server,
        cluster: Cluster,
        life: Lifecycle,
        clock: WallClock,
        data: DataDir | None = None,
    ) -> None:
        self.server = server
        self.clock = clock
        self.faults = Plan()  # which requests are spoiled, and how; may be changed at any time
        self._data = data
        self.cluster = cluster
        self.ids = tuple(sorted(cluster.brokers))  # also of brokers that do not run now
        self.life = life
        self.bootstrap = next(iter(self.listeners.values()))  # where the first listener is
        self._thread: threading.Thread | None = None
        self.registry: ZooKeeper | None = None  # the one outside, where there is one
        self._metrics: Any = None  # the module, once somebody asks for them: start-up is a promise

    @property
    def listeners(self) -> dict[str, list[str]]:
        """HOST:PORT where each broker listens now, by the listener's name."""
        return _by_listener(self.cluster.brokers[i] for i in sorted(self.cluster.brokers))

    @property
    def brokers(self) -> list[Broker]:
        """The cores that run now, by id."""
        found = (self.life.broker(number) for number in sorted(self.cluster.brokers))
        return [broker for broker in found if broker is not None]

    @property
    def links(self) -> Links:
        """The links between brokers: `cut`, `heal` and `delay` them."""
        return self.server.links

    # --- harm; each returns when its effect is complete, and is safe from any other thread ----
    # Each raises ValueError for a broker that this cluster does not have.

    def kill(self, broker: int) -> None:
        """End the broker at once. Records stay; its session lasts until it times out (BRK-30)."""
        self._require(broker)
        self.server.call(lambda now: self.life.kill(broker, now)).result(LIFE_SECONDS)

    def stop_broker(self, broker: int) -> None:
        """In order: its leaders move away first, as far as they can (BRK-32)."""
        self._require(broker)
        self._until(lambda now, done: self.life.stop(broker, now, done))

    def start_broker(self, broker: int) -> None:
        """On its own port, with its own records; waits while its old session lasts."""
        self._require(broker)
        self._until(lambda now, done: self.life.start(broker, done))

    def pause(self, broker: int) -> None:
        """Frozen with its connections open."""
        self._require(broker)
        self.server.call(lambda now: self.life.pause(broker, now)).result(LIFE_SECONDS)

    def resume(self, broker: int) -> None:
        """Let a paused broker go on."""
        self._require(broker)
        self.server.call(lambda now: self.life.resume(broker)).result(LIFE_SECONDS)

    def _require(self, broker: int) -> None:
        if broker not in self.ids:
            raise ValueError(f"no broker {broker!r}; there are {', '.join(map(str, self.ids))}")

    # --- metrics ------------------------------------------------------------------------------

    def metrics(self, broker: int | None = None) -> dict[str, float]:
        """What a running broker, by default the one with the lowest id, measures now.

        By Kafka's names as JmxTool writes them, such as
        "kafka.server:type=BrokerTopicMetrics,name=MessagesInPerSec,topic=greetings:Count". What
        counts, counts in all brokers from the first call on; a broker that starts again begins at
        zero. KeyError for a broker that does not run. README of `broker.metrics` says what is kept.
        """
        found = self.measure()
        mine = found[min(found) if broker is None else broker]
        return {str(metric): value for metric, value in mine.items()}

    def observe(self) -> None:
        """Count from now on, in brokers that start later as well; safe from any thread."""
        self._metrics = importlib.import_module(_METRICS)
        self.life.began = self._metrics.observe
        for each in self.brokers:
            self._metrics.observe(each)

    def measure(self) -> dict[int, dict[Metric, float]]:
        """What all running brokers measure by their ids, with the parts of each name."""
        if self._metrics is None:
            self.observe()

        def read(now: int) -> dict[int, dict[Metric, float]]:
            return {each.id: self._metrics.readings(each) for each in self.brokers}

        return self.server.call(read).result(LIFE_SECONDS)

    def jump(self, ms: int) -> None:
        """The wall clock of all brokers is so many milliseconds ahead of the machine's; no session
        and no timeout notices (`advance` lets time pass for them too).
        """
        self.clock.ahead = ms

    def advance(self, ms: int) -> None:
        """Let `ms` milliseconds pass for all brokers at once; return when what fell due is done.

        Retention, session and transaction timeouts, delayed answers: each happens in its turn, as
        if somebody had waited. Clients do not live through that time, so a member that heartbeats
        is removed like one that is silent, and joins again. ValueError for `ms` below 0.
        """
        if ms < 0:
            raise ValueError(f"time goes forward: {ms} ms are below 0")
        goal, least = self.clock.advanced + ms, 1 + ms // _MOST_STEPS
        while not self.server.call(partial(self._step, goal, least)).result(LIFE_SECONDS):
            pass
        self.server.call(lambda now: None).result(LIFE_SECONDS)  # the last step's turn is over

    def _step(self, goal: int, least: int, now: int) -> bool:
        """Turn the clock to what is due next, by `least` milliseconds or more; True at the goal."""
        due = self.server.deadline()
        more = goal if due is None else max(least, due - now)
        self.clock.advanced = min(goal, self.clock.advanced + more)
        return self.clock.advanced == goal

    def _until(self, begin: Callable[[int, Callable[[], None]], None]) -> None:
        over = threading.Event()
        self.server.call(lambda now: begin(now, over.set)).result(LIFE_SECONDS)
        if not over.wait(LIFE_SECONDS):
            raise TimeoutError(f"not done within {LIFE_SECONDS:.0f} s")

    # --- running ------------------------------------------------------------------------------

    def start(self) -> RunningCluster:
        self._thread = threading.Thread(target=self.server.run, name="touchstone", daemon=True)
        self._thread.start()
        return self

    def stop(self) -> None:
        self.server.stop()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
            self._close_data()

    def _close_data(self) -> None:
        """After the loop's end: what is on disk is closed in order (LOG-26)."""
        self.life.close()
        if self.registry is not None:
            self.registry.close()
        if self._data is not None:
            self._data.close(self.clock())

    def __enter__(self) -> RunningCluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def run_forever(self, ready: Callable[[], None] = lambda: None) -> None:
        """Serve in this thread until SIGTERM or SIGINT; then end cleanly.

        `ready` is called once both signals end it so: whoever is told that it serves may send one
        at once.
        """
        signal.set_wakeup_fd(self.server.waker.fileno(), warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self.server.stop())
        ready()
        self.server.run()
        self._close_data()


def _by_listener(nodes: Iterable[Node]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for each in (each for node in nodes for each in node.listeners):
        host = each.bound[0] or "127.0.0.1"  # who listens everywhere is found there
        found.setdefault(each.listener, []).append(f"{host}:{each.bound[1]}")
    return found


def build(
    brokers: int = 1,
    host: str = "127.0.0.1",
    port: int = 0,
    racks: Sequence[str | None] = (),
    release: str = "4.3",
    config: Mapping[str, str] | None = None,
    switches: Sequence[str] = (),
    seed: int = 0,
    data: str | Path | None = None,
    zookeeper: str | None = None,
    advertise: Sequence[str] = (),
    scram: Sequence[str] = (),
) -> RunningCluster:
    """A cluster whose listeners are bound and whose loop does not run yet.

    With `data`, a directory, it goes on with what it was there (`io.data`); LogDirError for one
    that cannot be used. With `zookeeper`, HOST:PORT[/chroot], its registry stands there too
    (`io.zookeeper`); RegistryError where that refuses, ValueError for a release without. `host` and
    `port` are those of the one listener of a broker that has no setting `listeners`. Clients are
    told to find the brokers where they listen, or at `advertise` (`io.listeners`). `scram` are
    credentials that it begins with, as `kafka-storage format --add-scram` takes them.
    """
    require_size(brokers, port, racks)
    parts = Assembly.of(release, dict(config or {}), switches)
    clock, persona, config = WallClock(), parts.persona, parts.config
    if port and LISTENERS in config:
        raise ValueError(f"{LISTENERS} names the ports of brokers: leave out port {port}")
    settings = ListenerSettings.of(config, host, port)
    said = advertised_by_listener(advertise, config, brokers, settings)
    disk = _data_dir(Path(data), persona, config) if data else None
    with contextlib.ExitStack() as undo:  # of a cluster that cannot be built
        registry = _registry(zookeeper, persona, config, clock) if zookeeper else None
        if registry is not None:
            undo.callback(registry.close)
        server = Server(clock=clock, before_answers=_durable(disk, registry))
        undo.callback(server.close)
        sockets, nodes = [], []
        for at, number in enumerate(_ids(brokers, config, disk, registry)):
            opened, endpoints = _bind(server, settings, said[at], at, undo)
            sockets.append(opened)
            rack = racks[at] if at < len(racks) else config.get("broker.rack")
            nodes.append(_node(number, endpoints, settings.inter_broker, rack))
        reachable = server.links.reaches_registry
        cluster = parts.cluster(nodes, Cluster, random.Random(seed), reachable=reachable)
        cores = _Cores(cluster, parts, disk)
        if disk is not None:
            undo.callback(disk.release)
            disk.restore(cluster)
        if registry is not None:
            named = disk is not None and disk.known and persona.quirk("log-dirs.name-their-cluster")
            registry.restore(cluster, cluster_id=cluster.cluster_id if named else None)
        _add_users(cluster, scram)
        running = _assemble(server, cluster, cores, sockets, clock)
        if registry is not None:
            _follow(running, registry)
        undo.pop_all()
    return running


def _add_users(cluster: Cluster, scram: Sequence[str]) -> None:
    if scram:  # loaded only then: start-up is a promise
        keys = importlib.import_module("touchstone.reference_impl.cluster.scram_keys")
        keys.add(cluster.client_settings, scram)


def _bind(
    server: Server,
    settings: ListenerSettings,
    told: Mapping[str, Address | None],
    at: int,
    undo: contextlib.ExitStack,
) -> tuple[dict[str, socket.socket], tuple[Endpoint, ...]]:
    """The listeners of the broker at this place: each counts on from the first one's port."""
    sockets, endpoints = {}, []
    for listener in settings.listeners:
        port = listener.port + at if listener.port else 0
        sock = server.bind(listener.host, port)
        undo.callback(sock.close)
        sockets[listener.name] = sock
        bound = listener.host, sock.getsockname()[1]
        endpoints.append(endpoint(listener, told, bound))
    return sockets, tuple(endpoints)


def _node(
    number: int, endpoints: tuple[Endpoint, ...], inter_broker: str, rack: str | None
) -> Node:
    """A broker whose own address is that of its inter-broker listener."""
    own = next(each for each in endpoints if each.listener == inter_broker)
    bound = own.bound if own.bound != (own.host, own.port) else None
    if [each.listener for each in endpoints] == [PLAINTEXT]:
        endpoints = ()  # a node without more has a PLAINTEXT listener
    return Node(number, own.host, own.port, rack, bound=bound, endpoints=endpoints)


def _data_dir(root: Path, persona: Persona, config: Mapping[str, str]) -> DataDir:
    module = importlib.import_module("touchstone.reference_impl.io.data_dir")  # costs 10 ms
    return cast("DataDir", module.DataDir(root, persona, config))


def _registry(
    where: str, persona: Persona, config: Mapping[str, str], clock: WallClock
) -> ZooKeeper:
    form = Form.of(persona.quirk)
    try:
        door = importlib.import_module("touchstone.reference_impl.io.zookeeper")
    except ImportError as missing:
        raise RegistryError(f"{missing} {hint('zookeeper')}") from None
    session = membership_rules(persona, config).session_ms
    return door.ZooKeeper(where, form, clock=clock, session_ms=session)


def _ids(
    brokers: int, config: Mapping[str, str], disk: DataDir | None, registry: ZooKeeper | None
) -> Iterable[int]:
    """The first broker's is broker.id, 0 if nobody says, and the others count on from there.

    Where it is -1, they are ids that ZooKeeper never gave away before (BRK-18); without a ZooKeeper
    every start is the first. A directory of Kafka's names its own (BRK-22).
    """
    if disk is not None and disk.foreign:
        return [disk.owner(brokers)]
    first = config.get("node.id", config.get("broker.id", "0"))
    if first != GENERATED:
        if not first.isdecimal():
            raise ValueError(f"broker.id is a number, not {first!r}")
        return range(int(first), int(first) + brokers)
    reserved = int(config.get("reserved.broker.max.id", 1000))
    if registry is not None:
        return registry.generated_ids(brokers, reserved)
    return range(reserved + 1, reserved + 1 + brokers)


class _Written:
    """A lifecycle that writes each of its changes to the registry outside."""

    def __init__(self, life: Lifecycle, registry: ZooKeeper) -> None:
        self.deadline = life.deadline
        self._life, self._registry = life, registry

    def tick(self, now: int) -> None:
        self._life.tick(now)
        self._registry.follow()


def _durable(disk: DataDir | None, registry: ZooKeeper | None) -> Callable[[], None]:
    """Makes changes last: on disk first, then in the registry outside."""
    keeps = [*([disk.keep] if disk else ()), *([registry.follow] if registry else ())]

    def keep() -> None:
        for each in keeps:
            each()

    return keep


def _follow(running: RunningCluster, registry: ZooKeeper) -> None:
    """Whatever time changes is written to the registry outside as well."""
    controller = running.cluster.controller
    if not isinstance(controller, ZooKeeperController):
        raise RegistryError("KRaft keeps its registry itself")
    registry.attach(running.cluster, controller, running.server.call)
    running.server.timed_task = _Written(running.life, registry)
    running.registry = registry


def _assemble(
    server: Server,
    cluster: Cluster,
    cores: _Cores,
    sockets: list[dict[str, socket.socket]],
    clock: WallClock,
) -> RunningCluster:
    """Brokers on their listeners under one controller."""
    cluster.wall = clock.wall
    persona, disk = cores.parts.persona, cores.data
    nodes = list(cluster.brokers.values())
    rules = membership_rules(persona, cores.parts.config)
    membership = Membership(cores.parts.controller(cluster), rules)
    ended = None if disk is None else disk.ended
    life = Lifecycle(server, cluster, membership, cores.make, ended)
    cores.strays = life.strays
    for node, opened in zip(nodes, sockets, strict=True):
        membership.controller.register(node.id)
        broker = cores.make(node.id, clock())
        if node is nodes[0]:
            spread_defaults(broker)
        server.add(opened, broker)
        life.adopt(broker)
    membership.began(clock())
    server.timed_task = life
    running = RunningCluster(server, cluster, life, clock, disk)
    running.faults = cores.faults
    running.faults.when_removed(server.release_answers)
    return running


class _Cores:
    """Makes the core of a broker, again and again over the same logs."""

    def __init__(self, cluster: Cluster, parts: Assembly, data: DataDir | None) -> None:
        self.data = data
        self.parts = parts if data is None else replace(parts, config=data.config)
        self._cluster = cluster
        self.faults = Plan()
        self._logs: dict[int, Logs] = {}
        self.strays: Callable[[int], Iterable[tuple[str, int]]] = lambda broker: ()

    def make(self, number: int, now: int) -> Broker:
        """Partitions that are not this broker's any more are dropped from its logs."""
        logs = self._logs_of(number, now)
        self._cluster.directories_checked(number)
        for topic, index in self.strays(number):
            logs.remove(topic, index, now)
        broker = self.parts.broker(self._cluster, number, logs, self.faults, time.perf_counter_ns)
        if self._cluster.settings_in_force.pop(str(number), None):
            spread_defaults(broker)
        if self.data is not None:
            self.data.attach(broker, now)
        return broker

    def _logs_of(self, number: int, now: int) -> Logs:
        """On disk they are opened anew; in memory they are what disk and page cache would keep."""
        if self.data is not None:
            return self.data.logs(number, now)
        if number not in self._logs:
            self._logs[number] = self.parts.memory(self._cluster, number)
        return self._logs[number]


def serve(
    brokers: int = 1,
    host: str = "127.0.0.1",
    port: int = 0,
    racks: Sequence[str | None] = (),
    release: str = "4.3",
    config: Mapping[str, str] | None = None,
    switches: Sequence[str] = (),
    seed: int = 0,
    data: str | Path | None = None,
    faults: Iterable[Rule] = (),
    zookeeper: str | None = None,
    advertise: Sequence[str] = (),
    profile: str | None = None,
    scram: Sequence[str] = (),
) -> RunningCluster:
    """Brokers that serve, in a thread of their own, until `stop()` or the end of the `with`.

    `profile` names settings that `config` goes over: "test" lets nobody wait (`broker.profiles`).
    """
    if profile is not None:
        config = profiles.settings(profile, release, brokers) | dict(config or {})
    running = build(
        brokers, host, port, racks, release, config, switches, seed, data, zookeeper, advertise,
        scram,
    )  # fmt: skip
    for rule in faults:
        running.faults.add(rule)
    return running.start()
