"""librdkafka's mock cluster gets the brokers, racks and settings that a claim wants."""

from __future__ import annotations

import pytest

from touchstone.harness.model.target import Shape
from touchstone.harness.targets import parse, probe


@pytest.fixture
def target():
    made = parse("librdkafka-mock")
    reason = made.available()
    if reason:
        pytest.skip(f"not run: {reason}")
    yield made
    made.stop()


@pytest.mark.slow
def test_it_serves_with_racks_and_ends(target):
    endpoint = target.start(Shape(3, ("a", "b", "c"), {"group.initial.rebalance.delay.ms": 0}))
    sight = probe.metadata(endpoint.bootstrap[0])
    assert sight.brokers == dict(endpoint.brokers)
    assert sorted(sight.racks.values()) == ["a", "b", "c"]
    target.stop()
    with pytest.raises(probe.NotReady):
        probe.api_versions(endpoint.bootstrap[0])
