"""The consumer in a group: what it may read is its share, and where it begins is what is committed.

`poll` first sees to the membership (joins when it must, beats when it is time, commits what the
previous poll returned), then fetches as any consumer does. Between polls somebody runs `keep_alive`
when `keep_alive_at` has come (the faces do, in a thread or task): it beats, and leaves the group of
a consumer that was not polled for `max_poll_interval_ms` (CONS-43, CONS-44). `beat` is for
applications without such a face.

How a member comes by its share is its protocol's business: `classic_consumer.py` agrees on
generations and may have to divide for all, `kip848_consumer.py` is told by the coordinator
(KIP-848). What a member owned when it lost its membership is lost, not revoked: others may have it
already. A listener's callback that is a flow is run as one, so it may commit.

Sources: ConsumerCoordinator at 4.3.1; clauses CONS-06 to CONS-10, CONS-19, CONS-20, CONS-39 to
CONS-46, CONS-49.
"""

from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from inspect import isgenerator
from re import Pattern
from typing import Any, NamedTuple

from touchstone.reference_impl.wire.errors import ErrorCode as E
from touchstone.reference_impl.wire.schema import Struct

from . import group_offsets
from .consumer import Consumer
from .coordinator import Coordinator
from .flow import ClientError, Flow, KafkaError, Pause, TopicPartition
from .group_offsets import CommitFailed, Offset, OffsetsToCommit, RebalanceInProgress
from .kip848_member import Kip848Member
from .member import Do, Member
from .metadata import View
from .reading import Consumed

Callback = Callable[[list[TopicPartition]], Any]
CommitCallback = Callable[[OffsetsToCommit, ClientError | None], None]


def _nothing(places: list[TopicPartition]) -> None:
    """Nobody listens."""


def _unheard(offsets: OffsetsToCommit, error: ClientError | None) -> None:
    """Nobody asked what became of a commit."""


class Listener(NamedTuple):
    """What the application does when partitions come and go; `lost` ones it cannot commit.

    `assigned` is called after every rebalance, a cooperative consumer's with what is new to it.
    """

    assigned: Callback = _nothing
    revoked: Callback = _nothing
    lost: Callback | None = None  # None: as if revoked


class GroupConsumer(Consumer):
    """What members of either protocol have in common; see `ClassicConsumer`, `Kip848Consumer`."""

    member: Member | Kip848Member

    def __init__(
        self,
        view: View,
        group: str,
        *,
        auto_commit_ms: int | None = 5_000,
        max_poll_interval_ms: int = 300_000,
        **options: Any,
    ):
        super().__init__(view, **options)
        if not group:
            raise KafkaError(E.INVALID_GROUP_ID, about="a group needs an id")
        self.group = group
        self.auto_commit_ms = auto_commit_ms
        self.max_poll_interval_ms = max_poll_interval_ms
        self.coordinator = Coordinator(view, group, request_timeout_ms=self.request_timeout_ms)
        self.topics: frozenset[str] = frozenset()
        self.pattern: Pattern[str] | None = None
        self.listener = Listener()
        self._polled_at: int | None = None
        self._commit_at = 0
        self._learned_at = view.now - self.metadata_max_age_ms
        self._queued: deque[tuple[OffsetsToCommit, CommitCallback]] = deque()
        self._committed: dict[TopicPartition, Offset] = {}
        self._alone_failed: KafkaError | None = None  # what `keep_alive` could not mend

    # --- what is wanted ------------------------------------------------------------------------

    @property
    def subscribed(self) -> bool:
        return bool(self.topics) or self.pattern is not None

    def subscribe(
        self,
        topics: Iterable[str] = (),
        *,
        pattern: Pattern[str] | None = None,
        listener: Listener | None = None,
    ) -> None:
        """These topics instead of any earlier ones, or all whose name the pattern finds."""
        topics = frozenset(topics)
        if not all(topic.strip() for topic in topics):
            raise ClientError("a topic has a name (CONS-06)")
        if not topics and pattern is None:
            raise ClientError("nothing to subscribe to: unsubscribe leaves the group (CONS-06)")
        self._only_kind(pattern)
        self.topics, self.pattern = topics, pattern
        self.listener = listener or Listener()
        self._learned_at = self.view.now - self.metadata_max_age_ms

    def assign(self, places: Iterable[TopicPartition]) -> None:
        """These partitions, with the group's offsets but without membership."""
        if self.subscribed:
            raise ClientError("topics, a pattern and assign exclude each other (CONS-08)")
        super().assign(places)

    def _only_kind(self, pattern: Pattern[str] | str | None) -> None:
        """Names, a pattern to be matched here, one for the broker, partitions: one of these."""
        another_kind = self.subscribed and type(pattern) is not type(self._matched_by)
        if another_kind or (self.positions and not self.subscribed):
            raise ClientError("topics, a pattern and assign exclude each other (CONS-08)")

    @property
    def _matched_by(self) -> Pattern[str] | str | None:
        return self.pattern

    def _own(self, places: Iterable[TopicPartition]) -> None:
        """What membership gives, where `assign` is what the application wants."""
        super().assign(places)

    def unsubscribe(self) -> Flow[None]:
        if self.subscribed:
            yield from self._give_up(list(self.positions))
            with suppress(ClientError):  # who cannot be told sees the session end
                yield from self.member.leave("unsubscribed")
        self.topics, self.pattern = frozenset(), None
        self._own(())

    def close(self, timeout_ms: int = 30_000) -> Flow[None]:
        """Commit what was read, if that is automatic, leave, and end what brokers keep for us.

        What brokers do not answer in time is given up; listeners and callbacks are called.
        """
        end = self.view.now + timeout_ms
        self._hurry(end)
        yield from self._commit_queued()
        with suppress(ClientError):
            if self.auto_commit_ms is not None and self.positions:
                self._hurry(end)
                yield from self.commit()
        self._hurry(end)
        yield from self.unsubscribe()
        yield from super().close(max(0, end - self.view.now))

    def _hurry(self, end: int) -> None:
        """Requests from now on wait no longer than until this instant."""
        left = max(1, min(self.request_timeout_ms, end - self.view.now))
        self.request_timeout_ms = self.coordinator.request_timeout_ms = left

    @property
    def group_metadata(self) -> Struct:
        """Who commits: what `send_offsets` of a transactional producer wants to know (KIP-447)."""
        return self.member.identity

    # --- polling -------------------------------------------------------------------------------

    def poll(self, timeout_ms: int | None = None) -> Flow[list[Consumed]]:
        yield from self._overdue()
        if self._alone_failed is not None:
            error, self._alone_failed = self._alone_failed, None
            raise error
        return (yield from super().poll(timeout_ms))

    def _round(self, end: int | None, asks: bool) -> Flow[list[Consumed]]:
        """See to the membership, then one round of fetches; what it brings may be nothing."""
        self._polled_at = self.view.now
        yield from self._commit_queued()
        if self.subscribed:
            yield from self._relearn()
            self._match()
            yield from self._see_to_membership()
        if self.auto_commit_ms is not None and self.view.now >= self._commit_at:
            yield from self._auto_commit()
        if self.subscribed and not self.positions:
            yield Pause(self._until(end, 1))
            return []
        return (yield from super()._round(end, asks))

    def beat(self) -> Flow[None]:
        """What a heartbeat thread would do now: beat if it is time, leave if nobody polls."""
        yield from self._overdue()
        yield from self._commit_queued()
        if self.subscribed:
            yield from self.member.beat()

    def keep_alive(self) -> Flow[None]:
        """As `beat`, but calls nothing of the application's; the next poll raises what failed."""
        try:
            yield from self._overdue()
            if self.subscribed:
                yield from self.member.beat()
        except KafkaError as error:
            self._alone_failed = None if error.retriable else error
        except ClientError:
            return  # nobody answers: the next time may do better, and a session ends by itself

    @property
    def keep_alive_at(self) -> int | None:
        """When `keep_alive` has something to do next (ms); None while there is no membership."""
        if not self.subscribed or self._polled_at is None or self.member.generation < 0:
            return None
        return min(self.member.beat_at, self._polled_at + self.max_poll_interval_ms + 1)

    def _overdue(self) -> Flow[None]:
        if not self.subscribed or self._polled_at is None or self.member.generation < 0:
            return
        if self.view.now - self._polled_at > self.max_poll_interval_ms:
            why = "poll was not called in time"
            with suppress(ClientError):
                yield from self.member.leave(why)
            self.member.lose(why)

    def _see_to_membership(self) -> Flow[None]:
        """Beat, join where that is due, take over what this member is to have."""
        raise NotImplementedError

    def _match(self) -> None:
        """Subscribe to the topics that the pattern finds among those that are known."""
        if self.pattern is not None:
            self.topics = frozenset(
                name
                for name, topic in self.view.topics.items()
                if self.pattern.search(name) and not topic.internal
            )

    def _interesting(self) -> list[str] | None:
        if not self.subscribed:
            return super()._interesting()
        return None if self.pattern else sorted(self.topics)

    # --- what comes and goes -------------------------------------------------------------------

    def _give_up(self, places: list[TopicPartition]) -> Flow[None]:
        if places:
            yield from self._tell(self.listener.revoked, places)
            self._own(place for place in self.positions if place not in places)

    def _lose(self, places: list[TopicPartition]) -> Flow[None]:
        if places:
            yield from self._tell(self.listener.lost or self.listener.revoked, places)
            self._own(())

    @staticmethod
    def _tell(callback: Callback, places: list[TopicPartition]) -> Flow[None]:
        told = callback(places)
        if isgenerator(told):
            yield from told

    # --- offsets -------------------------------------------------------------------------------

    def rewind(self) -> None:
        """Begin again where the group's offsets are: what was read since does not count."""
        self.positions = dict.fromkeys(self.positions)

    def _find_positions(self) -> Flow[None]:
        missing = [
            place
            for place, offset in self.positions.items()
            if offset is None and place not in self._resets  # what was sought is not looked up
        ]
        if missing:
            found = yield from self.committed(missing)
            for place in missing:
                self._committed.pop(place, None)
            self._committed |= found
            for place, offset in found.items():
                self.positions[place] = offset.offset
                self._epochs.read(place, offset.leader_epoch)
        yield from super()._find_positions()

    def committed(self, places: Iterable[TopicPartition]) -> Flow[dict[TopicPartition, Offset]]:
        """The group's offsets of these partitions; those without one are left out."""
        give_up = self.view.now + self.request_timeout_ms
        return (yield from group_offsets.committed(self.coordinator, places, give_up=give_up))

    def commit(self, offsets: OffsetsToCommit | None = None) -> Flow[None]:
        """Commit these, or every position (CONS-41).

        CommitFailed once the membership is lost, RebalanceInProgress while there is none yet.
        """
        yield from self._overdue()
        yield from self._commit_queued()
        offsets = self._offsets() if offsets is None else offsets
        self._must_be_member()
        if not offsets:
            return
        give_up = self.view.now + self.request_timeout_ms
        code = yield from group_offsets.commit(
            self.coordinator, self.member.identity, offsets, give_up=give_up
        )
        self._settle(offsets, code)

    def commit_async(
        self, offsets: OffsetsToCommit | None = None, callback: CommitCallback = _unheard
    ) -> None:
        """Have these, or every position as it is now, committed; tried once (CONS-42).

        The next call of this consumer sends it and calls `callback(offsets, error)`, with None for
        an error when they are committed; callbacks run in the order of their commits.
        """
        self._queued.append((self._offsets() if offsets is None else dict(offsets), callback))

    @property
    def last_committed(self) -> dict[TopicPartition, Offset]:
        """What this consumer knows to be committed of its partitions, without asking (CONS-46)."""
        return {place: known for place, known in self._committed.items() if place in self.positions}

    def _commit_queued(self) -> Flow[None]:
        while self._queued:
            offsets, callback = self._queued.popleft()
            error: ClientError | None = None
            try:
                self._must_be_member()
                code = yield from group_offsets.commit_once(
                    self.coordinator, self.member.identity, offsets
                )
                self._settle(offsets, code)
            except ClientError as failed:
                error = failed
            callback(offsets, error)

    def _offsets(self) -> dict[TopicPartition, Offset]:
        return {
            place: Offset(offset, self._epochs.of(place))
            for place, offset in self.positions.items()
            if offset is not None
        }

    def _must_be_member(self) -> None:
        if self.subscribed and self.member.generation < 0:
            raise CommitFailed(f"no member of {self.group}: {self.member.rejoin} (CONS-41)")

    def _settle(self, offsets: OffsetsToCommit, code: int) -> None:
        """What a coordinator's answer to a commit comes to."""
        if not code:
            done = {
                place: wanted if isinstance(wanted, Offset) else Offset(wanted)
                for place, wanted in offsets.items()
            }
            self._committed |= done
            self.interceptors.committed(done)
            return
        does = self.member.react("OffsetCommit", code)
        if does is Do.REJOIN:
            raise RebalanceInProgress(f"group {self.group} is being rebalanced")
        raise CommitFailed(f"{KafkaError(code, about=self.group)}")

    def _auto_commit(self) -> Flow[None]:
        """What fails now is tried again with the next poll."""
        with suppress(ClientError):
            yield from self.commit()
            self._commit_at = self.view.now + (self.auto_commit_ms or 0)
