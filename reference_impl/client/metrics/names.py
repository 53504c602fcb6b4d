"""Which metrics there are: a group, a name, the sensor it reads and how.

A sensor is a name that `ClientMetrics.record` is given; those of a topic or a partition are there
once for each. Java has more names than these (`tests` compare those that are here with its own).

Sources: SenderMetricsRegistry, FetchMetricsRegistry, AbstractCoordinator.GroupCoordinatorMetrics,
ConsumerCoordinator.ConsumerCoordinatorMetrics at 4.3.1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from .sampled import Sampled

PRODUCER, CONSUMER, GROUP = "producer", "consumer", "group"  # whose metrics
_PRODUCER, _OF_TOPIC = "producer-metrics", "producer-topic-metrics"
_FETCHES, _COORDINATOR = "consumer-fetch-manager-metrics", "consumer-coordinator-metrics"
_HOUR_MS = 3_600_000
Read = Callable[[Sampled, int], float]


class Metric(NamedTuple):
    group: str
    name: str
    sensor: str
    read: Read
    tags: tuple[str, ...] = ()  # besides client-id


def _average(group: str, name: str, sensor: str, *tags: str) -> Metric:
    return Metric(group, f"{name}-avg", sensor, Sampled.average, tags)


def _most(group: str, name: str, sensor: str, *tags: str) -> Metric:
    return Metric(group, f"{name}-max", sensor, Sampled.most, tags)


def _meter(group: str, name: str, sensor: str, *tags: str) -> list[Metric]:
    """A rate of what is recorded and its total."""
    return [
        Metric(group, f"{name}-rate", sensor, Sampled.rate, tags),
        Metric(group, f"{name}-total", sensor, lambda found, _: found.total, tags),
    ]


def _counter(group: str, name: str, sensor: str) -> list[Metric]:
    """A rate of how often something is recorded, and how often it was."""
    return [
        Metric(group, f"{name}-rate", sensor, Sampled.event_rate),
        Metric(group, f"{name}-total", sensor, lambda found, _: found.events),
    ]


def _both(group: str, name: str, sensor: str, *tags: str) -> list[Metric]:
    return [_average(group, name, sensor, *tags), _most(group, name, sensor, *tags)]


def _hourly(name: str) -> list[Metric]:
    return [
        Metric(
            _COORDINATOR,
            f"{name}-rate-per-hour",
            name,
            lambda found, now: found.event_rate(now, _HOUR_MS),
        ),
        Metric(_COORDINATOR, f"{name}-total", name, lambda found, _: found.events),
    ]


METRICS: dict[str, list[Metric]] = {
    PRODUCER: [
        *_meter(_PRODUCER, "record-send", "record-send"),
        *_meter(_PRODUCER, "record-retry", "record-retry"),
        *_meter(_PRODUCER, "record-error", "record-error"),
        *_both(_PRODUCER, "batch-size", "batch-size"),
        _average(_PRODUCER, "records-per-request", "records-per-request"),
        *_both(_PRODUCER, "request-latency", "request-latency"),
        *_both(_PRODUCER, "produce-throttle-time", "produce-throttle-time"),
        *_meter(_OF_TOPIC, "record-send", "record-send", "topic"),
        *_meter(_OF_TOPIC, "record-retry", "record-retry", "topic"),
        *_meter(_OF_TOPIC, "record-error", "record-error", "topic"),
        *_meter(_OF_TOPIC, "byte", "byte", "topic"),
    ],
    CONSUMER: [
        *_both(_FETCHES, "fetch-latency", "fetch-latency"),
        *_counter(_FETCHES, "fetch", "fetch-latency"),
        *_both(_FETCHES, "fetch-size", "fetch-size"),
        *_both(_FETCHES, "fetch-throttle-time", "fetch-throttle-time"),
        *_meter(_FETCHES, "records-consumed", "records-consumed"),
        *_meter(_FETCHES, "records-consumed", "records-consumed", "topic"),
        _most(_FETCHES, "records-lag", "records-lag"),
        *_both(_FETCHES, "records-lag", "records-lag", "topic", "partition"),
    ],
    GROUP: [
        *_both(_COORDINATOR, "commit-latency", "commit-latency"),
        *_counter(_COORDINATOR, "commit", "commit-latency"),
        _most(_COORDINATOR, "heartbeat-response-time", "heartbeat"),
        *_counter(_COORDINATOR, "heartbeat", "heartbeat"),
        *_both(_COORDINATOR, "join-time", "join"),
        *_counter(_COORDINATOR, "join", "join"),
        *_both(_COORDINATOR, "sync-time", "sync"),
        *_counter(_COORDINATOR, "sync", "sync"),
        *_both(_COORDINATOR, "rebalance-latency", "rebalance"),
        Metric(_COORDINATOR, "rebalance-latency-total", "rebalance", lambda found, _: found.total),
        *_hourly("rebalance"),
        *_hourly("failed-rebalance"),
    ],
}
