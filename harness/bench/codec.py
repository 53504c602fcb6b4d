"""Our codec beside kio's (Rust) in one process and one run: the ratio is the figure, not the rate.

Two Metadata v12 responses: a small one as a single broker answers a client, and one of thirty
topics. Each side works with its own representation of the same bytes: dicts here, classes there.
The two take turns and the best turn of each counts, so that a busy machine hurts both alike.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Iterator
from typing import Any

from touchstone.harness.bench.contest import Figure, Options
from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.codec import decode, encode
from touchstone.reference_impl.wire.schema import Struct

SCHEMA, VERSION = API[3].response, 12
TURNS, TURN_SECONDS = 5, 0.1


def metadata(topics: int) -> Struct:
    partition = {
        "error_code": 0, "partition_index": 0, "leader_id": 0, "leader_epoch": 0,
        "replica_nodes": [0], "isr_nodes": [0], "offline_replicas": [],
    }  # fmt: skip
    topic = {
        "error_code": 0, "name": "topic", "topic_id": bytes(range(16)), "is_internal": False,
        "partitions": [partition], "topic_authorized_operations": -(1 << 31),
    }  # fmt: skip
    broker = {"node_id": 0, "host": "localhost", "port": 9092, "rack": None}
    return {
        "throttle_time_ms": 0, "brokers": [broker], "cluster_id": None, "controller_id": 0,
        "topics": [topic] * topics,
    }  # fmt: skip


def run(options: Options) -> Iterator[Figure]:
    """Rates of both, per message size; without kio only ours."""
    for topics in (1, 30):
        value = metadata(topics)
        data = encode(SCHEMA, VERSION, value)
        ours = {
            "encode": lambda value=value: encode(SCHEMA, VERSION, value),
            "decode": lambda data=data: decode(SCHEMA, VERSION, data),
        }
        theirs = _kio(data)
        for verb in ("encode", "decode"):
            best = _compete([ours[verb], *([theirs[verb]] if theirs else [])])
            what = f"{verb} Metadata v12 response, {len(data)} B"
            peer = ("kio", round(best[1])) if theirs else (None, None)
            options.say(f"codec {what}: {best[0]:,.0f} per s")
            yield Figure("codec", what, round(best[0]), "per s", *peer)


def _kio(data: bytes) -> dict[str, Callable[..., Any]] | None:
    try:
        from kio.schema.metadata.v12.response import MetadataResponse
        from kio.serial import entity_reader, entity_writer
    except ImportError:
        return None
    read, write = entity_reader(MetadataResponse), entity_writer(MetadataResponse)
    value, _ = read(data, 0)
    out = io.BytesIO()
    write(out, value)
    if out.getvalue() != data:
        raise AssertionError("kio and we disagree about the bytes that are being timed")
    return {"encode": lambda: write(io.BytesIO(), value), "decode": lambda: read(data, 0)}


def _compete(contestants: list[Callable[..., Any]]) -> list[float]:
    best = [0.0] * len(contestants)
    for _ in range(TURNS):
        for index, work in enumerate(contestants):
            best[index] = max(best[index], _rate(work))
    return best


def _rate(work: Callable[..., Any]) -> float:
    count, begin = 0, time.perf_counter()
    while (spent := time.perf_counter() - begin) < TURN_SECONDS:
        for _ in range(200):
            work()
        count += 200
    return count / spent
