"""A consumer in a group of the classic protocol: members agree on generations, one divides for all.

An eager consumer gives up all it owns before it joins, a cooperative one only what it is told to
afterwards (KIP-429). Who leads must know the topics of all members, and joins again when one of
them has grown (CONS-09).

Sources: ConsumerCoordinator at 4.3.1; `member.py`, `assignors.py`.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from touchstone.reference_impl.wire.schema import Struct

from . import assignors
from .assignment import Racks
from .assignors import ASSIGNORS, Assignor
from .flow import Flow, TopicPartition
from .group_consumer import GroupConsumer
from .member import Member
from .metadata import View, refresh
from .range_assignor import racks_of


class ClassicConsumer(GroupConsumer):
    member: Member

    def __init__(
        self,
        view: View,
        group: str,
        *,
        assignors: Sequence[str] = ("range", "cooperative-sticky"),
        instance_id: str | None = None,
        session_timeout_ms: int = 45_000,
        heartbeat_interval_ms: int = 3_000,
        **options: Any,
    ):
        super().__init__(view, group, **options)
        self.assignors: list[Assignor] = [ASSIGNORS[name] for name in assignors]
        self.cooperative = all(each.cooperative for each in self.assignors)
        self.member = Member(
            self.coordinator,
            protocols=self._protocols,
            lead=self._divide,
            instance_id=instance_id,
            session_timeout_ms=session_timeout_ms,
            rebalance_timeout_ms=self.max_poll_interval_ms,
            heartbeat_interval_ms=heartbeat_interval_ms,
        )
        self._watched: dict[str, int] | None = None  # partitions per topic as the leader divided
        self._joined_topics: frozenset[str] = frozenset()
        self._had: tuple[list[TopicPartition], int] | None = None  # what it was given last

    def _see_to_membership(self) -> Flow[None]:
        self._look_for_reasons()
        yield from self.member.beat()
        while self.member.rejoin:
            yield from self._prepare()
            self._joined_topics = self.topics
            share = yield from self.member.join()
            if share is not None:
                # It waited for the others, not for the application (HeartbeatThread.enable).
                self._polled_at = self.view.now
                yield from self._take_over(assignors.assigned(share))

    def _look_for_reasons(self) -> None:
        """What metadata says now may be a reason to join again."""
        if self.member.generation < 0:
            return
        if self.topics != self._joined_topics:
            self.member.rejoin = "it subscribes to other topics"
        elif self.member.leads and self._watched != self._counts(self._watched or ()):
            self.member.rejoin = "topics have other partitions"

    def _interesting(self) -> list[str] | None:
        if not self.subscribed:
            return super()._interesting()
        return None if self.pattern else sorted({*self.topics, *(self._watched or ())})

    def unsubscribe(self) -> Flow[None]:
        self._watched = None
        yield from super().unsubscribe()

    def _counts(self, topics: Iterable[str]) -> dict[str, int]:
        """Partitions of the topics that there are."""
        known = {name: self.view.topic(name) for name in topics}
        return {name: len(topic.partitions) if topic else 0 for name, topic in known.items()}

    def _prepare(self) -> Flow[None]:
        """Before it joins a member gives up what it may not keep."""
        owned = list(self.positions)
        if self.member.generation < 0:
            yield from self._lose(owned)
            return
        if self.auto_commit_ms is not None:
            yield from self._auto_commit()
        kept = [p for p in owned if self.cooperative and p[0] in self.topics]
        if self.member.generation < 0:  # the commit found that out
            yield from self._lose(owned)
        else:
            yield from self._give_up([place for place in owned if place not in kept])

    def _take_over(self, share: list[TopicPartition]) -> Flow[None]:
        gone = [place for place in self.positions if place not in share]
        new = [place for place in share if place not in self.positions]
        if gone:
            yield from self._give_up(gone)
            self.member.rejoin = "it gave up partitions that others are to have"
        self._own(share)
        self._had = share, self.member.generation
        if self.auto_commit_ms is not None:
            self._commit_at = self.view.now + self.auto_commit_ms
        yield from self._tell(self.listener.assigned, new if self.cooperative else share)

    def _racks(self, topics: Iterable[str]) -> Racks:
        known = ((name, self.view.topic(name)) for name in topics)
        replicas = {
            (name, part.index): part.replicas
            for name, topic in known
            if topic is not None
            for part in topic.partitions.values()
        }
        return racks_of(replicas, self.view.racks)

    def _protocols(self) -> list[tuple[str, bytes]]:
        return [(each.name, self._subscription(each.name)) for each in self.assignors]

    def _subscription(self, protocol: str) -> bytes:
        """With what it had as user data where the assignor is the eager sticky one."""
        had = assignors.previous(*self._had) if protocol == assignors.STICKY and self._had else None
        return assignors.subscription(
            self.topics, self.positions, self.member.generation, self.rack, had
        )

    def _divide(self, protocol: str, members: list[Struct]) -> Flow[dict[str, bytes]]:
        """Led by this member: it must know the topics of all (CONS-09)."""
        takers = [assignors.taker(row, protocol) for row in members]
        topics = sorted(set().union(*(taker.topics for taker in takers)))
        if topics:
            yield from refresh(self.view, topics, timeout_ms=self.request_timeout_ms)
        self._watched = self._counts(topics)
        chosen = next(each for each in self.assignors if each.name == protocol)
        counts = {topic: count for topic, count in self._watched.items() if count}
        shares = chosen.divide(takers, counts, self._racks(counts))
        return {member: assignors.assignment(places) for member, places in shares.items()}
