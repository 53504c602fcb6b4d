"""ShareAcknowledge: what a member did with records it has (KIP-932).

v2 may also renew the locks of records (KIP-1222). What a partition's row says is the fault of the
first record that could not be acknowledged; then none of its partition was.

Sources: KafkaApis.handleShareAcknowledgeRequest, handleAcknowledgements@4.3.1; observed on
4.3.1.
"""

from __future__ import annotations

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.broker.coordinators.share_groups import ShareGroups
from touchstone.reference_impl.broker.data.share_acknowledging import (
    Acknowledgements,
    grouped,
    has_ids,
    told_leader,
)
from touchstone.reference_impl.broker.data.share_partitions import Fault, SharePartitions
from touchstone.reference_impl.broker.data.share_sessions import ShareSessions
from touchstone.reference_impl.broker.effects import Request, Wait, waiting
from touchstone.reference_impl.cluster.topology import Cluster
from touchstone.reference_impl.cluster.view import MetadataView
from touchstone.reference_impl.share.sessions import FINAL, TopicIdPartition
from touchstone.reference_impl.ticket import Ticket
from touchstone.reference_impl.wire.errors import ErrorCode as E
from touchstone.reference_impl.wire.schema import Struct


def handle(
    request: Request,
    shares: ShareGroups,
    hosted: SharePartitions,
    sessions: ShareSessions,
    metadata: MetadataView,
    cluster: Cluster,
    now: int,
) -> Struct | Wait:
    if not shares.enabled():
        return fail(request, E.UNSUPPORTED_VERSION)
    body = request.body
    if not has_ids(body):
        return fail(request, E.INVALID_REQUEST)
    key, epoch = (body["group_id"], body["member_id"]), body["share_session_epoch"]
    try:
        sessions.sessions.acknowledge(key, epoch)
    except ApiError as refused:
        return fail(request, refused.code)
    ticket: Ticket[Struct] = Ticket()
    acknowledging = Acknowledgements(request, hosted, cluster)

    def done(at: int) -> None:
        if epoch == FINAL:
            sessions.end(key, at)
        ticket.give(_answer(request, hosted, metadata, cluster, acknowledging.faults))

    acknowledging.start(now, done)
    return waiting(ticket, lambda answer: answer)


def fail(request: Request, code: int) -> Struct:
    return {"error_code": code, "error_message": None, "responses": [], "node_endpoints": []}


def _answer(
    request: Request,
    hosted: SharePartitions,
    metadata: MetadataView,
    cluster: Cluster,
    faults: dict[TopicIdPartition, Fault],
) -> Struct:
    endpoints: dict[int, Struct] = {}
    rows = [
        (
            place,
            {
                "partition_index": place[1],
                "error_code": code,
                "error_message": message,
                "current_leader": told_leader(
                    cluster, metadata, place, code, endpoints, request.connection.listener
                ),
            },
        )
        for place, (code, message) in faults.items()
    ]
    return {
        "error_code": E.NONE,
        "error_message": None,
        "acquisition_lock_timeout_ms": hosted.lock_ms(request.body["group_id"]),
        "responses": grouped(rows),
        "node_endpoints": list(endpoints.values()),
    }
