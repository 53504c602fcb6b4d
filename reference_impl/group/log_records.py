"""Committed offsets as records of `__consumer_offsets`: a key per group and partition.

An offset with an end of its own needs value version 1, the others the newest that its release
writes: 1 before 2.1, 3 with leader epochs since (KIP-320), 4 where topics are known by id.

Sources: GroupMetadataManager.offsetCommitValue at 1.0.2, 2.2.1, 2.8.2; KIP-211, KIP-320.
"""

from __future__ import annotations

from collections.abc import Mapping

from reference_impl.group.offsets import Stored
from reference_impl.wire import embedded
from reference_impl.wire.embedded.consumer_offsets import RECORDS
from reference_impl.wire.records import batch

_OFFSET, _WITH_END = 1, 1


def offsets_batch(
    group_id: str,
    offsets: Mapping[tuple[str, int], Stored],
    *,
    version: int,
    now: int,
    producer: tuple[int, int] | None = None,
) -> bytes:
    """One batch of these offsets; within the transaction of `producer` (id, epoch) if given."""
    records = []
    for delta, ((topic, index), stored) in enumerate(offsets.items()):
        key = {"group": group_id, "topic": topic, "partition": index}
        value = {
            "offset": stored.offset,
            "leader_epoch": stored.leader_epoch,
            "metadata": stored.metadata,
            "commit_timestamp": stored.committed,
            "expire_timestamp": -1 if stored.expires is None else stored.expires,
        }
        wanted = version if stored.expires is None else _WITH_END
        records.append(
            batch.Record(
                delta,
                0,
                embedded.encode_key(RECORDS, _OFFSET, key),
                embedded.encode_value(RECORDS, _OFFSET, wanted, value),
            )
        )
    producer_id, epoch = producer or (-1, -1)
    return batch.encode_batch(
        records,
        base_timestamp=now,
        producer_id=producer_id,
        producer_epoch=epoch,
        transactional=producer is not None,
    )
