"""A ZooKeeper controller tells the brokers what it decided, by frames of its release, in order.

The broker that is controller hears every change of the registry and makes a batch of it, as Kafka's
ControllerBrokerRequestBatch does: LeaderAndIsr to the replicas whose leader epoch rose, then
UpdateMetadata to every live broker, then StopReplica to those that have to let go (first stop, then
delete; all replicas of a deleted topic, whose metadata goes before). Each broker has one queue, in
order; what is not answered is sent again until it is, or until the broker is gone or has registered
anew, and then it is told everything. Who takes over as controller tells everybody everything, under
the next controller epoch.

The controller's own broker is told by the same requests, but not over a link to itself. Writes of
one turn are one batch, where Kafka sends each (of two epochs in one turn the later one is told),
and a queue does not wait for each answer, so that a turn is enough for all of it.

Sources: CTL-05, CTL-10, CTL-18, CTL-24, REPL-20; ControllerChannelManager, RequestSendThread,
AbstractControllerBrokerRequestBatch@1.0.2, 2.2.1, 2.8.2; state change logs of three nodes of 2.8.2.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from touchstone.reference_impl.broker.control import controller_frames
from touchstone.reference_impl.broker.control.forwarding import QUORUM
from touchstone.reference_impl.cluster.replica import NO_LEADER, LeaderState
from touchstone.reference_impl.cluster.topology import (
    Change,
    ClusterSnapshot,
    ControllerChange,
    Node,
    PartitionDeletion,
)
from touchstone.reference_impl.wire.schema import Struct

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker

LOG = logging.getLogger("touchstone.controller")
RETRY_MS = 100
CHANNEL = "control-plane"
TopicPartition = tuple[str, int]
PartitionChanges = Sequence[LeaderState | PartitionDeletion]


class _Peer:
    """A live broker in one of its registrations, and what it is still to be told."""

    __slots__ = ("attempt", "endpoints", "epoch", "id", "queue", "sent", "stopping", "waits")

    def __init__(self, node: Node) -> None:
        self.id, self.epoch, self.stopping = node.id, node.epoch, node.stopping
        self.endpoints = node.advertised  # as all others know them
        self.queue: deque[tuple[int, int, Struct]] = deque()
        self.sent = 0  # of the queue: on their way
        self.attempt = 0
        self.waits = False  # it could not be reached a moment ago


class ControllerChannelManager:
    """The channels of one broker to all others; silent unless that broker is controller."""

    def __init__(
        self, broker: Broker, serve_itself: Callable[[int, int, Struct, int], None]
    ) -> None:
        """`serve_itself(key, version, body, now)` serves a request of the broker to itself."""
        self._broker, self._serve_itself = broker, serve_itself
        self._peers: dict[int, _Peer] = {}
        self._told: dict[TopicPartition, LeaderState] = {}  # what brokers were told last
        self._controls = False
        self._epoch = 0  # of this broker as controller: what it says later is not the next one's

    def publish(self, changes: Iterable[Change], now: int) -> None:
        """Make one batch of these changes of the registry."""
        batch: list[Change] = []
        for change in changes:
            if type(change) in (ClusterSnapshot, ControllerChange):
                batch = self._begin()
                self._broker.purgatory.touch(QUORUM)
            elif self._controls:
                batch.append(change)
        if batch:
            self._flush(batch, now)

    def _begin(self) -> list[Change]:
        """Forget who was told what: a new controller tells brokers everything."""
        cluster = self._broker.cluster
        self._controls = cluster.controller_id == self._broker.id
        self._epoch = cluster.controller_epoch
        self._peers, self._told = {}, {}
        snapshot = cluster.snapshot()
        return [*snapshot.brokers, *snapshot.partitions] if self._controls else []

    # --- batches ----------------------------------------------------------------------------

    def _flush(self, changes: list[Change], now: int) -> None:
        gone = [change for change in changes if type(change) is PartitionDeletion]
        states = {(c.topic, c.index): c for c in changes if type(c) is LeaderState and _led(c)}
        nodes = [change for change in changes if type(change) is Node]
        altered = any(self._altered(node) for node in nodes)
        fresh, left, stopping = self._members(nodes)
        if gone:
            self._metadata(self._peers, gone)
            self._stops({r: [g for g in gone if r in g.replicas] for r in self._peers}, True)
            for change in gone:
                self._told.pop((change.topic, change.index), None)
        if fresh or left:
            self._metadata(self._peers.keys() - fresh, ())
            self._metadata(fresh, self._told.values())
            touched = {k: s for k, s in self._told.items() if (fresh | left) & {*s.replicas}}
            states = touched | states
        elif altered:
            self._metadata(self._peers, ())
        self._leaders(states, fresh)
        if states:
            self._metadata(self._peers, states.values())
        self._stops({broker: self._followed_by(broker) for broker in stopping}, False)
        self._stops(self._leaving(states), True)
        self._told |= {key: state._replace(is_new=False) for key, state in states.items()}
        for peer in list(self._peers.values()):
            self._send(peer, now)

    def _altered(self, node: Node) -> bool:
        """Whether a broker that stays is found elsewhere than it was."""
        peer = self._peers.get(node.id)
        if peer is None or peer.endpoints == node.advertised:
            return False
        peer.endpoints = node.advertised
        return True

    def _members(self, nodes: Iterable[Node]) -> tuple[set[int], set[int], set[int]]:
        """Brokers that are new, that are gone, and that began to stop."""
        fresh, left, stopping = set(), set(), set()
        for node in {node.id: node for node in nodes}.values():
            peer = self._peers.get(node.id)
            if peer is not None and (not node.alive or node.epoch != peer.epoch):
                del self._peers[node.id]
                left.add(node.id)
                peer = None
            if node.alive and peer is None:
                self._peers[node.id] = _Peer(node)
                fresh.add(node.id)
            elif peer is not None and node.stopping and not peer.stopping:
                peer.stopping = True
                stopping.add(node.id)
        return fresh, left, stopping

    def _leaders(self, states: dict[TopicPartition, LeaderState], fresh: set[int]) -> None:
        """LeaderAndIsr: to all replicas of what has a new epoch, to new brokers what is theirs."""
        rows: dict[int, list[LeaderState]] = {}
        for key, state in states.items():
            told = self._told.get(key)
            new_epoch = told is None or told.leader_epoch != state.leader_epoch
            for replica in state.replicas:
                peer = self._peers.get(replica)
                if peer is None or not (new_epoch or replica in fresh):
                    continue
                if peer.stopping and replica not in (state.leader, told and told.leader):
                    continue  # it was stopped, for good
                rows.setdefault(replica, []).append(state)
        for replica in sorted(rows):
            self._queue(replica, controller_frames.LEADER_AND_ISR, rows[replica])

    def _metadata(
        self, peers: Iterable[int], changes: Iterable[LeaderState | PartitionDeletion]
    ) -> None:
        """UpdateMetadata: who lives, and these partitions."""
        rows = list(changes)
        for peer in sorted(peers):
            self._queue(peer, controller_frames.UPDATE_METADATA, rows)

    def _followed_by(self, broker: int) -> list[LeaderState]:
        told = self._told.values()
        return [state for state in told if broker in state.replicas and state.leader != broker]

    def _leaving(self, states: dict[TopicPartition, LeaderState]) -> dict[int, list[LeaderState]]:
        """The replicas that each broker held and holds no more."""
        leaving: dict[int, list[LeaderState]] = {}
        for key, state in states.items():
            told = self._told.get(key)
            for replica in set(told.replicas if told else ()) - set(state.replicas):
                leaving.setdefault(replica, []).append(state)
        return leaving

    def _stops(self, rows: Mapping[int, PartitionChanges], delete: bool) -> None:
        """StopReplica by broker: each is stopped, and then deleted if it is to be."""
        for broker in sorted(self._peers.keys() & rows.keys()):
            for deletes in (False, True)[: 1 + delete]:
                if rows[broker]:
                    form = controller_frames.STOP_REPLICA
                    self._queue(broker, form, rows[broker], delete=deletes)

    def _queue(
        self, peer: int, form: controller_frames.Form, rows: PartitionChanges, **more: Any
    ) -> None:
        broker, cluster = self._broker, self._broker.cluster
        version = broker.persona.broker_listener[form.key][1]
        body = {
            "controller_id": broker.id,
            "controller_epoch": self._epoch,
            "broker_epoch": self._peers[peer].epoch,
            **form.body(cluster, version, rows, **more),
        }
        self._peers[peer].queue.append((form.key, version, body))

    # --- one broker -------------------------------------------------------------------------

    def _send(self, peer: _Peer, now: int) -> None:
        """Send what is not on its way yet; the link keeps the order."""
        while peer.queue and peer.id == self._broker.id:
            self._tell_itself(*peer.queue.popleft(), now)
        if peer.waits:
            return
        then = partial(self._answered, peer, peer.attempt)
        for key, version, body in islice(peer.queue, peer.sent, None):
            self._broker.ask(peer.id, key, version, body, then, channel=CHANNEL)
        peer.sent = len(peer.queue)

    def _tell_itself(self, key: int, version: int, body: Struct, now: int) -> None:
        try:
            self._serve_itself(key, version, body, now)
        except Exception:
            LOG.exception("the controller's own broker cannot do what it is told")

    def _answered(self, peer: _Peer, attempt: int, answer: Struct | None, now: int) -> None:
        if self._peers.get(peer.id) is not peer or attempt != peer.attempt:
            return  # it is gone, or somebody else is controller, or this was sent again
        if answer is not None:
            if answer["error_code"]:
                LOG.info("broker %d answered %s", peer.id, answer)
            peer.queue.popleft()
            peer.sent -= 1
            return
        peer.attempt += 1
        peer.sent, peer.waits = 0, True
        key = (CHANNEL, self._broker.id, peer.id)
        self._broker.purgatory.remind(key, now + RETRY_MS, partial(self._again, peer))

    def _again(self, peer: _Peer, now: int) -> None:
        if self._peers.get(peer.id) is peer:
            peer.waits = False
            self._send(peer, now)


def _led(state: LeaderState) -> bool:
    """Whether anybody ever led the partition; brokers are not told of others (CTL-12)."""
    return state.leader != NO_LEADER or bool(state.isr)
