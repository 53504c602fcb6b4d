"""What a broker measures, by short names: name, then its tags."""

from __future__ import annotations

from touchstone.reference_impl.broker.broker import Broker
from touchstone.reference_impl.broker.metrics.readings import readings


def measured(broker: Broker) -> dict[tuple[str, ...], float]:
    return {
        (each.name or each.attribute, *(value for _, value in each.tags)): value
        for each, value in readings(broker).items()
    }
