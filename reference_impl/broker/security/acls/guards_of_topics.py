"""Guards of the APIs that make, find, read and write topics.

Sources: KafkaApis@1.0.2, 2.2.1, 2.8.2, 3.9; ControllerApis@3.9; KIP-277 (CREATE on topics).
"""

from __future__ import annotations

import struct
from collections import Counter
from typing import Any

from touchstone.reference_impl.broker.configs.config_values import is_true
from touchstone.reference_impl.broker.effects import Hangup
from touchstone.reference_impl.broker.security.acls.guarding import (
    TOPIC,
    TRANSACTIONAL_ID,
    Asked,
    Rows,
    Serve,
    cluster,
    left_out,
    of_field,
    of_topic,
    once_there,
)
from touchstone.reference_impl.cluster.acls import Operation as Op
from touchstone.reference_impl.cluster.topology import (
    INTERNAL_TOPICS,
    METADATA_TOPIC,
    NO_TOPIC_ID,
)
from touchstone.reference_impl.wire.errors import ErrorCode as E
from touchstone.reference_impl.wire.schema import Struct

MAGIC_AT, _ATTRIBUTES_AT, TRANSACTIONAL = 16, 22, 0x10  # in a batch; the attributes' low byte
_PRODUCER_AT, _PRODUCER = 43, struct.Struct(">q")
FIRST_METADATA_BY_ID = 12
FIRST_DELETION_BY_ID = 6
_WRITTEN = Rows(TOPIC, Op.WRITE, "topic_data", "responses", of_topic())


def produce(asked: Asked, serve: Serve) -> Any:
    """WRITE on each topic; for a transaction's records WRITE on its id, and before KIP-679
    IDEMPOTENT_WRITE on the cluster for records with a sequence.
    """
    transactional = idempotent = False
    for topic in asked.body["topic_data"]:
        for row in topic["partition_data"]:
            producer, in_transaction = _first_producer(row["records"])
            transactional |= in_transaction
            idempotent |= producer >= 0
    name = asked.body["transactional_id"]
    if transactional and not (name and asked.access.may(Op.WRITE, TRANSACTIONAL_ID, name)):
        return asked.refused(E.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    needs = idempotent and not asked.persona.quirk("acls.topic-writers-are-idempotent")
    if needs and not transactional and not asked.access.cluster(Op.IDEMPOTENT_WRITE):
        return asked.refused(E.CLUSTER_AUTHORIZATION_FAILED)
    answer = _WRITTEN(asked, serve)
    if asked.body["acks"] == 0 and not isinstance(answer, Hangup):
        denied = any(_unwritable(asked, topic) for topic in asked.body["topic_data"])
        return Hangup("a topic that may not be written, with acks=0") if denied else answer
    return answer


def _first_producer(records: bytes | None) -> tuple[int, bool]:
    """(producer id, whether in a transaction) of the first batch; of what is none, (-1, False)."""
    if records is None or len(records) < _PRODUCER_AT + _PRODUCER.size or records[MAGIC_AT] != 2:
        return -1, False
    (producer,) = _PRODUCER.unpack_from(records, _PRODUCER_AT)
    return producer, bool(records[_ATTRIBUTES_AT] & TRANSACTIONAL)


def _unwritable(asked: Asked, topic: Struct) -> bool:
    name = of_topic()(asked, topic)
    return name is not None and not asked.access.topic(Op.WRITE, name)


def metadata(asked: Asked, serve: Serve) -> Any:
    """DESCRIBE on each topic, and to make one CREATE on the cluster or (KIP-277) on the topic.

    Of all topics those that may not be described are left out; a named one is refused, with as
    little as the peer knew before: the name or the id that it sent.
    """
    topics, version = asked.body["topics"], asked.version
    if topics is None or (version == 0 and not topics):
        return left_out(TOPIC, Op.DESCRIBE, "topics", "name")(asked, serve)
    by_id = any(row["topic_id"] != NO_TOPIC_ID for row in topics)
    if version < FIRST_METADATA_BY_ID and (by_id or any(row["name"] is None for row in topics)):
        return serve(asked)
    denied: dict[str, Struct] = {}
    left = []
    for row in topics:
        name = of_topic("" if by_id else "name")(asked, row)
        refused = None if name is None else _hidden(asked, name, by_id=by_id)
        if refused is None:
            left.append(row)
        else:
            denied[name or ""] = refused
    if not denied:
        return serve(asked)

    def form(body: Struct) -> Struct:
        return {**body, "topics": [*(body["topics"] if left else ()), *denied.values()]}

    return once_there(serve(asked.having(topics=left)), form)


def _hidden(asked: Asked, name: str, *, by_id: bool) -> Struct | None:
    """The row of a topic that may not be described, or not be made; None for all others."""
    row: Struct = {"error_code": E.TOPIC_AUTHORIZATION_FAILED, "name": name, "partitions": []}
    if not asked.access.topic(Op.DESCRIBE, name):
        if by_id:
            row |= {"name": None, "topic_id": asked.metadata.topics[name].id}
        return row
    if name in asked.metadata.topics or not asked.body["allow_auto_topic_creation"]:
        return None
    created = is_true(asked.config.get("auto.create.topics.enable", "true"))
    if not created or _may_create(asked, name):
        return None
    return row | {"is_internal": name in INTERNAL_TOPICS}


def _may_create(asked: Asked, name: str) -> bool:
    if asked.access.cluster(Op.CREATE):
        return True
    by_name = asked.persona.quirk("acls.topics-are-created-by-name")
    return by_name and asked.access.topic(Op.CREATE, name)


def create_topics(asked: Asked, serve: Serve) -> Any:
    """CREATE as in `metadata`; whoever may not DESCRIBE_CONFIGS is not told what was made."""
    if not asked.persona.quirk("acls.topics-are-created-by-name"):
        if asked.access.cluster(Op.CREATE):
            return serve(asked)
        once = {row["name"]: row for row in asked.body["topics"]}
        return asked.having(topics=list(once.values())).refused(E.CLUSTER_AUTHORIZATION_FAILED)
    times = Counter(row["name"] for row in asked.body["topics"])

    def name_of(asked: Asked, row: Struct) -> str | None:
        """What is refused for another reason comes first: the handler's."""
        name = row["name"]
        prohibited = name == METADATA_TOPIC and asked.persona.kraft
        passed = times[name] > 1 or prohibited or asked.access.cluster(Op.CREATE)
        return None if passed else name

    def form(body: Struct) -> Struct:
        return {**body, "topics": [_without_configs(asked, row, times) for row in body["topics"]]}

    rows = Rows(TOPIC, Op.CREATE, "topics", "topics", name_of)
    return once_there(rows(asked, serve), form)


def _without_configs(asked: Asked, row: Struct, times: Counter[str]) -> Struct:
    """A ZooKeeper's controller says the same of what it refuses before it looks at it."""
    if asked.access.topic(Op.DESCRIBE_CONFIGS, row["name"]):
        return row
    at_once = times[row["name"]] > 1 or row["error_code"] == E.TOPIC_AUTHORIZATION_FAILED
    if row["error_code"] and (asked.persona.kraft or not at_once):
        return row
    names = ("name", "topic_id", "error_code", "error_message")
    kept = {key: row[key] for key in names if key in row}
    return kept | {"topic_config_error_code": E.TOPIC_AUTHORIZATION_FAILED, "configs": None}


def delete_topics(asked: Asked, serve: Serve) -> Any:
    """DELETE on each topic, or in KRaft on the cluster. Whoever may not describe a topic that it
    asked for by id does not learn the name.
    """
    kraft = asked.persona.kraft
    if kraft and asked.access.cluster(Op.DELETE):
        return serve(asked)
    by_id = asked.version >= FIRST_DELETION_BY_ID
    field = "topics" if by_id else "topic_names"
    left, denied = [], []
    times = Counter(_place(row) for row in asked.body[field])
    for row in asked.body[field]:
        given = _place(row)
        name = given if isinstance(given, str) else of_topic()(asked, row)
        if name is None or times[given] > 1 or _may_delete(asked, name, by_name=given == name):
            left.append(row)
            continue
        shown = isinstance(given, str) or asked.access.topic(Op.DESCRIBE, name)
        topic_id = NO_TOPIC_ID if isinstance(given, str) else given
        denied.append(
            {
                "name": name if shown else None,
                "topic_id": topic_id,
                "error_code": E.TOPIC_AUTHORIZATION_FAILED,
            }
        )
    if not denied:
        return serve(asked)
    if not left:
        return {"responses": denied}
    served = serve(asked.having(**{field: left}))
    return once_there(served, lambda body: {**body, "responses": [*body["responses"], *denied]})


def _place(row: Any) -> str | bytes:
    """How a topic to be deleted is named: by its name, or by its id."""
    if isinstance(row, str):
        return row
    return bytes(row["topic_id"]) if row["name"] is None else row["name"]


def _may_delete(asked: Asked, name: str, *, by_name: bool) -> bool:
    """To be described as well: for KRaft a topic that is named, which may then be unknown; for
    ZooKeeper one that is asked for by its id.
    """
    if asked.persona.kraft == by_name and not asked.access.topic(Op.DESCRIBE, name):
        return False
    if asked.persona.kraft and by_name and name not in asked.metadata.topics:
        return True
    return asked.access.topic(Op.DELETE, name)


def offset_for_leader_epoch(asked: Asked, serve: Serve) -> Any:
    """Brokers; and since consumers ask (KIP-320), whoever may describe the topic."""
    if not asked.persona.quirk("acls.epochs-are-described"):
        return cluster(Op.CLUSTER_ACTION)(asked, serve)
    if asked.access.cluster(Op.CLUSTER_ACTION):
        return serve(asked)
    return Rows(TOPIC, Op.DESCRIBE, "topics", "topics", of_field("topic"))(asked, serve)
