"""Who commits or fetches offsets of a group whose members have epochs says its own.

A consumer group (KIP-848) and a streams group (KIP-1071) compare it with the member's; each looks
at the partitions of a commit in an earlier epoch in its own way. A classic group has generations,
and its commits are `commits.py`'s.

Sources: ConsumerGroup, StreamsGroup.validateOffsetCommit and validateOffsetFetch@4.3.1.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from touchstone.reference_impl.group import consumer_requests
from touchstone.reference_impl.group.members import Group
from touchstone.reference_impl.wire.errors import ErrorCode as E


class Place(NamedTuple):
    """A partition that is committed."""

    topic: str
    topic_id: bytes
    partition: int


def speaks_newer(group: Group, member_id: str) -> bool:
    """Whether this is a member that has an epoch, and not a classic one."""
    if group.streams_group is not None:
        return member_id in group.streams_group.members
    member = None if group.consumer_group is None else group.consumer_group.members.get(member_id)
    return member is not None and member.classic is None


def check_commit(group: Group, member_id: str, epoch: int, places: Collection[Place]) -> int:
    """The error of a commit to a group with a newer half, NONE if it is taken."""
    if group.streams_group is not None:
        named = [(place.topic, place.partition) for place in places]
        return group.streams_group.check_commit(member_id, epoch, named)
    if group.consumer_group is None:
        return E.NONE
    by_id = frozenset((place.topic_id, place.partition) for place in places)
    return consumer_requests.check_commit(group.consumer_group, member_id, epoch, by_id)


def check_fetch(group: Group, member_id: str | None, epoch: int) -> int:
    """The error of a fetch of offsets with this id and epoch, NONE if it is answered."""
    if group.streams_group is not None:
        return group.streams_group.check_fetch(member_id, epoch)
    if group.consumer_group is None:
        return E.NONE
    return consumer_requests.check_fetch(group.consumer_group, member_id, epoch)
