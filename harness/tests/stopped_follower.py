"""Talks in which a broker stops, made by hand, for the tests of what its end does to epochs."""

from __future__ import annotations

import dataclasses
from typing import Any

from touchstone.harness.judgement.epochs import REASON
from touchstone.harness.model.transcript import Event, Transcript
from touchstone.harness.tests.conversations import conversation
from touchstone.reference_impl.wire.records.batch import Record, encode_batch

NAME = "topic-aaaaaaaaaa"
AWAY = 2  # the step at which a broker stops, after the first look


def case() -> dict[str, Any]:
    """What is legal, and faults that look like it."""
    faults = [
        after_a_stop(0, 0),  # the stop is no epoch
        after_a_stop(1, 2),  # two different ones where there was one
        after_a_stop(1, 1, before=1),  # there was one more before
        after_a_stop(1, 1, end=2),  # another row than the epoch
    ]
    return {REASON: (after_a_stop(1, 1), after_a_stop(2, 2), faults)}


def after_a_stop(
    *epochs: int, before: int = 0, end: int = 1, leader: int = 1, how: str = "stop",
    release: str = "2.2",
) -> Transcript:  # fmt: skip
    """Broker 2 stops between a look and a look with a read, which tell these epochs."""
    told, read = epochs
    honest = conversation(
        created(), look("before", leader, before), look("away", leader, told), fetch(read, end),
        look("after", leader, told), names={"topic": NAME}, brokers=3, release=release,
    )  # fmt: skip
    stop = Event(AWAY * 1000 + 5, "broker 2", "inflicted", AWAY, broker=2, note=how)
    events = [event for event in honest.events if event.step != AWAY]
    return dataclasses.replace(honest, events=(*events, stop))


def created() -> tuple[str, str, int, Any, Any]:
    rows = [{"partition_index": 0, "broker_ids": [1, 2]}]
    return ("made", "CreateTopics", 2, {"topics": [{"name": NAME, "assignments": rows}]}, None)


def look(label: str, leader: int, epoch: int) -> tuple[str, str, int, Any, Any]:
    part = {
        "error_code": 0, "partition_index": 0, "leader_id": leader, "leader_epoch": epoch,
        "replica_nodes": [1, 2], "isr_nodes": [1], "offline_replicas": [],
    }  # fmt: skip
    row = {"error_code": 0, "name": NAME, "is_internal": False, "partitions": [part]}
    answer = {"brokers": [], "cluster_id": None, "controller_id": 0, "topics": [row]}
    return (label, "Metadata", 7, {"topics": [{"name": NAME}]}, answer)


def fetch(epoch: int, end: int) -> tuple[str, str, int, Any, Any]:
    data = encode_batch([Record(0, 0, b"k", b"v")], base_timestamp=1)
    data = data[:12] + epoch.to_bytes(4, "big") + data[16:]  # outside of what the CRC covers
    part = {"partition_index": 0, "error_code": 0, "high_watermark": end, "records": data}
    answer = {"responses": [{"topic": NAME, "partitions": [part]}]}
    return ("read", "Fetch", 4, {"topics": []}, answer)
