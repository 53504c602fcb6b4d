"""A broker follows each leader by one loop, which asks with Kafka's own requests.

A loop has one request in flight, as Kafka's fetcher thread has. What it follows sleeps while
the leader knows all that a fetch would say of it, until it is touched or the leader says something:
a fetch costs what changed, not what is followed. Before it fetches a partition in a
new leader epoch it makes sure that its log is a prefix of the leader's: newer releases fetch with
their last epoch and are told where the logs part (KIP-595), older ones ask OffsetForLeaderEpoch
first, and where no epoch is known the log is cut to the high watermark (REPL-22). A partition that
fails rests for `replica.fetch.backoff.ms`; one whose epoch is fenced rests until the controller
says something new. Nothing is sent here: `broker.ask` makes a value that `io` carries out.

Sources: AbstractFetcherThread, ReplicaFetcherThread, FetchSessionHandler at 1.0.2, 2.2.1, 2.8.2 and
3.9; REPL-01 to REPL-05, REPL-21 to REPL-23; KIP-101, KIP-227, KIP-279, KIP-320, KIP-595.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from touchstone.reference_impl.broker.effects import WaitKey
from touchstone.reference_impl.broker.replication.follower_session import (
    FollowerSession,
    SessionPlace,
)
from touchstone.reference_impl.broker.replication.partitions import log_key
from touchstone.reference_impl.log.rules import LogError
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker
    from touchstone.reference_impl.cluster.replica import Replica
    from touchstone.reference_impl.log.partition_log import PartitionLog

LOG = logging.getLogger("touchstone.follower")
FETCH, LIST_OFFSETS, OFFSET_FOR_LEADER_EPOCH = 1, 2, 23
LATEST, EARLIEST = -1, -2
UNDEFINED = -1


class FetchSettings(NamedTuple):
    """`replica.fetch.*` of the broker; times in ms, sizes in bytes."""

    wait_ms: int = 500
    min_bytes: int = 1
    max_bytes: int = 1 << 20
    response_bytes: int = 10 << 20
    backoff_ms: int = 1000


@dataclass(slots=True, eq=False)
class FollowedPartition:
    """A partition in one leader epoch; a new epoch brings a new one of these."""

    replica: Replica
    epoch: int
    start: int  # where to cut when the leader knows none of our epochs
    truncating: bool
    out_of_range: bool = False
    in_sync: bool = False  # it had all that the leader showed when it fetched last
    not_before: int = 0
    asked_from: int = UNDEFINED  # offset of the last fetch that named it


def _key(following: FollowedPartition) -> WaitKey:
    return log_key(following.replica.topic, following.replica.index)


def where_to_cut(log: PartitionLog, epoch: int, end: int, start: int) -> tuple[int, bool]:
    """(offset at which the logs part, as far as can be told; whether that is all of it).

    `epoch` and `end` are the leader's largest epoch that is not above ours, and where it ended
    there. One answer decides, unless the leader named an epoch that we never saw (KIP-279).
    """
    own_end = log.log_end_offset
    if end == UNDEFINED:
        return start, True
    if epoch == UNDEFINED:
        return min(end, own_end), True
    own_epoch, own = log.end_of_epoch(epoch)
    if UNDEFINED in (own_epoch, own):
        return min(end, own_end), True
    if own_epoch != epoch:
        return min(own, own_end), False
    return min(own, end, own_end), True


class Fetcher:
    """The loop of one broker towards one leader."""

    def __init__(self, broker: Broker, leader: int, settings: FetchSettings) -> None:
        self._broker = broker
        self._leader = leader
        self._settings = settings
        quirk = broker.persona.quirk
        self._version = quirk("replicas.fetch-version")
        self._epoch_version = quirk("replicas.epoch-request-version")
        self._list_version = quirk("replicas.list-offsets-version")
        self._on_fetch = quirk("replicas.truncate-on-fetch")
        self._followed: dict[WaitKey, FollowedPartition] = {}
        self._awake: dict[WaitKey, None] = {}  # all of them, but those that sleep
        self._touches_read = 0  # how far it has read what was touched
        self._asked: dict[SessionPlace, FollowedPartition] = {}  # what the session is about
        self._gone: list[SessionPlace] = []  # what is to be no more
        self._session = FollowerSession(self._version)
        self._busy = False

    def __len__(self) -> int:
        return len(self._followed)

    # --- what it follows ---------------------------------------------------------------------

    def follow(self, replica: Replica) -> None:
        """Begin with this partition in its epoch (REPL-21)."""
        log = replica.log
        knows_epochs = log.epochs.latest != UNDEFINED
        truncating = not (self._on_fetch and knows_epochs)
        start = log.high_watermark
        following = FollowedPartition(replica, replica.leader_epoch, start, truncating)
        self._followed[_key(following)] = following
        self._wake(following)
        self._later()

    def drop(self, topic: str, index: int) -> None:
        key = log_key(topic, index)
        following = self._followed.pop(key, None)
        if following is not None:
            self._awake.pop(key, None)
            self._gone.append(self._place(following))

    def _place(self, following: FollowedPartition) -> SessionPlace:
        """Its name in a Fetch."""
        replica = following.replica
        return (replica.topic_id if self._session.by_id else replica.topic), replica.index

    def _wake(self, following: FollowedPartition) -> None:
        if self._current(following):
            self._awake[_key(following)] = None

    def _later(self) -> None:
        self._broker.soon(("fetcher", self._leader), self.pump)

    # --- the loop ----------------------------------------------------------------------------

    def pump(self, now: int) -> None:
        """Send the next request, if none is in flight and there is one to send."""
        if self._busy:
            return
        self._wake_touched()
        awake = [self._followed[key] for key in self._awake]
        ready = [each for each in awake if each.not_before <= now]
        ready = [each for each in ready if not self._held_back(each, now)]
        unsure = [each for each in ready if each.truncating and not self._cut_alone(each, now)]
        lost = next((each for each in ready if each.out_of_range), None)
        if unsure:
            self._ask_epochs(unsure)
        elif lost is not None:
            self._ask_offset(lost, LATEST)
        elif ready or len(awake) < len(self._followed):
            now_ready = set(ready)
            self._gone += [self._place(each) for each in awake if each not in now_ready]
            self._fetch(ready)
        else:
            self._rest()

    def _wake_touched(self) -> None:
        """Wake what was touched; all of it where there is no session that goes on."""
        purgatory = self._broker.purgatory
        touched, self._touches_read = purgatory.since(self._touches_read), purgatory.touches
        if touched is None or not self._session.goes_on:
            self._awake = dict.fromkeys(self._followed)
            return
        self._awake.update((key, None) for key in touched if key in self._followed)

    def _held_back(self, following: FollowedPartition, now: int) -> bool:
        """Whether a quota leaves it out for now: only what is not in sync (DYN-15)."""
        replica, quota = following.replica, self._broker.replicas.follower_quota
        if following.in_sync or not quota.throttles(replica.topic, replica.index):
            return False
        if not quota.exceeded(now):
            return False
        self._back_off(following, now)
        return True

    def _rest(self) -> None:
        """Go on when the first of those that failed may be tried again."""
        at = min((each.not_before for each in self._followed.values()), default=None)
        key = ("fetcher", self._broker.id, self._leader)
        self._broker.purgatory.remind(key, at, self.pump)

    def _ask(
        self, key: int, version: int, body: Struct, then: Callable[[Struct | None, int], None]
    ) -> None:
        self._busy = True

        def answered(answer: Struct | None, now: int) -> None:
            self._busy = False
            try:
                then(answer, now)
            finally:
                self._later()

        self._broker.ask(self._leader, key, version, body, answered)

    def _back_off(self, following: FollowedPartition, now: int) -> None:
        self._wake(following)
        following.not_before = now + self._settings.backoff_ms

    def _current(self, following: FollowedPartition) -> bool:
        """Whether an answer about it is still wanted."""
        return self._followed.get(_key(following)) is following

    def _touch(self, replica: Replica) -> None:
        self._broker.purgatory.touch(log_key(replica.topic, replica.index))

    # --- fetching ----------------------------------------------------------------------------

    def _fetch(self, ready: list[FollowedPartition]) -> None:
        if not self._session.goes_on:
            self._asked = {}
        rows = {}
        for each in ready:
            log, place = each.replica.log, self._place(each)
            rows[place] = (
                log.log_end_offset,
                log.log_start_offset,
                each.epoch,
                self._last_epoch(log),
            )
            self._asked[place], each.asked_from = each, log.log_end_offset
            if each.in_sync:
                del self._awake[_key(each)]
        gone, self._gone = [each for each in self._gone if each not in rows], []
        for place in gone:
            self._asked.pop(place, None)
        settings = self._settings
        body = {
            "cluster_id": None,
            "replica_id": self._broker.id,
            "replica_state": {"replica_id": self._broker.id, "replica_epoch": self._epoch()},
            "max_wait_ms": settings.wait_ms,
            "min_bytes": settings.min_bytes,
            "max_bytes": settings.response_bytes,
            "isolation_level": 0,
            "rack_id": "",
            **self._session.request(rows, gone, settings.max_bytes),
        }
        self._ask(FETCH, self._version, body, self._fetched)

    def _epoch(self) -> int:
        """The epoch of this broker's own registration (KIP-903)."""
        return self._broker.cluster.node(self._broker.id).epoch

    def _fetched(self, answer: Struct | None, now: int) -> None:
        if answer is None:
            self._session.close()
        if answer is None or not self._session.accepts(answer):
            if answer is None or self._session.failed:
                for each in self._asked.values():
                    self._back_off(each, now)
            return
        for topic in answer["responses"]:
            name = topic["topic_id"] if self._session.by_id else topic["topic"]
            for row in topic["partitions"]:
                following = self._asked.get((name, row["partition_index"]))
                if following is None or not self._current(following):
                    continue
                if following.replica.log.log_end_offset == following.asked_from:
                    self._wake(following)
                    self._take(following, row, now)

    def _take(self, following: FollowedPartition, row: Struct, now: int) -> None:
        replica, code = following.replica, row["error_code"]
        if code == ErrorCode.OFFSET_OUT_OF_RANGE:
            following.out_of_range = True
        elif code == ErrorCode.FENCED_LEADER_EPOCH:
            self.drop(replica.topic, replica.index)  # until the controller says more
        elif code:
            self._back_off(following, now)
        elif self._on_fetch and "diverging_epoch" in row and row["diverging_epoch"]["epoch"] >= 0:
            diverging = row["diverging_epoch"]
            self._cut(following, diverging["epoch"], diverging["end_offset"], now)
        else:
            if not self._kept(following, row, now):
                return
            following.in_sync = replica.log.log_end_offset >= row["high_watermark"]
            if row["records"]:
                key = _key(following)
                self._followed[key] = self._followed.pop(key)  # others first next time

    def _kept(self, following: FollowedPartition, row: Struct, now: int) -> bool:
        """Whether it could be kept; else the partition rests, or is given up as Kafka's does."""
        replica = following.replica
        try:
            self._keep(replica, row, now)
        except LogError as refusal:
            LOG.error("cannot follow %s-%d: %s", replica.topic, replica.index, refusal)
            if refusal.code == ErrorCode.CORRUPT_MESSAGE:
                self._back_off(following, now)
                return False
        except Exception:
            LOG.exception("cannot follow %s-%d", replica.topic, replica.index)
        else:
            return True
        self.drop(replica.topic, replica.index)
        return False

    def _keep(self, replica: Replica, row: Struct, now: int) -> None:
        """Records, high watermark, log start, in this order (REPL-05)."""
        log = replica.log
        before = log.marks()
        if row["records"]:
            size = log.append_as_follower(row["records"], now=self._broker.cluster.wall(now))
            if self._broker.replicas.observer is not None:
                self._broker.replicas.observer.replicated(size)
            quota = self._broker.replicas.follower_quota
            if quota.throttles(replica.topic, replica.index):
                quota.record(size, now)
        log.follow_high_watermark(row["high_watermark"])
        start = row.get("log_start_offset", UNDEFINED)
        if log.log_start_offset < start <= log.high_watermark:
            log.delete_to(start, now)
        if before != log.marks():
            self._touch(replica)

    # --- truncating --------------------------------------------------------------------------

    def _cut_alone(self, following: FollowedPartition, now: int) -> bool:
        """Truncate to the high watermark, because there is no epoch to ask for."""
        if following.replica.log.epochs.latest != UNDEFINED:
            return False
        self._truncate(following.replica.log, following.start, now)
        following.truncating = False
        return True

    def _ask_epochs(self, unsure: list[FollowedPartition]) -> None:
        topics: dict[str, list[Struct]] = {}
        asked = {}
        for each in unsure:
            replica = each.replica
            asked[replica.topic, replica.index] = each
            topics.setdefault(replica.topic, []).append(
                {
                    "partition": replica.index,
                    "current_leader_epoch": each.epoch,
                    "leader_epoch": replica.log.epochs.latest,
                }
            )
        rows = [{"topic": topic, "partitions": rows} for topic, rows in topics.items()]
        body = {"replica_id": self._broker.id, "topics": rows}
        self._ask(
            OFFSET_FOR_LEADER_EPOCH,
            self._epoch_version,
            body,
            lambda answer, now: self._told_epochs(asked, answer, now),
        )

    def _told_epochs(
        self,
        asked: dict[tuple[str, int], FollowedPartition],
        answer: Struct | None,
        now: int,
    ) -> None:
        if answer is None:
            for each in asked.values():
                self._back_off(each, now)
            return
        for topic in answer["topics"]:
            for row in topic["partitions"]:
                following = asked.get((topic["topic"], row["partition"]))
                if following is None or not self._current(following):
                    continue
                if row["error_code"] == ErrorCode.FENCED_LEADER_EPOCH:
                    self.drop(topic["topic"], row["partition"])
                elif row["error_code"]:
                    self._back_off(following, now)
                else:
                    epoch = row.get("leader_epoch", UNDEFINED)
                    self._cut(following, epoch, row["end_offset"], now)

    def _cut(self, following: FollowedPartition, epoch: int, end: int, now: int) -> None:
        replica = following.replica
        offset, done = where_to_cut(replica.log, epoch, end, following.start)
        self._truncate(replica.log, offset, now)
        following.start = offset
        following.truncating = not (done or self._on_fetch)
        self._touch(replica)

    # --- out of range ------------------------------------------------------------------------

    def _ask_offset(self, following: FollowedPartition, which: int) -> None:
        """Where the leader's log ends, or begins (REPL-23)."""
        replica = following.replica
        row = {
            "partition_index": replica.index,
            "current_leader_epoch": following.epoch,
            "timestamp": which,
            "max_num_offsets": 1,
        }
        topic = {"name": replica.topic, "partitions": [row]}
        body = {
            "replica_id": self._broker.id,
            "isolation_level": 0,
            "topics": [topic],
            "timeout_ms": 0,
        }
        self._ask(
            LIST_OFFSETS,
            self._list_version,
            body,
            lambda answer, now: self._told_offset(following, which, answer, now),
        )

    def _told_offset(
        self, following: FollowedPartition, which: int, answer: Struct | None, now: int
    ) -> None:
        if not self._current(following):
            return
        row = answer["topics"][0]["partitions"][0] if answer and answer["topics"] else None
        if row is None or row["error_code"]:
            self._back_off(following, now)
            return
        log, offset = following.replica.log, row["offset"]
        if which == LATEST and offset >= log.log_end_offset:
            self._ask_offset(following, EARLIEST)
            return
        following.out_of_range = False
        self._move(following, which, offset, now)
        self._touch(following.replica)

    def _last_epoch(self, log: PartitionLog) -> int:
        """The epoch that a leader compares with its own, where fetches tell it (KIP-595)."""
        return log.epochs.latest if self._on_fetch else UNDEFINED

    def _truncate(self, log: PartitionLog, offset: int, now: int) -> None:
        log.truncate_to(offset, now)

    def _move(self, following: FollowedPartition, which: int, offset: int, now: int) -> None:
        """Go where the leader's log ends, or begins, for its own is out of that range."""
        log = following.replica.log
        if which == LATEST:
            self._truncate(log, offset, now)
        elif offset > log.log_end_offset:
            log.begin_again_at(offset, now)
        else:
            self._back_off(following, now)  # it is in range now, or the leader's word is odd
