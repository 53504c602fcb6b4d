"""Looks at a client as a member of a group; see `client_view`. Pure."""

from __future__ import annotations

from typing import Any

from touchstone.harness.model.client_exchanges import exchanged, of_api, said, topic_names
from touchstone.harness.model.transcript import Transcript
from touchstone.reference_impl.wire.embedded import consumer_protocol

MOVES = {"partitions_assigned": "assigned", "partitions_revoked": "revoked",
         "partitions_lost": "lost"}  # fmt: skip


def commits(
    transcript: Transcript, topic: str, partition: int = 0, client: str | None = None
) -> list[int]:
    """The offsets that OffsetCommit and TxnOffsetCommit named for a partition."""
    requests = exchanged(transcript)
    names = topic_names(transcript, requests)
    return [
        part["committed_offset"]
        for one in requests
        if one.api in ("OffsetCommit", "TxnOffsetCommit") and client in (None, one.client)
        for row in one.body["topics"]
        if (row.get("name") or names.get(row.get("topic_id", b""))) == topic
        for part in row["partitions"]
        if part["partition_index"] == partition
    ]


def generations(transcript: Transcript, client: str | None = None) -> str:
    """Of which generation heartbeats are, held against the last answer to a JoinGroup before."""
    current, beats = None, 0
    for one in exchanged(transcript):
        if client not in (None, one.client):
            continue
        if one.api == "JoinGroup" and one.answer and not one.answer["error_code"]:
            current = one.answer["generation_id"]
        elif one.api == "Heartbeat":
            beats += 1
            if one.body["generation_id"] != current:
                return f"{one.body['generation_id']} where {current} was joined"
    return "as joined" if beats else "no heartbeat"


def left(transcript: Transcript, client: str | None = None) -> str:
    """Under whose id the last LeaveGroup was, held against the ids of the JoinGroups."""
    bodies = [one.body for one in of_api(transcript, "LeaveGroup", client)]
    if not bodies:
        return "not at all"
    told = {
        one.answer["member_id"] for one in of_api(transcript, "JoinGroup", client) if one.answer
    }
    named = {row["member_id"] for row in bodies[-1].get("members") or ()} or {
        bodies[-1]["member_id"]
    }
    return "as who had joined" if named <= told else "as somebody else"


def rejoined(transcript: Transcript, since: str, client: str | None = None) -> str:
    """Under which id a member joined since a step began, held against those it had before."""
    mine = [one for one in exchanged(transcript) if client in (None, one.client)]
    first = transcript.header.labels.index(since)
    synced = next((at for at, one in enumerate(mine) if one.event.step >= first), len(mine))
    later = [one.body["member_id"] for one in mine[synced:] if one.api == "JoinGroup"]
    if not later:
        return "not at all"
    known = {one.body["member_id"] for one in mine[: synced + 1] if one.api == "SyncGroup"}
    if later[0] in known:
        return "under its member id"
    return "under another id" if later[0] else "without a member id"


def moves(transcript: Transcript, client: str) -> list[list[Any]]:
    """How a member's partitions moved: of each event that names any, its word and how many."""
    return [
        [MOVES[one.name], len(one.row["partitions"])]
        for one in said(transcript)
        if one.name in MOVES and one.client == client and one.row["partitions"]
    ]


def owned(transcript: Transcript, client: str) -> list[int]:
    """How many partitions each JoinGroup of a member calls its own (KIP-429)."""
    found = []
    for one in of_api(transcript, "JoinGroup", client):
        offered = one.body["protocols"][0]["metadata"]
        _, metadata, _ = consumer_protocol.decode_subscription(bytes(offered))
        rows = metadata.get("owned_partitions") or ()
        found.append(sum(len(row["partitions"]) for row in rows))
    return found


def acknowledged(transcript: Transcript, client: str) -> list[list[int]]:
    """The partitions that each ConsumerGroupHeartbeat calls its own, where it says so (KIP-848)."""
    return [
        sorted(part for row in one.body["topic_partitions"] for part in row["partitions"])
        for one in of_api(transcript, "ConsumerGroupHeartbeat", client)
        if one.body["topic_partitions"] is not None
    ]
