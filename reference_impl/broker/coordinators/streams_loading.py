"""Streams groups that were loaded with the others are seen to, where there are any.

What they need is a dozen modules (38 ms on a slow machine), so a broker without streams groups does
not load them: a cold start is to take a fraction of a second.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from touchstone.reference_impl.broker.coordinators.groups import Groups

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker


def leadership_changed(broker: Broker, now: int) -> None:
    """A partition of `__consumer_offsets` has another leader, and its groups were loaded."""
    if any(group.streams_group for group in broker.room(Groups).coordinator.groups.values()):
        import_module("touchstone.reference_impl.broker.coordinators.streams_groups").adopt(
            broker, now
        )
