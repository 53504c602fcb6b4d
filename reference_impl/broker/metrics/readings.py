"""A broker is observed from the first call on, and tells what it measures whenever it is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from touchstone.reference_impl.broker.metrics import gauges
from touchstone.reference_impl.broker.metrics.meters import Meters

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker
    from touchstone.reference_impl.broker.metrics.mbeans import Metric


def observe(broker: Broker) -> Meters:
    """The broker's meters, which count from now on if they did not before."""
    if not isinstance(broker.observer, Meters):
        broker.observer = broker.replicas.observer = Meters(broker.metadata)
    return broker.observer


def readings(broker: Broker) -> dict[Metric, float]:
    """All that this broker measures, now; to be called where the broker is served."""
    meters = observe(broker)
    meters.keep_topics({each.topic for each in broker.replicas})
    found = dict(meters.readings())
    for each in gauges.ALL:
        found.update(each(broker))
    return found
