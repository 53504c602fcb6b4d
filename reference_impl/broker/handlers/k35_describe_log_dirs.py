"""DescribeLogDirs: which directories there are, what lies in them and how large (KIP-113).

v0-v1 the first; v2 flexible; v3 an error of its own; v4 bytes of the volume (KIP-827); v5 whether
a directory is cordoned, which none of ours ever is.

A null list of topics asks for all; partitions that are not here are left out. A directory that is
offline says KAFKA_STORAGE_ERROR and nothing else. 2.8 names every topic of a directory whatever was
asked for, and lists of each the partitions that were.

Source: ReplicaManager.describeLogDirs at 1.0.2 to 4.3.1; observed on all five releases.
"""

from __future__ import annotations

from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.broker.personas.persona import Persona
from touchstone.reference_impl.broker.replication.replicas import Replicas
from touchstone.reference_impl.log.directories import Directory
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct


def handle(request: Request, replicas: Replicas, persona: Persona, now: int) -> Struct:
    asked = request.body["topics"]
    wanted = None
    if asked is not None:
        wanted = {(row["topic"], index) for row in asked for index in row["partitions"]}
    directories = replicas.logs.directories()
    return {
        "error_code": ErrorCode.NONE,
        "results": [_result(replicas, persona, each, wanted) for each in directories],
    }


def _result(
    replicas: Replicas, persona: Persona, directory: Directory, wanted: set[tuple[str, int]] | None
) -> Struct:
    if directory.offline:
        return {"error_code": ErrorCode.KAFKA_STORAGE_ERROR, "log_dir": directory.path}
    by_topic: dict[str, list[Struct]] = {}
    for (topic, index), log in directory.logs.items():
        if wanted is None or (topic, index) in wanted:
            replica = replicas.get(topic, index)
            lag = 0 if replica is None else max(0, log.high_watermark - log.log_end_offset)
            by_topic.setdefault(topic, []).append(
                {
                    "partition_index": index,
                    "partition_size": log.size,
                    "offset_lag": lag,
                    "is_future_key": False,
                }
            )
        elif persona.quirk("log-dirs.every-topic-is-named"):
            by_topic.setdefault(topic, [])
    return {
        "error_code": ErrorCode.NONE,
        "log_dir": directory.path,
        "topics": [{"name": name, "partitions": rows} for name, rows in by_topic.items()],
        "total_bytes": directory.total_bytes,
        "usable_bytes": directory.usable_bytes,
    }


def fail(request: Request, code: int) -> Struct:
    return {"error_code": code, "results": []}
