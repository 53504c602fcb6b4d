"""Rates and buckets against Kafka's own classes, step by step.

`recorded.json`: walks of (ms since the step before, what is recorded, ms to wait) that
org.apache.kafka.common.metrics.stats.Rate and TokenBucket of kafka-clients 1.0.2, 2.2.1, 2.8.2,
3.9.2 and 4.3.1 were taken along, with 11 samples of a second, and the time to wait by
ClientQuotaManager's and ControllerMutationQuotaManager's formulas. A strict bucket takes nothing
while something is owed, a permissive one takes on.
"""

import json
from pathlib import Path

import pytest

from touchstone.reference_impl.broker.personas import persona
from touchstone.reference_impl.cluster.quota_rates import SampledRate, TokenBucket, Window

NOW = 1_700_000_000_000
WALKS = json.loads(Path(__file__).with_name("recorded.json").read_text())


def waits(measure, limit, steps, *, keeps_overlapping):
    """What ours says at each step."""
    rate, bucket = SampledRate(Window(), keeps_overlapping=keeps_overlapping), TokenBucket(Window())
    now, told = NOW, []
    for later, value, _ in steps:
        now += later
        if measure == "rate":
            rate.record(value, now)
            told.append(rate.wait(limit, now))
        elif measure == "strict":
            owed = bucket.wait(limit, now)
            if not owed:
                bucket.take(value, limit, now)
            told.append(owed)
        else:
            bucket.take(value, limit, now)
            told.append(bucket.wait(limit, now))
    return told


@pytest.mark.parametrize("walk", WALKS, ids=lambda w: f"{w['measure']}-{w['limit']}")
def test_as_kafka_measures(walk):
    """Within a millisecond at each step."""
    for release in walk["releases"]:
        keeps = persona(release).quirk("quotas.rates-keep-overlapping-samples")
        told = waits(walk["measure"], walk["limit"], walk["steps"], keeps_overlapping=keeps)
        real = [wait for _, _, wait in walk["steps"]]
        assert all(abs(a - b) <= 1 for a, b in zip(told, real, strict=True)), release


def test_a_rate_of_the_other_era_is_noticed():
    """The walks tell the two ways to forget samples apart."""
    walk = next(w for w in WALKS if w["measure"] == "rate" and w["releases"] == ["3.9", "4.3"])
    told = waits("rate", walk["limit"], walk["steps"], keeps_overlapping=False)
    assert told != [wait for _, _, wait in walk["steps"]]
