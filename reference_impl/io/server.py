"""Brokers of one process, put together and run: in a thread for tests, or in the foreground.

`serve(...)` gives a `RunningCluster`, a context manager whose `bootstrap` is ready for clients when
it is returned. The same pieces run under `run_forever` until a signal comes.
"""

from __future__ import annotations

import random
import signal
import threading
from collections.abc import Mapping, Sequence

from reference_impl.broker.broker import Broker
from reference_impl.broker.config_view import topic_defaults
from reference_impl.broker.log_rules import rules_of
from reference_impl.broker.partitions import log_key
from reference_impl.broker.personas import persona as persona_of
from reference_impl.broker.purgatory import Purgatory
from reference_impl.broker.switches import known
from reference_impl.cluster.topology import Cluster, Node
from reference_impl.io.event_loop import Server
from reference_impl.log.memory_logs import MemoryLogs


class RunningCluster:
    """Some brokers and the loop that serves them."""

    def __init__(self, server: Server, cluster: Cluster, brokers: list[Broker]) -> None:
        self.server = server
        self.cluster = cluster
        self.brokers = brokers
        nodes = [cluster.brokers[broker.id] for broker in brokers]
        self.bootstrap = [f"{node.host}:{node.port}" for node in nodes]
        self._thread: threading.Thread | None = None

    def start(self) -> RunningCluster:
        self._thread = threading.Thread(target=self.server.run, name="touchstone", daemon=True)
        self._thread.start()
        return self

    def stop(self) -> None:
        self.server.stop()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def __enter__(self) -> RunningCluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def run_forever(self) -> None:
        """Serve in this thread until SIGTERM or SIGINT; then end cleanly."""
        signal.set_wakeup_fd(self.server.waker.fileno(), warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self.server.stop())
        self.server.run()


def build(
    brokers: int = 1,
    host: str = "127.0.0.1",
    port: int = 0,
    racks: Sequence[str | None] = (),
    release: str = "4.3",
    config: Mapping[str, str] | None = None,
    switches: Sequence[str] = (),
    seed: int = 0,
) -> RunningCluster:
    """A cluster whose listeners are bound and whose loop does not run yet."""
    persona, planted = persona_of(release), known(switches)
    server, config = Server(), dict(config or {})
    listeners, nodes = [], []
    for number in range(brokers):
        listener = server.bind(host, port + number if port else 0)
        listeners.append(listener)
        rack = racks[number] if number < len(racks) else None
        nodes.append(Node(number, host, listener.getsockname()[1], rack))
    cluster = Cluster(
        nodes,
        random=random.Random(seed),
        topic_ids=persona.quirk("topics.have-ids"),
        switches=planted,
    )
    purgatories = [Purgatory() for _ in nodes]

    def gone(topic: str, partition: int) -> None:
        for purgatory in purgatories:
            purgatory.touch(log_key(topic, partition))

    cluster.logs = MemoryLogs(
        cluster.config_of,
        rules=rules_of(persona),
        switches=planted,
        gone=gone,
    )
    built = [
        Broker(
            node.id,
            cluster=cluster,
            persona=persona,
            purgatory=purgatory,
            config=config,
            switches=planted,
        )
        for node, purgatory in zip(nodes, purgatories, strict=True)
    ]
    cluster.set_topic_defaults(topic_defaults(built[0]))
    for listener, broker in zip(listeners, built, strict=True):
        server.add(listener, broker)
    return RunningCluster(server, cluster, built)


def serve(
    brokers: int = 1,
    host: str = "127.0.0.1",
    port: int = 0,
    racks: Sequence[str | None] = (),
    release: str = "4.3",
    config: Mapping[str, str] | None = None,
    switches: Sequence[str] = (),
    seed: int = 0,
) -> RunningCluster:
    """Brokers that serve, in a thread of their own, until `stop()` or the end of the `with`."""
    return build(brokers, host, port, racks, release, config, switches, seed).start()
