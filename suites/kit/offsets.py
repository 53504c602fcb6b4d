"""Committed offsets: requests of each form, and members that commit.

A commit or fetch hides what changed from version to version: a topic by name or by id (v10), one
group or several in one request (OffsetFetch v8). Members join with the oldest version that all
five releases serve, which takes a newcomer at once whatever KIP-394 says of later ones, so that
the version at hand is that of the request a claim is about.

Sources: schema OffsetCommit, OffsetFetch, OffsetDelete; KIP-709, KIP-848; GROUP-16, GROUP-18.
"""

import struct
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from touchstone.harness.model.placeholders import Joined, Name, Ref, TopicId
from touchstone.harness.model.scenario import Ask, Until
from touchstone.harness.model.steps import a_topic, ask, coordinator_ready
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.transactions import CLUSTER

__all__ = ["CLUSTER"]

COMMIT, FETCH = 2, 3  # the versions of steps that only prepare or observe
FIRST_BY_ID, FIRST_BATCHED, FIRST_WITH_MEMBER = 10, 8, 9
SESSION_MS = 30_000
CODE = "topics[0].partitions[0].error_code"
OFFSET = "topics[0].partitions[0].committed_offset"
NOTHING = -1


def part(offset: int = 7, partition: int = 0, **fields: Any) -> dict[str, Any]:
    """One partition of a commit."""
    row = {"partition_index": partition, "committed_offset": offset, "committed_metadata": ""}
    return row | fields


def rows(
    group: Any,
    topics: Sequence[tuple[Any, Sequence[dict[str, Any]]]],
    *,
    version: int = COMMIT,
    generation: Any = -1,
    member: Any = "",
    instance: Any = None,
    retention: int = -1,
    **how: Any,
) -> Ask:
    """An OffsetCommit of several topics: ((topic, (part(...), ...)), ...)."""
    body = {
        "group_id": group,
        "generation_id_or_member_epoch": generation,
        "member_id": member,
        "group_instance_id": instance,
        "retention_time_ms": retention,
        "topics": [_named(topic, version) | {"partitions": list(p)} for topic, p in topics],
    }
    return ask("OffsetCommit", version, body, **how)


def commit(
    group: Any,
    topic: Any,
    offset: int = 7,
    partition: int = 0,
    *,
    fields: dict[str, Any] | None = None,
    **how: Any,
) -> Ask:
    """An OffsetCommit of one partition; `fields` are its metadata, leader epoch, timestamp."""
    return rows(group, [(topic, [part(offset, partition, **fields or {})])], **how)


def fetch(
    group: Any,
    topic: Any = None,
    *partitions: int,
    version: int = FETCH,
    stable: bool = False,
    member: Any = None,
    epoch: Any = -1,
    **how: Any,
) -> Ask:
    """An OffsetFetch of one topic (partition 0 unless said), or of all that the group committed."""
    topics = None if topic is None else [(topic, partitions or (0,))]
    return fetch_many([(group, topics, member, epoch)], version=version, stable=stable, **how)


def fetch_many(
    groups: Sequence[tuple[Any, Any, Any, Any]],
    *,
    version: int,
    stable: bool = False,
    **how: Any,
) -> Ask:
    """An OffsetFetch of these (group, ((topic, partitions), ...) or None, member id, epoch)."""
    asked = [
        {
            "group_id": group,
            "member_id": member,
            "member_epoch": epoch,
            "topics": None
            if topics is None
            else [_named(t, version) | {"partition_indexes": list(p)} for t, p in topics],
        }
        for group, topics, member, epoch in groups
    ]
    body: dict[str, Any] = {"groups": asked, "require_stable": stable}
    if version < FIRST_BATCHED:
        body |= {word: asked[0][word] for word in ("group_id", "topics")}
    return ask("OffsetFetch", version, body, **how)


def fetched(path: str, version: int) -> str:
    """Where an OffsetFetch of one group says this."""
    return path if version < FIRST_BATCHED else f"groups[0].{path}"


def describe(group: Any, **how: Any) -> Ask:
    """DescribeGroups of one group, in its oldest version."""
    return ask("DescribeGroups", 0, {"groups": [group]}, **how)


def a_group(case: Any, partitions: int = 2) -> tuple[Any, Any, list[Any]]:
    """A topic, a group that nobody used, and the steps until both can be asked for."""
    topic, group = case.topic(), case.group()
    return topic, group, [a_topic(topic, partitions), serving(group)]


def serving(group: Any, topic: Any = None) -> list[Any]:
    """Until the group's coordinator has been found and answers for it; a topic if its name is not
    this case's own.
    """
    word = group if isinstance(group, str) else group.key
    asked = fetch(group, topic, version=2, name=f"serving {word}")
    return [coordinator_ready(group), Until(asked, "error_code", "==", ErrorCode.NONE)]


def _named(topic: Any, version: int) -> dict[str, Any]:
    if version < FIRST_BY_ID:
        return {"name": topic}
    return {"topic_id": topic if isinstance(topic, bytes) else TopicId(topic)}


# members of a classic group


def subscription(topic: Name) -> Joined:
    """A consumer's metadata in JoinGroup: version 0, this one topic, no user data."""
    head = struct.pack(">hih", 0, 1, topic.length)
    return Joined((head, replace(topic, binary=True), struct.pack(">i", -1)))


def join(
    group: Any,
    name: str,
    *,
    member: Any = "",
    metadata: Any = b"",
    protocol_type: str = "consumer",
    session_ms: int = SESSION_MS,
    **how: Any,
) -> Ask:
    """JoinGroup in a version that takes a newcomer at once."""
    body = {
        "group_id": group,
        "session_timeout_ms": session_ms,
        "rebalance_timeout_ms": SESSION_MS,
        "member_id": member,
        "protocol_type": protocol_type,
        "protocols": [{"name": "range", "metadata": metadata}],
    }
    return ask("JoinGroup", 2, body, name=name, **how)


def sync(group: Any, name: str, *, member: Any, generation: Any = 1, **how: Any) -> Ask:
    """The leader's SyncGroup, which gives everything to itself."""
    body = {
        "group_id": group,
        "generation_id": generation,
        "member_id": member,
        "assignments": [{"member_id": member, "assignment": b""}],
    }
    return ask("SyncGroup", 0, body, name=name, **how)


def leave(group: Any, name: str, *, member: Any, **how: Any) -> Ask:
    """LeaveGroup of one member."""
    return ask("LeaveGroup", 0, {"group_id": group, "member_id": member}, name=name, **how)


def heartbeat(group: Any, name: str, *, member: Any, generation: Any = 1, **how: Any) -> Ask:
    """Heartbeat of one member."""
    body = {"group_id": group, "generation_id": generation, "member_id": member}
    return ask("Heartbeat", 0, body, name=name, **how)


MEMBER = Ref("member", "member_id")
OWN = {"member": MEMBER, "generation": 1}


def a_member(group: Any, **how: Any) -> list[Any]:
    """A stable group of one, in generation 1; OWN is who it is."""
    return [join(group, "member", **how), sync(group, "assigned", member=MEMBER)]
