"""A cluster runs at the features of its release, and at those that were changed since.

Sources: KIP-584, KIP-778.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker


class Features:
    """The features of a cluster, and the levels it runs at."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker

    def finalized(self) -> Mapping[str, int]:
        """Levels by name; a feature at level 0 is off and not listed."""
        levels = {**self._broker.persona.finalized, **self._broker.cluster.features}
        return {name: level for name, level in levels.items() if level}

    def level(self, name: str) -> int:
        """The level of one feature; 0 where it is off or unknown."""
        changed = self._broker.cluster.features.get(name)
        return self._broker.persona.finalized.get(name, 0) if changed is None else changed

    def finalize(self, levels: Mapping[str, int]) -> None:
        if levels:
            self._broker.cluster.features |= levels
            self._broker.cluster.generation += 1
