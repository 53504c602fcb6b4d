"""A group keeps its committed offsets by topic and partition, with their age.

Whether a commit is taken is the coordinator's question; how long offsets live is answered here.
Up to 2.0 each offset carries its own end, counted from the commit; later ones live as long as the
group has members, and then for the retention time (KIP-211), unless the commit named its own.

Offsets of an open transaction stand apart, by producer: they count from its commit on, where no
newer commit has come by then, and are forgotten by its abort (KIP-98).

Sources: OFFS-16, 21, 23, 24; GroupMetadataManager.scala@1.0.2, 2.8.2; observed on all five.
"""

from __future__ import annotations

from typing import NamedTuple

from touchstone.reference_impl.group.members import Group
from touchstone.reference_impl.group.states import State
from touchstone.reference_impl.wire.records.check import wrapped


class CommittedOffset(NamedTuple):
    offset: int
    leader_epoch: int
    metadata: str
    committed: int  # ms
    expires: int | None  # ms; None: by the group's retention
    topic: object  # which topic of that name: a new one starts without offsets
    age: int = 0  # commits count up; of two for a partition the later one stays


def unstable(group: Group, key: tuple[str, int]) -> bool:
    """Whether an open transaction has an offset for this partition (KIP-447)."""
    return any(key in offsets for offsets in group.unstable.values())


def transaction_ended(group: Group, producer_id: int, *, commit: bool) -> None:
    """The producer's offsets count now, or never."""
    for key, stored in group.unstable.pop(producer_id, {}).items():
        known = group.offsets.get(key)
        if commit and (known is None or known.age < stored.age):
            group.offsets[key] = stored


def forget(group: Group, key: tuple[str, int]) -> None:
    """The partition has no offset any more, nor gets one from a transaction that is open."""
    group.offsets.pop(key, None)
    for staged in group.unstable.values():
        staged.pop(key, None)


def expired(group: Group, stored: CommittedOffset, retention_ms: int, now: int) -> bool:
    """Whether its time is up: counted from when the group emptied, where anybody ever joined."""
    if stored.expires is not None:
        return stored.expires <= now
    if group.state is State.EMPTY and not group.newer_members:
        lived = group.protocol_type is not None and group.streams_group is None
        since = (group.emptied_at_ms if lived else 0) or stored.committed
        return wrapped(now - since) >= retention_ms
    return wrapped(now - stored.committed) >= retention_ms


def sweep(
    group: Group,
    retention_ms: int,
    now: int,
    *,
    spares: str = "subscribed",
) -> bool:
    """Drop what is too old; whether nothing is left that keeps the group (OFFS-24).

    `spares` says what members keep by being there: "nothing", "all", or "subscribed" topics.
    """
    spared = _spared(group, spares)
    for key, stored in list(group.offsets.items()):
        if spared is None or key[0] in spared:
            continue
        if expired(group, stored, retention_ms, now):
            del group.offsets[key]
    return is_idle(group)


def _spared(group: Group, spares: str) -> set[str] | None:
    """Topics whose offsets stay whatever their age; None for all topics."""
    active = group.newer_members or group.state is not State.EMPTY
    if not active or spares == "nothing":
        return set()
    if spares == "all" or not (group.newer_members or group.state is State.STABLE):
        return None
    return group.subscribed()


def is_idle(group: Group) -> bool:
    """Whether nothing keeps the group: no member, not even an id given out, and no offset."""
    return is_over(group) and not group.pending


def is_over(group: Group) -> bool:
    """Whether it has neither member nor offset; ids given out do not count."""
    empty = group.state is State.EMPTY and not group.newer_members
    return empty and not group.offsets and not group.unstable
