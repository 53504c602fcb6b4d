"""What a fault leaves behind in a cluster of a target file, for the next case."""

from __future__ import annotations

import pytest

from touchstone.harness.model.target import Shape
from touchstone.harness.targets import described_cluster, probe
from touchstone.harness.tests.targets.test_described import EACH, described

__all__ = ["described"]  # the fixture

pytestmark = pytest.mark.timeout(600)


def test_a_broker_that_runs_and_answers_nobody_behind_a_fault_is_replaced(described, monkeypatch):
    """As crabka does at times when it was killed and started again."""
    monkeypatch.setattr(described_cluster, "ANSWER_SECONDS", 0.5)
    target = described(EACH)
    first = target.start(Shape(2))
    first.nodes[1].kill()
    first.nodes[1].start()
    first.nodes[1].child.pause()  # not through the node: nobody wanted this
    second = target.start(Shape(2))
    assert second.bootstrap != first.bootstrap
    assert all(probe.api_versions(address) for address in second.bootstrap)


def test_a_broker_that_is_frozen_on_purpose_is_not_replaced(described):
    target = described(EACH)
    endpoint = target.start(Shape(2))
    endpoint.nodes[1].pause()
    assert target.start(Shape(2)) is endpoint
    endpoint.nodes[1].resume()
    assert target.start(Shape(2)).bootstrap == endpoint.bootstrap
