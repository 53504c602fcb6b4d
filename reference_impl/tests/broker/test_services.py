"""A handler gets what its signature names, and never the broker itself."""

from __future__ import annotations

import pytest

from touchstone.reference_impl.broker import registry
from touchstone.reference_impl.broker.broker import Broker
from touchstone.reference_impl.tests.broker.one_broker import OneBroker


@pytest.mark.parametrize("release", ["1.0", "4.3"])
def test_every_handler_is_given_what_it_takes(release):
    (broker,) = OneBroker(release).brokers
    for key in registry.stems():
        taken = registry.services(key)
        assert Broker not in taken, registry.stems()[key]
        assert all(isinstance(broker.room(kind), kind) for kind in taken)
        assert broker.handler(key) is broker.handler(key)


def test_what_is_taken_is_the_brokers_own():
    one, other = OneBroker(brokers=2).brokers
    for kind in {kind for key in registry.stems() for kind in registry.services(key)}:
        assert one.room(kind) is one.room(kind)
    replicas = next(k for k in registry.services(1) if k.__name__ == "Replicas")
    assert one.room(replicas) is not other.room(replicas)
