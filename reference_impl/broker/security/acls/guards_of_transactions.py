"""Guards of the APIs of transactions and idempotent producers.

Sources: KafkaApis@1.0.2, 2.2.1, 2.8.2, 3.9; KIP-679 (who may write may be idempotent).
"""

from __future__ import annotations

from typing import Any

from touchstone.reference_impl.broker.control import topic_names
from touchstone.reference_impl.broker.security.acls.guarding import (
    TOPIC,
    TRANSACTIONAL_ID,
    Asked,
    Rows,
    Serve,
    cluster,
    of_field,
    once_there,
)
from touchstone.reference_impl.cluster.acls import Operation as Op
from touchstone.reference_impl.wire.errors import ErrorCode as E
from touchstone.reference_impl.wire.schema import Struct

FIRST_BATCHED = 4  # of AddPartitionsToTxn: only brokers ask so
OLD, OLD_RESULTS = "v3_and_below_", "results_by_topic_v3_and_below"


def init_producer_id(asked: Asked, serve: Serve) -> Any:
    name, access = asked.body["transactional_id"], asked.access
    if name is not None:
        allowed = access.may(Op.WRITE, TRANSACTIONAL_ID, name)
        code = E.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    else:
        writers = asked.persona.quirk("acls.topic-writers-are-idempotent")
        allowed = writers and access.somewhere(Op.WRITE, TOPIC)
        allowed = allowed or access.cluster(Op.IDEMPOTENT_WRITE)
        code = E.CLUSTER_AUTHORIZATION_FAILED
    if allowed:
        return serve(asked)
    epoch = asked.persona.quirk("acls.epoch-of-refused-producers")
    return {"error_code": code, "producer_id": -1, "producer_epoch": epoch}


def add_partitions(asked: Asked, serve: Serve) -> Any:
    """WRITE on the id and on every topic; one that is refused refuses all partitions."""
    if asked.version >= FIRST_BATCHED:
        return cluster(Op.CLUSTER_ACTION)(asked, serve)
    access, topics = asked.access, asked.body[OLD + "topics"]
    if not access.may(Op.WRITE, TRANSACTIONAL_ID, asked.body[OLD + "transactional_id"]):
        return asked.refused(E.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    denied = {row["name"] for row in topics if not access.topic(Op.WRITE, row["name"])}
    if not denied:
        return serve(asked)

    def code_of(name: str, index: int) -> int:
        if name in denied:
            return E.TOPIC_AUTHORIZATION_FAILED
        known = asked.metadata.partition(name, index) is not None
        return E.OPERATION_NOT_ATTEMPTED if known else E.UNKNOWN_TOPIC_OR_PARTITION

    rows = [
        {
            "name": row["name"],
            "results_by_partition": [
                {"partition_index": i, "partition_error_code": code_of(row["name"], i)}
                for i in row["partitions"]
            ],
        }
        for row in topics
    ]
    return {OLD_RESULTS: rows}


def write_markers(asked: Asked, serve: Serve) -> Any:
    """Brokers; and since KIP-664 can be used with an admin's rights, whoever may ALTER."""
    wanted = [Op.CLUSTER_ACTION]
    if asked.persona.quirk("acls.markers-may-be-altered"):
        wanted.append(Op.ALTER)
    return cluster(*wanted)(asked, serve)


def _legal(asked: Asked, row: Struct) -> str | None:
    """A name that no topic can have is refused for that."""
    looked_at = not asked.persona.quirk("transactions.producers-of-any-name")
    return None if looked_at and topic_names.fault(row["name"]) else row["name"]


_PRODUCERS = Rows(TOPIC, Op.READ, "topics", "topics", _legal)


def describe_producers(asked: Asked, serve: Serve) -> Any:
    return _PRODUCERS(asked, serve)


_DESCRIBED = Rows(
    TRANSACTIONAL_ID, Op.DESCRIBE, "transactional_ids", "transaction_states", of_field(None)
)


def describe_transactions(asked: Asked, serve: Serve) -> Any:
    """Of a transaction the topics that may be described."""

    def shown(row: Struct) -> Struct:
        topics = [each for each in row.get("topics", ()) if _seen(asked, each["topic"])]
        return {**row, "topics": topics}

    def form(body: Struct) -> Struct:
        return {**body, "transaction_states": [shown(row) for row in body["transaction_states"]]}

    return once_there(_DESCRIBED(asked, serve), form)


def _seen(asked: Asked, topic: str) -> bool:
    return asked.access.topic(Op.DESCRIBE, topic)
