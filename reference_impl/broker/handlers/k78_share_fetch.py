"""ShareFetch: records that nobody of the group has, and what became of earlier ones (KIP-932).

A request may acknowledge before it reads; each partition's row says how both went. v2 adds the mode
of acquiring (KIP-1206) and renewals, which read nothing (KIP-1222). A member that gets no session
because the cache is full is answered only after the time that it would have waited.

Sources: KafkaApis.handleShareFetchRequest@4.3.1; observed on 4.3.1.
"""

from __future__ import annotations

from collections.abc import Callable

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.broker.configs import group_settings
from touchstone.reference_impl.broker.configs.config_view import ConfiguredNode
from touchstone.reference_impl.broker.coordinators.share_groups import ShareGroups
from touchstone.reference_impl.broker.data.share_acknowledging import (
    FIRST_RENEWING,
    Acknowledgements,
    grouped,
    has_ids,
    rows_of,
    told_leader,
)
from touchstone.reference_impl.broker.data.share_fetching import ShareRead, failed
from touchstone.reference_impl.broker.data.share_partitions import SharePartitions
from touchstone.reference_impl.broker.data.share_sessions import ShareSessions
from touchstone.reference_impl.broker.effects import Request, Wait
from touchstone.reference_impl.broker.personas.persona import Persona
from touchstone.reference_impl.broker.purgatory import Purgatory
from touchstone.reference_impl.broker.replication.replicas import Replicas
from touchstone.reference_impl.cluster.acls import Operation
from touchstone.reference_impl.cluster.topology import Cluster
from touchstone.reference_impl.cluster.view import MetadataView
from touchstone.reference_impl.share.acquisition import RECORD_LIMIT, AcquisitionRequest
from touchstone.reference_impl.share.sessions import FINAL, FIRST, Session, TopicIdPartition
from touchstone.reference_impl.wire.errors import ErrorCode as E
from touchstone.reference_impl.wire.schema import Struct

_NOT_WHILE_RENEWING = ("max_bytes", "min_bytes", "max_records", "max_wait_ms")


def handle(
    request: Request,
    shares: ShareGroups,
    hosted: SharePartitions,
    sessions: ShareSessions,
    replicas: Replicas,
    purgatory: Purgatory,
    metadata: MetadataView,
    cluster: Cluster,
    node: ConfiguredNode,
    persona: Persona,
    now: int,
) -> Struct | Wait:
    if not shares.enabled():
        return fail(request, E.UNSUPPORTED_VERSION)
    body = request.body
    renews = request.header.version >= FIRST_RENEWING and bool(body["is_renew_ack"])
    if not has_ids(body) or (renews and any(body[name] for name in _NOT_WHILE_RENEWING)):
        return fail(request, E.INVALID_REQUEST)
    try:
        session = _session(request, sessions)
    except ApiError as refused:
        answer = fail(request, refused.code)
        if refused.code != E.SHARE_SESSION_LIMIT_REACHED:
            return answer
        return Wait(now + body["max_wait_ms"], [], lambda at: None, lambda at: answer)
    limit = node.number("fetch.max.bytes", persona.quirk("fetch.max-bytes"))
    level = group_settings.setting(node, body["group_id"], group_settings.ISOLATION)
    max_bytes = min(body["max_bytes"], limit)
    committed = level == "read_committed"

    def reads(places: list[tuple[TopicIdPartition, str]]) -> ShareRead:
        wish = AcquisitionRequest(
            body["member_id"],
            body.get("share_acquire_mode") == RECORD_LIMIT,
            body["batch_size"],
            body["max_records"],
        )
        return ShareRead(
            hosted,
            replicas,
            purgatory,
            body["group_id"],
            wish,
            places,
            min(body["min_bytes"], max_bytes),
            max_bytes,
            committed,
        )

    return _ShareFetch(
        request, session, renews, reads, hosted, sessions, purgatory, metadata, cluster
    ).answer(now)


def fail(request: Request, code: int) -> Struct:
    return {"error_code": code, "error_message": None, "responses": [], "node_endpoints": []}


def _session(request: Request, sessions: ShareSessions) -> Session | None:
    body = request.body
    rows = list(rows_of(request))
    forgotten = [
        (bytes(topic["topic_id"]), index)
        for topic in body["forgotten_topics_data"]
        for index in topic["partitions"]
    ]
    session = sessions.sessions.fetch(
        (body["group_id"], body["member_id"]),
        body["share_session_epoch"],
        [place for place, _ in rows],
        forgotten,
        acknowledges=any(row["acknowledgement_batches"] for _, row in rows),
        connection=request.connection,
    )
    if body["share_session_epoch"] == FIRST:
        sessions.end_with_connection(request.connection)
    return session


class _ShareFetch:
    """A request in work: its acknowledgements are being written, and its fetch waits."""

    def __init__(
        self,
        request: Request,
        session: Session | None,
        renews: bool,
        reads: Callable[[list[tuple[TopicIdPartition, str]]], ShareRead],
        hosted: SharePartitions,
        sessions: ShareSessions,
        purgatory: Purgatory,
        metadata: MetadataView,
        cluster: Cluster,
    ) -> None:
        self.request, self.session = request, session
        self.hosted, self.sessions, self.purgatory = hosted, sessions, purgatory
        self.metadata, self.cluster = metadata, cluster
        self.acknowledging = Acknowledgements(request, hosted, cluster)
        self.acknowledged = False
        self.unknown = False
        self.failed: dict[TopicIdPartition, int] = {}
        self.fetching = reads([] if renews else self._places())
        self.key = ("share fetch", id(self))

    def answer(self, now: int) -> Struct | Wait:
        if self.unknown:  # as Kafka 4.3, which stumbles over topics without a name
            return fail(self.request, E.UNKNOWN_SERVER_ERROR)
        if any(row["acknowledgement_batches"] for _, row in rows_of(self.request)):
            self.acknowledging.start(now, self._acknowledged)
        else:
            self.acknowledged = True
        self.fetching.start(now)
        patience = self.request.body["max_wait_ms"]
        answer = self._attempt(now) if patience > 0 else self._expire(now)
        if answer is not None:
            return answer
        until = now + patience
        return Wait(until, [self.key, *self.fetching.keys], self._attempt, self._expire)

    def _acknowledged(self, now: int) -> None:
        self.acknowledged = True
        self.purgatory.touch(self.key)

    def _attempt(self, now: int) -> Struct | None:
        done = self.fetching.attempt(now)
        return self._told(now) if done and self.acknowledged else None

    def _expire(self, now: int) -> Struct | None:
        self.fetching.expire(now)
        return self._told(now) if self.acknowledged else None

    def _places(self) -> list[tuple[TopicIdPartition, str]]:
        """What is to be read; what cannot be is noted."""
        if self.session is None:
            return []
        found, access = [], self.request.access
        for place in self.session.rotated(self.request.body["share_session_epoch"]):
            topic = self.cluster.by_id.get(place[0])
            if topic is None:
                self.unknown = True
            elif access is not None and not access.topic(Operation.READ, topic.name):
                self.failed[place] = E.TOPIC_AUTHORIZATION_FAILED
            elif not 0 <= place[1] < len(topic.partitions):
                self.failed[place] = E.UNKNOWN_TOPIC_OR_PARTITION
            else:
                found.append((place, topic.name))
        return found

    def _told(self, now: int) -> Struct:
        body, rows = self.request.body, dict(self.fetching.rows or {})
        for place, code in self.failed.items():
            rows[place] = failed(place[1], code)
        epoch = body["share_session_epoch"]
        if epoch not in (FIRST, FINAL):
            rows = {place: row for place, row in rows.items() if self._is_told(place, row)}
        for place, (code, message) in self.acknowledging.faults.items():
            row = rows.setdefault(place, failed(place[1], E.NONE))
            row["acknowledge_error_code"], row["acknowledge_error_message"] = code, message
        endpoints: dict[int, Struct] = {}
        for place, row in rows.items():
            row["current_leader"] = told_leader(
                self.cluster,
                self.metadata,
                place,
                row["error_code"],
                endpoints,
                self.request.connection.listener,
            )
        if epoch == FINAL:
            key = body["group_id"], body["member_id"]
            self.sessions.end(key, now)
        return {
            "error_code": E.NONE,
            "error_message": None,
            "acquisition_lock_timeout_ms": self.hosted.lock_ms(body["group_id"]),
            "responses": grouped(rows.items()),
            "node_endpoints": list(endpoints.values()),
        }

    def _is_told(self, place: TopicIdPartition, row: Struct) -> bool:
        return self.session is None or self.session.tells(
            place, records=bool(row["records"]), failed=bool(row["error_code"])
        )
