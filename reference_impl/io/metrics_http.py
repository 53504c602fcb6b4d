"""The metrics of a running cluster for a Prometheus server: the one door to `prometheus_client`.

    GET /metrics       the text format, or OpenMetrics where the peer asks for it

Names are those that the JMX exporter makes of Kafka's, and each has a label `broker`, because all
brokers of a process answer on one port. It listens on loopback unless told otherwise: nobody is
asked who he is, and names of topics are told to everybody who reaches it. On loopback that is not
a page of elsewhere: 403 for a `Host` that DNS can turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, MetricsHandler
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from touchstone.reference_impl.io.http_server import HttpServer, names_door
from touchstone.reference_impl.io.listeners import is_loopback

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.metrics import mbeans

BROKER = "broker"
Measure = Callable[[], Mapping[int, Mapping["mbeans.Metric", float]]]


class MetricsDoor:
    """Serves what `measure` gives at `url` until `close`; OSError where it cannot listen."""

    def __init__(self, measure: Measure, host: str = "127.0.0.1", port: int = 0) -> None:
        registry = CollectorRegistry()
        registry.register(_Readings(measure))
        own = {"registry": registry, "host": host if is_loopback(host) else None}
        self._server = HttpServer((host, port), type("Handler", (_Handler,), own))
        self.url = f"http://{host}:{self._server.server_address[1]}/metrics"
        self._thread = self._server.begin("touchstone-metrics")

    def close(self) -> None:
        self._server.end(self._thread)

    def __enter__(self) -> MetricsDoor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Handler(MetricsHandler):
    """The library's handler for whoever is not a page of elsewhere, in time."""

    host: str | None  # the door was opened under it, if only this machine reaches it
    timeout = 30.0  # seconds, for a request to arrive

    def do_GET(self) -> None:
        named = self.headers.get_all("Host", [])
        if self.host is not None and not all(names_door(each, self.host) for each in named):
            self.send_error(403, "Host is not this door")
        else:
            super().do_GET()

    def log_message(self, format: str, *arguments: object) -> None:
        """Write nothing: standard error belongs to the broker."""


class _Readings(Collector):
    """Reads the brokers anew for each request."""

    def __init__(self, measure: Measure) -> None:
        self._measure = measure

    def describe(self) -> list[Metric]:
        """Nothing beforehand: which topics there are shows when they are asked for."""
        return []

    def collect(self) -> Iterator[Metric]:
        families: dict[str, Metric] = {}
        for broker, found in self._measure().items():
            for metric, value in found.items():
                labels = {BROKER: str(broker), **dict(metric.tags)}
                kind = CounterMetricFamily if metric.counts else GaugeMetricFamily
                said = f"{metric.domain}:type={metric.type},name={metric.name or metric.attribute}"
                family = families.setdefault(metric.family, kind(metric.family, said))
                name = f"{metric.family}_total" if metric.counts else metric.family
                family.add_sample(name, labels, value)
        yield from families.values()
