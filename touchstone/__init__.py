"""Kafka's behaviour as named claims, and a reference broker to embed: the public face.

    from touchstone import Rule, serve

    with serve(brokers=3, faults=[Rule(action="error", api="Produce", nth=3)]) as cluster:
        print(cluster.bootstrap)

What `__all__` names is public; whatever else can be imported may change with any release. Each name
is imported when it is first asked for, so `import touchstone` alone costs nothing.

In a checkout the folders of this package stand beside it: `touchstone.harness` is `harness/`. The
links in this folder are for tools that read and do not run (packagers, type checkers).

A program may import this and then start pytest, which would warn that it came too late to rewrite
its assertions. There are none: PYTEST_DONT_REWRITE.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from touchstone.checkout import ROOT

if TYPE_CHECKING:
    from touchstone.kafka_cluster import KafkaCluster
    from touchstone.reference_impl.broker.faults.fault_plan import BadRule, Plan, Rule
    from touchstone.reference_impl.io.client import Client
    from touchstone.reference_impl.io.server import RunningCluster as Cluster
    from touchstone.reference_impl.io.server import serve

__all__ = ["BadRule", "Client", "Cluster", "KafkaCluster", "Plan", "Rule", "serve"]

_WHERE = {
    "BadRule": ("reference_impl.broker.faults.fault_plan", "BadRule"),
    "Client": ("reference_impl.io.client", "Client"),
    "Cluster": ("reference_impl.io.server", "RunningCluster"),
    "KafkaCluster": ("kafka_cluster", "KafkaCluster"),
    "Plan": ("reference_impl.broker.faults.fault_plan", "Plan"),
    "Rule": ("reference_impl.broker.faults.fault_plan", "Rule"),
    "serve": ("reference_impl.io.server", "serve"),
}


def __getattr__(name: str) -> object:
    if name not in _WHERE:
        raise AttributeError(f"module 'touchstone' has no attribute {name!r}")
    module, attribute = _WHERE[name]
    found = getattr(import_module(f"touchstone.{module}"), attribute)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if ROOT is not None:
    __path__.insert(0, ROOT)
