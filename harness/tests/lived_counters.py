"""Talks with a cluster that has lived, made by hand, for the tests of what its counters become."""

from __future__ import annotations

from typing import Any

from touchstone.harness.tests.conversations import conversation
from touchstone.reference_impl.wire import embedded
from touchstone.reference_impl.wire.embedded.consumer_offsets import RECORDS
from touchstone.reference_impl.wire.records.batch import Record, encode_batch
from touchstone.reference_impl.wire.records.control import COMMIT, marker_batch

NAME = "topic-aaaaaaaaaa"
PRODUCER, OTHER = 4000, 4001


def cases() -> dict[str, Any]:
    """Reason -> what is honest, what is legal, and faults that look like it."""
    return {
        "coordinator-epochs": (
            talk(read(0), told(0), read(1), logged(1)),
            talk(read(6), told(6), read(7), logged(7)),
            [
                talk(read(6), told(6), read(7), logged(6)),  # another one in an internal topic
                talk(read(6), told(7), read(7)),  # another one in DescribeProducers
                talk(read(6), told(6), read(6)),  # a restart that is no epoch
                talk(read(6), told(6), read(8)),  # two where there was one
                talk(read(6), told(-1), read(7)),  # no marker was there
                talk(read(-1), told(0), read(1)),  # an epoch that is none
            ],
        ),
        "quorum-epochs": (
            talk(quorum(1, 1), quorum(2)),
            talk(quorum(5, 5), quorum(6)),
            [
                talk(quorum(5, 6), quorum(6)),  # two in one answer
                talk(quorum(5, 5), quorum(5)),  # an election that is no epoch
                talk(quorum(0, 0), quorum(6)),  # nobody was elected
            ],
        ),
        "metadata-version": (
            talk(levels(30), levels(30)),
            talk(levels(25), levels(25)),
            [
                talk(levels(30), levels(29)),  # it fell, and nobody asked for that
                talk(levels(31), levels(31)),  # brokers do not support it
                talk(levels(25, 7), levels(25, 7)),  # no level, but a range
                talk(levels(25, name="group.version"), levels(25)),
            ],
        ),
        "feature-epoch": (talk(features(100)), talk(features(7)), [talk(features(-1))]),
    }


def talk(*lines: Any) -> Any:
    numbered = [(f"step {at}", *rest) for at, (_, *rest) in enumerate(lines)]
    return conversation(*numbered, names={"topic": NAME})


def sent(epoch: int) -> Any:
    marker = {"producer_id": PRODUCER, "coordinator_epoch": epoch, "topics": []}
    return ("sent", "WriteTxnMarkers", 1, {"markers": [marker]}, {"markers": []})


def read(epoch: int, producer: int = PRODUCER) -> Any:
    """A Fetch that brings the marker of a coordinator of this epoch."""
    data = _marker(epoch, producer)
    part = {"partition_index": 0, "error_code": 0, "high_watermark": 1, "records": data}
    answer = {"responses": [{"topic": NAME, "partitions": [part]}]}
    return ("read", "Fetch", 4, {"topics": []}, answer)


def logged(epoch: int) -> Any:
    """A Fetch of offsets that a transaction committed, and of the marker behind them."""
    key = embedded.encode_key(RECORDS, 1, {"group": "g", "topic": NAME, "partition": 0})
    body = {"offset": 5, "metadata": "", "commit_timestamp": 1}
    value = embedded.encode_value(RECORDS, 1, 3, body)
    data = encode_batch([Record(0, 0, key, value)], base_timestamp=1, producer_id=PRODUCER)
    label, api, version, request, _ = read(epoch)
    part = {"partition_index": 0, "error_code": 0, "records": data + _marker(epoch)}
    answer = {"responses": [{"topic": "__consumer_offsets", "partitions": [part]}]}
    return (label, api, version, request, answer)


def _marker(epoch: int, producer: int = PRODUCER) -> bytes:
    return marker_batch(
        COMMIT, producer_id=producer, producer_epoch=0, coordinator_epoch=epoch, timestamp=1
    )


def told(epoch: int, producer: int = PRODUCER) -> Any:
    state = {"producer_id": producer, "producer_epoch": 0, "coordinator_epoch": epoch}
    part = {"partition_index": 0, "error_code": 0, "active_producers": [state]}
    answer = {"topics": [{"name": NAME, "partitions": [part]}]}
    return ("told", "DescribeProducers", 0, {"topics": []}, answer)


def quorum(*epochs: int) -> Any:
    parts = [
        {"partition_index": index, "error_code": 0, "leader_epoch": epoch}
        for index, epoch in enumerate(epochs)
    ]
    topics = [{"topic_name": "__cluster_metadata", "partitions": parts}]
    return ("quorum", "DescribeQuorum", 0, {"topics": []}, {"error_code": 0, "topics": topics})


def features(epoch: int) -> Any:
    answer = {"error_code": 0, "api_keys": [], "finalized_features_epoch": epoch}
    return ("asked", "ApiVersions", 3, {}, answer)


def levels(most: int, least: int | None = None, *, name: str = "metadata.version") -> Any:
    least = most if least is None else least
    answer = {
        "error_code": 0, "api_keys": [],
        "supported_features": [{"name": name, "min_version": 7, "max_version": 30}],
        "finalized_features": [
            {"name": name, "max_version_level": most, "min_version_level": least}
        ],
    }  # fmt: skip
    return ("asked", "ApiVersions", 3, {}, answer)
