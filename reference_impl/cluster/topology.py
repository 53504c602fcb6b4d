"""All brokers of one process agree on nodes, topics, partitions, leaders and epochs.

This is the embedded registry: the metadata that Kafka keeps in ZooKeeper or in its metadata log,
as plain values that one process shares. It decides nothing about requests (no error codes, no
api versions, no validation: that is `broker/handlers`) and nothing about placement (that is
`cluster/racks.py`); it keeps the values consistent while topics come, grow and go. Randomness
arrives as an argument, logs belong to brokers, and no clock is read here.

Sources: META-08, META-11, TOPIC-09, TOPIC-32; KIP-516 (topic ids), KIP-112 (offline replicas).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple, Never, Protocol, TypedDict, Unpack

from touchstone.reference_impl.cluster.acls import Acls
from touchstone.reference_impl.cluster.announcements import Announcements
from touchstone.reference_impl.cluster.client_settings import ClientSettings
from touchstone.reference_impl.cluster.delegation_tokens import DelegationTokens
from touchstone.reference_impl.cluster.endpoints import Address, Endpoint, Reachable
from touchstone.reference_impl.cluster.quota_rates import Measures, TokenBucket
from touchstone.reference_impl.cluster.racks import EligibleBroker
from touchstone.reference_impl.cluster.random_ids import (
    RandomSource,
    random_cluster_id,
    random_uuid,
)
from touchstone.reference_impl.cluster.replica import LeaderState
from touchstone.reference_impl.log.topic_config import TopicConfig

if TYPE_CHECKING:
    from touchstone.reference_impl.cluster.controller import Controller

NO_LEADER = -1
_INDEX = attrgetter("index")
NO_TOPIC_ID = bytes(16)
METADATA_TOPIC = "__cluster_metadata"
INTERNAL_TOPICS = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})


class PartitionDeletion(NamedTuple):
    """A partition that is no more, and where it was."""

    topic: str
    index: int  # type: ignore[assignment]  # it hides tuple.index
    replicas: tuple[int, ...] = ()


class ControllerChange(NamedTuple):
    """The controller from now on, and its epoch."""

    id: int
    epoch: int


@dataclass(slots=True)
class Node(Reachable):
    """A broker as its peers and clients see it."""

    id: int
    host: str
    port: int
    rack: str | None = None
    alive: bool = True  # registered, and neither fenced nor given up
    epoch: int = -1  # of its registration; every registration of any broker gets a higher one
    stopping: bool = False  # in controlled shutdown: it follows nobody and leads nothing new
    bound: Address | None = None  # where it listens, if that is not what it advertises
    endpoints: tuple[Endpoint, ...] = ()  # none: one PLAINTEXT listener, which the above describe
    first: tuple[Endpoint, ...] = ()  # that it was started with, if its listeners were altered


class LastKnownSettings(NamedTuple):
    """A topic's settings as a broker knew them when it was cut off."""

    config: TopicConfig
    overrides: Mapping[str, str]


_NOTHING: Mapping[str, Never] = {}


class ClusterSnapshot(NamedTuple):
    """All there is, for a broker that knows nothing, or that missed what happened."""

    controller_id: int
    brokers: tuple[Node, ...]
    partitions: tuple[LeaderState, ...]


Change = LeaderState | PartitionDeletion | Node | ControllerChange | ClusterSnapshot
# What changed and is not published yet: a partition, a broker, or (None) who is controller.
Changed = tuple[str, int] | PartitionDeletion | int | None


@dataclass(slots=True)
class Partition:
    topic: str
    index: int
    replicas: list[int]
    isr: list[int]
    leader: int
    leader_epoch: int = 0
    partition_epoch: int = 0
    controller_epoch: int = 1  # of the controller that wrote this
    adding: tuple[int, ...] = ()  # replicas that a reassignment brings (KIP-455)
    removing: tuple[int, ...] = ()  # and those it takes away
    elr: tuple[int, ...] = ()  # eligible leader replicas (KIP-966)
    last_known_elr: tuple[int, ...] = ()
    recovering: bool = False  # its leader may lack acknowledged records (KIP-704)


class PartitionFields(TypedDict, total=False):
    """Fields of a `Partition` that one write changes."""

    replicas: list[int]
    isr: list[int]
    leader: int
    leader_epoch: int
    controller_epoch: int
    adding: tuple[int, ...]
    removing: tuple[int, ...]
    elr: tuple[int, ...]
    last_known_elr: tuple[int, ...]
    recovering: bool


class StoredOffset(Protocol):
    """A committed offset as far as the registry shows it (`group.offsets` makes them)."""

    @property
    def offset(self) -> int: ...

    @property
    def leader_epoch(self) -> int: ...

    @property
    def metadata(self) -> str: ...


@dataclass(slots=True)
class Topic:
    name: str
    id: bytes
    partitions: list[Partition] = field(default_factory=list)
    configs: dict[str, str] = field(default_factory=dict)  # overrides only, as they were written
    left_out: frozenset[str] = frozenset()  # of the overrides, those that do not hold (DYN-11)

    @property
    def internal(self) -> bool:
        return self.name in INTERNAL_TOPICS

    def partition(self, index: int) -> Partition | None:
        """The partition with this id, which is its place unless an old controller let gaps in."""
        partitions = self.partitions
        if 0 <= index < len(partitions) and partitions[index].index == index:
            return partitions[index]
        at = bisect_left(partitions, index, key=_INDEX)
        return partitions[at] if at < len(partitions) and partitions[at].index == index else None


class Cluster:
    """Shared by the brokers of one process: all read it, handlers on any of them write it."""

    def __init__(
        self,
        nodes: Iterable[Node] = (),
        *,
        random: RandomSource,
        topic_ids: bool = True,
        reachable: Callable[[int], bool] = lambda broker: True,
    ) -> None:
        """`reachable(broker)`: whether that broker reaches this registry and the controller."""
        self.brokers: dict[int, Node] = {node.id: node for node in nodes}
        self.forgotten: dict[int, Node] = {}  # unregistered; each may come back
        self.random, self.reachable = random, reachable
        self.wall: Callable[[int], int] = lambda now: now  # the time of day at an instant; ms
        self.controller_id = min(self.brokers, default=-1)
        self.cluster_id = random_cluster_id(random)
        self.topic_defaults: dict[str, str] = {}
        self._defaults_apart: dict[int, Mapping[str, str]] = {}  # by broker
        self.topic_ids = topic_ids
        self.topics: dict[str, Topic] = {}
        self._unified: dict[str, dict[str, None]] = {}  # name with "_" for "." -> names, by age
        self.by_id: dict[bytes, Topic] = {}
        self.next_producer_id = 0
        self.retired_ids: dict[bytes, str] = {}  # ids of deleted topics, where somebody asks
        self.dynamic_configs: dict[str, dict[str, str]] = {}  # by broker id as text, "" for all
        self.settings_in_force: dict[str, dict[str, str]] = {}  # by broker id, where they linger
        self.group_configs: dict[str, dict[str, str]] = {}  # by group id
        self.metrics_configs: dict[str, dict[str, str]] = {}  # by subscription
        # each is called with a client's instance id, whether it ends, and OTLP's MetricsData
        self.telemetry_receivers: list[Callable[[bytes, bool, bytes], None]] = []
        self.zookeeper_offsets: dict[str, dict[tuple[str, int], StoredOffset]] = {}  # by group
        self.generation = 0  # grows with every change, so a waiting request can tell "nothing new"
        self.controller: Controller | None = None  # once somebody asks for it
        self.client_settings = ClientSettings()
        self.mutation_buckets: Measures[TokenBucket] | None = None  # a quorum's controller's
        self.acls = Acls()
        self.delegation_tokens = DelegationTokens()
        self.announcements = Announcements()
        self.features: dict[str, int] = {}  # finalized levels that were changed
        self.controller_epoch = 1
        self.next_broker_epoch = 1
        self.without_directory: dict[int, set[tuple[str, int]]] = {}  # by broker: their dir failed
        self.unpublished: dict[Changed, bool] = {}  # in order: is it new?
        self._resolved: dict[str, TopicConfig] = {}
        self._subscribers: dict[int, Callable[[Change], None]] = {}  # by broker id
        # By broker that hears nothing, by topic.
        self._cut_off_settings: dict[int, dict[str, LastKnownSettings]] = {}

    def join(self, node: Node) -> None:
        if self.controller_id == -1:
            self.controlled_by(node.id)
        self.brokers[node.id] = node
        self.broker_changed(node.id)

    def broker_changed(self, broker: int) -> None:
        """The broker came, went, began to stop, or is forgotten."""
        self.unpublished.setdefault(broker, False)
        self.generation += 1

    def controlled_by(self, broker: int) -> None:
        self.controller_id = broker
        self.unpublished[None] = True

    def forget(self, broker: int) -> None:
        """Remove the registration of this id, until the broker comes back (KIP-631)."""
        self.forgotten[broker] = self.brokers.pop(broker)
        self.broker_changed(broker)

    def node(self, broker: int) -> Node:
        """The address of a broker, or the one it had when it was forgotten."""
        return self.brokers.get(broker) or self.forgotten[broker]

    def write(self, partition: Partition, **values: Unpack[PartitionFields]) -> None:
        """Change who leads, follows or is in sync; each write is one partition epoch.

        The partition epoch is the version of the state znode on ZooKeeper, and counts the
        partition's change records on KRaft (REPL-15).
        """
        self.write_unpublished(partition, **values)
        self.unpublished.setdefault((partition.topic, partition.index), False)

    def write_unpublished(self, partition: Partition, **values: Unpack[PartitionFields]) -> None:
        """The same, which is published only when it is announced or changes again."""
        for name, value in values.items():
            setattr(partition, name, value)
        partition.partition_epoch += 1
        self.generation += 1

    def announce(self, places: Iterable[tuple[str, int]]) -> None:
        """Publish partitions as they stand now, changed or not."""
        for place in places:
            if self.partition(*place) is not None:
                self.unpublished.setdefault(place, False)

    def all_partitions(self) -> Iterator[Partition]:
        for topic in self.topics.values():
            yield from topic.partitions

    @property
    def alive(self) -> list[Node]:
        """Live nodes by ascending id: the order that placement and answers use (TOPIC-17)."""
        return [self.brokers[i] for i in sorted(self.brokers) if self.brokers[i].alive]

    def topic(self, name: str) -> Topic | None:
        return self.topics.get(name)

    def partition(self, name: str, index: int) -> Partition | None:
        topic = self.topics.get(name)
        return topic.partition(index) if topic else None

    def colliding(self, name: str) -> list[str]:
        """Other topics that differ only in "." against "_", as metric names do not (TOPIC-07)."""
        return [other for other in self._unified.get(name.replace(".", "_"), ()) if other != name]

    def create(
        self,
        name: str,
        assignment: Sequence[Sequence[int]],
        configs: Mapping[str, str] | None = None,
        *,
        indexes: Sequence[int] | None = None,
    ) -> Topic:
        """Store a topic whose partition i has the replicas `assignment[i]`; they lead at once.

        `indexes` names the partitions where they are not 0, 1, 2 ...
        """
        if name in self.topics:
            raise ValueError(f"topic {name!r} exists")
        topic = Topic(name, self.fresh_id(), configs=dict(configs or {}))
        self.adopt(topic)
        self._add_partitions(topic, assignment, indexes or range(len(assignment)))
        return topic

    def adopt(self, topic: Topic) -> None:
        """A topic that was there before this process, with its id and its partitions."""
        self.topics[topic.name] = topic
        self._unified.setdefault(topic.name.replace(".", "_"), {})[topic.name] = None
        if self.topic_ids:
            self.by_id[topic.id] = topic
        self._resolved.pop(topic.name, None)
        self.generation += 1

    def grow(self, name: str, assignment: Sequence[Sequence[int]]) -> Topic:
        """Append partitions; those that exist keep their replicas and their records (TOPIC-33)."""
        topic = self.topics[name]
        first = len(topic.partitions)
        self._add_partitions(topic, assignment, range(first, first + len(assignment)))
        return topic

    def delete(self, name: str) -> Topic:
        topic = self.topics.pop(name)
        unified = name.replace(".", "_")
        self._unified[unified].pop(name)
        if not self._unified[unified]:
            del self._unified[unified]
        self.by_id.pop(topic.id, None)
        self._resolved.pop(name, None)
        for partition in topic.partitions:
            self.unpublished.pop((name, partition.index), None)
            gone = PartitionDeletion(name, partition.index, tuple(partition.replicas))
            self.unpublished[gone] = False
        self.generation += 1
        return topic

    def configure(
        self, name: str, configs: Mapping[str, str], left_out: frozenset[str] = frozenset()
    ) -> None:
        """Replace the overrides of a topic (DYN-10, DYN-17); those `left_out` do not hold."""
        self.topics[name].configs = dict(configs)
        self.topics[name].left_out = left_out
        self._resolved.pop(name, None)
        self.generation += 1

    def set_topic_defaults(
        self,
        defaults: Mapping[str, str],
        apart: Mapping[int, Mapping[str, str]] | None = None,
    ) -> None:
        """Set what topics have without overrides; `apart`: on brokers with other settings."""
        self.topic_defaults = dict(defaults)
        self._defaults_apart = dict(apart or {})
        self._resolved.clear()
        self.generation += 1

    def config_of(self, topic: Topic | str, broker: int | None = None) -> TopicConfig:
        """Overrides over the defaults, of all brokers or of one, parsed once per change."""
        name = topic if isinstance(topic, str) else topic.name
        apart = None
        if broker is not None:
            if self._cut_off_settings and (
                known := self._cut_off_settings.get(broker, _NOTHING).get(name)
            ):
                return known.config
            apart = self._defaults_apart.get(broker)
        if apart is not None:  # rare, and so not kept
            return TopicConfig.resolve({**apart, **self._effective(name)})
        resolved = self._resolved.get(name)
        if resolved is None:
            resolved = TopicConfig.resolve({**self.topic_defaults, **self._effective(name)})
            self._resolved[name] = resolved
        return resolved

    def overrides_of(self, name: str, broker: int) -> Mapping[str, str]:
        """A topic's overrides as they were written, as far as this broker knows them."""
        if known := self._cut_off_settings.get(broker, _NOTHING).get(name):
            return known.overrides
        stored = self.topics.get(name)
        return stored.configs if stored else _NOTHING

    def _effective(self, name: str) -> dict[str, str]:
        stored = self.topics.get(name)
        if stored is None:
            return {}
        return {key: text for key, text in stored.configs.items() if key not in stored.left_out}

    def allocate_producer_ids(self, count: int) -> int:
        """First id of a block that no other broker gets (KIP-98)."""
        first = self.next_producer_id
        self.next_producer_id += count
        return first

    def lost_replicas(self, partition: Partition) -> frozenset[int]:
        """Brokers whose replica of it lay in a directory that failed."""
        place = (partition.topic, partition.index)
        return frozenset(b for b, places in self.without_directory.items() if place in places)

    def directory_failed(self, broker: int, places: Iterable[tuple[str, int]]) -> None:
        """These replicas of a broker that is otherwise well cannot be used any more (KIP-112); its
        controller is still to learn of it, and brokers from that.
        """
        self.without_directory.setdefault(broker, set()).update(places)
        self.generation += 1

    def directories_checked(self, broker: int) -> None:
        """The broker starts anew, and will report again which replicas it cannot use."""
        places = self.without_directory.pop(broker, set())
        self.unpublished |= dict.fromkeys(places - self.unpublished.keys(), False)

    # --- what is published to brokers --------------------------------------------------------

    def subscribe(self, broker: int, receive: Callable[[Change], None]) -> None:
        """Hand this broker all there is, and from now on all that changes."""
        self._subscribers[broker] = receive
        self._cut_off_settings.pop(broker, None)
        receive(self.snapshot())

    def unsubscribe(self, broker: int) -> None:
        """The broker has ended and receives no more changes."""
        self._subscribers.pop(broker, None)
        self._cut_off_settings.pop(broker, None)

    def cut_off(self, broker: int) -> None:
        """The broker receives no more changes; it keeps the topic settings it knows (DYN-08)."""
        self._subscribers.pop(broker, None)
        self._cut_off_settings[broker] = {
            name: LastKnownSettings(self.config_of(name, broker), topic.configs)
            for name, topic in self.topics.items()
        }

    def snapshot(self) -> ClusterSnapshot:
        nodes = tuple(replace(node) for node in self.brokers.values())
        partitions = tuple(self.state_of(partition) for partition in self.all_partitions())
        return ClusterSnapshot(self.controller_id, nodes, partitions)

    def publish(self) -> None:
        """Hand the brokers what changed since the last time; each decides when it acts."""
        rows, self.unpublished = self.unpublished, {}
        changes = [change for key, new in rows.items() if (change := self._change(key, new))]
        for receive in self._subscribers.values():
            for change in changes:
                receive(change)

    def _change(self, key: Changed, is_new: bool) -> Change | None:
        if key is None:
            return ControllerChange(self.controller_id, self.controller_epoch)
        if isinstance(key, PartitionDeletion):
            return key
        if isinstance(key, int):
            node = self.brokers.get(key)
            return replace(node) if node else Node(key, "", -1, alive=False)
        partition = self.partition(*key)
        return self.state_of(partition, is_new=is_new) if partition else None

    def state_of(self, partition: Partition, *, is_new: bool = False) -> LeaderState:
        """The partition as a controller hands it out."""
        return LeaderState(
            partition.topic,
            partition.index,
            self.topics[partition.topic].id,
            partition.leader,
            partition.leader_epoch,
            partition.partition_epoch,
            tuple(partition.isr),
            tuple(partition.replicas),
            partition.adding,
            partition.removing,
            is_new,
            partition.elr,
            partition.last_known_elr,
            tuple(self.lost_replicas(partition)) if self.without_directory else (),
            partition.controller_epoch,
        )

    def eligible_brokers(self) -> list[EligibleBroker]:
        """The live brokers, as placement sees them."""
        return [EligibleBroker(node.id, node.rack) for node in self.alive]

    def fenced_brokers(self) -> list[EligibleBroker]:
        """Registered brokers that are away: KRaft gives them replicas after all others."""
        away = [node for node in self.brokers.values() if not node.alive]
        return [EligibleBroker(node.id, node.rack, fenced=True) for node in away]

    def fresh_id(self) -> bytes:
        if not self.topic_ids:
            return NO_TOPIC_ID
        while (fresh := random_uuid(self.random)) in self.by_id:
            pass
        return fresh

    def _add_partitions(
        self, topic: Topic, assignment: Sequence[Sequence[int]], indexes: Sequence[int]
    ) -> None:
        for index, replicas in zip(indexes, assignment, strict=True):
            alive = [r for r in replicas if r in self.brokers and self.brokers[r].alive]
            partition = Partition(
                topic=topic.name,
                index=index,
                replicas=list(replicas),
                isr=alive,
                leader=alive[0] if alive else NO_LEADER,
            )
            topic.partitions.append(partition)
            self.unpublished[topic.name, index] = True
        self.generation += 1
