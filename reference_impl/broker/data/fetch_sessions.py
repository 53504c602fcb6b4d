"""A fetch session (KIP-227) keeps what a consumer asked for, so that it need not repeat it.

A request of epoch 0 opens a session when there is room and gets its id; later epochs say only what
changed and are answered only with partitions that have news: records, an error, a moved high
watermark or log start (FETCH-19). Epoch -1 closes. An unknown id is
FETCH_SESSION_ID_NOT_FOUND, an epoch out of turn INVALID_FETCH_SESSION_EPOCH (FETCH-20). Ids are
drawn from the cluster's chance and are never 0, which means no session. Who may have one when the
cache is full stands in `session_cache`.

A follower's session may hold a thousand partitions of which nothing is new. Kafka looks at each in
every fetch; here those rest until they are touched (`Purgatory.since`) or the follower names them,
and a fetch looks only at the others. When one may rest `follower_fetches` says.

Source: FetchManager, FetchSessionCache and the contexts in kafka.server.FetchSession at 2.2.1, 3.9.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from touchstone.reference_impl.broker.data.session_cache import SessionCache
from touchstone.reference_impl.broker.replication.partitions import log_key
from touchstone.reference_impl.cluster.replica import LastFetch, Replica
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker
    from touchstone.reference_impl.broker.effects import Request, WaitKey
    from touchstone.reference_impl.broker.purgatory import Purgatory
    from touchstone.reference_impl.broker.replication.replicas import Replicas

FIRST_WITH_SESSIONS, FIRST_BY_ID, FIRST_WITH_REPLICA_STATE = 7, 13, 15
NO_SESSION = INITIAL_EPOCH = 0
FINAL_EPOCH = -1
DEFAULT_SLOTS = 1000
_LAST_EPOCH = 2**31 - 1
PartitionKey = tuple[bytes, str, int]


@dataclass(slots=True)
class FetchPartition:
    """One partition of a request; `topic` is its resolved name, None for an unknown id."""

    name: str  # as the request said it, empty from v13 on
    topic_id: bytes
    topic: str | None
    index: int
    offset: int
    max_bytes: int
    leader_epoch: int
    last_fetched_epoch: int
    log_start: int = -1  # a follower's own

    @property
    def key(self) -> PartitionKey:
        return self.topic_id, self.name, self.index


@dataclass(slots=True)
class _SessionPartition:
    """The values of a partition of a session that the client was told last."""

    want: FetchPartition
    high_watermark: int = -1
    log_start_offset: int = -1


@dataclass(slots=True)
class Session:
    created: int
    last_used: int
    follower: int  # a broker's id, negative for consumers
    partitions: dict[PartitionKey, _SessionPartition]
    purgatory: Purgatory
    replicas: Replicas
    heard: int  # how far it has read what was touched
    id: int = NO_SESSION  # the cache's to give
    next_epoch: int = 1
    by_ids: bool = False
    awake: dict[PartitionKey, _SessionPartition] = field(default_factory=dict)
    resting: dict[WaitKey, PartitionKey] = field(default_factory=dict)
    shared_fetch: LastFetch = field(default_factory=LastFetch)  # of those that rest

    def __post_init__(self) -> None:
        self.awake = dict(self.partitions)

    @property
    def privileged(self) -> bool:
        return self.follower >= 0

    @property
    def size(self) -> int:
        return len(self.partitions)

    def know(self, want: FetchPartition) -> None:
        """The client named it: a new partition, or one that it wants otherwise."""
        known = self.partitions.get(want.key)
        if known is None:
            known = self.partitions[want.key] = _SessionPartition(want)
        else:
            self._wake(known)
            known.want = want
        self.awake[want.key] = known

    def forget(self, key: PartitionKey) -> None:
        known = self.partitions.pop(key, None)
        if known is not None:
            self._wake(known)
            del self.awake[key]

    def is_sent(self, key: PartitionKey, row: Struct, *, incremental: bool) -> bool:
        """Whether a row goes out; what it says is remembered."""
        known = self.partitions.get(key)
        if known is None:
            return False
        changed = _note(known, row)
        if incremental and row["records"]:
            # A partition that had records goes to the back, so that others get a turn.
            self.partitions[key] = self.partitions.pop(key)
            self.awake[key] = self.awake.pop(key)
        return changed or not incremental

    def rest(self, want: FetchPartition, replica: Replica) -> None:
        """The follower has all there is to know; nobody looks at it until that is otherwise."""
        if self.resting.setdefault(log_key(replica.topic, replica.index), want.key) == want.key:
            replica.followers[self.follower].shared_fetch = self.shared_fetch
            del self.awake[want.key]

    def woken(self) -> list[FetchPartition]:
        """What was touched since this was last asked, and is looked at from now on."""
        before, self.heard = self.heard, self.purgatory.touches
        if not self.resting:
            return []
        touched = self.purgatory.since(before)
        if touched is None:
            touched = list(self.resting)
        keys = [key for each in touched if (key := self.resting.get(each)) is not None]
        for key in keys:
            self._wake(self.partitions[key])
        return [self.partitions[key].want for key in keys]

    def _wake(self, known: _SessionPartition) -> None:
        want = known.want
        if want.key in self.awake:
            return
        self.awake[want.key] = known
        replica = None
        if want.topic is not None:
            del self.resting[log_key(want.topic, want.index)]
            replica = self.replicas.get(want.topic, want.index)
        state = replica.followers.get(self.follower) if replica else None
        if state is not None and state.shared_fetch is self.shared_fetch:
            state.unshare_fetch()


@dataclass(slots=True)
class Context:
    """The part of a session in one request: its id in the answer, and which rows to leave out."""

    id: int = NO_SESSION
    wanted: list[FetchPartition] = field(default_factory=list)
    error: int = ErrorCode.NONE
    session: Session | None = None
    incremental: bool = False

    @property
    def resting(self) -> bool:
        """Whether it is about more partitions than are `wanted`."""
        return self.session is not None and bool(self.session.resting)

    def rests(self, want: FetchPartition) -> bool:
        return self.session is not None and want.key not in self.session.awake

    def woken(self) -> list[FetchPartition]:
        """The further partitions that have to be looked at by now."""
        return [] if self.session is None else self.session.woken()

    def select(
        self, pairs: list[tuple[FetchPartition, Struct]]
    ) -> list[tuple[FetchPartition, Struct]]:
        """The rows that go out; the session remembers what they say."""
        session = self.session
        if session is None:
            return pairs
        return [
            (want, row)
            for want, row in pairs
            if session.is_sent(want.key, row, incremental=self.incremental)
        ]


def _note(known: _SessionPartition, row: Struct) -> bool:
    """Whether a row says something new; it is remembered as said."""
    start = row.get("log_start_offset", -1)
    changed = bool(
        row["records"]
        or known.high_watermark != row["high_watermark"]
        or known.log_start_offset != start
        or "diverging_epoch" in row
    )
    known.high_watermark, known.log_start_offset = row["high_watermark"], start
    if row["error_code"]:
        known.high_watermark = -1  # so that the recovery is news
        return True
    return changed


class FetchSessions:
    """The fetch sessions of one broker."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        slots = broker.number("max.incremental.fetch.session.cache.slots", DEFAULT_SLOTS)
        shards = broker.persona.quirk("fetch.session-shards")
        self.cache: SessionCache[Session] = SessionCache(slots, shards, broker.cluster.random)

    def may_have(self, request: Request) -> bool:
        """Whether the session that the request names is one that the cache can be asked for.

        An id of none of several parts makes Kafka fail (FetchSessionCache.getCacheShard at 3.9).
        """
        named = request.header.version >= FIRST_WITH_SESSIONS
        return not named or self.cache.has_part_for(request.body["session_id"])

    def never_opened(self, context: Context) -> None:
        """The request that would have opened this session failed; one that goes on, goes on."""
        if context.session is not None and not context.incremental:
            self.cache.remove(context.id)

    def open(self, request: Request, now: int) -> Context:
        body = request.body
        wanted = self._wanted(request)
        if request.header.version < FIRST_WITH_SESSIONS:
            return Context(wanted=wanted)
        sessions = self.cache
        number, epoch = body["session_id"], body["session_epoch"]
        if epoch in (INITIAL_EPOCH, FINAL_EPOCH):
            sessions.remove(number)
            if epoch == FINAL_EPOCH:
                return Context(wanted=wanted)
            session = Session(
                now,
                now,
                replica_of(request),
                {want.key: _SessionPartition(want) for want in wanted},
                self._broker.purgatory,
                self._broker.replicas,
                self._broker.purgatory.touches,
                by_ids=request.header.version >= FIRST_BY_ID,
            )
            if not sessions.admit(session):
                return Context(wanted=wanted)
            wanted = [known.want for known in session.partitions.values()]
            return Context(session.id, wanted, session=session)
        return self._resolved(self._continue(sessions, request, wanted, now))

    def _continue(
        self,
        sessions: SessionCache[Session],
        request: Request,
        wanted: list[FetchPartition],
        now: int,
    ) -> Context:
        session = sessions.get(request.body["session_id"])
        if session is None:
            return Context(error=ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        if session.by_ids != (request.header.version >= FIRST_BY_ID):
            return Context(error=ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR)
        if session.next_epoch != request.body["session_epoch"]:
            return Context(error=ErrorCode.INVALID_FETCH_SESSION_EPOCH)
        if session.follower != replica_of(request):
            session.heard = -1  # somebody else is told everything
        session.woken()
        for want in wanted:
            session.know(want)
        for topic in request.body["forgotten_topics_data"]:
            for index in topic["partitions"]:
                session.forget((topic["topic_id"], topic["topic"], index))
        if not session.partitions:
            sessions.remove(session.id)
            return Context()
        session.next_epoch = 1 if session.next_epoch == _LAST_EPOCH else session.next_epoch + 1
        session.last_used = now
        awake = [known.want for known in session.awake.values()]
        return Context(session.id, awake, session=session, incremental=True)

    def _resolved(self, context: Context) -> Context:
        """A session outlives the ignorance it began in: an id that nobody knew then may have come
        with the controller's news since (FetchSession.CachedPartition.maybeResolveUnknownName).
        """
        for want in context.wanted:
            if want.topic is None:
                known = self._broker.metadata.by_id.get(want.topic_id)
                want.topic = known.name if known else None
        return context

    def _wanted(self, request: Request) -> list[FetchPartition]:
        by_id, ids = request.header.version >= FIRST_BY_ID, self._broker.metadata.by_id
        rows: dict[PartitionKey, FetchPartition] = {}
        for topic in request.body["topics"]:
            name, number = topic["topic"], topic["topic_id"]
            resolved = name
            if by_id:
                known = ids.get(number)
                resolved = known.name if known else None
            for row in topic["partitions"]:
                want = FetchPartition(
                    name,
                    number,
                    resolved,
                    row["partition"],
                    row["fetch_offset"],
                    row["partition_max_bytes"],
                    row["current_leader_epoch"],
                    row["last_fetched_epoch"],
                    row["log_start_offset"],
                )
                rows[want.key] = want
        return list(rows.values())


def replica_of(request: Request) -> int:
    """The replica id of the sender, negative for consumers (KIP-903 moved the field)."""
    body = request.body
    if request.header.version >= FIRST_WITH_REPLICA_STATE:
        return body["replica_state"]["replica_id"]
    return body["replica_id"]
