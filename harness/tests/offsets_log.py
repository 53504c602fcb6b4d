"""Fetches of internal topics made by hand, for the tests of what may differ in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from touchstone.harness.tests.conversations import CLOCK
from touchstone.reference_impl.wire import embedded
from touchstone.reference_impl.wire.embedded import consumer_group_records, share_state
from touchstone.reference_impl.wire.embedded.consumer_offsets import RECORDS
from touchstone.reference_impl.wire.records.batch import Record, encode_batch

Row = tuple[str, int | None]  # topic, offset; None for a tombstone


def commits(
    *batches: Iterable[Row], base: int = 0, at: int = CLOCK, end: int = 9
) -> tuple[str, str, int, dict[str, Any], dict[str, Any]]:
    """An answer that holds these batches of commits by group "g", from this offset on."""
    data = b"".join(_batch(rows, base + index, at) for index, rows in enumerate(batches))
    part = {"partition_index": 0, "error_code": 0, "high_watermark": end, "records": data}
    answer = {"responses": [{"topic": "__consumer_offsets", "partitions": [part]}]}
    return ("asked", "Fetch", 7, {"topics": []}, answer)


def stamped(talk: Callable[..., Any], group: str) -> dict[str, Any]:
    """The case of times at which something was written: what is legal, and what looks like it."""
    past, rows = CLOCK - 10_000_000, [(group, 5)]
    faults = [
        talk(commits(rows, at=past), state(group)),
        talk(commits(rows), state(group, past)),
        talk(commits(rows), state(group, start=6)),
    ]
    honest, legal = (talk(commits(rows, at=CLOCK + ms), state(group, CLOCK + ms)) for ms in (3, 99))
    return {"commit-times": (honest, legal, faults)}


def hashed(talk: Callable[..., Any], group: str) -> dict[str, Any]:
    """The case of hashes over topics: what is legal, and faults that look like it."""
    honest, legal, *faults = (
        talk(epochs(group, *rows))
        for rows in (
            ((2, 77), (3, 77), (4, 0)),
            ((2, 99), (3, 99), (4, 0)),
            ((2, 77), (3, 99), (4, 0)),
            ((2, 77), (3, 77), (4, 5)),
            ((3, 77), (3, 77), (4, 0)),
        )
    )
    return {"metadata-hashes": (honest, legal, faults)}


def looked(talk: Callable[..., Any]) -> dict[str, Any]:
    """The case of scouts of consumer groups: how often one joined is chance, and only its."""
    honest, legal, *faults = (
        talk(heartbeat_answered(*row))
        for row in (("scout", 2), ("scout", 3), ("scout", 0), ("m1", 3))
    )
    return {"scouts": (honest, legal, faults)}


def hosted(talk: Callable[..., Any]) -> dict[str, Any]:
    """The case of addresses of clients: what is legal, and faults that look like it."""
    honest, legal, *faults = (
        talk(described(*hosts))
        for hosts in (
            ("/10.0.0.1", "/10.0.0.1"),
            ("127.0.0.1:4001", "127.0.0.1:4002"),
            ("", ""),
            ("/10.0.0.1", ""),
        )
    )
    return {"client-hosts": (honest, legal, faults)}


def led(talk: Callable[..., Any]) -> dict[str, Any]:
    """The case of leaders in answers about shared partitions: who is read, and who is not."""
    honest, legal, fault = (
        talk(acknowledged({0: unread, 6: read})) for unread, read in ((0, 0), (-1, 0), (0, -1))
    )
    return {"unread-leaders": (honest, legal, [fault])}


def acknowledged(leaders: dict[int, int]) -> tuple[str, str, int, dict[str, Any], dict[str, Any]]:
    """An answer of ShareAcknowledge: a partition for each error, with the leader it names."""
    parts = [
        {"partition_index": code, "error_code": code, "current_leader": {"leader_id": leader}}
        for code, leader in leaders.items()
    ]
    answer = {"error_code": 0, "responses": [{"topic_id": bytes(16), "partitions": parts}]}
    return ("asked", "ShareAcknowledge", 1, {}, answer)


def described(*hosts: str) -> tuple[str, str, int, dict[str, Any], dict[str, Any]]:
    """A description of a group whose members connect from these addresses."""
    members = [
        {"member_id": f"m{number}", "client_id": "c", "client_host": host}
        for number, host in enumerate(hosts)
    ]
    answer = {"groups": [{"error_code": 0, "group_id": "g", "members": members}]}
    return ("asked", "DescribeGroups", 0, {"groups": ["g"]}, answer)


def heartbeat_answered(
    member: str, epoch: int
) -> tuple[str, str, int, dict[str, Any], dict[str, Any]]:
    """A heartbeat of this member, answered with this epoch."""
    answer = {
        "throttle_time_ms": 0,
        "error_code": 0,
        "error_message": None,
        "member_id": member,
        "member_epoch": epoch,
        "heartbeat_interval_ms": 5000,
        "assignment": None,
    }
    return ("asked", "ConsumerGroupHeartbeat", 1, {"member_id": member}, answer)


def epochs(
    group: str, *rows: tuple[int, int]
) -> tuple[str, str, int, dict[str, Any], dict[str, Any]]:
    """An answer that holds these epochs of a consumer group, with their hashes, in one batch."""
    kinds = consumer_group_records.RECORDS
    key = embedded.encode_key(kinds, 3, {"group_id": group})
    values = [
        embedded.encode_value(kinds, 3, 0, {"epoch": epoch, "metadata_hash": hashed})
        for epoch, hashed in rows
    ]
    records = [Record(delta, 0, key, value) for delta, value in enumerate(values)]
    data = encode_batch(records, base_timestamp=CLOCK)
    part = {"partition_index": 0, "error_code": 0, "high_watermark": 9, "records": data}
    answer = {"responses": [{"topic": "__consumer_offsets", "partitions": [part]}]}
    return ("asked", "Fetch", 7, {"topics": []}, answer)


def state(
    group: str, at: int = CLOCK, start: int = 5
) -> tuple[str, str, int, dict[str, Any], dict[str, Any]]:
    """An answer that holds a snapshot of a share partition of this group, written at this time."""
    kinds = share_state.RECORDS
    key = embedded.encode_key(kinds, 0, {"group_id": group, "topic_id": bytes(16), "partition": 0})
    times = {"create_timestamp": at, "write_timestamp": at}
    value = embedded.encode_value(
        kinds, 0, 0,
        {"snapshot_epoch": 0, "state_epoch": 1, "leader_epoch": 0, "start_offset": start,
         "state_batches": [], **times},
    )  # fmt: skip
    data = encode_batch([Record(0, 0, key, value)], base_timestamp=at)
    part = {"partition_index": 0, "error_code": 0, "high_watermark": 9, "records": data}
    answer = {"responses": [{"topic": "__share_group_state", "partitions": [part]}]}
    return ("state", "Fetch", 7, {"topics": []}, answer)


def _batch(rows: Iterable[Row], base: int, at: int) -> bytes:
    records = [
        Record(delta, 0, _key(topic), _value(offset, at))
        for delta, (topic, offset) in enumerate(rows)
    ]
    return encode_batch(records, base_offset=base, base_timestamp=at)


def _key(topic: str) -> bytes:
    return embedded.encode_key(RECORDS, 1, {"group": "g", "topic": topic, "partition": 0})


def _value(offset: int | None, at: int) -> bytes | None:
    body = {"offset": offset, "metadata": "", "commit_timestamp": at}
    return None if offset is None else embedded.encode_value(RECORDS, 1, 3, body)
