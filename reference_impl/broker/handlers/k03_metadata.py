"""Metadata: brokers, controller, and topics with their leaders, replicas and in-sync replicas.

Which topics: all of them for a null list (in v0, which cannot say null, for an empty one), else
those named, each once. A name nobody knows is created where the broker and the request allow it,
and the answer is still "not there yet": LEADER_NOT_AVAILABLE from ZooKeeper's releases,
UNKNOWN_TOPIC_OR_PARTITION from KRaft's, whose broker has only asked the controller (TOPIC-01). From
v12 a topic can be asked by its id (KIP-516); v10 and v11 have the field and refuse its use.
A leader that is gone shows as -1 with LEADER_NOT_AVAILABLE per partition (META-10).

Sources: TOPIC-01..03, META-08..11; KafkaApis.handleTopicMetadataRequest@1.0.2, 2.2.1, 2.8.2;
observed on all five releases.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.broker.authorized_operations import (
    CLUSTER_OPERATIONS,
    TOPIC_OPERATIONS,
)
from touchstone.reference_impl.broker.control.auto_create import AutoTopicCreation
from touchstone.reference_impl.broker.control.cluster_controller import ClusterController
from touchstone.reference_impl.broker.control.mutation_quotas import MutationQuotas
from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.broker.personas.persona import Persona
from touchstone.reference_impl.broker.replication.partitions import endpoint_row
from touchstone.reference_impl.cluster.replica import LeaderState
from touchstone.reference_impl.cluster.topology import NO_LEADER, NO_TOPIC_ID, Cluster
from touchstone.reference_impl.cluster.view import MetadataView, SeenTopic
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

FIRST_BY_ID = 12
FIRST_TO_NAME_LISTENERS = 6  # KIP-226
NO_EPOCH = -1


def handle(
    request: Request,
    creation: AutoTopicCreation,
    mutations: MutationQuotas,
    controller: ClusterController,
    metadata: MetadataView,
    cluster: Cluster,
    persona: Persona,
    now: int,
) -> Struct:
    version, body, listener = request.header.version, request.body, request.connection.listener
    asked = body["topics"]
    if version < FIRST_BY_ID and any(_by_id(row) for row in asked or ()):
        return fail(request, ErrorCode.INVALID_REQUEST)
    if asked is None or (version == 0 and not asked):
        rows = [_known(metadata, persona, topic, version) for topic in metadata.topics.values()]
    elif version >= FIRST_BY_ID and any(row["topic_id"] != NO_TOPIC_ID for row in asked):
        rows = _rows_by_id(metadata, persona, asked, version)
    elif any(row["name"] is None for row in asked):
        return fail(request, ErrorCode.UNKNOWN_SERVER_ERROR)
    else:
        make = partial(
            creation.missing_topic,
            allowed=body["allow_auto_topic_creation"],
            permit=mutations.of_creation(request, now).permit,
        )
        rows = _rows_by_name(make, metadata, persona, [row["name"] for row in asked], version)
    if body["include_topic_authorized_operations"]:
        for row in rows:
            if row["error_code"] != ErrorCode.UNKNOWN_TOPIC_ID:
                row["topic_authorized_operations"] = TOPIC_OPERATIONS
    answer: Struct = {
        "brokers": [told for node in metadata.alive if (told := endpoint_row(node, listener))],
        "cluster_id": cluster.cluster_id,
        "controller_id": controller.named,
        "topics": rows,
        "error_code": ErrorCode.NONE,
    }
    if body["include_cluster_authorized_operations"]:
        answer["cluster_authorized_operations"] = CLUSTER_OPERATIONS
    return answer


def fail(request: Request, code: int) -> Struct:
    """The whole request refused: nothing but the topics it named, each with the code."""
    rows = [
        {"error_code": code, "name": row["name"] or "", "topic_id": row["topic_id"]}
        for row in request.body["topics"] or ()
    ]
    return {
        "brokers": [],
        "cluster_id": None,
        "controller_id": -1,
        "topics": rows,
        "error_code": code,
    }


def _by_id(row: Struct) -> bool:
    return row["name"] is None or row["topic_id"] != NO_TOPIC_ID


def _rows_by_id(
    metadata: MetadataView, persona: Persona, asked: list[Struct], version: int
) -> list[Struct]:
    """The entries with an id; where one has an id, those that have only a name are left out."""
    by_id = metadata.by_id
    ids = list(dict.fromkeys(row["topic_id"] for row in asked))
    ids = [topic_id for topic_id in ids if topic_id != NO_TOPIC_ID]
    known = [_known(metadata, persona, by_id[i], version) for i in ids if i in by_id]
    unknown = [
        {
            "error_code": ErrorCode.UNKNOWN_TOPIC_ID,
            "name": None,
            "topic_id": topic_id,
            "partitions": [],
        }
        for topic_id in ids
        if topic_id not in by_id
    ]
    return known + unknown


def _rows_by_name(
    make: Callable[[str], tuple[bool, int]],
    metadata: MetadataView,
    persona: Persona,
    names: list[str],
    version: int,
) -> list[Struct]:
    """Topics that exist first, then what `make` says that became of the others."""
    stored, distinct = metadata.topics, list(dict.fromkeys(names))
    existing = [
        _known(metadata, persona, stored[name], version) for name in distinct if name in stored
    ]
    missing = [_missing(make, n) for n in distinct if n not in stored]
    return existing + missing


def _missing(make: Callable[[str], tuple[bool, int]], name: str) -> Struct:
    try:
        internal, code = make(name)
    except ApiError as refused:
        internal, code = False, refused.code
    return {"error_code": code, "name": name, "is_internal": internal, "partitions": []}


def _known(metadata: MetadataView, persona: Persona, topic: SeenTopic, version: int) -> Struct:
    return {
        "error_code": ErrorCode.NONE,
        "name": topic.name,
        "topic_id": topic.id,
        "is_internal": topic.internal,
        "partitions": [_partition(metadata, persona, p, version) for p in topic.partitions],
    }


def _partition(
    metadata: MetadataView, persona: Persona, partition: LeaderState, version: int
) -> Struct:
    """Up to v0 replicas that are gone are left out and make the row an error (META-08)."""
    offline = metadata.offline(partition)
    leaderless = partition.leader == NO_LEADER or partition.leader in offline
    code = _leaderless_code(persona, version) if leaderless else ErrorCode.NONE
    replicas, isr, epoch = list(partition.replicas), list(partition.isr), partition.leader_epoch
    if leaderless and persona.quirk("metadata.leaderless-is-blank"):
        isr, epoch = [], NO_EPOCH
    if version == 0 and offline:
        replicas = [r for r in replicas if r not in offline]
        isr = [r for r in isr if r not in offline]
        if not leaderless:
            code = ErrorCode.REPLICA_NOT_AVAILABLE
    return {
        "error_code": code,
        "partition_index": partition.index,
        "leader_id": NO_LEADER if leaderless else partition.leader,
        "leader_epoch": epoch,
        "replica_nodes": replicas,
        "isr_nodes": isr,
        "offline_replicas": offline,
    }


def _leaderless_code(persona: Persona, version: int) -> int:
    if version < FIRST_TO_NAME_LISTENERS:
        return ErrorCode.LEADER_NOT_AVAILABLE
    return persona.quirk("metadata.leaderless-code")
