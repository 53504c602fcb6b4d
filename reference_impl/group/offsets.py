"""What a group committed: offsets by topic and partition, with their age.

Whether a commit is taken is the coordinator's question; how long offsets live is answered here.
Up to 2.0 each offset carries its own end, counted from the commit; later ones live as long as the
group has members, and then for the retention time (KIP-211), unless the commit named its own.

Sources: OFFS-16, 21, 23, 24; GroupMetadataManager.scala@1.0.2, 2.8.2 (facts); observed on all five.
"""

from __future__ import annotations

from dataclasses import dataclass

from reference_impl.group.members import CONSUMER, Group
from reference_impl.group.states import State


@dataclass(frozen=True, slots=True)
class Stored:
    offset: int
    leader_epoch: int
    metadata: str
    committed: int  # ms
    expires: int | None  # ms; None: by the group's retention
    topic: object  # which topic of that name: a new one starts without offsets


def expired(group: Group, stored: Stored, retention_ms: int, now: int) -> bool:
    if stored.expires is not None:
        return stored.expires <= now
    if group.state is State.EMPTY:
        since = max(group.emptied_at, stored.committed)
        return since + retention_ms <= now
    return False


def sweep(group: Group, retention_ms: int, now: int) -> bool:
    """Drop what is too old; whether nothing is left that keeps the group (OFFS-24)."""
    if group.state is not State.EMPTY and group.protocol_type == CONSUMER:
        subscribed = group.subscribed() or set()
    else:
        subscribed = set()
    for key, stored in list(group.offsets.items()):
        if key[0] not in subscribed and expired(group, stored, retention_ms, now):
            del group.offsets[key]
    return group.state is State.EMPTY and not group.offsets and not group.pending
