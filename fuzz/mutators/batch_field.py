"""Set one field of a record batch's header to an edge; length and CRC are right around it."""

from __future__ import annotations

import random

from touchstone.fuzz.layers import edges, stored, within_batch
from touchstone.reference_impl.wire.records.batch import HEADER_SIZE, LOG_OVERHEAD, BatchHeader

LENGTH_AT, LENGTH_END = 8, 12  # outside the CRC, as the base offset and the leader epoch are
TYPES = {
    "base_offset": "int64", "partition_leader_epoch": "int32", "magic": "int8",
    "attributes": "int16", "last_offset_delta": "int32", "base_timestamp": "int64",
    "max_timestamp": "int64", "producer_id": "int64", "producer_epoch": "int16",
    "base_sequence": "int32", "records_count": "int32",
}  # fmt: skip
LEAST = HEADER_SIZE - LOG_OVERHEAD


def mutate(wire: bytes, draw: random.Random) -> bytes:
    return within_batch(wire, draw, _change)


def _change(header: BatchHeader, payload: bytes, draw: random.Random) -> bytes:
    name = draw.choice((*TYPES, "batch_length"))
    batch = stored(header, payload)
    if name == "batch_length":
        real = len(batch) - LOG_OVERHEAD
        length = draw.choice((-1, 0, LEAST - 1, LEAST, real - 1, real + 1, 2**31 - 1))
        lie = length.to_bytes(LENGTH_END - LENGTH_AT, "big", signed=True)
        return batch[:LENGTH_AT] + lie + batch[LENGTH_END:]
    if name == "attributes":  # the payload stays as it is stored: its codec may be a lie then
        changed = header._replace(attributes=header.attributes ^ (1 << draw.randrange(15)))
    else:
        now, least, *_, most = getattr(header, name), *edges(TYPES[name])
        near = {now - 1, now + 1, *edges(TYPES[name])} - {now}
        value = draw.choice(sorted(one for one in near if least <= one <= most))
        changed = header._replace(**{name: value})
    return changed.encode(batch[HEADER_SIZE:])
