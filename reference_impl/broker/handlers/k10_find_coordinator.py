"""FindCoordinator: which broker keeps this group, transactional id or share partition.

A coordinator is the leader of one partition of an internal topic: Java's hash of the key, modulo
the partition count. The first question makes the topic and is answered COORDINATOR_NOT_AVAILABLE;
its retry finds it (META-12). From v4 one request asks for many keys (KIP-699), from v6 share
partitions have coordinators as well (KIP-932).

Sources: META-12; KafkaApis.handleFindCoordinatorRequest@1.0.2 to 4.3.1; observed on all five.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from touchstone.reference_impl.broker.control.auto_create import AutoTopicCreation
from touchstone.reference_impl.broker.control.internal_topics import OFFSETS, SHARES, TRANSACTIONS
from touchstone.reference_impl.broker.control.mutation_quotas import MutationQuotas
from touchstone.reference_impl.broker.effects import MALFORMED_REQUEST, Hangup, Request
from touchstone.reference_impl.broker.personas.persona import Persona
from touchstone.reference_impl.cluster.topology import Node
from touchstone.reference_impl.cluster.view import MetadataView
from touchstone.reference_impl.group.placement import partition_for
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

GROUP, TRANSACTION, SHARE = 0, 1, 2
TOPICS = {
    GROUP: OFFSETS,
    TRANSACTION: TRANSACTIONS,
    SHARE: SHARES,
}
NOBODY = Node(-1, "", -1)
NOT_AVAILABLE = "The coordinator is not available."
FIRST_BATCHED, FIRST_SHARE = 4, 6
_SHARE_KEY = re.compile(r".+:[A-Za-z0-9_-]{22}:[0-9]+", re.DOTALL)


def handle(
    request: Request,
    creation: AutoTopicCreation,
    mutations: MutationQuotas,
    metadata: MetadataView,
    persona: Persona,
    now: int,
) -> Struct | Hangup:
    body, version = request.body, request.header.version
    make = partial(
        creation.internal_topic, permit=mutations.of_internal_creation(request, now).permit
    )
    kind = body["key_type"]
    if version < FIRST_BATCHED:
        if not _knows(persona, kind, batched=False):
            if not persona.quirk("coordinator.unknown-type-is-answered"):
                return Hangup("an unknown coordinator type")
            return _single(persona, ErrorCode.INVALID_REQUEST, NOBODY)
        found, node = _find(make, metadata, persona, kind, body["key"], version)
        return _single(persona, *_told(found, node, request.connection.listener))
    rows = []
    for key in body["coordinator_keys"]:
        message: str | None = ""
        if _knows(persona, kind, batched=True):
            found, node = _find(make, metadata, persona, kind, key, version)
            code, node = _told(found, node, request.connection.listener)
        else:
            code, node, message = ErrorCode.INVALID_REQUEST, NOBODY, MALFORMED_REQUEST
        rows.append(
            {
                "key": key,
                "node_id": node.id,
                "host": node.host,
                "port": node.port,
                "error_code": code,
                "error_message": message,
            }
        )
    return {"coordinators": rows}


def fail(request: Request, code: int) -> Struct:
    keys = request.body["coordinator_keys"]
    nobody = {"node_id": -1, "host": "", "port": -1, "error_code": code, "error_message": None}
    return nobody | {"coordinators": [nobody | {"key": key} for key in keys]}


def _knows(persona: Persona, kind: int, *, batched: bool) -> bool:
    """Type 2 is a type to batched requests only, and served from v6 on."""
    if kind == SHARE:
        return batched and persona.kraft
    return kind in TOPICS


def _single(persona: Persona, code: int, node: Node) -> Struct:
    texts = {
        ErrorCode.NONE: "NONE",
        ErrorCode.COORDINATOR_NOT_AVAILABLE: NOT_AVAILABLE,
        ErrorCode.INVALID_REQUEST: MALFORMED_REQUEST,
    }
    worded = persona.quirk("coordinator.answers-have-messages")
    return {
        "error_code": code,
        "error_message": texts[ErrorCode(code)] if worded else None,
        "node_id": node.id,
        "host": node.host,
        "port": node.port,
    }


def _told(code: int, node: Node, listener: str) -> tuple[int, Node]:
    """The coordinator where clients of this listener find it."""
    at = node.at(listener)
    if at is None:
        return ErrorCode.COORDINATOR_NOT_AVAILABLE, NOBODY
    return code, replace(node, host=at[0], port=at[1])


def _find(
    make: Callable[[str], int],
    metadata: MetadataView,
    persona: Persona,
    kind: int,
    key: str,
    version: int,
) -> tuple[int, Node]:
    name = TOPICS[kind]
    if kind == SHARE and version < FIRST_SHARE:
        return ErrorCode.INVALID_REQUEST, NOBODY
    if kind == SHARE and not persona.quirk("coordinator.knows-share-groups"):
        return ErrorCode.COORDINATOR_NOT_AVAILABLE, NOBODY
    if kind == SHARE and not _SHARE_KEY.fullmatch(key):
        return ErrorCode.INVALID_REQUEST, NOBODY
    topic = metadata.topics.get(name)
    if topic is None:
        make(name)
        return ErrorCode.COORDINATOR_NOT_AVAILABLE, NOBODY
    partition = topic.partition(partition_for(key, len(topic.partitions)))
    leader = metadata.brokers.get(partition.leader) if partition else None
    if leader is None or not leader.alive:
        return ErrorCode.COORDINATOR_NOT_AVAILABLE, NOBODY
    return ErrorCode.NONE, leader
