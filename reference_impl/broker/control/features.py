"""A cluster runs at the features of its release, and at those that were changed since.

Sources: KIP-584, KIP-778.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker


def finalized(broker: Broker) -> Mapping[str, int]:
    """Levels by name; a feature at level 0 is off and not listed."""
    levels = {**broker.persona.finalized, **broker.cluster.features}
    return {name: level for name, level in levels.items() if level}


def level(broker: Broker, name: str) -> int:
    """The level of one feature; 0 where it is off or unknown."""
    changed = broker.cluster.features.get(name)
    return broker.persona.finalized.get(name, 0) if changed is None else changed


def finalize(broker: Broker, levels: Mapping[str, int]) -> None:
    if levels:
        broker.cluster.features |= levels
        broker.cluster.generation += 1
