"""Coordinators are told here that the leaders of an internal topic changed, or that topics went.

Each is imported when it is first told something, so that a broker that coordinates nothing loads
nothing of it (`touchstone bench startup`).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from touchstone.reference_impl.broker.control.internal_topics import OFFSETS, SHARES, TRANSACTIONS

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker

_ROOM = "touchstone.reference_impl.broker.coordinators"
# internal topic -> modules whose `leadership_changed(broker, now)` loads and unloads partitions
_COORDINATORS = {
    TRANSACTIONS: ("transactions",),
    OFFSETS: ("consumer_groups", "share_groups", "streams_loading"),
    SHARES: ("share_states",),
}


def changed(broker: Broker, topic: str, now: int) -> None:
    """A partition of this internal topic has another leader, or is no more."""
    for name in _COORDINATORS[topic]:
        import_module(f"{_ROOM}.{name}").leadership_changed(broker, now)


def topics_deleted(broker: Broker) -> None:
    """Some topic was deleted, of which the share coordinator may keep states."""
    if SHARES in broker.cluster.topics:
        import_module(f"{_ROOM}.share_states").topics_deleted(broker)
