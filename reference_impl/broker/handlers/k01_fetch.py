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
from struct import Struct
from typing import Any

from touchstone.reference_impl.broker.broker import Broker
from touchstone.reference_impl.broker.data import fetch_sessions, follower_fetches
from touchstone.reference_impl.broker.data.fetch_sessions import FetchSessions
from touchstone.reference_impl.broker.data.preferred_replica import ReplicaSelector
from touchstone.reference_impl.broker.effects import Hangup, Request, Wait, WaitKey
from touchstone.reference_impl.broker.purgatory import ANY
from touchstone.reference_impl.broker.replication.partitions import (
    DEBUGGING,
    LocatedReplica,
    leader_of,
    log_key,
)
from touchstone.reference_impl.cluster.replica import Replica
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

INT_MAX = 2**31 - 1
READ_UNCOMMITTED, READ_COMMITTED = 0, 1
UNDEFINED = -1
MOVED = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH)
BATCH_HEADER, CONVERSION_CHUNK = 61, 128 << 10
BATCH_MAGIC = 2
_OVERFLOW = Struct(">qi")
_NEWEST_OF = {0: 0, 1: 0, 2: 1, 3: 1}  # the newest record format a Fetch version may carry


@dataclass(slots=True)
class _Query:
    """The request of one Fetch, with its limits resolved."""

    request: Request
    wanted: list[fetch_sessions.FetchPartition]
    session: fetch_sessions.Context
    version: int
    isolation: str
    max_bytes: int
    min_bytes: int
    replica: int
    replica_epoch: int
    rack: str  # where a consumer reads from, if it says so (v11)
    tells_stable: bool  # whether the answer carries the last stable offset
    from_any_replica: bool  # consumers may read from followers since v11 (KIP-392)
    refused: list[tuple[fetch_sessions.FetchPartition, int]] = field(default_factory=list)


def handle(request: Request, broker: Broker, now: int) -> dict[str, Any] | Wait | Hangup:
    body, version = request.body, request.header.version
    if body["isolation_level"] not in (READ_UNCOMMITTED, READ_COMMITTED):
        if broker.persona.quirk("fetch.parses-isolation"):
            return Hangup(f"isolation level {body['isolation_level']}")
        return fail(request, ErrorCode.UNKNOWN_SERVER_ERROR)
    session = broker.room(FetchSessions).open(request, now)
    if session.error:
        return {"error_code": session.error, "session_id": 0, "responses": []}
    query = _query(request, broker, session, version)
    refused = [(want, _unknown(broker, want)) for want in query.wanted]
    named = [want for want, code in refused if not code]
    query.refused = [(want, code) for want, code in refused if code]
    follower = query.replica
    news = named
    if follower >= 0:
        news = follower_fetches.busy(broker.replicas, follower, session, named, now, arrives=True)
        named = [want for want in named if not session.rests(want)]
    results = _read_all(query, broker, news, now)
    if follower >= 0:
        follower_fetches.note(broker.replicas, follower, query.replica_epoch, news, results, now)
    size = sum(len(row["records"]) for row in results)
    if (
        body["max_wait_ms"] <= 0
        or not (named or session.resting)
        or size >= query.min_bytes
        or any(row["error_code"] or "diverging_epoch" in row for row in results)
        or _sent_elsewhere(broker, results)
        or _ready(query, broker, news, now)
    ):
        return _answer(query, broker, news, results, now)
    return DelayedFetch(query, broker, named, now).wait()


class DelayedFetch:
    """A Fetch that waits until there is enough to read, or its time is up (FETCH-04 to FETCH-08).

    A follower also stops waiting when this broker begins to lead more of what it follows, so that
    its next fetch names that too.
    """

    __slots__ = ("_broker", "_named", "_newest", "_query", "_until")

    def __init__(
        self,
        query: _Query,
        broker: Broker,
        named: list[fetch_sessions.FetchPartition],
        now: int,
    ) -> None:
        self._query, self._broker, self._named = query, broker, named
        self._until = now + query.request.body["max_wait_ms"]
        self._newest = broker.replicas.newest(query.replica)

    def wait(self) -> Wait:
        follower, named = self._query.replica, self._named
        keys: list[WaitKey] = [log_key(want.topic, want.index) for want in named]
        if self._query.session.resting:
            keys = [ANY]
        if follower >= 0:
            keys.append(("to follow", follower))
        return Wait(self._until, keys, self.attempt, self.expire)

    def attempt(self, now: int) -> dict[str, Any] | None:
        """The answer, if there is enough for one by now."""
        query, broker, named = self._query, self._broker, self._named
        named.extend(query.session.woken(broker))
        more = self._newest != broker.replicas.newest(query.replica)
        return self.expire(now) if more or _ready(query, broker, named, now) else None

    def expire(self, now: int) -> dict[str, Any]:
        """The answer with whatever there is."""
        query, broker, named = self._query, self._broker, self._named
        if "fetch-waits-time-out" in broker.switches and now >= self._until:
            late = [_error(want.index, ErrorCode.REQUEST_TIMED_OUT) for want in named]
            return _answer(query, broker, named, late, now)
        named.extend(query.session.woken(broker))
        if query.replica >= 0:
            named = follower_fetches.busy(
                broker.replicas, query.replica, query.session, named, now, arrives=False
            )
        return _answer(query, broker, named, _read_all(query, broker, named, now), now)


def fail(request: Request, code: int) -> dict[str, Any]:
    """Every partition with this error, and the whole from v7 on; v13 names no partitions."""
    rows = [
        {
            "topic": topic["topic"],
            "partitions": [_error(row["partition"], code) for row in topic["partitions"]],
        }
        for topic in request.body["topics"]
        if request.header.version < fetch_sessions.FIRST_BY_ID
    ]
    return {"error_code": code, "session_id": request.body["session_id"], "responses": rows}


def _query(
    request: Request, broker: Broker, session: fetch_sessions.Context, version: int
) -> _Query:
    body = request.body
    replica = fetch_sessions.replica_of(request)
    isolation = LOG_END
    if replica < 0 and "hw-ignored" not in broker.switches:
        committed = body["isolation_level"] == READ_COMMITTED
        isolation = LAST_STABLE if committed else HIGH_WATERMARK
    limit = broker.number("fetch.max.bytes", broker.persona.quirk("fetch.max-bytes"))
    max_bytes = min(body["max_bytes"], limit)
    if broker.quotas and replica < 0 and broker.persona.quirk("quotas.bound-fetches"):
        most = broker.quotas.most(request.header.key, request.header.client_id)
        max_bytes = max_bytes if most is None else min(max_bytes, int(most))
    return _Query(
        request,
        session.wanted,
        session,
        version,
        isolation,
        max_bytes,
        min(body["min_bytes"], max_bytes),
        replica,
        body["replica_state"]["replica_epoch"],
        body["rack_id"] if replica < 0 else "",
        body["isolation_level"] == READ_COMMITTED
        or broker.persona.quirk("fetch.uncommitted-sees-last-stable"),
        (version >= 11 and replica < 0)
        or (replica == DEBUGGING and broker.persona.quirk("fetch.debuggers-read-any-replica")),
    )


def _unknown(broker: Broker, want: fetch_sessions.FetchPartition) -> int:
    """The error of a partition that cannot be looked for; such rows come last in the answer."""
    if want.topic is None:
        return ErrorCode.UNKNOWN_TOPIC_ID
    if want.topic in broker.metadata.topics and broker.persona.quirk("fetch.knows-topics-only"):
        return ErrorCode.NONE
    if broker.metadata.partition(want.topic, want.index) is None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return ErrorCode.NONE


def _read_all(
    query: _Query, broker: Broker, named: list[fetch_sessions.FetchPartition], now: int
) -> list[dict[str, Any]]:
    """A row per partition, in request order, until the answer's bytes are used up."""
    left, min_one, rows = query.max_bytes, query.version >= 3, []
    for want in named:
        row = _read(query, broker, want, min(want.max_bytes, left), min_one, now)
        size = len(row["records"])
        if size:
            min_one = False
        left = max(0, left - size)
        rows.append(row)
    return rows


def _read(
    query: _Query,
    broker: Broker,
    want: fetch_sessions.FetchPartition,
    max_bytes: int,
    min_one: bool,
    now: int,
) -> dict[str, Any]:
    replica, error = _located(query, broker, want)
    if replica is None:
        return _error(want.index, error)
    offset, log = want.offset, replica.log
    if query.rack and replica.is_leader:
        closer = broker.room(ReplicaSelector).preferred(replica, query.rack, offset, now)
        if closer is not None:
            return {**_row(query, want, log.marks(), b""), "preferred_read_replica": closer}
    try:
        if query.replica >= 0 and query.replica not in replica.followers:
            if query.replica == broker.id and broker.persona.quirk("fetch.own-id-fails"):
                return _error(want.index, ErrorCode.UNKNOWN_SERVER_ERROR)
            if broker.persona.quirk("fetch.refuses-strangers"):
                return _error(want.index, ErrorCode.NOT_LEADER_OR_FOLLOWER)
            return _row(query, want, log.marks(), b"")
        if broker.replicas.registered_anew(query.replica, query.replica_epoch):
            return _error(want.index, ErrorCode.NOT_LEADER_OR_FOLLOWER)
        diverging = _diverging(replica, want)
        if diverging is not None:
            return {**_row(query, want, log.marks(), b""), "diverging_epoch": diverging}
        isolation = query.isolation
        if not replica.is_leader and "follower-reads-past-hw" in broker.switches:
            isolation = LOG_END
        read = log.read(offset, max_bytes, min_one=min_one, isolation=isolation)
    except LogError as refusal:
        return _error(want.index, refusal.code)
    records = read.records
    if records and query.replica >= 0 and broker.replicas.holds_back(replica, query.replica, now):
        records = b""
    if query.version >= 3 and read.first_incomplete:
        records = b""
    if records and int.from_bytes(records[:8], "big") < offset:
        records = _bent(records, broker.switches)
    row = _row(query, want, read, records)
    if query.isolation == LAST_STABLE and records:
        row["aborted_transactions"] = [
            {"producer_id": each.producer_id, "first_offset": each.first_offset}
            for each in log.aborted(offset, _read_to(records, max_bytes, read.log_end_offset))
        ]
    return row


def _bent(records: bytes, switches: frozenset[str]) -> bytes:
    """The records as planted defects bend them, if their first batch begins before the offset."""
    end = 12 + int.from_bytes(records[8:12], "big")
    if "last-batch-shut" in switches and end == len(records):
        return b""
    return records[end:] if "fetch-skips-mid-batch" in switches else records


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


def _located(query: _Query, broker: Broker, want: fetch_sessions.FetchPartition) -> LocatedReplica:
    return broker.replicas.locate(
        want.topic,
        want.index,
        epoch=want.leader_epoch,
        any_replica=query.from_any_replica,
        debugging=query.replica == DEBUGGING,
    )


def _sent_elsewhere(broker: Broker, rows: list[dict[str, Any]]) -> bool:
    if not broker.persona.quirk("fetch.preferred-replica-at-once"):
        return False
    return any("preferred_read_replica" in row for row in rows)


def _diverging(replica: Replica, want: fetch_sessions.FetchPartition) -> dict[str, int] | None:
    """The offset at which the reader's log left ours, if it did (KIP-595)."""
    if want.last_fetched_epoch < 0:
        return None
    log = replica.log
    epoch, end = log.end_of_epoch(want.last_fetched_epoch)
    if UNDEFINED in (epoch, end):
        raise LogError(
            ErrorCode.OFFSET_OUT_OF_RANGE,
            "Could not determine the end offset of the last fetched epoch"
            f" {want.last_fetched_epoch}",
        )
    if epoch < want.last_fetched_epoch or end < want.offset:
        return {"epoch": epoch, "end_offset": end}
    return None


def _row(
    query: _Query, want: fetch_sessions.FetchPartition, read: Read, records: bytes
) -> dict[str, Any]:
    committed = query.isolation == LAST_STABLE
    return {
        "partition_index": want.index,
        "error_code": ErrorCode.NONE,
        "high_watermark": read.high_watermark,
        "last_stable_offset": read.last_stable_offset if query.tells_stable else -1,
        "log_start_offset": read.log_start_offset,
        "aborted_transactions": [] if committed else None,
        "records": records,
    }


def _error(index: int, code: int) -> dict[str, Any]:
    return {
        "partition_index": index,
        "error_code": code,
        "high_watermark": -1,
        "aborted_transactions": None,
        "records": b"",
    }


def _ready(
    query: _Query, broker: Broker, named: list[fetch_sessions.FetchPartition], now: int
) -> bool:
    """Whether a waiting fetch has something to say (DelayedFetch.tryComplete; FETCH-11)."""
    total, follows = 0, query.replica >= 0
    for want in named:
        if follows and follower_fetches.waits(broker.replicas.get(want.topic, want.index), want):
            continue
        located = _located(query, broker, want)
        if located.replica is None:
            return True
        log = located.replica.log
        if want.offset > log.log_end_offset:  # truncated; that it was deleted is not looked at
            return True
        if query.rack and broker.room(ReplicaSelector).preferred(
            located.replica, query.rack, want.offset, now
        ):
            continue  # there is nothing to wait for here
        if query.replica >= 0 and broker.replicas.holds_back(located.replica, query.replica, now):
            continue
        readable, older = log.readable(want.offset, query.isolation)
        if older:
            return True
        total += min(readable, want.max_bytes)
        if total >= query.min_bytes:
            return True
    return query.min_bytes <= 0


def _answer(
    query: _Query,
    broker: Broker,
    named: list[fetch_sessions.FetchPartition],
    rows: list[dict[str, Any]],
    now: int,
) -> dict[str, Any]:
    if query.replica >= 0:
        follower_fetches.count(broker.replicas, named, rows, now)
    pairs = list(zip(named, rows, strict=True))
    aborted = [] if broker.persona.quirk("fetch.unknown-lists-aborted") else None
    for want, code in query.refused:
        pairs.append((want, {**_error(want.index, code), "aborted_transactions": aborted}))
    endpoints = {}
    for want, row in pairs:
        if query.version >= 16 and row["error_code"] in MOVED:
            row["current_leader"], node = leader_of(broker.metadata, want.topic, want.index)
            own = row["current_leader"]["leader_id"] == broker.id
            if node and (not own or broker.persona.quirk("fetch.tells-own-node")):
                endpoints[node["node_id"]] = node
    pairs = query.session.select(pairs)
    if query.version <= 9:
        pairs = [(want, _converted(query, broker, want, row)) for want, row in pairs]
    return {
        "session_id": query.session.id,
        "responses": _grouped(pairs),
        "node_endpoints": list(endpoints.values()),
    }


def _grouped(
    pairs: list[tuple[fetch_sessions.FetchPartition, dict[str, Any]]],
) -> list[dict[str, Any]]:
    """Rows of neighbouring partitions of one topic share a topic entry."""
    topics: list[dict[str, Any]] = []
    last = None
    for want, row in pairs:
        key = (want.topic_id, want.name)
        if key != last:
            topics.append({"topic": want.name, "topic_id": want.topic_id, "partitions": []})
            last = key
        topics[-1]["partitions"].append(row)
    return topics


def _converted(
    query: _Query, broker: Broker, want: fetch_sessions.FetchPartition, row: dict[str, Any]
) -> dict[str, Any]:
    """The row in a format its version can carry (KIP-110, KIP-283)."""
    if want.topic not in broker.cluster.topics:
        return row
    config = broker.config_of(want.topic)
    zstd = config.compression_type == "zstd"
    if zstd and broker.persona.quirk("fetch.zstd-needs-version-10"):
        return _unconverted(broker, want, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)
    newest = _NEWEST_OF.get(query.version)
    if newest is None or not row["records"]:
        return row
    if not config.message_downconversion_enable:
        return _unconverted(broker, want, ErrorCode.UNSUPPORTED_VERSION)
    stored = row["records"]
    try:
        records = down_convert(stored, newest, first_offset=want.offset)
        if broker.persona.quirk("fetch.pads-converted"):
            records = _padded(records, stored, newest, want.offset)
        if not records and broker.persona.quirk("fetch.cut-entry-goes-out-raw"):
            records = stored if next(entries(stored), None) is None else records
    except UnsupportedCompression:
        return _unconverted(broker, want, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)
    except RecordError:
        return _unconverted(broker, want, ErrorCode.CORRUPT_MESSAGE)
    return {**row, "records": records}


def _unconverted(broker: Broker, want: fetch_sessions.FetchPartition, code: int) -> dict[str, Any]:
    row = _error(want.index, code)
    if broker.persona.quirk("fetch.unconverted-is-null"):
        return {**row, "records": None, "aborted_transactions": []}
    return row


def _padded(converted: bytes, stored: bytes, magic: int, offset: int) -> bytes:
    """`converted` at the size that was promised before conversion was done (KIP-283)."""
    first = next(entries(stored), None)
    if first is None:
        return b""
    head = down_convert(stored[: first[0] + first[1]], magic, first_offset=offset)
    size = max(len(stored), len(head))
    missing = size - len(converted)
    while missing > 0:
        overflow = _OVERFLOW.pack(-1, max(missing + 1, BATCH_HEADER)).ljust(
            min(missing + 1, CONVERSION_CHUNK), b"\0"
        )
        converted += overflow[:missing]
        missing = size - len(converted)
    return converted[:size]
