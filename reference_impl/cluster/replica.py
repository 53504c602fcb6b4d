"""A replica is one broker's copy of a partition, with what its leader knows of the others.

A replica leads or follows. A leader notes where each follower stands, from the follower's own
fetches and from nothing else, and derives three things: the high watermark (the smallest log end of
those that count), who fell out of the in-sync set and who may come back. It writes nothing down
itself: a wish to change the ISR goes to whoever keeps it (`propose`), and until the answer is there
both the old and the wished-for members count, so that whichever comes true nothing was promised
too early (KIP-497). No clock, no request, no error code.

Sources: kafka.cluster.Partition and Replica at 1.0.2, 2.2.1, 2.8.2, 3.9; REPL-07 to REPL-16;
KIP-16 (lag by time), KIP-497, KIP-903, KIP-966.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from touchstone.reference_impl.log.partition_log import PartitionLog

NO_LEADER = NO_EPOCH = UNKNOWN = -1
_NEVER = -(1 << 62)


class LeaderState(NamedTuple):
    """A controller's decision about a partition, as a broker is told it."""

    topic: str
    index: int  # type: ignore[assignment]  # it hides tuple.index
    topic_id: bytes
    leader: int
    leader_epoch: int
    partition_epoch: int
    isr: tuple[int, ...]
    replicas: tuple[int, ...]
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()
    is_new: bool = False
    elr: tuple[int, ...] = ()  # eligible leader replicas (KIP-966)
    last_known_elr: tuple[int, ...] = ()
    lost: tuple[int, ...] = ()  # replicas in directories that failed, or on brokers that are gone
    controller_epoch: int = 0  # of the controller that wrote this


@dataclass(frozen=True, slots=True)
class ReplicaRules:
    """The differences between releases, and the one setting that decides with them."""

    max_lag_ms: int = 30_000  # replica.lag.time.max.ms
    waits_for_min_isr: bool = True  # the high watermark stands while the ISR is too small (KIP-966)
    end_is_in_sync: bool = True  # who has all of the log is in sync, however long ago it asked
    joins_past_epoch_start: bool = True  # no way into the ISR with another leader's tail (2.2)
    joins_alive_only: bool = True  # a follower that is known to be down is not waited for


@dataclass(slots=True)
class LastFetch:
    """The instant of a follower's last fetch (ms), for all caught-up partitions of its session."""

    at: int = _NEVER


@dataclass(slots=True)
class FollowerState:
    """The position of a follower at its last fetch; times in ms."""

    log_end_offset: int = UNKNOWN
    log_start_offset: int = UNKNOWN
    caught_up: int = _NEVER
    last_fetch: int = _NEVER
    leader_end_at_fetch: int = UNKNOWN  # the leader's log end when it last fetched (REPL-13)
    broker_epoch: int = UNKNOWN  # as its fetch said it (KIP-903)
    shared_fetch: LastFetch | None = None  # of its session, while the follower has everything

    @property
    def last_caught_up(self) -> int:
        shared = self.shared_fetch
        return self.caught_up if shared is None else max(self.caught_up, shared.at)

    def unshare_fetch(self) -> None:
        """From now on the follower's fetches of this partition count by themselves."""
        shared = self.shared_fetch
        if shared is not None:
            self.caught_up, self.last_fetch = self.last_caught_up, shared.at
            self.shared_fetch = None


class Replica:
    def __init__(
        self,
        broker_id: int,
        topic: str,
        index: int,
        log: PartitionLog,
        rules: ReplicaRules | None = None,
        *,
        min_isr: Callable[[], int] = lambda: 1,
        alive: Callable[[int], bool] = lambda broker: True,
        eligible: Callable[[int, int], bool] = lambda broker, epoch: True,
    ) -> None:
        self.broker_id = broker_id
        self.topic, self.index = topic, index
        self.log = log
        self.rules = rules or ReplicaRules()
        self.offline = False  # its log directory failed
        self.topic_id = bytes(16)
        self.is_leader = False
        self.leader, self.leader_epoch = NO_LEADER, NO_EPOCH
        self.term = NO_EPOCH  # in which it began to lead, and has led ever since
        self.partition_epoch = NO_EPOCH
        self.replicas: tuple[int, ...] = ()
        self.adding: tuple[int, ...] = ()
        self.removing: tuple[int, ...] = ()
        self.isr: tuple[int, ...] = ()  # a leader's alone
        self.proposed: tuple[int, ...] | None = None  # asked for, not yet answered
        self.epoch_start = UNKNOWN  # log end when it began to lead in this epoch
        self.followers: dict[int, FollowerState] = {}
        self._min_isr = min_isr
        self._alive = alive
        self._eligible = eligible  # (broker, epoch of its registration): may it join the ISR?

    # --- roles -------------------------------------------------------------------------------

    def lead(self, state: LeaderState, now: int) -> bool:
        """Become, or stay, the leader; whether this is a new epoch (REPL-21)."""
        new_leader, new_epoch = not self.is_leader, state.leader_epoch > self.leader_epoch
        self._take(state)
        self.is_leader, self.isr, self.proposed = True, state.isr, None
        others = [broker for broker in state.replicas if broker != self.broker_id]
        known = {} if new_leader else self.followers
        self.followers = {broker: known.get(broker) or FollowerState() for broker in others}
        if new_leader:
            self.term = state.leader_epoch
        if new_epoch or new_leader:
            self.epoch_start = self.log.log_end_offset
            self.log.become_leader(state.leader_epoch)
            for broker, follower in self.followers.items():
                follower.unshare_fetch()
                follower.caught_up = now if broker in state.isr else _NEVER
                if not new_leader:
                    follower.last_fetch = follower.caught_up
                    follower.leader_end_at_fetch = self.epoch_start
        return new_epoch or new_leader

    def follow(self, state: LeaderState) -> bool:
        """Become, or stay, a follower; whether this is a new epoch (REPL-21)."""
        new = self.is_leader or state.leader_epoch > self.leader_epoch
        self._take(state)
        self.is_leader, self.isr, self.proposed, self.followers = False, (), None, {}
        return new

    def _take(self, state: LeaderState) -> None:
        self.topic_id = state.topic_id
        self.leader, self.leader_epoch = state.leader, state.leader_epoch
        self.partition_epoch = state.partition_epoch
        self.replicas, self.adding, self.removing = state.replicas, state.adding, state.removing

    # --- what a leader hears -----------------------------------------------------------------

    def followed(
        self, broker: int, offset: int, log_start: int, now: int, broker_epoch: int = UNKNOWN
    ) -> bool:
        """A follower fetched at `offset`; whether its log end is news (REPL-07, REPL-13)."""
        follower, end = self.followers[broker], self.log.log_end_offset
        follower.unshare_fetch()
        if offset >= end:
            follower.caught_up = max(follower.caught_up, now)
        elif offset >= follower.leader_end_at_fetch:
            follower.caught_up = max(follower.caught_up, follower.last_fetch)
        moved = follower.log_end_offset != offset
        follower.log_end_offset, follower.log_start_offset = offset, log_start
        follower.leader_end_at_fetch = max(end, follower.leader_end_at_fetch)
        follower.last_fetch, follower.broker_epoch = now, broker_epoch
        return moved

    # --- what follows from it ----------------------------------------------------------------

    @property
    def maximal_isr(self) -> tuple[int, ...]:
        """Members of the ISR, or soon perhaps (KIP-497)."""
        if self.proposed is None:
            return self.isr
        return (*self.isr, *(broker for broker in self.proposed if broker not in self.isr))

    @property
    def too_few(self) -> bool:
        """Whether the ISR is smaller than min.insync.replicas asks for."""
        return len(self.isr) < self._min_isr()

    @property
    def just_enough(self) -> bool:
        """Whether the ISR is as small as min.insync.replicas allows."""
        return len(self.isr) == self._min_isr()

    @property
    def too_few_now(self) -> bool:
        """The same when something was appended, for which members to be count (APPEND-23)."""
        return len(self.maximal_isr) < self._min_isr()

    def advance(self, now: int) -> bool:
        """Move the high watermark as far as it may go; whether it moved (REPL-08)."""
        log, end = self.log, self.log.log_end_offset
        if self.followers:
            if self.rules.waits_for_min_isr and self.too_few:
                return False
            members = self.maximal_isr
            for broker, follower in self.followers.items():
                if follower.log_end_offset < end and (
                    broker in members or self._comes_back(broker, follower, now)
                ):
                    end = follower.log_end_offset
        return log.advance_high_watermark(end)

    def _comes_back(self, broker: int, follower: FollowerState, now: int) -> bool:
        """Whether one outside of the ISR keeps up, so that it can be waited for (REPL-08)."""
        if now - follower.last_caught_up > self.rules.max_lag_ms:
            return False
        return not self.rules.joins_alive_only or self._eligible(broker, follower.broker_epoch)

    def lagging(self, now: int) -> tuple[int, ...]:
        """Members of the ISR that did not keep up (REPL-10 to REPL-12); never the leader."""
        if self.proposed is not None:
            return ()
        end = self.log.log_end_offset
        late = []
        for broker in self.isr:
            follower = self.followers.get(broker)
            if broker == self.broker_id or follower is None:
                continue
            has_all = self.rules.end_is_in_sync and follower.log_end_offset == end
            if not has_all and now - follower.last_caught_up > self.rules.max_lag_ms:
                late.append(broker)
        return tuple(late)

    def may_join(self, broker: int) -> bool:
        """Whether a follower outside of the ISR has come far enough to be in it (REPL-16)."""
        if self.proposed is not None or broker in self.isr:
            return False
        follower = self.followers[broker]
        if follower.log_end_offset < self.log.high_watermark:
            return False
        if self.rules.joins_past_epoch_start and follower.log_end_offset < self.epoch_start:
            return False
        return not self.rules.joins_alive_only or self._eligible(broker, follower.broker_epoch)

    def low_watermark(self) -> int:
        """The lowest log start among live replicas: below it all records are gone (KIP-107)."""
        starts = (f.log_start_offset for b, f in self.followers.items() if self._alive(b))
        return min([self.log.log_start_offset, *starts])

    # --- changes of the in-sync set ----------------------------------------------------------

    def propose(self, isr: Iterable[int]) -> None:
        """The leader has asked for this ISR."""
        self.proposed = tuple(isr)

    def commit(self, isr: Iterable[int], partition_epoch: int) -> None:
        """The proposed ISR is the ISR now."""
        self.isr, self.partition_epoch, self.proposed = tuple(isr), partition_epoch, None

    def withdraw(self) -> None:
        """The proposal was refused."""
        self.proposed = None
