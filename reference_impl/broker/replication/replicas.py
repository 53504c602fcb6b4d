"""A broker's replicas lead and follow as its controller says, and act when that changes.

A controller's word comes in through `apply` and `stop`; a follower's fetch through `followed`; time
through one alarm that looks for followers that fell behind. What goes out is a request to change
the ISR, by the one seam `isr_wanted`, and touches of the purgatory for everybody who waits for a
partition. The bookkeeping itself is `cluster.replica`, the loops that follow are `follower`.

Sources: kafka.server.ReplicaManager at 1.0.2, 2.2.1, 2.8.2, 3.9; REPL-01, REPL-10, REPL-14,
REPL-16, REPL-20, REPL-21, REPL-24.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Protocol

from touchstone.reference_impl.broker.configs.config_view import broker_definitions
from touchstone.reference_impl.broker.control.cluster_controller import ClusterController
from touchstone.reference_impl.broker.replication import alter_partition_manager
from touchstone.reference_impl.broker.replication.follower import Fetcher, FetchSettings
from touchstone.reference_impl.broker.replication.isr_changes import IsrChanges
from touchstone.reference_impl.broker.replication.partitions import LocatedReplica, log_key
from touchstone.reference_impl.broker.replication.replication_quota import (
    FOLLOWER,
    LEADER,
    ReplicationQuota,
)
from touchstone.reference_impl.cluster.replica import (
    NO_EPOCH,
    NO_LEADER,
    LeaderState,
    Replica,
    ReplicaRules,
)
from touchstone.reference_impl.log.rules import CLIENT, LogError
from touchstone.reference_impl.wire.errors import ErrorCode

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker
    from touchstone.reference_impl.broker.replication.observer import Observer
    from touchstone.reference_impl.log.directories import Directory
    from touchstone.reference_impl.log.partition_log import AppendResult, PartitionLog

TopicPartition = tuple[str, int]
ALL = -1  # acks: every in-sync replica has to have it


def _key(replica: Replica) -> TopicPartition:
    return replica.topic, replica.index


class Logs(Protocol):
    """Makes the logs of one broker and forgets them: in memory, or in its log directories."""

    def open(self, state: LeaderState, now: int) -> PartitionLog:
        """The log of this partition, with what it held before unless `state.is_new`."""

    def remove(self, topic: str, index: int, now: int) -> None:
        """The partition is no more here; its records need not be kept (REPL-24)."""

    def offline(self, topic: str, index: int) -> bool:
        """Whether its log lies in a directory that failed, and cannot be used."""

    def directories(self) -> list[Directory]:
        """All log directories, also those that are offline (KIP-113)."""

    def move(self, topic: str, index: int, path: str, now: int) -> None:
        """Its log goes to the directory with this path; LogError when that cannot be done."""


class Replicas:
    def __init__(self, broker: Broker, logs: Logs) -> None:
        self._broker = broker
        self.logs = logs
        self.observer: Observer | None = None  # of appends and reads, where metrics are asked for
        self.isr_changes = IsrChanges(broker)
        self._replicas: dict[TopicPartition, Replica] = {}
        self._fetchers: dict[int, Fetcher] = {}  # by leader
        self.leader_quota = ReplicationQuota(broker, LEADER)
        self.follower_quota = ReplicationQuota(broker, FOLLOWER)
        self._watches_lag = False  # an alarm stands
        self._newest: dict[int, int] = {}  # by follower: how often it was given more to follow
        quirk = broker.persona.quirk
        self._rules = ReplicaRules(
            max_lag_ms=self._number("replica.lag.time.max.ms"),
            waits_for_min_isr=quirk("isr.high-watermark-needs-min-isr"),
            end_is_in_sync=quirk("isr.end-is-in-sync"),
            joins_past_epoch_start=quirk("isr.joins-past-epoch-start"),
            joins_alive_only=quirk("isr.joins-alive-only"),
        )
        self._fetch_settings = FetchSettings(
            self._number("replica.fetch.wait.max.ms"),
            self._number("replica.fetch.min.bytes"),
            self._number("replica.fetch.max.bytes"),
            self._number("replica.fetch.response.max.bytes"),
            self._number("replica.fetch.backoff.ms"),
        )

    def _number(self, name: str) -> int:
        definition = broker_definitions(self._broker.persona.release)[name]
        return self._broker.number(name, definition.number)

    def get(self, topic: str, index: int) -> Replica | None:
        return self._replicas.get((topic, index))

    def locate(
        self,
        topic: str,
        index: int,
        *,
        epoch: int = NO_EPOCH,
        any_replica: bool = False,
        debugging: bool = False,
    ) -> LocatedReplica:
        """The replica if this broker leads it (or has it, for `any_replica`) in this epoch.

        The questions, and their order, are those of ReplicaManager.getPartitionOrError and
        Partition.checkCurrentLeaderEpoch (APPEND-02, FETCH-21, META-05).
        """
        replica = self.get(topic, index)
        if replica is None:
            if self._broker.metadata.partition(topic, index) is None:
                return LocatedReplica(None, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
            name = "partition.elsewhere-for-debuggers" if debugging else "partition.elsewhere"
            return LocatedReplica(None, self._broker.persona.quirk(name))
        if replica.offline:
            return LocatedReplica(None, ErrorCode.KAFKA_STORAGE_ERROR)
        if epoch != NO_EPOCH:  # one below -1 is an older one (RequestUtils.getLeaderEpoch)
            if epoch < replica.leader_epoch:
                return LocatedReplica(None, ErrorCode.FENCED_LEADER_EPOCH)
            if epoch > replica.leader_epoch:
                return LocatedReplica(None, ErrorCode.UNKNOWN_LEADER_EPOCH)
        if not (replica.is_leader or any_replica):
            return LocatedReplica(None, ErrorCode.NOT_LEADER_OR_FOLLOWER)
        return LocatedReplica(replica)

    def append(
        self, replica: Replica, records: bytes, now: int, *, acks: int, origin: str = CLIENT
    ) -> AppendResult:
        """Append to a log that this broker leads; LogError where Kafka refuses (APPEND-22).

        With `acks=ALL` the ISR must not be smaller than min.insync.replicas.
        """
        try:
            if acks == ALL and replica.too_few:
                raise LogError(ErrorCode.NOT_ENOUGH_REPLICAS, "the in-sync set is too small")
            epoch, wall = replica.leader_epoch, self._broker.cluster.wall(now)
            result = replica.log.append(records, now=wall, leader_epoch=epoch, origin=origin)
        except LogError as refused:
            if self.observer is not None:
                self.observer.appended(replica.topic, len(records), None, refused.code)
            raise
        if self.observer is not None:
            self.observer.appended(replica.topic, len(records), result, ErrorCode.NONE)
        replica.advance(now)
        self._touch(replica)
        return result

    def directory_failed(self, keys: Iterable[TopicPartition]) -> None:
        """These replicas lay in a log directory that is offline now (KIP-112)."""
        gone = [replica for key in keys if (replica := self._replicas.get(key)) is not None]
        for replica in gone:
            replica.offline = True
            self._unfollow((replica.topic, replica.index))
            self._touch(replica)
        self._broker.cluster.directory_failed(self._broker.id, [_key(each) for each in gone])
        self._broker.room(ClusterController).active.directory_lost(self._broker.id)

    def __iter__(self) -> Iterator[Replica]:
        return iter(self._replicas.values())

    # --- what a controller says --------------------------------------------------------------

    def apply(self, state: LeaderState, now: int) -> None:
        """Lead or follow as it says, or stop; an older epoch than the known one says nothing."""
        key, me = (state.topic, state.index), self._broker.id
        replica = self._replicas.get(key)
        if me not in state.replicas:
            self.stop(*key, delete=True, now=now)
            return
        if replica is not None and replica.topic_id != state.topic_id:
            self.stop(*key, delete=True, now=now)
            replica = None
        if replica is None:
            replica = self._replicas[key] = self._open(state, now)
        elif (state.leader_epoch, state.partition_epoch) < (
            replica.leader_epoch,
            replica.partition_epoch,
        ):
            return
        if replica.offline:
            return
        if state.leader == me:
            self._lead(replica, state, now)
        else:
            self._follow(replica, state)
        self._touch(replica)
        self._broker.leadership_changed(state.topic)

    def stop(self, topic: str, index: int, *, delete: bool, now: int) -> None:
        """Have nothing more to do with a partition; those who wait for it are told (REPL-24)."""
        replica = self._replicas.pop((topic, index), None)
        if replica is None:
            return
        self._unfollow((topic, index))
        if delete:
            self.logs.remove(topic, index, now)
        self._touch(replica)
        self._broker.leadership_changed(topic)

    def _open(self, state: LeaderState, now: int) -> Replica:
        broker, topic, replicas = self._broker, state.topic, len(state.replicas)
        broker.log_manager.begin(now)
        capped = broker.persona.quirk("produce.caps-min-isr")

        def min_isr() -> int:
            wanted = broker.config_of(topic).min_insync_replicas
            return min(wanted, len(replica.replicas) or replicas) if capped else wanted

        replica = Replica(
            broker.id,
            topic,
            state.index,
            self.logs.open(state, now),
            self._rules,
            min_isr=min_isr,
            alive=self._alive,
            eligible=self._eligible,
        )
        replica.offline = self.logs.offline(topic, state.index)
        if replica.offline:  # the answer to what told it to take this replica up
            broker.cluster.directory_failed(broker.id, [_key(replica)])
            broker.room(ClusterController).active.replicas_lost(broker.id, [_key(replica)])
        return replica

    def _alive(self, broker: int) -> bool:
        return self._broker.metadata.is_alive(broker)

    def _eligible(self, broker: int, epoch: int) -> bool:
        """Whether a follower that fetched in this epoch of its registration may join (KIP-903)."""
        node = self._broker.metadata.brokers.get(broker)
        if node is None or not node.alive or node.stopping:
            return False
        return epoch in (NO_EPOCH, node.epoch)

    def registered_anew(self, follower: int, epoch: int) -> bool:
        """Whether a fetch comes from before the follower's last registration (KIP-903)."""
        node = self._broker.metadata.brokers.get(follower)
        return epoch > NO_EPOCH and node is not None and epoch < node.epoch

    def _lead(self, replica: Replica, state: LeaderState, now: int) -> None:
        self._unfollow((state.topic, state.index))
        new_replicas = set(state.replicas) - set(replica.replicas) if replica.is_leader else set()
        new = replica.lead(state, now)
        if new:
            new_replicas = set(state.replicas)
        for broker in new_replicas - {self._broker.id}:
            self._newest[broker] = self._newest.get(broker, 0) + 1
            self._broker.purgatory.touch(("to follow", broker))
        if new or self._broker.persona.quirk("isr.smaller-moves-high-watermark"):
            replica.advance(now)
        if replica.followers:
            self._watch_lag(now)

    def _follow(self, replica: Replica, state: LeaderState) -> None:
        """Start to fetch from the leader of `state`. A broker that is shutting down does not: the
        leader would count on a follower that is about to stop.
        """
        if replica.follow(state):
            self._unfollow((state.topic, state.index))
            leaving = self._broker.cluster.node(self._broker.id).stopping
            if state.leader != NO_LEADER and not leaving:
                self._fetcher(state.leader).follow(replica)

    def _fetcher(self, leader: int) -> Fetcher:
        """The loop that follows this leader, begun if it was not."""
        found = self._fetchers.get(leader)
        if found is None:
            found = self._fetchers[leader] = Fetcher(self._broker, leader, self._fetch_settings)
        return found

    def _unfollow(self, key: TopicPartition) -> None:
        for fetcher in self._fetchers.values():
            fetcher.drop(*key)

    def _touch(self, replica: Replica) -> None:
        self._broker.purgatory.touch(log_key(replica.topic, replica.index))

    # --- what followers do -------------------------------------------------------------------

    def newest(self, follower: int) -> int:
        """A number that grows when this broker begins to lead more for that follower.

        A fetch that waits is then answered early, so that the follower's next one names the new
        partition; Kafka lets it wait for up to `replica.fetch.wait.max.ms` first.
        """
        return self._newest.get(follower, 0)

    def followed(
        self, replica: Replica, follower: int, offset: int, log_start: int, epoch: int, now: int
    ) -> None:
        """A follower fetched at `offset` (REPL-07): ISR, high watermark, those who wait."""
        known = replica.followers[follower]
        low = known.log_start_offset
        moved = replica.followed(follower, offset, log_start, now, epoch)
        if replica.may_join(follower):
            self.isr_wanted(replica, (*replica.isr, follower), now)
        if (moved and replica.advance(now)) or log_start > low:
            self._touch(replica)

    def holds_back(self, replica: Replica, follower: int, now: int) -> bool:
        """Whether a follower that is not in sync gets no records for now (DYN-15)."""
        quota = self.leader_quota
        if follower in replica.isr or not quota.throttles(replica.topic, replica.index):
            return False
        return quota.exceeded(now)

    # --- who is in sync ----------------------------------------------------------------------

    def _watch_lag(self, now: int) -> None:
        """Look for followers that fell behind, every half of what they may lag (REPL-10)."""
        if not self._watches_lag:
            self._watches_lag = True
            self._remind(now)

    def _remind(self, now: int) -> None:
        at = now + max(1, self._rules.max_lag_ms // 2)
        self._broker.purgatory.remind(("lag", self._broker.id), at, self._check_lag)

    def _check_lag(self, now: int) -> None:
        leads = False
        for replica in list(self._replicas.values()):
            if replica.is_leader and replica.followers:
                leads = True
                late = replica.lagging(now)
                if late:
                    kept = tuple(broker for broker in replica.isr if broker not in late)
                    self.isr_wanted(replica, kept, now)
        if leads:
            self._remind(now)
        else:
            self._watches_lag = False

    def isr_wanted(self, replica: Replica, isr: tuple[int, ...], now: int) -> None:
        """The one way to another ISR: ask whoever keeps it, and live with the answer."""
        replica.propose(isr)
        alter_partition_manager.report(self._broker, replica, isr, now)

    def isr_is(self, replica: Replica, isr: Iterable[int], partition_epoch: int, now: int) -> None:
        """The ISR was changed as wanted: the high watermark may move now (REPL-14)."""
        before = len(replica.isr)
        replica.commit(isr, partition_epoch)
        if self.observer is not None:
            self.observer.isr_changed(before, len(replica.isr))
        if self._broker.persona.quirk("isr.smaller-moves-high-watermark"):
            replica.advance(now)
        self._touch(replica)
