"""An offset on its way into a group, whichever request brings it: OffsetCommit or TxnOffsetCommit.

Both look first whether the partition is there, find or found the group, hold the metadata against
`offset.metadata.max.bytes` (which counts Java chars, so UTF-16 units, whatever its name says), and
make of a row what is kept. What each asks of members, and how it answers, stays theirs.

Sources: OFFS-03, OFFS-05, OFFS-16, OFFS-23; GroupMetadataManager.validateOffsetMetadataLength at
1.0.2, 2.8.2; observed on all five releases.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from reference_impl.broker.groups import (
    coordinator_of,
    forget_deleted,
    next_age,
    number,
    retention_ms,
    watch_age,
)
from reference_impl.group.offsets import Stored
from reference_impl.wire.errors import ErrorCode

if TYPE_CHECKING:
    from reference_impl.broker.broker import Broker
    from reference_impl.cluster.topology import Topic
    from reference_impl.group.members import Group

UNSET = -1


def is_there(broker: Broker, topic: Topic | None, index: int) -> bool:
    """Whether a commit for this partition is looked at any further."""
    checked = broker.persona.quirk("offsets.partitions-are-checked")
    return topic is not None and (not checked or topic.partition(index) is not None)


def named(broker: Broker, indexes: Sequence[int]) -> Sequence[int]:
    """The partitions of a topic in a request, as often as they are answered."""
    once = broker.persona.quirk("offsets.partitions-are-answered-once")
    return list(dict.fromkeys(indexes)) if once else indexes


def group_for(broker: Broker, group_id: str, now: int, *, missing: int) -> Group | int:
    """The group, founded unless `missing` says what it means that there is none."""
    coordinator = coordinator_of(broker)
    group = coordinator.groups.get(group_id)
    if group is None:
        if missing:
            return missing
        group = coordinator.found(group_id, now)
    forget_deleted(broker)
    watch_age(broker, now)
    return group


def stored(
    broker: Broker,
    row: dict[str, Any],
    topic: Topic,
    now: int,
    *,
    committed: int = UNSET,
    retention: int = UNSET,
) -> Stored | int:
    """What is kept of a partition's row, or why it is not; times in ms, UNSET for the usual."""
    metadata = row["committed_metadata"] or ""
    too_long = chars(metadata) > number(broker, "offset.metadata.max.bytes")
    if too_long and "commit-metadata-unlimited" not in broker.switches:
        return ErrorCode.OFFSET_METADATA_TOO_LARGE
    committed = now if committed == UNSET else committed
    expires = None
    if retention != UNSET:
        expires = committed + retention
    elif broker.persona.quirk("offsets.live-from-their-commit"):
        expires = committed + retention_ms(broker)
    offset, epoch = row["committed_offset"], row["committed_leader_epoch"]
    if "committed-offset-off-by-one" in broker.switches:
        offset += 1
    if "commit-metadata-lost" in broker.switches:
        metadata = ""
    if "commit-leader-epoch-lost" in broker.switches:
        epoch = UNSET
    return Stored(offset, epoch, metadata, committed, expires, topic, next_age(broker))


def chars(text: str) -> int:
    """Java's String.length."""
    return len(text.encode("utf-16-be", "surrogatepass")) // 2
