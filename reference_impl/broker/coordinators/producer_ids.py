"""A broker takes producer ids in blocks, so that no two brokers of a cluster give the same one.

Blocks of 1000 come from the controller, or from ZooKeeper, and what is left of one when a broker
ends is never given (KIP-98, KIP-730; ProducerIdManager at 1.0.2, 2.8.2, 3.9).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker

BLOCK = 1000


class ProducerIds:
    """Keeps what is left of the block that a broker took last."""

    def __init__(self, broker: Broker) -> None:
        self._cluster = broker.cluster
        self._left: Iterator[int] = iter(())

    def next(self) -> int:
        fresh = next(self._left, None)
        if fresh is None:
            start = self._cluster.allocate_producer_ids(BLOCK)
            self._left = iter(range(start, start + BLOCK))
            fresh = next(self._left)
        return fresh
