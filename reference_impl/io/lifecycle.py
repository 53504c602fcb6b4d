"""The brokers of one process are killed, stopped, frozen, thawed and started again here.

What a signal does to a broker's process is done here to a broker's core: SIGKILL drops the core
with its connections and keeps its logs (in memory they are what the page cache and the disk would
have kept), SIGSTOP leaves everything as it is and does nothing any more, SIGTERM asks the
controller to move leaders away first (`cluster.membership` knows when that is done). A broker that
starts again is a new core on the old port over the old logs; logs of partitions that are no longer
its own are dropped before it hears of the others. A broker whose link to the `REGISTRY` is cut
learns of no change, reports nothing and loses its session. Every verb runs in the loop's thread.

Sources: BRK-30..32, CTL-18, CTL-24; harness/model/target.py names the verbs.
"""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from touchstone.reference_impl.broker.control.cluster_controller import ClusterController
from touchstone.reference_impl.cluster.membership import Answered, Event, Membership

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker
    from touchstone.reference_impl.cluster.endpoints import Address
    from touchstone.reference_impl.cluster.topology import Cluster
    from touchstone.reference_impl.io.event_loop import Server

LOG = logging.getLogger("touchstone.lifecycle")
BACKLOG = 512
Done = Callable[[], None]


class EndListener(Protocol):
    def __call__(self, broker: int, now: int, /, *, clean: bool) -> None: ...


Replica = tuple[str, int]


class Lifecycle:
    """`make(id, now)` gives a broker's core, over the logs it had if there were any."""

    def __init__(
        self,
        server: Server,
        cluster: Cluster,
        membership: Membership,
        make: Callable[[int, int], Broker],
        ended: EndListener | None = None,
    ) -> None:
        """`ended(broker, now, clean=)` is told of every end, so that the logs are let go of."""
        self._server = server
        self._cluster = cluster
        self._membership = membership
        self._make = make
        self._running: dict[int, Broker] = {}
        self._frozen: set[int] = set()
        self._severed: set[int] = set()
        membership.ask = self._ask_to_stop
        self._held: dict[int, dict[Replica, bytes]] = {}  # of ended brokers: topic ids
        self._waiting: dict[tuple[Event, int], Done] = {}
        self._ports: dict[int, dict[str, socket.socket]] = {}  # of ended brokers, for their return
        self._ended = ended
        self.trace: Callable[[str, int], None] = lambda step, broker: None
        self.began: Callable[[Broker], object] = lambda broker: None  # a core, before it serves

    def adopt(self, broker: Broker) -> None:
        """Take a broker that is served already."""
        self._running[broker.id] = broker

    def broker(self, number: int) -> Broker | None:
        return self._running.get(number)

    # --- verbs ------------------------------------------------------------------------------

    def kill(self, number: int, now: int) -> None:
        if number in self._running:
            self._end(number, now, clean=False)
            self._membership.killed(number, now)
            self._over(Event.MAY_GO, number)  # somebody may wait for it to stop in order

    def stop(self, number: int, now: int, done: Done) -> None:
        """`done()` is called when it is gone."""
        if number not in self._running:
            done()
            return
        if number in self._frozen:
            self.resume(number)
        self._server.drain(self._running[number])
        self._waiting[Event.MAY_GO, number] = done
        self._membership.stop(number, now)

    def start(self, number: int, done: Done) -> None:
        """`done()` is called when it serves."""
        if number in self._running:
            done()
            return
        self._waiting[Event.MAY_START, number] = done
        self._membership.start(number)

    def pause(self, number: int, now: int) -> None:
        if number in self._running and number not in self._frozen:
            self._frozen.add(number)
            self._server.freeze(self._running[number])
            self._server.links.hold(number)
            self._membership.killed(number, now)

    def resume(self, number: int) -> None:
        if number in self._frozen:
            self._frozen.discard(number)
            self._server.thaw(self._running[number])
            self._server.links.release(number)
            self._membership.resumed(number)

    # --- what time brings -------------------------------------------------------------------

    def deadline(self) -> int | None:
        """When `tick` has something to do: an instant, 0 for at once, None for never."""
        if self._changed():
            return 0
        return self._membership.deadline()

    def _changed(self) -> list[int]:
        """Brokers whose link to the registry was cut or mended since `tick` looked."""
        return [n for n in self._running if self._cluster.reachable(n) == (n in self._severed)]

    def tick(self, now: int) -> None:
        for number in self._changed():
            if number in self._severed:
                self._mend(number)
            else:
                self._sever(number, now)
        for event, number in self._membership.tick(now):
            if event is Event.MAY_GO:
                self._server.settle(self._running[number], now)
                self._end(number, now, clean=True)
                self._membership.ended(number)
            else:
                self._begin(number, now)
            self._over(event, number)

    def _over(self, event: Event, number: int) -> None:
        done = self._waiting.pop((event, number), None)
        if done is not None:
            done()

    def _sever(self, number: int, now: int) -> None:
        self._severed.add(number)
        self._cluster.cut_off(number)
        self._membership.killed(number, now)

    def _mend(self, number: int) -> None:
        """Hand the broker the present state, whatever happened meanwhile."""
        self._severed.discard(number)
        self._membership.resumed(number)
        self._cluster.subscribe(number, self._running[number].cluster_changed)

    def _ask_to_stop(self, number: int, now: int, answered: Answered) -> None:
        self._running[number].room(ClusterController).ask_to_stop(now, answered)

    # --- ends and beginnings ----------------------------------------------------------------

    def _end(self, number: int, now: int, *, clean: bool) -> None:
        broker = self._running.pop(number)
        self._frozen.discard(number)
        self._severed.discard(number)
        self._held[number] = {(r.topic, r.index): r.topic_id for r in broker.replicas}
        self._cluster.unsubscribe(number)
        self._server.remove(broker)
        node = self._cluster.node(number)
        self._ports[number] = {each.listener: _reserved(each.bound) for each in node.listeners}
        if self._ended is not None:
            self._ended(number, now, clean=clean)
        self.trace("ended", number)

    def _begin(self, number: int, now: int) -> None:
        """Register, then serve: a client that can connect finds a member of the cluster."""
        self._membership.join(number)
        broker = self._make(number, now)
        self.began(broker)
        self._running[number] = broker
        sockets = self._ports.pop(number)
        for listener in sockets.values():
            listener.listen(BACKLOG)
        self._server.add(sockets, broker)
        self.trace("serves", number)

    def close(self) -> None:
        """Release the ports of brokers that ended: none of them comes back."""
        while self._ports:
            for listener in self._ports.popitem()[1].values():
                listener.close()

    def strays(self, number: int) -> list[Replica]:
        """Partitions an ended broker held that are not its own any more; asked once."""
        held = self._held.pop(number, {})
        strays = []
        for (name, index), topic_id in held.items():
            topic = self._cluster.topic(name)
            partition = topic.partition(index) if topic else None
            same = topic is not None and topic.id == topic_id
            if not same or partition is None or number not in partition.replicas:
                strays.append((name, index))
        return strays


def _reserved(address: Address) -> socket.socket:
    """The port of a broker that is gone: connections are refused, and nobody else takes it."""
    held = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind(address)
    held.setblocking(False)
    return held
