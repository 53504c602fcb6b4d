"""AlterReplicaLogDirs: replicas of this broker move to another directory (KIP-113).

v0-v1 the first; v2 flexible.

The length of the name is looked at first: INVALID_TOPIC_EXCEPTION from 2.8 on where a directory of
the future replica could not have it. Then the directory is: LOG_DIR_NOT_FOUND for one that this
broker has not, and KAFKA_STORAGE_ERROR for one that is offline, whatever should move there. A
replica that is not here has its own code by release. Who is there already has nothing to do. Kafka
copies beside the loop and shows a future replica meanwhile; here the move is done when the answer
leaves.

Source: ReplicaManager.alterReplicaLogDirs at 1.0.2 to 4.3.1; observed on all five releases.
"""

from __future__ import annotations

from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.broker.personas.persona import Persona
from touchstone.reference_impl.broker.replication.replicas import Replicas
from touchstone.reference_impl.log.directories import Directory
from touchstone.reference_impl.log.rules import LogError
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

SUFFIX = ".0123456789abcdef0123456789abcdef-future"  # of a directory; the middle is drawn


def handle(request: Request, replicas: Replicas, persona: Persona, now: int) -> Struct:
    paths = {
        (topic["name"], index): row["path"]  # the last counts of a replica that is named twice
        for row in request.body["dirs"]
        for topic in row["topics"]
        for index in topic["partitions"]
    }
    # Asked once: how full they are is summed up over all their logs.
    directories = {each.path: each for each in replicas.logs.directories()}
    by_topic: dict[str, list[Struct]] = {}
    for (name, index), path in paths.items():
        code = _move(replicas, persona, name, index, directories.get(path), now)
        by_topic.setdefault(name, []).append({"partition_index": index, "error_code": code})
    return {
        "results": [{"topic_name": name, "partitions": rows} for name, rows in by_topic.items()]
    }


def _move(
    replicas: Replicas,
    persona: Persona,
    topic: str,
    index: int,
    target: Directory | None,
    now: int,
) -> int:
    if len(f"{topic}-{index}{SUFFIX}") > persona.quirk("log-dirs.longest-future-name"):
        return ErrorCode.INVALID_TOPIC_EXCEPTION
    if target is None:
        return ErrorCode.LOG_DIR_NOT_FOUND
    if target.offline:
        return ErrorCode.KAFKA_STORAGE_ERROR
    replica = replicas.get(topic, index)
    if replica is None:
        return persona.quirk("log-dirs.replica-elsewhere")
    if replica.offline:
        return ErrorCode.KAFKA_STORAGE_ERROR
    try:
        replicas.logs.move(topic, index, target.path, now)
    except LogError as fault:
        return fault.code
    return ErrorCode.NONE


def fail(request: Request, code: int) -> Struct:
    return {
        "results": [
            {
                "topic_name": topic["name"],
                "partitions": [
                    {"partition_index": index, "error_code": code} for index in topic["partitions"]
                ],
            }
            for row in request.body["dirs"]
            for topic in row["topics"]
        ]
    }
