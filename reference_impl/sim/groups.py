"""Members of a group come and go in a simulation, and the group keeps its promises.

A member notes each generation that it was in, each commit that was accepted and each record that
it was given. What must hold (clauses GROUP-*, OFFS-*; KIP-62, KIP-345, KIP-429): in one generation
a partition has one owner; a member that joins after somebody is in a generation is in no earlier
one; a commit from an earlier one is refused; what is committed never goes back, nor is it read
back lower than it was accepted; whatever lies below a committed offset was given to somebody; no
member is told that its group does not exist. And once all is calm, the group reads to the end.

In a group of KIP-848 each member has an epoch of its own, which may lie behind the others': there
a partition has one owner in one epoch, and nothing is said of earlier ones.

Only what was known before a request was sent binds its answer: a coordinator that was told to wait
may still answer what was true when it was asked.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from touchstone.reference_impl.client.classic_consumer import ClassicConsumer
from touchstone.reference_impl.client.flow import ClientError, Flow, KafkaError, TopicPartition
from touchstone.reference_impl.client.group_consumer import GroupConsumer, Listener
from touchstone.reference_impl.client.group_offsets import Offset
from touchstone.reference_impl.client.kip848_consumer import Kip848Consumer
from touchstone.reference_impl.client.reading import Consumed
from touchstone.reference_impl.sim.actor import Actor
from touchstone.reference_impl.sim.client import SimClient
from touchstone.reference_impl.sim.world import World
from touchstone.reference_impl.wire.errors import ErrorCode

SESSION_MS, HEARTBEAT_MS, POLL_MS = 6_000, 1_000, 6_000
PATIENCE_MS = 2_000


@dataclass(slots=True)
class GroupHistory:
    """The observations of the members of one group; `complaints` are promises that were broken."""

    apart: bool = False  # each member has an epoch of its own
    newest: int = -1  # generation that anybody is known to have been in
    owners: dict[tuple[int, TopicPartition], str] = field(default_factory=dict)
    committed: dict[TopicPartition, int] = field(default_factory=dict)
    given: dict[TopicPartition, set[int]] = field(default_factory=dict)
    commits: int = 0
    rebalances: int = 0
    complaints: list[str] = field(default_factory=list)

    def joined(
        self, member: str, generation: int, floor: int, owned: Iterable[TopicPartition]
    ) -> None:
        self.rebalances += 1
        if generation < floor and not self.apart:
            self.complaints.append(f"{member} is in generation {generation} after {floor}")
        self.newest = max(self.newest, generation)
        for place in owned:
            owner = self.owners.setdefault((generation, place), member)
            if owner != member:
                self.complaints.append(
                    f"{owner} and {member} both own {place} in generation {generation}"
                )

    def accepted(
        self, member: str, generation: int, offsets: dict[TopicPartition, int], before: MemberView
    ) -> None:
        """A commit went through; `before` is what was known when it was sent."""
        self.commits += 1
        if generation < before.generation and not self.apart:
            self.complaints.append(
                f"{member} committed in generation {generation} after {before.generation}"
            )
        for place, offset in offsets.items():
            floor = before.committed.get(place, 0)
            if offset < floor:
                self.complaints.append(f"{member} committed {offset} of {place} after {floor}")
            self.committed[place] = max(offset, self.committed.get(place, 0))

    def known(self) -> MemberView:
        return MemberView(self.newest, dict(self.committed))


@dataclass(frozen=True, slots=True)
class MemberView:
    generation: int
    committed: dict[TopicPartition, int]


class OutdatedOffset(ClientError):
    """A broker that has not heard yet that it no longer coordinates the group told an old offset.

    Kafka answers OffsetFetch from memory, so it does the same (GroupCoordinator.handleFetchOffsets
    at 1.0.2), and without a generation (KIP-447) nothing fences who goes on from there. It must
    pass: a group that never reads on is found at the end.
    """


class _Observed(GroupConsumer):
    """Says what it learned of the group to a history."""

    def __init__(
        self, client: SimClient, history: GroupHistory, group: str, **options: Any
    ) -> None:
        super().__init__(
            client.view,
            group,
            reset="earliest",
            max_wait_ms=100,
            request_timeout_ms=PATIENCE_MS,
            max_poll_interval_ms=POLL_MS,
            metadata_max_age_ms=3_000,
            auto_commit_ms=None,
            **options,
        )
        self._name = client.name
        self._history = history
        self._floor = -1

    def observe(self, topics: Iterable[str]) -> None:
        self.subscribe(topics, listener=Listener(assigned=self._assigned))

    def poll(self, timeout_ms: int | None = None) -> Flow[list[Consumed]]:
        self._floor = self._history.newest
        try:
            return (yield from super().poll(timeout_ms))
        except KafkaError as error:
            if error.code == ErrorCode.GROUP_ID_NOT_FOUND:
                self._history.complaints.append(f"{self._name} was told: {error}")
            raise

    def _assigned(self, _: list[TopicPartition]) -> None:
        name = self.member.instance_id or self.member.id
        self._history.joined(name, self.member.generation, self._floor, self.positions)
        self._floor = self._history.newest

    def committed(self, places: Iterable[TopicPartition]) -> Flow[dict[TopicPartition, Offset]]:
        before = self._history.known()
        found = yield from super().committed(places)
        for place in places:
            offset = found[place].offset if place in found else 0
            floor = before.committed.get(place, 0)
            if offset < floor and not self.subscribed:
                raise OutdatedOffset(f"{offset} of {place} is committed, after {floor}")
            if offset < floor:
                self._history.complaints.append(
                    f"{self._name} was told that {offset} of {place} is committed, after {floor}"
                )
        return found


class ObservedConsumer(_Observed, ClassicConsumer):
    def __init__(
        self, client: SimClient, history: GroupHistory, group: str, **options: Any
    ) -> None:
        times = {"session_timeout_ms": SESSION_MS, "heartbeat_interval_ms": HEARTBEAT_MS}
        super().__init__(client, history, group, **times, **options)


class ObservedKip848Consumer(_Observed, Kip848Consumer):
    """Its session is the brokers' affair."""

    def __init__(self, client: SimClient, history: GroupHistory, group: str) -> None:
        super().__init__(client, history, group, member_id=client.name)


class GroupMember(Actor):
    """Polls, commits what it was given more often than not, and goes on."""

    def __init__(
        self,
        client: SimClient,
        world: World,
        history: GroupHistory,
        topics: list[str],
        consumer: _Observed,
        *,
        gap_ms: int = 300,
    ) -> None:
        super().__init__(client, world, gap_ms=gap_ms)
        self._history = history
        self._consumer = consumer
        consumer.observe(topics)

    def _turn(self) -> Flow[None]:
        try:
            records = yield from self._consumer.poll()
            for record in records:
                place = record.topic, record.partition
                self._history.given.setdefault(place, set()).add(record.offset)
            if self._world.random.random() < 0.7:
                yield from self._commit()
        except ClientError as error:
            self.tell(f"poll: {error}")

    def _commit(self) -> Flow[None]:
        consumer, before = self._consumer, self._history.known()
        generation = consumer.member.generation
        offsets = {place: at for place, at in consumer.positions.items() if at is not None}
        if not offsets:
            return
        try:
            yield from consumer.commit(offsets)
        except ClientError as error:
            self.tell(f"commit in {generation}: {error}")
            return
        self.tell(f"committed in {generation} {sorted(offsets.items())}")
        self._history.accepted(self.client.name, generation, offsets, before)

    def _last(self) -> Flow[None]:
        try:
            yield from self._consumer.close()
        except ClientError as error:
            self.tell(f"close: {error}")
