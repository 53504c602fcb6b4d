"""DescribeProducers: the producers that a partition remembers (KIP-664).

A follower answers like its leader: tools ask each replica, to find what hangs on one of them only.

Sources: KafkaApis.handleDescribeProducersRequest, ReplicaManager.activeProducerState,
Partition.activeProducerState at 2.8.2, 3.9; observed on 2.8.2, 3.9.2, 4.3.1.
"""

from __future__ import annotations

from functools import cache, partial

from touchstone.reference_impl.broker.control import topic_names
from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.broker.personas.persona import Persona
from touchstone.reference_impl.broker.replication.replicas import Replicas
from touchstone.reference_impl.cluster.view import MetadataView
from touchstone.reference_impl.log.producer_state import Producer
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

NOT_HOSTED = "This server does not host this topic-partition."


def handle(
    request: Request, replicas: Replicas, metadata: MetadataView, persona: Persona, now: int
) -> Struct:
    once = cache(partial(_partition, replicas, metadata, persona))
    refusal = cache(partial(topic_names.refusal, words="invalid" if persona.kraft else "illegal"))
    return {
        "topics": [
            {
                "name": topic["name"],
                "partitions": [
                    once(topic["name"], refusal(topic["name"]), i)
                    for i in topic["partition_indexes"]
                ],
            }
            for topic in request.body["topics"]
        ]
    }


def fail(request: Request, code: int) -> Struct:
    return {
        "topics": [
            {
                "name": topic["name"],
                "partitions": [_error(i, code, None) for i in topic["partition_indexes"]],
            }
            for topic in request.body["topics"]
        ]
    }


def _partition(
    replicas: Replicas,
    metadata: MetadataView,
    persona: Persona,
    topic: str,
    refused: str | None,
    index: int,
) -> Struct:
    looked_at = not persona.quirk("transactions.producers-of-any-name")
    if refused is not None and looked_at:
        return _error(index, ErrorCode.INVALID_TOPIC_EXCEPTION, refused)
    if topic not in metadata.topics:
        words = NOT_HOSTED if looked_at else None
        return _error(index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, words)
    replica, code = replicas.locate(topic, index, any_replica=True)
    if replica is None:
        return _error(index, code, None)
    known = replica.log.producers.producers.values()
    return {
        "partition_index": index,
        "error_code": ErrorCode.NONE,
        "error_message": None,
        "active_producers": [_producer(each) for each in known],
    }


def _producer(known: Producer) -> Struct:
    start = known.transaction_start
    return {
        "producer_id": known.id,
        "producer_epoch": known.epoch,
        "last_sequence": known.last_sequence,
        "last_timestamp": known.last_timestamp,
        "coordinator_epoch": known.coordinator_epoch,
        "current_txn_start_offset": -1 if start is None else start,
    }


def _error(index: int, code: int, message: str | None) -> Struct:
    return {
        "partition_index": index,
        "error_code": code,
        "error_message": message,
        "active_producers": [],
    }
