"""Ids that a cluster makes: random UUIDs, drawn from a source that a test or a seed decides."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from typing import Protocol


class RandomSource(Protocol):
    """The part of `random.Random` that placement and ids need; tests pass their own."""

    def randrange(self, stop: int, /) -> int: ...

    def randbytes(self, n: int, /) -> bytes: ...


def random_uuid(random: RandomSource) -> bytes:
    """16 bytes of version 4, as java.util.UUID makes them. None whose text form begins with "-":
    shells read it as a flag, so Kafka draws again (Uuid.randomUuid).
    """
    while True:
        raw = bytearray(random.randbytes(16))
        raw[6] = raw[6] & 0x0F | 0x40
        raw[8] = raw[8] & 0x3F | 0x80
        if not urlsafe_b64encode(raw).startswith(b"-"):
            return bytes(raw)


def random_cluster_id(random: RandomSource) -> str:
    return urlsafe_b64encode(random.randbytes(16)).decode()[:22]
