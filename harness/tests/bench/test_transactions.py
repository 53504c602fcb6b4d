"""Producers of the bench try again where Kafka would have them, and stop where it would not."""

from __future__ import annotations

import pytest

from touchstone.harness.bench.transactions import transactions
from touchstone.reference_impl.broker.faults.fault_plan import Rule
from touchstone.reference_impl.io.server import serve

pytestmark = pytest.mark.slow
CONFIG = {"transaction.state.log.num.partitions": "1"}
SECONDS = 0.1


def rate(error: str) -> float:
    rule = Rule(action="error", api="Produce", nth=1, times=1, error=error)
    with serve(brokers=1, config=CONFIG, faults=[rule]) as running:
        return transactions(",".join(running.bootstrap), [], 2, SECONDS).rate


@pytest.mark.parametrize("error", ["NOT_LEADER_OR_FOLLOWER", "UNKNOWN_TOPIC_OR_PARTITION"])
def test_a_broker_that_does_not_lead_yet_is_asked_again(error):
    assert rate(error) > 0


def test_another_refusal_ends_the_bench():
    with pytest.raises(RuntimeError, match="Produce answered 2"):
        rate("CORRUPT_MESSAGE")
