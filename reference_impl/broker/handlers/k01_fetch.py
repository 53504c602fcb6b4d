"""Fetch: bytes from the logs this broker leads, now or when there are enough of them.

Answered at once when the client will not wait, when the bytes reach its minimum, when a partition
failed or when none was named; otherwise it waits in the purgatory until enough was appended or its
time is up (FETCH-04 to FETCH-08). Reads start at the batch that holds the offset and end anywhere;
from v3 the first batch comes whole however large (KIP-74, FETCH-14, FETCH-15). Older versions get
older formats (FETCH-18).

v3 whole-answer limit (KIP-74); v4 isolation (KIP-98); v5 log start (KIP-107); v7 sessions
(KIP-227); v9 leader epochs (KIP-320); v10 zstd (KIP-110); v11 racks (KIP-392); v12 diverging epochs
(KIP-595); v13 topic ids (KIP-516); v15 replica state (KIP-903); v16 new leaders (KIP-951).

Sources: KafkaApis.handleFetchRequest, ReplicaManager.fetchMessages and readFromLog, DelayedFetch at
1.0.2, 2.2.1, 2.8.2, 3.9; observed on all five releases.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from touchstone.reference_impl.broker.configs.config_view import ConfiguredNode
from touchstone.reference_impl.broker.data import follower_fetches
from touchstone.reference_impl.broker.data.answer_memory import AnswerMemory
from touchstone.reference_impl.broker.data.client_quotas import ClientQuotas
from touchstone.reference_impl.broker.data.fetch_sessions import (
    FIRST_BY_ID,
    Context,
    FetchPartition,
    FetchSessions,
    replica_of,
)
from touchstone.reference_impl.broker.data.padding import padded
from touchstone.reference_impl.broker.data.preferred_replica import ReplicaSelector
from touchstone.reference_impl.broker.effects import Access, Hangup, Request, Wait, WaitKey
from touchstone.reference_impl.broker.personas.persona import Persona
from touchstone.reference_impl.broker.purgatory import ANY
from touchstone.reference_impl.broker.replication.partitions import (
    DEBUGGING,
    NO_TOPIC_ID,
    LocatedReplica,
    leader_of,
    log_key,
)
from touchstone.reference_impl.broker.replication.replicas import Replicas
from touchstone.reference_impl.cluster.acls import Operation
from touchstone.reference_impl.cluster.topology import Cluster
from touchstone.reference_impl.cluster.view import MetadataView
from touchstone.reference_impl.log.partition_log import HIGH_WATERMARK, LAST_STABLE, LOG_END, Read
from touchstone.reference_impl.log.rules import LogError
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.records import (
    RecordError,
    UnsupportedCompression,
    down_convert,
    entries,
    read_header,
)
from touchstone.reference_impl.wire.schema import Struct

INT_MAX = 2**31 - 1
READ_UNCOMMITTED, READ_COMMITTED = 0, 1
MOVED = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH)
BATCH_MAGIC = 2
FIRST_FROM_FOLLOWERS = 11  # the version from which consumers may read from followers (KIP-392)
_NEWEST_OF = {0: 0, 1: 0, 2: 1, 3: 1}  # the newest record format a Fetch version may carry


def handle(
    request: Request,
    replicas: Replicas,
    sessions: FetchSessions,
    selector: ReplicaSelector,
    quotas: ClientQuotas,
    metadata: MetadataView,
    cluster: Cluster,
    node: ConfiguredNode,
    persona: Persona,
    answers: AnswerMemory,
    now: int,
) -> Struct | Wait | Hangup:
    body, version = request.body, request.header.version
    isolated = body["isolation_level"] in (READ_UNCOMMITTED, READ_COMMITTED)
    if not isolated and persona.quirk("fetch.parses-isolation"):
        return Hangup(f"isolation level {body['isolation_level']}")
    if not sessions.may_have(request):
        return fail(request, ErrorCode.UNKNOWN_SERVER_ERROR)
    session = sessions.open(request, now)
    if session.error:
        return {"error_code": session.error, "session_id": 0, "responses": []}
    replica, committed = replica_of(request), body["isolation_level"] == READ_COMMITTED
    max_bytes = min(_max_bytes(request, replica, quotas, node, persona), answers.bound(request))
    debugs = replica == DEBUGGING and persona.quirk("fetch.debuggers-read-any-replica")
    fetch = _Fetch(
        request=request,
        replicas=replicas,
        selector=selector,
        metadata=metadata,
        cluster=cluster,
        node=node,
        persona=persona,
        session=session,
        version=version,
        isolation=_reads_up_to(body["isolation_level"], replica),
        max_bytes=max_bytes,
        min_bytes=min(body["min_bytes"], max_bytes),
        replica=replica,
        replica_epoch=body["replica_state"]["replica_epoch"],
        rack=body["rack_id"] if replica < 0 else "",
        tells_stable=committed or persona.quirk("fetch.uncommitted-sees-last-stable"),
        from_any_replica=debugs or (version >= FIRST_FROM_FOLLOWERS and replica < 0),
    )
    to_read = named = fetch.sorted_out()
    if replica == node.id and persona.quirk("fetch.own-id-fails") and fetch.has_any(named):
        return fail(request, ErrorCode.UNKNOWN_SERVER_ERROR)
    if named and not isolated:  # nobody asks how isolated a fetch of nothing is
        sessions.never_opened(session)
        return fail(request, ErrorCode.UNKNOWN_SERVER_ERROR)
    if replica >= 0:
        to_read = follower_fetches.busy(replicas, replica, session, named, now, arrives=True)
        named = [want for want in named if not session.rests(want)]
    results = fetch.arrived(to_read, now)
    if replica >= 0:
        follower_fetches.note(replicas, replica, fetch.replica_epoch, to_read, results, now)
    waits = body["max_wait_ms"] > 0 and (named or session.resting)
    if not waits or fetch.is_enough(results) or fetch.ready(to_read, now):
        return fetch.answer(to_read, results, now)
    return DelayedFetch(fetch, named, now).wait()


def _reads_up_to(level: int, replica: int) -> str:
    if replica >= 0:
        return LOG_END
    return LAST_STABLE if level == READ_COMMITTED else HIGH_WATERMARK


def _max_bytes(
    request: Request, replica: int, quotas: ClientQuotas, node: ConfiguredNode, persona: Persona
) -> int:
    limit = node.number("fetch.max.bytes", persona.quirk("fetch.max-bytes"))
    max_bytes = min(request.body["max_bytes"], limit)
    if quotas and replica < 0 and persona.quirk("quotas.bound-fetches"):
        most = quotas.most(request)
        max_bytes = max_bytes if most is None else min(max_bytes, int(most))
    return max_bytes


@dataclass(slots=True)
class _Fetch:
    """One request with its limits resolved, and what it may touch."""

    request: Request
    replicas: Replicas
    selector: ReplicaSelector
    metadata: MetadataView
    cluster: Cluster
    node: ConfiguredNode
    persona: Persona
    session: Context
    version: int
    isolation: str
    max_bytes: int
    min_bytes: int
    replica: int
    replica_epoch: int
    rack: str  # where a consumer reads from, if it says so (v11)
    tells_stable: bool  # whether the answer carries the last stable offset
    from_any_replica: bool  # whether a replica that does not lead may serve it
    refused: list[tuple[FetchPartition, int]] = field(default_factory=list)

    def sorted_out(self) -> list[FetchPartition]:
        """The partitions that can be looked for; the others are refused."""
        found = [(want, self.unknown(want)) for want in self.session.wanted]
        self.refused = [(want, code) for want, code in found if code]
        return [want for want, code in found if not code]

    def unknown(self, want: FetchPartition) -> int:
        """The error of a partition that cannot be looked for; such rows come last in the answer."""
        if self.request.access is not None and (code := self._denied(self.request.access, want)):
            return code
        if want.topic is None:
            return ErrorCode.UNKNOWN_TOPIC_ID
        if want.topic in self.metadata.topics and self.persona.quirk("fetch.knows-topics-only"):
            return ErrorCode.NONE
        if self.metadata.partition(want.topic, want.index) is None:
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return ErrorCode.NONE

    def _denied(self, access: Access, want: FetchPartition) -> int:
        """The error of what this peer may not read: a follower has to be a broker."""
        denied = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        if self.replica >= 0:
            old = self.persona.quirk("acls.followers-read-as-well")
            if not access.cluster(Operation.CLUSTER_ACTION):
                return ErrorCode.CLUSTER_AUTHORIZATION_FAILED if old else denied
            if not old:
                return ErrorCode.NONE
        if want.topic is None or access.topic(Operation.READ, want.topic):
            return ErrorCode.NONE
        return denied

    def arrived(self, named: list[FetchPartition], now: int) -> list[Struct]:
        """Read for the first time, which metrics count; the same is read again once it waited."""
        if self.replicas.observer is not None:
            self.replicas.observer.read(want.topic or "" for want in named)
        return self.read_all(named, now)

    def read_all(self, named: list[FetchPartition], now: int) -> list[Struct]:
        """A row per partition, in request order, until the answer's bytes are used up."""
        left, min_one, rows = self.max_bytes, self.version >= 3, []
        for want in named:
            row = self._read(want, min(want.max_bytes, left), min_one, now)
            size = len(row["records"])
            if size:
                min_one = False
            left = max(0, left - size)
            rows.append(row)
        return rows

    def _read(self, want: FetchPartition, max_bytes: int, min_one: bool, now: int) -> Struct:
        """The row of one partition; checks in the order of readFromLocalLog@2.8.2."""
        replica, error = self._located(want)
        if replica is None:
            return _error(want.index, error)
        offset, log = want.offset, replica.log
        if self.rack and replica.is_leader:
            closer = self.selector.preferred(replica, self.rack, offset, now)
            if closer is not None:  # no bytes: the consumer is to read them there (KIP-392)
                return {**self._row(want, log.marks(), b""), "preferred_read_replica": closer}
        try:
            if self.replica >= 0 and self.replica not in replica.followers:
                if self.persona.quirk("fetch.refuses-strangers"):
                    # Who knows the epoch may know of an assignment that this leader has not heard
                    # of yet, and asks again (Partition.followerReplicaOrThrow@3.9).
                    knows = want.leader_epoch >= 0
                    return _error(
                        want.index,
                        ErrorCode.UNKNOWN_LEADER_EPOCH
                        if knows
                        else ErrorCode.NOT_LEADER_OR_FOLLOWER,
                    )
                # Older leaders read all the same, which refuses a wrong offset, and give nothing.
                found = log.read(offset, max_bytes, min_one=min_one, isolation=self.isolation)
                return self._row(want, found, b"")
            # What the broker asked before it restarted must not count for the one that is up now.
            if self.replicas.registered_anew(self.replica, self.replica_epoch):
                return _error(want.index, ErrorCode.NOT_LEADER_OR_FOLLOWER)
            diverging = follower_fetches.diverging(replica, want)
            if diverging is not None:
                return {**self._row(want, log.marks(), b""), "diverging_epoch": diverging}
            read = log.read(offset, max_bytes, min_one=min_one, isolation=self.isolation)
        except LogError as refusal:
            return _error(want.index, refusal.code)
        # A throttled follower gets nothing, but only after the read: errors and marks do not wait
        # for a quota (shouldLeaderThrottle).
        records = read.records
        if records and self.replica >= 0 and self.replicas.holds_back(replica, self.replica, now):
            records = b""
        # A piece of a batch tells clients up to v2 that their limit is too small. From v3 the first
        # batch of an answer comes whole, and a piece is dropped.
        if self.version >= 3 and read.first_incomplete:
            records = b""
        row = self._row(want, read, records)
        if self.isolation == LAST_STABLE and records:
            row["aborted_transactions"] = [
                {"producer_id": each.producer_id, "first_offset": each.first_offset}
                for each in log.aborted(offset, _read_to(records, max_bytes, read.log_end_offset))
            ]
        return row

    def _located(self, want: FetchPartition) -> LocatedReplica:
        fences = self.persona.quirk("fetch.fences-negative-epochs")
        return self.replicas.locate(
            want.topic or "",
            want.index,
            epoch=want.leader_epoch if fences else max(want.leader_epoch, -1),
            any_replica=self.from_any_replica,
            debugging=self.replica == DEBUGGING,
        )

    def has_any(self, named: list[FetchPartition]) -> bool:
        """Whether this broker has one of these partitions."""
        found = (self.replicas.locate(w.topic or "", w.index, any_replica=True) for w in named)
        return any(located.replica is not None for located in found)

    def is_enough(self, rows: list[Struct]) -> bool:
        """Whether these rows are answered at once, for what they hold or for what they say."""
        return (
            sum(len(row["records"]) for row in rows) >= self.min_bytes
            or any(row["error_code"] or "diverging_epoch" in row for row in rows)
            or self.sent_elsewhere(rows)
        )

    def sent_elsewhere(self, rows: list[Struct]) -> bool:
        if not self.persona.quirk("fetch.preferred-replica-at-once"):
            return False
        return any("preferred_read_replica" in row for row in rows)

    def _row(self, want: FetchPartition, read: Read, records: bytes) -> Struct:
        committed = self.isolation == LAST_STABLE
        return {
            "partition_index": want.index,
            "error_code": ErrorCode.NONE,
            "high_watermark": read.high_watermark,
            "last_stable_offset": read.last_stable_offset if self.tells_stable else -1,
            "log_start_offset": read.log_start_offset,
            "aborted_transactions": [] if committed else None,
            "records": records,
        }

    def ready(self, named: list[FetchPartition], now: int) -> bool:
        """Whether a waiting fetch has something to say (DelayedFetch.tryComplete; FETCH-11)."""
        total, follows = 0, self.replica >= 0
        for want in named:
            if follows and follower_fetches.waits(
                self.replicas.get(want.topic or "", want.index), want
            ):
                continue
            located = self._located(want)
            if located.replica is None:
                return True
            log = located.replica.log
            if want.offset > log.log_end_offset:  # truncated; that it was deleted is not looked at
                return True
            if self.rack and self.selector.preferred(located.replica, self.rack, want.offset, now):
                continue  # there is nothing to wait for here
            if self.replica >= 0 and self.replicas.holds_back(located.replica, self.replica, now):
                continue
            readable, older = log.readable(want.offset, self.isolation)
            if older:
                return True
            total += min(readable, want.max_bytes)
            if total >= self.min_bytes:
                return True
        return self.min_bytes <= 0

    def answer(self, named: list[FetchPartition], rows: list[Struct], now: int) -> Struct:
        if self.replica >= 0:
            follower_fetches.count(self.replicas, named, rows, now)
        pairs = list(zip(named, rows, strict=True))
        aborted: list[Any] | None = (
            [] if self.persona.quirk("fetch.unknown-lists-aborted") else None
        )
        for want, code in self.refused:
            pairs.append((want, {**_error(want.index, code), "aborted_transactions": aborted}))
        endpoints = {}
        for want, row in pairs:
            if self.version >= 16 and row["error_code"] in MOVED:
                row["current_leader"], node = leader_of(
                    self.metadata, want.topic or "", want.index, self.request.connection.listener
                )
                own = row["current_leader"]["leader_id"] == self.node.id
                if node and (not own or self.persona.quirk("fetch.tells-own-node")):
                    endpoints[node["node_id"]] = node
        pairs = self.session.select(pairs)
        by_id = self.version >= FIRST_BY_ID
        if by_id and any(want.topic_id == NO_TOPIC_ID for want, _ in pairs[:-1]):
            # Kafka asks whether the next row has the same name, which is null (matchingTopic).
            return fail(self.request, ErrorCode.UNKNOWN_SERVER_ERROR)
        if self.version <= 9:
            pairs = [(want, self._converted(want, row)) for want, row in pairs]
        return {
            "session_id": self.session.id,
            "responses": _grouped(pairs),
            "node_endpoints": list(endpoints.values()),
        }

    def _converted(self, want: FetchPartition, row: Struct) -> Struct:
        """The row in a format its version can carry (KIP-110, KIP-283)."""
        if want.topic not in self.cluster.topics:
            return row
        config = self.cluster.config_of(want.topic, broker=self.node.id)
        zstd = config.compression_type == "zstd"
        if zstd and self.persona.quirk("fetch.zstd-needs-version-10"):
            return self._unconverted(want, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)
        newest = _NEWEST_OF.get(self.version)
        if newest is None or not row["records"]:
            return row
        if not config.message_downconversion_enable:
            return self._unconverted(want, ErrorCode.UNSUPPORTED_VERSION)
        stored = row["records"]
        try:
            records = down_convert(stored, newest, first_offset=want.offset)
            if self.persona.quirk("fetch.pads-converted"):
                records = padded(records, stored, newest, want.offset)
            if not records and self.persona.quirk("fetch.cut-entry-goes-out-raw"):
                records = stored if next(entries(stored), None) is None else records
        except UnsupportedCompression:
            return self._unconverted(want, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)
        except RecordError:
            return self._unconverted(want, ErrorCode.CORRUPT_MESSAGE)
        return {**row, "records": records}

    def _unconverted(self, want: FetchPartition, code: int) -> Struct:
        row = _error(want.index, code)
        if self.persona.quirk("fetch.unconverted-is-null"):
            return {**row, "records": None, "aborted_transactions": []}
        return row


class DelayedFetch:
    """A Fetch that waits until there is enough to read, or its time is up (FETCH-04 to FETCH-08).

    A follower also stops waiting when this broker begins to lead more of what it follows, so that
    its next fetch names that too.
    """

    __slots__ = ("_fetch", "_named", "_newest", "_until")

    def __init__(self, fetch: _Fetch, named: list[FetchPartition], now: int) -> None:
        self._fetch, self._named = fetch, named
        self._until = now + fetch.request.body["max_wait_ms"]
        self._newest = fetch.replicas.newest(fetch.replica)

    def wait(self) -> Wait:
        follower, named = self._fetch.replica, self._named
        keys: list[WaitKey] = [log_key(want.topic or "", want.index) for want in named]
        if self._fetch.session.resting:
            keys = [ANY]
        if follower >= 0:
            keys.append(("to follow", follower))
        return Wait(self._until, keys, self.attempt, self.expire)

    def attempt(self, now: int) -> Struct | None:
        """The answer, if there is enough for one by now."""
        fetch, named = self._fetch, self._named
        named.extend(fetch.session.woken())
        more = self._newest != fetch.replicas.newest(fetch.replica)
        return self.expire(now) if more or fetch.ready(named, now) else None

    def expire(self, now: int) -> Struct:
        """The answer with whatever there is."""
        fetch, named = self._fetch, self._named
        named.extend(fetch.session.woken())
        if fetch.replica >= 0:
            named = follower_fetches.busy(
                fetch.replicas, fetch.replica, fetch.session, named, now, arrives=False
            )
        return fetch.answer(named, fetch.read_all(named, now), now)


def fail(request: Request, code: int) -> Struct:
    """Every partition with this error, and the whole from v7 on; v13 names no partitions."""
    rows = [
        {
            "topic": topic["topic"],
            "partitions": [_error(row["partition"], code) for row in topic["partitions"]],
        }
        for topic in request.body["topics"]
        if request.header.version < FIRST_BY_ID
    ]
    return {"error_code": code, "session_id": request.body["session_id"], "responses": rows}


def _read_to(records: bytes, max_bytes: int, log_end: int) -> int:
    """Where aborted transactions must begin before, to concern what was read.

    An answer that its limit did not cut concerns all of the log; of one that it did, those behind
    its last whole batch are the next answer's business (Kafka looks into its sparse index for
    this, and so lists a few more).
    """
    if len(records) < max_bytes:
        return log_end
    end = log_end
    for position, _, magic in entries(records):
        if magic == BATCH_MAGIC:
            end = read_header(records, position).last_offset + 1
    return end


def _error(index: int, code: int) -> Struct:
    return {
        "partition_index": index,
        "error_code": code,
        "high_watermark": -1,
        "aborted_transactions": None,
        "records": b"",
    }


def _grouped(pairs: list[tuple[FetchPartition, Struct]]) -> list[Struct]:
    """Rows of neighbouring partitions of one topic share a topic entry."""
    topics: list[Struct] = []
    last = None
    for want, row in pairs:
        key = (want.topic_id, want.name)
        if key != last:
            topics.append({"topic": want.name, "topic_id": want.topic_id, "partitions": []})
            last = key
        topics[-1]["partitions"].append(row)
    return topics
