"""Offsets as records: what is spared in writing many at once changes none of their bytes."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from touchstone.reference_impl.group import log_records
from touchstone.reference_impl.group.offsets import CommittedOffset
from touchstone.reference_impl.wire import embedded
from touchstone.reference_impl.wire.embedded.consumer_offsets import RECORDS
from touchstone.reference_impl.wire.records import batch

ONE, OTHER = (SimpleNamespace(id=bytes([each]) * 16) for each in (1, 2))
OFFSETS = {
    ("one", 0): CommittedOffset(5, 3, "", 100, None, ONE),
    ("one", 1): CommittedOffset(0, 3, "", 100, None, ONE),
    ("one", -1): CommittedOffset((1 << 63) - 1, -1, "", 100, None, ONE),
    ("other", 7): CommittedOffset(-1, 3, "", 100, None, OTHER),
    ("other", 1 << 20): CommittedOffset(1, 3, "words \u00fc", 100, None, OTHER),
    ("one", 3): None,
    ("one", 4): CommittedOffset(6, 3, "", 100, 200, ONE),
    ("one", 5): CommittedOffset(6, 3, "", 101, None, ONE),
}


def records_of(data: bytes) -> list[tuple[bytes, bytes | None]]:
    return [(each.key, each.value) for each in batch.decode_batch(data).records]


def in_full(stored: CommittedOffset | None, version: int, *, named: bool) -> bytes | None:
    if stored is None:
        return None
    version = version if stored.expires is None else 1
    body = {
        "offset": stored.offset, "leader_epoch": stored.leader_epoch, "metadata": stored.metadata,
        "commit_timestamp": stored.committed,
        **({"topic_id": stored.topic.id} if version >= 4 and named else {}),
        **({"expire_timestamp": stored.expires} if version == 1 and stored.expires else {}),
    }  # fmt: skip
    return embedded.encode_value(RECORDS, 1, version, body)


@pytest.mark.parametrize("producer", [None, (9, 1)])
@pytest.mark.parametrize("version", [1, 3, 4])
def test_many_offsets_are_written_as_each_alone(version, producer):
    written = log_records.offsets_batch("g", OFFSETS, version=version, now=50, producer=producer)
    assert records_of(written) == [
        (
            embedded.encode_key(RECORDS, 1, {"group": "g", "topic": topic, "partition": index}),
            in_full(stored, version, named=producer is None),
        )
        for (topic, index), stored in OFFSETS.items()
    ]


@pytest.mark.parametrize("count", [0, 1, 2, 200])
def test_pairs_are_a_batch_like_any_other(count):
    pairs = [
        (None if n % 3 == 2 else b"k" * n, None if n % 4 == 3 else b"v" * (9 * n))
        for n in range(count)
    ]
    plain = batch.encode_pairs(
        pairs, base_timestamp=77, producer_id=4, producer_epoch=2, attributes=batch.TRANSACTIONAL
    )
    assert plain == batch.encode_batch(
        [batch.Record(delta, 0, *pair) for delta, pair in enumerate(pairs)],
        base_timestamp=77, producer_id=4, producer_epoch=2, transactional=True,
    )  # fmt: skip
