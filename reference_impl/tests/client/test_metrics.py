"""A client's metrics: Java's windows, what feeds them, and what a whole client shows."""

from __future__ import annotations

from math import isnan

import pytest

from touchstone.reference_impl.client.flow import Answer, Ask, Failed
from touchstone.reference_impl.client.metrics.client_metrics import ClientMetrics, MetricName
from touchstone.reference_impl.client.metrics.names import CONSUMER, GROUP, METRICS, PRODUCER
from touchstone.reference_impl.client.metrics.sampled import WINDOW_MS, Sampled
from touchstone.reference_impl.io.client import Client
from touchstone.reference_impl.io.server import serve

_PRODUCER, _FETCHES = "producer-metrics", "consumer-fetch-manager-metrics"
_COORDINATOR = "consumer-coordinator-metrics"


def test_a_rate_is_of_the_last_windows_and_of_one_at_the_least():
    """Rate.windowSize: one full window counts even where less time has passed."""
    found = Sampled()
    found.record(60, 0)
    assert found.rate(1_000) == pytest.approx(60 / 31)
    found.record(30, WINDOW_MS)
    assert found.rate(WINDOW_MS + 15_000) == pytest.approx(90 / 45)
    assert found.event_rate(WINDOW_MS + 15_000) == pytest.approx(2 / 45)
    assert found.rate(3 * WINDOW_MS) == 0  # both are 60 s old
    assert (found.total, found.events) == (90, 2)


def test_old_samples_are_forgotten_one_by_one():
    found = Sampled()
    found.record(8, 0)
    found.record(2, WINDOW_MS)
    assert (found.average(WINDOW_MS), found.most(WINDOW_MS)) == (5, 8)
    assert (found.average(2 * WINDOW_MS), found.most(2 * WINDOW_MS)) == (2, 2)
    assert isnan(found.average(3 * WINDOW_MS)) and isnan(found.most(3 * WINDOW_MS))


def value(metrics, group, name, now=0, **tags):
    wanted = {"client-id": "c"} | {key.replace("_", "-"): text for key, text in tags.items()}
    return metrics.read(now)[MetricName(group, name, tuple(sorted(wanted.items())))]


def batch(records, size):
    return bytes(23) + (records - 1).to_bytes(4, "big") + bytes(size - 27)


def produce(*batches):
    rows = [{"index": at, "records": each} for at, each in enumerate(batches)]
    return Ask(1, "Produce", {"topic_data": [{"name": "t", "partition_data": rows}]})


def test_batches_are_counted_when_they_are_sent_and_again_when_they_are_sent_again():
    metrics = ClientMetrics("c")
    metrics.serve(PRODUCER)
    metrics.asked(produce(batch(3, 100), batch(5, 300)), 0)
    metrics.asked(produce(batch(3, 100)), 0)
    assert value(metrics, _PRODUCER, "record-send-total") == 11
    assert value(metrics, "producer-topic-metrics", "record-send-total", topic="t") == 11
    assert value(metrics, "producer-topic-metrics", "byte-total", topic="t") == 500
    assert value(metrics, _PRODUCER, "batch-size-max") == 300
    assert value(metrics, _PRODUCER, "records-per-request-avg") == 5.5
    answer = Answer(produce(), 9, {"throttle_time_ms": 7})
    metrics.ended(answer, 10, 30)
    assert value(metrics, _PRODUCER, "request-latency-avg", 30) == 20
    assert value(metrics, _PRODUCER, "produce-throttle-time-max", 30) == 7


def test_a_rebalance_lasts_from_its_first_join_to_its_sync():
    metrics = ClientMetrics("c")
    metrics.serve(GROUP)
    join, sync = Ask(1, "JoinGroup", {}), Ask(1, "SyncGroup", {})
    metrics.asked(join, 100)
    metrics.ended(Answer(join, 4, {"error_code": 79}), 100, 110)  # MEMBER_ID_REQUIRED is no failure
    metrics.asked(join, 110)
    metrics.ended(Failed(join, "closed", "gone"), 110, 120)
    metrics.asked(join, 120)
    metrics.ended(Answer(join, 4, {"error_code": 0}), 120, 150)
    metrics.ended(Answer(sync, 3, {"error_code": 0}), 150, 160)
    found = {
        name: value(metrics, _COORDINATOR, name, 160)
        for name in ("rebalance-total", "rebalance-latency-total", "failed-rebalance-total")
    }
    assert list(found.values()) == [1, 60, 1]
    assert value(metrics, _COORDINATOR, "join-time-max", 160) == 30
    assert value(metrics, _COORDINATOR, "sync-total", 160) == 1


def test_the_largest_lag_of_all_partitions():
    metrics = ClientMetrics("c")
    metrics.serve(CONSUMER)
    for partition, lag in ((0, 7), (1, 9), (0, 1), (2, None)):
        metrics.consumed(("t", partition), 4, lag, 0)
    assert value(metrics, _FETCHES, "records-lag-max") == 9
    assert value(metrics, _FETCHES, "records-lag-avg", topic="t", partition="0") == 4
    assert value(metrics, _FETCHES, "records-consumed-total", topic="t") == 16


def test_nothing_has_happened_yet():
    metrics = ClientMetrics("c")
    for kind in (PRODUCER, CONSUMER, GROUP):
        metrics.serve(kind)
    found = metrics.read(0)
    assert len(found) == sum(not metric.tags for rows in METRICS.values() for metric in rows)
    assert all(isnan(each) or each == 0 for each in found.values())


@pytest.mark.slow
def test_a_client_shows_what_its_faces_did():
    config = {"group.initial.rebalance.delay.ms": "0", "offsets.topic.num.partitions": "1"}
    with serve(config=config) as cluster, Client(cluster.bootstrap, client_id="c") as client:
        assert client.metrics() == {}
        producer = client.producer()
        for number in range(30):
            producer.send("t", b"%d" % number)
        producer.flush()
        wanted = {"reset": "earliest", "auto_commit_ms": None}
        with client.consumer(group="g", topics=["t"], **wanted) as consumer:
            read = 0
            while read < 30:
                read += len(consumer.poll(timeout_ms=1000))
            consumer.commit()
        now = client.now()
        found = client.view.metrics
        assert value(found, _PRODUCER, "record-send-total", now) == 30
        assert value(found, _FETCHES, "records-consumed-total", now) == 30
        assert value(found, _FETCHES, "records-consumed-total", now, topic="t") == 30
        assert value(found, _FETCHES, "fetch-total", now) >= 1
        assert value(found, _COORDINATOR, "rebalance-total", now) == 1
        assert value(found, _COORDINATOR, "commit-total", now) == 1
