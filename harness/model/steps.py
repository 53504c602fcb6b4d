"""Builders of steps: what a suite's author writes instead of message shapes.

A builder gives a step (or a list of them) and hides what changed from version to version: a topic's
name or its id, old and new field names, fields that came later. Whatever a builder does not hide,
write as `Ask(api, version, body)`: the body is the message, by Kafka's words.

`version=None` means "this step only prepares or observes": it takes AUXILIARY, the versions that
all five releases serve (1.0.2 to 4.3.1, from their ApiVersions answers). Two APIs have no version
in common to all five; their builders insist on one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypedDict, Unpack

from touchstone.harness.model.placeholders import Controller, Leader, Name, TopicId
from touchstone.harness.model.scenario import Ask, BrokerChoice, Inflict, Until
from touchstone.reference_impl.wire.schema import Struct

# The highest version that each of the five releases serves.
AUXILIARY = {
    "ApiVersions": 1, "Metadata": 4, "CreateTopics": 2, "DeleteTopics": 1, "CreatePartitions": 0,
    "Produce": 3, "Fetch": 4, "ListOffsets": 1, "DeleteRecords": 0, "FindCoordinator": 1,
    "InitProducerId": 0, "AlterConfigs": 0,
}  # fmt: skip

NO_ERROR = 0
UNKNOWN_TOPIC_OR_PARTITION = 3
LATEST, EARLIEST, MAX_TIMESTAMP = -1, -2, -3
CONSUMER, DEBUGGING_REPLICA = -1, -2
TOPIC, BROKER = 2, 4
SET, DELETE, APPEND, SUBTRACT = 0, 1, 2, 3
PRODUCE_BY_ID, FETCH_BY_ID = 13, 13
TIMEOUT_MS = 5000
PARTITION_MAX_BYTES = 1 << 20


class Named(TypedDict, total=False):
    name: str | None  # the step's label; made of what it does and where it stands if not given


class How(Named, total=False):
    """By which name, on which connection and to which broker a request goes, and as whose."""

    connection: str | None
    broker: BrokerChoice | None
    client_id: str | Name | None
    answer: bool  # False: go on without one (acks=0)


def served_by_all(api: str, version: int | None) -> int:
    """The version asked for, else the auxiliary one."""
    if version is not None:
        return version
    if api not in AUXILIARY:
        raise ValueError(f"{api} has no version that all releases serve: name one")
    return AUXILIARY[api]


def ask(api: str, version: int | None, body: Mapping[str, Any], **how: Unpack[How]) -> Ask:
    """Any request."""
    return Ask(api, served_by_all(api, version), body, **how)


def api_versions(
    *, version: int | None = None, software: str = "touchstone", **how: Unpack[How]
) -> Ask:
    body = {"client_software_name": software, "client_software_version": "1.0"}
    return ask("ApiVersions", version, body, **how)


def metadata(
    *topics: Any,
    version: int | None = None,
    create: bool = False,
    every: bool = False,
    ids: Sequence[Any] = (),
    **how: Unpack[How],
) -> Ask:
    """Metadata of these topics (by name, or by `ids`); of no topic; or of `every` topic.

    Version 0 says "every" with an empty list and cannot say "none"; from 1 on it is null. Before
    version 4 nothing can forbid auto-creation, so `create=False` needs 4 or later to mean anything.
    """
    wanted = [{"name": topic} for topic in topics]
    wanted += [{"name": None, "topic_id": topic_id} for topic_id in ids]
    version = served_by_all("Metadata", version)
    body = {
        "topics": ([] if version == 0 else None) if every else wanted,
        "allow_auto_topic_creation": create,
    }
    return ask("Metadata", version, body, **how)


def create_topic(
    topic: Any,
    partitions: int = 1,
    replication: int = 1,
    configs: Mapping[str, Any] | None = None,
    *,
    assignments: Mapping[int, Sequence[int]] | None = None,
    version: int | None = None,
    validate_only: bool = False,
    timeout_ms: int = TIMEOUT_MS,
    **how: Unpack[How],
) -> Ask:
    """CreateTopics with one topic; with `assignments` the counts are -1, as Kafka wants them."""
    entry = {
        "name": topic,
        "num_partitions": -1 if assignments else partitions,
        "replication_factor": -1 if assignments else replication,
        "assignments": [
            {"partition_index": index, "broker_ids": list(brokers)}
            for index, brokers in (assignments or {}).items()
        ],
        "configs": _pairs(configs),
    }
    body = {"topics": [entry], "timeout_ms": timeout_ms, "validate_only": validate_only}
    return ask("CreateTopics", version, body, **how)


def together(*asks: Ask, name: str | None = None) -> Ask:
    """One request with the entries of several requests of one API; the rest is the first one's."""
    lists = [key for key, value in asks[0].body.items() if isinstance(value, list)]
    joined = {key: [entry for one in asks for entry in one.body[key]] for key in lists}
    return replace(asks[0], body={**asks[0].body, **joined}, name=name or asks[0].name)


def topic_ready(
    topic: Any, partitions: int = 1, *, brokers: int = 1, again: str = ""
) -> list[Until]:
    """Wait until every partition has a leader that answers for it; `again` names a second wait.

    Metadata alone is not enough: in KRaft a broker's metadata shows a partition a moment before its
    log exists (BrokerMetadataPublisher publishes the image first), so each leader is asked as well.
    """
    seen = Until(
        metadata(topic, name=f"ready {_word(topic)}{again}"),
        "topics[0].error_code", "==", NO_ERROR,
        also=(
            ("topics[0].partitions", "len >=", partitions),
            ("topics[0].partitions[*].leader_id", "each >=", 0),
            ("topics[0].partitions[*].error_code", "each ==", NO_ERROR),
        ),
    )  # fmt: skip
    if brokers == 1:
        return [seen, _serving(topic, range(partitions), again=again)]
    each = range(partitions)
    return [seen, *(_serving(topic, [p], Leader(topic, p), again=again) for p in each)]


def _serving(
    topic: Any, partitions: Sequence[int], broker: BrokerChoice | None = None, again: str = ""
) -> Until:
    suffix = again if broker is None else f"/{partitions[0]}{again}"
    question = list_offsets(
        topic, *partitions, broker=broker, name=f"serving {_word(topic)}{suffix}"
    )
    return Until(question, "topics[0].partitions[*].error_code", "each ==", NO_ERROR)


def topic_gone(topic: Any) -> Until:
    """Wait until Metadata no longer knows the topic."""
    question = metadata(topic, name=f"gone {_word(topic)}")
    return Until(question, "topics[0].error_code", "==", UNKNOWN_TOPIC_OR_PARTITION)


def a_topic(
    topic: Any,
    partitions: int = 1,
    replication: int = 1,
    configs: Mapping[str, Any] | None = None,
    *,
    assignments: Mapping[int, Sequence[int]] | None = None,
    brokers: int = 1,
) -> list[Ask | Until]:
    """Create a topic and wait until it serves: how most scenarios begin."""
    count = len(assignments) if assignments else partitions
    controller = Controller() if brokers > 1 else None
    made = create_topic(
        topic, partitions, replication, configs,
        assignments=assignments, name=f"made {_word(topic)}", broker=controller,
    )  # fmt: skip
    return [made, *topic_ready(topic, count, brokers=brokers)]


def delete_topic(
    topic: Any, *, version: int | None = None, timeout_ms: int = TIMEOUT_MS, **how: Unpack[How]
) -> Ask:
    body = {"topic_names": [topic], "topics": [{"name": topic}], "timeout_ms": timeout_ms}
    return ask("DeleteTopics", version, body, **how)


def create_partitions(
    topic: Any,
    count: int,
    *,
    assignments: Sequence[Sequence[int]] | None = None,
    version: int | None = None,
    validate_only: bool = False,
    timeout_ms: int = TIMEOUT_MS,
    **how: Unpack[How],
) -> Ask:
    """CreatePartitions up to `count`; `assignments` lists the brokers of each new partition."""
    given = None if assignments is None else [{"broker_ids": list(one)} for one in assignments]
    entry = {"name": topic, "count": count, "assignments": given}
    body = {"topics": [entry], "timeout_ms": timeout_ms, "validate_only": validate_only}
    return ask("CreatePartitions", version, body, **how)


def describe_configs(
    resource: Any,
    *keys: str,
    version: int,
    kind: int = TOPIC,
    synonyms: bool = False,
    documentation: bool = False,
    **how: Unpack[How],
) -> Ask:
    """DescribeConfigs of one topic or broker; without keys, of all its configs."""
    entry = {
        "resource_type": kind,
        "resource_name": resource,
        "configuration_keys": list(keys) or None,
    }
    body = {
        "resources": [entry],
        "include_synonyms": synonyms,
        "include_documentation": documentation,
    }
    return ask("DescribeConfigs", version, body, **how)


def alter_configs(
    resource: Any,
    configs: Mapping[str, Any],
    *,
    version: int | None = None,
    kind: int = TOPIC,
    validate_only: bool = False,
    **how: Unpack[How],
) -> Ask:
    """AlterConfigs: these values, and every other one back to its default."""
    entry = {"resource_type": kind, "resource_name": resource, "configs": _pairs(configs)}
    body = {"resources": [entry], "validate_only": validate_only}
    return ask("AlterConfigs", version, body, **how)


def incremental_alter_configs(
    resource: Any,
    changes: Sequence[tuple[str, int, str | None]],
    *,
    version: int,
    kind: int = TOPIC,
    validate_only: bool = False,
    **how: Unpack[How],
) -> Ask:
    """IncrementalAlterConfigs: (name, SET | DELETE | APPEND | SUBTRACT, value) each."""
    configs = [{"name": n, "config_operation": op, "value": value} for n, op, value in changes]
    entry = {"resource_type": kind, "resource_name": resource, "configs": configs}
    body = {"resources": [entry], "validate_only": validate_only}
    return ask("IncrementalAlterConfigs", version, body, **how)


def init_producer_id(
    transactional_id: Any = None,
    *,
    version: int | None = None,
    timeout_ms: int = 60_000,
    producer_id: Any = -1,
    producer_epoch: Any = -1,
    **how: Unpack[How],
) -> Ask:
    body = {
        "transactional_id": transactional_id,
        "transaction_timeout_ms": timeout_ms,
        "producer_id": producer_id,
        "producer_epoch": producer_epoch,
    }
    return ask("InitProducerId", version, body, **how)


def produce(
    topic: Any,
    partition: int,
    records: Any,
    *,
    version: int | None = None,
    acks: int = -1,
    timeout_ms: int = TIMEOUT_MS,
    transactional_id: Any = None,
    topic_id: Any = None,
    **how: Unpack[How],
) -> Ask:
    """Produce these record bytes (or a Records placeholder) to one partition.

    With acks=0 Kafka sends no answer, so none is awaited unless `answer=` says otherwise.
    """
    version = served_by_all("Produce", version)
    entry = _topic(topic, topic_id, "name", by_id=version >= PRODUCE_BY_ID)
    entry["partition_data"] = [{"index": partition, "records": records}]
    body = {
        "transactional_id": transactional_id,
        "acks": acks,
        "timeout_ms": timeout_ms,
        "topic_data": [entry],
    }
    return ask("Produce", version, body, **{"answer": acks != 0} | how)


def fetch(
    topic: Any,
    partition: int = 0,
    offset: Any = 0,
    *,
    version: int | None = None,
    max_wait_ms: int = 500,
    min_bytes: int = 1,
    max_bytes: int = 50 << 20,
    partition_max_bytes: int = PARTITION_MAX_BYTES,
    isolation: int = 0,
    session_id: Any = 0,
    session_epoch: int = -1,
    current_leader_epoch: int = -1,
    rack: str = "",
    topic_id: Any = None,
    **how: Unpack[How],
) -> Ask:
    """Fetch one partition as a consumer. Defaults are a consumer's; session -1 is sessionless."""
    version = served_by_all("Fetch", version)
    entry = _topic(topic, topic_id, "topic", by_id=version >= FETCH_BY_ID)
    entry["partitions"] = [
        {
            "partition": partition,
            "current_leader_epoch": current_leader_epoch,
            "fetch_offset": offset,
            "partition_max_bytes": partition_max_bytes,
        }
    ]
    body = {
        "max_wait_ms": max_wait_ms,
        "min_bytes": min_bytes,
        "max_bytes": max_bytes,
        "isolation_level": isolation,
        "session_id": session_id,
        "session_epoch": session_epoch,
        "topics": [entry],
        "rack_id": rack,
    }
    return ask("Fetch", version, body, **how)


def list_offsets(
    topic: Any,
    *partitions: int,
    timestamp: Any = LATEST,
    version: int | None = None,
    isolation: int = 0,
    max_num_offsets: int = 1,
    current_leader_epoch: int = -1,
    replica_id: int = CONSUMER,
    **how: Unpack[How],
) -> Ask:
    """ListOffsets at a timestamp, LATEST or EARLIEST; of partition 0 when none is named."""
    asked = [
        {
            "partition_index": partition,
            "current_leader_epoch": current_leader_epoch,
            "timestamp": timestamp,
            "max_num_offsets": max_num_offsets,
        }
        for partition in partitions or (0,)
    ]
    body = {
        "replica_id": replica_id,
        "isolation_level": isolation,
        "topics": [{"name": topic, "partitions": asked}],
        "timeout_ms": TIMEOUT_MS,
    }
    return ask("ListOffsets", version, body, **how)


def delete_records(
    topic: Any,
    partition: int,
    offset: Any,
    *,
    version: int | None = None,
    timeout_ms: int = TIMEOUT_MS,
    **how: Unpack[How],
) -> Ask:
    """DeleteRecords below an offset; -1 is the high watermark."""
    asked = [{"partition_index": partition, "offset": offset}]
    body = {"topics": [{"name": topic, "partitions": asked}], "timeout_ms": timeout_ms}
    return ask("DeleteRecords", version, body, **how)


def find_coordinator(
    *keys: Any, version: int | None = None, key_type: int = 0, **how: Unpack[How]
) -> Ask:
    """FindCoordinator; before version 4 it takes exactly one key."""
    body = {"key": keys[0] if keys else "", "key_type": key_type, "coordinator_keys": list(keys)}
    return ask("FindCoordinator", version, body, **how)


def producer_ready() -> Until:
    """Wait until producer ids can be had: KRaft fetches the first block while it answers 14."""
    question = init_producer_id(name="producer ids")
    return Until(question, "error_code", "==", NO_ERROR)


def coordinator_ready(key: Any, key_type: int = 0) -> Until:
    """Wait until a coordinator is known: the first one makes Kafka create its internal topic."""
    question = find_coordinator(key, key_type=key_type, name=f"coordinator {_word(key)}")
    return Until(question, "error_code", "==", NO_ERROR)


def offset_for_leader_epoch(
    topic: Any,
    partition: int,
    leader_epoch: int,
    *,
    version: int,
    current_leader_epoch: int = -1,
    replica_id: int = DEBUGGING_REPLICA,
    **how: Unpack[How],
) -> Ask:
    asked = {
        "partition": partition,
        "current_leader_epoch": current_leader_epoch,
        "leader_epoch": leader_epoch,
    }
    body = {"replica_id": replica_id, "topics": [{"topic": topic, "partitions": [asked]}]}
    return ask("OffsetForLeaderEpoch", version, body, **how)


def kill_broker(broker: BrokerChoice, **how: Unpack[Named]) -> Inflict:
    """SIGKILL: no flush, no good-bye; others notice when its session ends."""
    return Inflict("kill", broker, **how)


def stop_broker(broker: BrokerChoice, **how: Unpack[Named]) -> Inflict:
    """Ask it to shut down, which moves its leaders away first, and wait until it is gone."""
    return Inflict("stop", broker, **how)


def pause_broker(broker: BrokerChoice, **how: Unpack[Named]) -> Inflict:
    """Freeze it with its connections open."""
    return Inflict("pause", broker, **how)


def resume_broker(broker: BrokerChoice, **how: Unpack[Named]) -> Inflict:
    """Let a frozen one run on."""
    return Inflict("resume", broker, **how)


def start_broker(broker: BrokerChoice, **how: Unpack[Named]) -> Inflict:
    """Start one again with its own data and port, and wait until it serves."""
    return Inflict("start", broker, **how)


def at_controller() -> How:
    """Spread into a builder: send this step to the controller, the only one that may create topics
    before KRaft (NOT_CONTROLLER elsewhere); KRaft's brokers all pass it on.
    """
    return {"broker": Controller()}


def at_another_broker() -> How:
    """Spread into a builder: send this step to a broker that is not the controller."""
    return {"broker": Controller(other=True)}


def _topic(topic: Any, topic_id: Any, word: str, *, by_id: bool) -> Struct:
    """A topic as Produce and Fetch want it: by id from version 13 on, by name before."""
    if not by_id:
        return {word: topic}
    return {"topic_id": TopicId(topic) if topic_id is None else topic_id}


def _pairs(configs: Mapping[str, Any] | None) -> list[Struct]:
    return [
        {"name": name, "value": value if value is None else str(value)}
        for name, value in (configs or {}).items()
    ]


def _word(topic: Any) -> str:
    return topic if isinstance(topic, str) else topic.key
