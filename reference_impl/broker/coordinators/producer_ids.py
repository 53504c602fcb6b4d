"""Producer ids: a broker takes them in blocks, so that no two of a cluster give the same one.

Blocks of 1000 come from the controller, or from ZooKeeper, and what is left of one when a broker
ends is never given (KIP-98, KIP-730; ProducerIdManager at 1.0.2, 2.8.2, 3.9).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker

BLOCK = 1000


def next_id(broker: Broker) -> int:
    left = broker.state.setdefault("producer ids", iter(()))
    fresh = next(left, None)
    if fresh is None:
        start = broker.cluster.allocate_producer_ids(BLOCK)
        left = broker.state["producer ids"] = iter(range(start, start + BLOCK))
        fresh = next(left)
    return fresh
