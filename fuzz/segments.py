"""What a run of bytes is to a peer that cuts it into frames: which frames, and is anything left.

Also which of them give a peer the right to be silent for a while. Pure; the runner and the oracles
both ask, so that what was sent and what is expected of it cannot drift apart.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from touchstone.reference_impl.wire.headers import decode_request
from touchstone.reference_impl.wire.schema import Struct

SIZE = 4
LIMIT = 100 * 1024 * 1024
"""socket.request.max.bytes, Kafka's default: a size above it ends the connection."""

NOTICEABLE_MS = 50


def _twice(resources: list[Struct]) -> bool:
    """Whether a resource is named twice (quirk alter.repeated-resource-never-answered)."""
    named = {(row["resource_type"], row["resource_name"]) for row in resources}
    return len(named) < len(resources)


def _without_records(topics: list[Struct]) -> bool:
    """Whether a partition's records are null (quirk produce.null-records-hang)."""
    return any(row["records"] is None for topic in topics for row in topic["partition_data"])


def _odd_markers(markers: list[Struct]) -> bool:
    """Whether a marker names a partition twice, or one of several names none: Kafka, which counts
    the partitions down, does not answer that.
    """
    named = [
        [(topic["name"], index) for topic in one["topics"] for index in topic["partition_indexes"]]
        for one in markers
    ]
    return any(len(set(each)) < len(each) or (not each and len(named) > 1) for each in named)


def _beyond_the_first(groups: list[Struct]) -> bool:
    """Whether a partition is named that topics of one partition do not have (of 4.3.1 seen: the
    share coordinator's answer about such a one is waited for without end).
    """
    rows = [topic for group in groups for topic in group["topics"] or ()]
    return any(partition > 0 for topic in rows for partition in topic["partitions"])


def _may_join(body: Struct) -> bool:
    """Whether a join may wait for other members: one of no group, protocol or session timeout is
    refused at once, and a new dynamic member from version 4 on (KIP-394) is told its id at once.
    """
    if not (body["group_id"] and body["protocol_type"] and body["protocols"]):
        return False
    named = body["member_id"] or body.get("group_instance_id") is not None
    needs_an_id = "group_instance_id" in body
    return body["session_timeout_ms"] > 0 and bool(named or not needs_an_id)


def _may_sync(body: Struct) -> bool:
    """Whether a sync may wait for the leader: no member has an empty id or a generation below 0."""
    return bool(body["group_id"] and body["member_id"]) and body["generation_id"] >= 0


# Requests that a correct peer may hold: API key -> whether this body gives it the right to.
MAY_WAIT: dict[int, Callable[[Struct], bool]] = {
    0: lambda body: _without_records(body["topic_data"]),  # Produce from 3.9 on never answers that
    1: lambda body: body["max_wait_ms"] > NOTICEABLE_MS,
    9: lambda body: body.get("groups") == [],  # OffsetFetch from v8 on: 3.9 never answers that
    11: _may_join,  # JoinGroup waits for the other members
    14: _may_sync,  # SyncGroup waits for the leader
    19: lambda body: body["timeout_ms"] > NOTICEABLE_MS,
    20: lambda body: body["timeout_ms"] > NOTICEABLE_MS,
    21: lambda body: body["timeout_ms"] > NOTICEABLE_MS,
    24: lambda body: body.get("transactions") == [],  # AddPartitionsToTxn v4 on: nor that, nor 4.3
    27: lambda body: _odd_markers(body["markers"]),
    33: lambda body: _twice(body["resources"]),  # AlterConfigs from 2.8 on never answers that
    37: lambda body: body["timeout_ms"] > NOTICEABLE_MS,
    43: lambda body: body["timeout_ms"] > NOTICEABLE_MS,
    78: lambda body: body["max_wait_ms"] > NOTICEABLE_MS,
    90: lambda body: _beyond_the_first(body["groups"]),  # DescribeShareGroupOffsets
}


def frames_in(wire: bytes) -> tuple[list[bytes], bool]:
    """The frames (without sizes) a peer finds, and whether the last byte ends one of them."""
    if len(wire) >= SIZE and int.from_bytes(wire[:SIZE], "big") == len(wire) - SIZE <= LIMIT:
        return [wire[SIZE:]], True  # the short way for nearly all
    frames: list[bytes] = []
    at = 0
    while at < len(wire):
        size = int.from_bytes(wire[at : at + SIZE], "big", signed=True)
        if len(wire) - at < SIZE or not 0 <= size <= LIMIT or at + SIZE + size > len(wire):
            return frames, False
        frames.append(wire[at + SIZE : at + SIZE + size])
        at += SIZE + size
    return frames, True


@lru_cache(maxsize=8)  # asked by the runner and by several oracles about the same case
def may_wait(wire: bytes) -> bool:
    """Whether a correct peer may take longer over these bytes than over a plain question."""
    return any(_may_wait(frame) for frame in frames_in(wire)[0])


def _may_wait(frame: bytes) -> bool:
    key = int.from_bytes(frame[:2], "big", signed=True)
    if key not in MAY_WAIT:
        return False
    try:
        return MAY_WAIT[key](decode_request(frame).body)
    except ValueError:
        return False
