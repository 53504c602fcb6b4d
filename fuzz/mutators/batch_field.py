"""Set one field of a record batch's header to an edge; length, magic and CRC are right."""

from __future__ import annotations

import random

from touchstone.fuzz.layers import Opened, edges, stored, within_batch
from touchstone.reference_impl.wire.records.batch import HEADER_SIZE, BatchHeader

LAYER = "batch header"
TYPES = {
    "base_offset": "int64", "partition_leader_epoch": "int32", "attributes": "int16",
    "last_offset_delta": "int32", "base_timestamp": "int64", "max_timestamp": "int64",
    "producer_id": "int64", "producer_epoch": "int16", "base_sequence": "int32",
    "records_count": "int32",
}  # fmt: skip


def change(opened: Opened, draw: random.Random) -> bytes:
    return within_batch(opened, draw, _change)


def _change(header: BatchHeader, payload: bytes, draw: random.Random) -> bytes:
    name = draw.choice(tuple(TYPES))
    batch = stored(header, payload)
    if name == "attributes":  # the payload stays as it is stored: its codec may be a lie then
        changed = header._replace(attributes=header.attributes ^ (1 << draw.randrange(15)))
    else:
        now, least, *_, most = getattr(header, name), *edges(TYPES[name])
        near = {now - 1, now + 1, *edges(TYPES[name])} - {now}
        value = draw.choice(sorted(one for one in near if least <= one <= most))
        changed = header._replace(**{name: value})
    return changed.encode(batch[HEADER_SIZE:])
