"""ShareAcknowledge and ShareFetch share the handling of acknowledgements and the rows of answers.

Sources: KafkaApis.handleAcknowledgements@4.3.1; KIP-932, KIP-1222; observed on 4.3.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from touchstone.reference_impl.broker.data.share_partitions import (
    NO_FAULT,
    UNHOSTED,
    Fault,
    SharePartitions,
)
from touchstone.reference_impl.broker.replication.partitions import leader_of
from touchstone.reference_impl.cluster.acls import Operation
from touchstone.reference_impl.share.checks import (
    AcknowledgementBatch,
    AcknowledgementRules,
    faulty,
)
from touchstone.reference_impl.share.sessions import TopicIdPartition
from touchstone.reference_impl.wire.errors import ErrorCode as E
from touchstone.reference_impl.wire.schema import Struct

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.effects import Request
    from touchstone.reference_impl.cluster.topology import Cluster
    from touchstone.reference_impl.cluster.view import MetadataView

FIRST_RENEWING = 2
MOVED = (E.NOT_LEADER_OR_FOLLOWER, E.FENCED_LEADER_EPOCH)
_LONGEST_ID = 36
_WORDS: dict[int, str] = {E.UNKNOWN_TOPIC_OR_PARTITION: UNHOSTED}


def has_ids(body: Struct) -> bool:
    member = body["member_id"]
    return body["group_id"] is not None and 0 < len(member or "") <= _LONGEST_ID


class Acknowledgements:
    """The acknowledgements of one request: `faults` says of each partition how it went."""

    def __init__(self, request: Request, hosted: SharePartitions, cluster: Cluster) -> None:
        self.request, self.hosted, self.cluster = request, hosted, cluster
        self.faults: dict[TopicIdPartition, Fault] = {}
        self._waits = 0

    def start(self, now: int, done: Callable[[int], None]) -> None:
        """`done(now)` when all are written down, perhaps before this returns."""
        body, rows = self.request.body, list(rows_of(self.request))
        renews = self.request.header.version >= FIRST_RENEWING
        known = AcknowledgementRules(renews, bool(body["is_renew_ack"]) if renews else False)
        wanted: list[tuple[TopicIdPartition, list[AcknowledgementBatch]]] = []
        self._waits = 1
        for place, row in rows:
            batches = [
                AcknowledgementBatch(
                    each["first_offset"], each["last_offset"], each["acknowledge_types"]
                )
                for each in row["acknowledgement_batches"]
            ]
            fault = self._refused(place, batches, known)
            self.faults[place] = fault or NO_FAULT
            if fault is None and batches:
                wanted.append((place, batches))
        if not wanted:  # then partitions without a word are not answered either
            self.faults = {p: fault for p, fault in self.faults.items() if fault[0]}
        for place, batches in wanted:
            self._acknowledge(place, batches, now, done)
        self._finish(now, done)

    def _refused(
        self,
        place: TopicIdPartition,
        batches: list[AcknowledgementBatch],
        known: AcknowledgementRules,
    ) -> Fault | None:
        topic = self.cluster.by_id.get(place[0])
        if topic is None:
            return E.UNKNOWN_TOPIC_ID, None
        if faulty(batches, known):
            return E.INVALID_REQUEST, None
        access = self.request.access
        if access is not None and not access.topic(Operation.READ, topic.name):
            return E.TOPIC_AUTHORIZATION_FAILED, None
        if not 0 <= place[1] < len(topic.partitions):
            return E.UNKNOWN_TOPIC_OR_PARTITION, None
        return None

    def _acknowledge(
        self,
        place: TopicIdPartition,
        batches: list[AcknowledgementBatch],
        now: int,
        done: Callable[[int], None],
    ) -> None:
        group, member = self.request.body["group_id"], self.request.body["member_id"]
        one = self.hosted.there((group, *place))
        if one is None:
            self.faults[place] = E.UNKNOWN_TOPIC_OR_PARTITION, UNHOSTED
            return
        self._waits += 1

        def then(code: int, message: str | None, at: int) -> None:
            self.faults[place] = code, message or _WORDS.get(code) if code else None
            self._finish(at, done)

        self.hosted.acknowledge(one, member, batches, now, then)

    def _finish(self, now: int, done: Callable[[int], None]) -> None:
        self._waits -= 1
        if not self._waits:
            done(now)


def rows_of(request: Request) -> Iterable[tuple[TopicIdPartition, Struct]]:
    for topic in request.body["topics"]:
        for row in topic["partitions"]:
            yield (bytes(topic["topic_id"]), row["partition_index"]), row


def told_leader(
    cluster: Cluster,
    metadata: MetadataView,
    place: TopicIdPartition,
    code: int,
    endpoints: dict[int, Struct],
    listener: str,
) -> dict[str, int]:
    """The present leader of the partition, if the error says that it moved."""
    topic = cluster.by_id.get(place[0])
    if code not in MOVED or topic is None:
        return {"leader_id": 0, "leader_epoch": 0}
    leader, node = leader_of(metadata, topic.name, place[1], listener)
    if node is not None:
        endpoints[node["node_id"]] = node
    return leader


def grouped(rows: Iterable[tuple[TopicIdPartition, Struct]]) -> list[Struct]:
    topics: dict[bytes, list[Struct]] = {}
    for place, row in rows:
        topics.setdefault(place[0], []).append(row)
    return [{"topic_id": each, "partitions": parts} for each, parts in topics.items()]
