"""A streams group whose log is read along, and topics that a test makes and widens."""

from __future__ import annotations

from touchstone.reference_impl.group.consumer_group import Topic, View
from touchstone.reference_impl.group.streams import records
from touchstone.reference_impl.group.streams.coordinator import StreamsCoordinator
from touchstone.reference_impl.group.streams.group import StreamsGroup
from touchstone.reference_impl.group.streams.heartbeat import Beat, HeartbeatResult, Settings
from touchstone.reference_impl.group.streams.tasks import Tasks, by_subtopology
from touchstone.reference_impl.group.streams.topology import InternalTopic, Subtopology, Topology
from touchstone.reference_impl.wire import embedded
from touchstone.reference_impl.wire.embedded.streams_group_records import RECORDS

MINUTE = 60_000
KINDS = ("active", "standby", "warmup")


def topology(*subtopologies: Subtopology, epoch: int = 0) -> Topology:
    return Topology(epoch, {one.id: one for one in subtopologies})


def reads(name: str, *sources: str, changelogs: tuple[str, ...] = ()) -> Subtopology:
    return Subtopology(name, sources, changelogs=tuple(map(InternalTopic, changelogs)))


def owned(**kinds: dict[str, list[int]]) -> Tasks:
    told = (kinds.get(kind, {}) for kind in KINDS)
    return Tasks(*(frozenset((s, i) for s, at in each.items() for i in at) for each in told))


class World:
    def __init__(self, partitions: dict[str, int], told: Topology, **settings: int) -> None:
        rules = {
            "session_ms": 45_000, "assignment_interval_ms": 0, "initial_delay_ms": 0,
            "max_size": 9, "standby_replicas": 0,
        }  # fmt: skip
        self.settings = Settings(**(rules | settings))
        self.coordinator = StreamsCoordinator(lambda: self.view, lambda _: self.settings)
        self.told = told
        self.now = 1000
        self.group = StreamsGroup("g")
        self.log: list[tuple[bytes, bytes | None]] = []
        self.partitions: dict[str, int] = {}
        self.view = View({})
        self.topics(**partitions)

    def topics(self, **partitions: int) -> None:
        self.partitions |= partitions
        found = {n: Topic(n.encode(), count, 7 * count) for n, count in self.partitions.items()}
        self.view = View(found, self.view.version + 1)

    def join(self, member: str, process: str | None = None, **more: object) -> HeartbeatResult:
        more = {"rebalance_timeout": MINUTE, "topology": self.told, "owned": Tasks()} | more
        return self.beat(member, 0, process_id=process or member, **more)

    def beat(self, member: str, epoch: int, **more: object) -> HeartbeatResult:
        beat = Beat(group_id="g", member_id=member, epoch=epoch, **more)  # type: ignore[arg-type]
        if epoch < 0:
            told = self.coordinator.leave(self.group, beat)
        else:
            new = not self.log
            told = self.coordinator.beat(self.group, beat, self.now, known=not new)
            if new:
                self.group.forget_unwritten()
        self.keep()
        return told

    def wait(self, ms: int) -> None:
        self.now += ms
        self.coordinator.tick(self.group, self.now)
        self.keep()

    def keep(self) -> None:
        self.log += [records.encoded(entry) for entry in self.group.journal]
        self.group.journal.clear()

    def loaded(self) -> StreamsGroup:
        """The group that another coordinator reads from the log."""
        group = StreamsGroup("g")
        for key, value in self.log:
            kind, named = embedded.decode_key(RECORDS, key)
            body = None if value is None else embedded.decode_value(RECORDS, kind, value)[1]
            records.replay(group, kind, named, body)
        return group

    def kinds(self) -> list[int]:
        """The types of the records that were written since the last call."""
        found = [embedded.decode_key(RECORDS, key)[0] for key, _ in self.log[self.read :]]
        self.read = len(self.log)
        return found

    read = 0


def shown(told: HeartbeatResult) -> tuple[dict[str, list[int]], ...] | None:
    """Active, standby and warm-up tasks that a member was told, by subtopology."""
    if told.assigned is None:
        return None
    return tuple(by_subtopology(tasks) for tasks in told.assigned.of_kinds())
