"""What the client knows of the cluster: brokers, topics, leaders; and the flow that learns it.

Knowledge only moves forward: a partition whose leader epoch is older than the known one, for the
same topic id, is news from a broker that lags behind and is ignored (KIP-320). Before the first
answer the view knows the bootstrap addresses under negative ids, as the Java client does.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import NamedTuple

from touchstone.reference_impl.wire.errors import ErrorCode, is_retriable
from touchstone.reference_impl.wire.schema import Struct

from .flow import (
    ANY,
    CONTROLLER,
    LATEST_VERSION,
    Ask,
    Backoff,
    ClientError,
    Failed,
    Flow,
    KafkaError,
    Pause,
    Unreachable,
)
from .metrics.client_metrics import ClientMetrics

NO_ID = bytes(16)

# Errors that say our picture of the cluster is old (InvalidMetadataException and its kin).
STALE = frozenset(
    {
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.REPLICA_NOT_AVAILABLE,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.LISTENER_NOT_FOUND,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.INCONSISTENT_TOPIC_ID,
    }
)


class Partition(NamedTuple):
    index: int  # type: ignore[assignment]  # it hides tuple.index
    leader: int
    leader_epoch: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    error: int
    offline: tuple[int, ...] = ()  # replicas whose log directory failed, from Metadata v5 on


class Topic(NamedTuple):
    name: str
    id: bytes
    internal: bool
    error: int
    partitions: dict[int, Partition]

    @property
    def ready(self) -> bool:
        return not self.error and all(p.leader >= 0 for p in self.partitions.values())


class View:
    """`now` is set by whoever runs a flow, before each of its steps."""

    def __init__(self, bootstrap: Sequence[tuple[str, int]], now: int = 0):
        self.now = now
        self.backoff = Backoff()
        self.metrics = ClientMetrics()  # what everybody who knows this view counts
        self.patience_ms = 30_000  # with whoever is asked what anybody may answer
        self.cluster_id: str | None = None
        self.controller_id = -1
        self.addresses = {-1 - i: address for i, address in enumerate(bootstrap)}
        self.racks: dict[int, str | None] = {}
        self.topics: dict[str, Topic] = {}
        self.version = 0  # grows with everything that is learned (PROD-16)
        self._led: tuple[int, dict[int, list[tuple[str, int]]]] = (-1, {})
        self._bootstrap = dict(self.addresses)
        self._order = list(self.addresses)
        self._silent: set[int] = set()  # who failed since the last Metadata answer
        self._lanes = 0

    def resolve(self, node: int | str) -> int | None:
        """The node id to connect to, or None when the id is not known (any more)."""
        if node == CONTROLLER:
            node = self.controller_id if self.controller_id in self.addresses else ANY
        if node == ANY:
            return self._order[0]
        return node if node in self.addresses else None

    def meet(self, node: int, host: str, port: int) -> None:
        """A broker that another one named: it can be connected to before Metadata tells of it."""
        self.addresses.setdefault(node, (host, port))

    def unreachable(self, node: int) -> None:
        """Ask others first from now on; with nobody left, begin again from the bootstrap.

        Nobody is left when every broker of the last answer has failed since: they may all be gone
        for good while others came back (KIP-899).
        """
        if node in self._order:
            self._order.remove(node)
            self._order.append(node)
        self._silent.add(node)
        if node >= 0 and all(each < 0 or each in self._silent for each in self._order):
            self._silent.clear()
            self.addresses |= self._bootstrap
            self._order = [*self._bootstrap, *(n for n in self._order if n >= 0)]

    def lane(self) -> int:
        """A lane that nobody else has (`flow.Ask`)."""
        self._lanes += 1
        return self._lanes

    def topic(self, name: str) -> Topic | None:
        return self.topics.get(name)

    def leader(self, topic: str, partition: int) -> Partition | None:
        """The partition, if it is known to have a leader that can be connected to."""
        known = self.topics.get(topic)
        found = known.partitions.get(partition) if known else None
        return found if found is not None and found.leader in self.addresses else None

    def epoch_of(self, place: tuple[str, int]) -> int:
        """The leader epoch of a partition, -1 where it is not known."""
        known = self.topics.get(place[0])
        part = known.partitions.get(place[1]) if known else None
        return part.leader_epoch if part is not None else -1

    def led_by(self, node: int) -> list[tuple[str, int]]:
        """The partitions whose leader this node is, topic by topic."""
        version, led = self._led
        if version != self.version:
            led = {}
            for name, topic in self.topics.items():
                for index, part in topic.partitions.items():
                    led.setdefault(part.leader, []).append((name, index))
            self._led = (self.version, led)
        return led.get(node, [])

    def learn_leader(self, name: str, index: int, leader: int, epoch: int) -> bool:
        """Take in what an error answer says of a leader (KIP-951); False if it is old news."""
        known = self.topics.get(name)
        part = known.partitions.get(index) if known else None
        if known is None or part is None or leader not in self.addresses:
            return False
        if epoch <= part.leader_epoch:
            return False
        known.partitions[index] = part._replace(leader=leader, leader_epoch=epoch)
        self.version += 1
        return True

    def id_of(self, name: str) -> bytes:
        known = self.topics.get(name)
        return known.id if known else NO_ID

    def name_of(self, id_: bytes) -> str | None:
        return next((name for name, topic in self.topics.items() if topic.id == id_), None)

    def update(self, body: Struct) -> None:
        """Take in a Metadata answer. One without brokers says nothing and is ignored (PROD-17)."""
        if not body["brokers"]:
            return
        self._silent.clear()
        self.version += 1
        self.addresses = {row["node_id"]: (row["host"], row["port"]) for row in body["brokers"]}
        self.racks = {row["node_id"]: row.get("rack") for row in body["brokers"]}
        kept = [node for node in self._order if node in self.addresses]
        self._order = kept + [node for node in self.addresses if node not in kept]
        self.controller_id = body.get("controller_id", -1)
        self.cluster_id = body.get("cluster_id")
        for row in body["topics"]:
            if row["name"] is not None:
                self._learn(row)

    def _learn(self, row: Struct) -> None:
        name = row["name"]
        if row["error_code"] == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            self.topics.pop(name, None)
            return
        before = self.topics.get(name)
        if before is not None and before.id != row.get("topic_id", NO_ID):
            before = None
        partitions = {}
        for part in row["partitions"]:
            new = Partition(
                part["partition_index"],
                part["leader_id"],
                part.get("leader_epoch", -1),
                tuple(part["replica_nodes"]),
                tuple(part["isr_nodes"]),
                part["error_code"],
                tuple(part.get("offline_replicas") or ()),
            )
            old = before.partitions.get(new.index) if before else None
            if old is not None and 0 <= new.leader_epoch < old.leader_epoch:
                new = old
            partitions[new.index] = new
        self.topics[name] = Topic(
            name,
            row.get("topic_id", NO_ID),
            bool(row.get("is_internal", False)),
            row["error_code"],
            partitions,
        )


class Tries:
    """Something that is tried until an instant comes, with longer and longer pauses (KIP-580)."""

    def __init__(self, view: View, give_up: int):
        self._view, self._give_up, self._failed = view, give_up, 0

    def again(self, error: ClientError) -> Flow[None]:
        """Pause before the next try; raises `error` where that would come too late."""
        wake = self._view.now + self._view.backoff.delay(self._failed)
        if wake >= self._give_up:
            raise error
        yield Pause(wake)
        self._failed += 1


def refresh(
    view: View, names: Iterable[str] | None, *, create: bool = False, timeout_ms: int = 30_000
) -> Flow[dict[str, int]]:
    """Learn about these topics (None: all) from any broker; the errors of topics that have one."""
    rows = None if names is None else [{"name": name} for name in names]
    body = {"topics": rows, "allow_auto_topic_creation": create}
    patience = max(1, min(timeout_ms, view.patience_ms))
    ask = Ask(ANY, "Metadata", body, versions=(1, LATEST_VERSION), timeout_ms=patience)
    answer = yield from persist(view, ask, timeout_ms=timeout_ms)
    view.update(answer)
    return {row["name"]: row["error_code"] for row in answer["topics"] if row["error_code"]}


def try_refresh(view: View, names: Iterable[str] | None, *, timeout_ms: int) -> Flow[None]:
    """`refresh`, where nobody may answer: what is known stays, and is good for a while longer."""
    with suppress(Unreachable):
        yield from refresh(view, names, timeout_ms=timeout_ms)


def persist(view: View, ask: Ask, *, timeout_ms: int = 30_000) -> Flow[Struct]:
    """Ask again, with backoff, until somebody answers; Unreachable when time is up."""
    tries = Tries(view, view.now + timeout_ms)
    while True:
        (outcome,) = yield [ask]
        if not isinstance(outcome, Failed):
            return outcome.body
        error = Unreachable(outcome)
        if error.final:
            raise error
        yield from tries.again(error)


def know(
    view: View, names: Iterable[str], *, create: bool = False, timeout_ms: int = 60_000
) -> Flow[None]:
    """Return when every one of these topics is there and has leaders; KafkaError if time is up."""
    give_up = view.now + timeout_ms
    tries = Tries(view, give_up)
    while True:
        wanted = [name for name in names if not _ready(view, name)]
        if not wanted:
            return
        errors = yield from refresh(view, wanted, create=create, timeout_ms=give_up - view.now)
        lasting = {name: code for name, code in errors.items() if not is_retriable(code)}
        for name, code in lasting.items():
            raise KafkaError(code, about=name)
        missing = [name for name in wanted if not _ready(view, name)]
        if not missing:
            return
        code = errors.get(missing[0], ErrorCode.LEADER_NOT_AVAILABLE)
        yield from tries.again(KafkaError(code, about=missing[0]))


def _ready(view: View, name: str) -> bool:
    topic = view.topic(name)
    return topic is not None and topic.ready and bool(topic.partitions)
