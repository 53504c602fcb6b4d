"""Kafka's names of what it measures: those of JMX, and those that a Prometheus server sees.

A metric is an attribute of an MBean. `str` is what Kafka's JmxTool calls it, OBJECT:ATTRIBUTE. The
name for Prometheus is what the JMX exporter makes of it by the rules that it ships for Kafka
(examples/kafka-2_0_0.yml): lower case, "_total" for the count of a meter, whose name loses its
"PerSec".
"""

from __future__ import annotations

import re
from typing import NamedTuple

COUNT, VALUE = "Count", "Value"  # of Yammer's meters and gauges
PER_SECOND = "PerSec"
_APART = re.compile(r"[^a-z0-9]+")


class Metric(NamedTuple):
    """One attribute of one MBean; `name` is empty where the type says it all."""

    domain: str  # "kafka.server"
    type: str  # "ReplicaManager"
    name: str  # "LeaderCount"
    tags: tuple[tuple[str, str], ...] = ()
    attribute: str = VALUE

    def __str__(self) -> str:
        named = [("type", self.type), *([("name", self.name)] if self.name else []), *self.tags]
        return f"{self.domain}:{','.join(f'{k}={v}' for k, v in named)}:{self.attribute}"

    @property
    def counts(self) -> bool:
        """Whether it only grows while a broker runs."""
        return self.attribute == COUNT

    @property
    def family(self) -> str:
        """The name for Prometheus, without the "_total" of a counter."""
        what = self.name.removesuffix(PER_SECOND) or self.attribute
        return _APART.sub("_", f"{self.domain}_{self.type}_{what}".lower())


def gauge(domain: str, kind: str, name: str, **tags: str) -> Metric:
    return Metric(domain, kind, name, tuple(tags.items()))


def meter(domain: str, kind: str, name: str, **tags: str) -> Metric:
    """What Kafka calls a meter is for us its count: rates are for who asks twice."""
    return Metric(domain, kind, name + PER_SECOND, tuple(tags.items()), COUNT)


def attribute(kind: str, name: str, **tags: str) -> Metric:
    """A metric of Kafka's own registry: an MBean of `kafka.server` with an attribute for each."""
    return Metric("kafka.server", kind, "", tuple(tags.items()), name)
