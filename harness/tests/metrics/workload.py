"""The same small work for real Kafka and for the reference broker, some of it refused."""

from __future__ import annotations

from typing import Any

from touchstone.reference_impl.io.client import Client
from touchstone.reference_impl.wire.errors import ErrorCode as E

SETTINGS = {
    "offsets.topic.num.partitions": 2,
    "group.initial.rebalance.delay.ms": 0,
    "message.max.bytes": 20_000,
}
Members = tuple[Any, Any]
TOPIC, GROUP, NEWER_GROUP = "measured", "classic", "newer"
RECORDS = 5
FAR_AHEAD_MS = 1 << 50
UP_TO_NAMES = (4, 12)  # of Fetch: later versions name topics by id


def data(client: Client) -> None:
    """Records that are taken and read, and requests that fail, each for another reason."""
    client.admin.create_topic(
        TOPIC, partitions=2, replication=1, configs={"message.timestamp.after.max.ms": "3600000"}
    )
    client.admin.create_topic("deleted", partitions=3, replication=1)
    producer = client.producer()
    for number in range(RECORDS):
        producer.send(TOPIC, b"%d" % number, partition=0)
        producer.send(TOPIC, b"%d" % number, partition=1)
        producer.flush()
    producer.send("deleted", b"gone", partition=0)
    producer.flush()
    plain = client.producer(idempotence=False)
    for refused, options in [
        (E.MESSAGE_TOO_LARGE, {"value": bytes(30_000)}),
        (E.INVALID_TIMESTAMP, {"value": b"early", "timestamp": FAR_AHEAD_MS}),
    ]:
        delivery = plain.send(TOPIC, partition=0, **options)
        plain.flush()
        assert getattr(delivery.error, "code", None) == refused, delivery.error
    for offset, wait_ms in [(0, 500), (2, 500), (RECORDS, 1), (RECORDS + 99, 500)]:
        client.ask("Fetch", fetch(offset, wait_ms), node=0, versions=UP_TO_NAMES)
    for topic in (TOPIC, "nowhere"):
        client.ask("ListOffsets", list_offsets(topic), node=0)
    client.admin.delete_topics(["deleted"])


def groups(client: Client) -> Members:
    """Two groups of a member each, which have read and committed; give them, to be closed."""
    members = [
        client.consumer(group=GROUP, topics=[TOPIC], reset="earliest"),
        client.consumer(group=NEWER_GROUP, topics=[TOPIC], reset="earliest", protocol="consumer"),
    ]
    for member in members:
        got = 0
        while got < 2 * RECORDS:
            got += len(member.poll())
        member.commit()
    return members[0], members[1]


def fetch(offset: int, wait_ms: int) -> dict[str, Any]:
    row = {"partition": 0, "fetch_offset": offset, "partition_max_bytes": 1 << 20}
    return {
        "replica_id": -1, "max_wait_ms": wait_ms, "min_bytes": 1, "max_bytes": 1 << 20,
        "session_epoch": -1, "topics": [{"topic": TOPIC, "partitions": [row]}],
    }  # fmt: skip


def list_offsets(topic: str) -> dict[str, Any]:
    rows = [{"partition_index": at, "timestamp": -1} for at in (0, 1)]
    return {"replica_id": -1, "topics": [{"name": topic, "partitions": rows}]}
