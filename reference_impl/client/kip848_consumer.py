"""A consumer in a group of the consumer protocol (KIP-848): the coordinator divides.

What it is to own comes with a heartbeat. It gives up what it may not keep (committing first, if
that is automatic), takes what is new, and says so with a heartbeat of its own; whoever is to have
what it gave up waits for that. A pattern may be a string, which the coordinator matches.

Sources: AbstractMembershipManager.maybeReconcile, ConsumerMembershipManager at 4.3.1.
"""

from collections.abc import Iterable
from re import Pattern
from typing import Any

from .flow import Flow, TopicPartition
from .group_consumer import GroupConsumer, Listener
from .kip848_member import Kip848Member
from .metadata import View, try_refresh


class Kip848Consumer(GroupConsumer):
    member: Kip848Member

    def __init__(
        self,
        view: View,
        group: str,
        *,
        member_id: str,
        instance_id: str | None = None,
        assignor: str | None = None,
        **options: Any,
    ):
        super().__init__(view, group, **options)
        self.regex: str | None = None
        self.member = Kip848Member(
            self.coordinator,
            member_id=member_id,
            instance_id=instance_id,
            rack=self.rack or None,
            assignor=assignor,
            rebalance_timeout_ms=self.max_poll_interval_ms,
        )

    @property
    def subscribed(self) -> bool:
        return self.regex is not None or super().subscribed

    def subscribe(
        self,
        topics: Iterable[str] = (),
        *,
        pattern: Pattern[str] | str | None = None,
        listener: Listener | None = None,
    ) -> None:
        """These topics, or all whose name the pattern finds here, or (a string) at the broker."""
        if not isinstance(pattern, str):
            super().subscribe(topics, pattern=pattern, listener=listener)
            self.regex = None
            return
        self._only_kind(pattern)
        self.regex, self.listener = pattern, listener or Listener()

    @property
    def _matched_by(self) -> Pattern[str] | str | None:
        return self.pattern if self.regex is None else self.regex

    def unsubscribe(self) -> Flow[None]:
        yield from super().unsubscribe()
        self.regex = None

    def _interesting(self) -> list[str] | None:
        return None if self.regex is not None else super()._interesting()

    def _see_to_membership(self) -> Flow[None]:
        self.member.topics, self.member.regex = self.topics, self.regex
        yield from self.member.beat()
        if self.member.lost:  # maybe between two polls, and the beat above has joined anew
            self.member.lost = False
            yield from self._lose(list(self.positions))
            yield from self.member.beat()
        while (target := self.member.target) is not None:
            share = yield from self._named(target)
            if len(share) < len(target):  # the next round asks again, or the target changes
                return
            self.member.target = None
            yield from self._reconcile(share)
            yield from self.member.beat()

    def _reconcile(self, share: list[TopicPartition]) -> Flow[None]:
        gone = [place for place in self.positions if place not in share]
        new = [place for place in share if place not in self.positions]
        if gone and self.auto_commit_ms is not None:
            yield from self._auto_commit()
        yield from self._give_up(gone)
        if self.member.generation < 0:  # the commit found that out
            return
        self._own(share)
        if self.auto_commit_ms is not None and new:
            self._commit_at = self.view.now + self.auto_commit_ms
        self.member.owned = frozenset((self.view.id_of(topic), index) for topic, index in share)
        yield from self._tell(self.listener.assigned, new)

    def _named(self, target: Iterable[tuple[bytes, int]]) -> Flow[list[TopicPartition]]:
        """Topics are told by id; one that nobody can name (yet) is left out."""
        if any(self.view.name_of(topic_id) is None for topic_id, _ in target):
            yield from try_refresh(self.view, None, timeout_ms=self.request_timeout_ms)
        named = ((self.view.name_of(topic_id), index) for topic_id, index in target)
        return sorted((name, index) for name, index in named if name is not None)
