"""The brokers of one cluster without sockets and disk, as their rooms' tests build upon them."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence

from touchstone.reference_impl.broker.assembly import Assembly
from touchstone.reference_impl.broker.broker import Broker
from touchstone.reference_impl.broker.configs.config_view import spread_defaults
from touchstone.reference_impl.cluster.topology import Cluster, Node


def cores(
    release: str,
    count: int = 1,
    *,
    racks: Sequence[str | None] = (),
    config: Mapping[str, str] | None = None,
    switches: Iterable[str] = (),
) -> list[Broker]:
    """They know of each other by their registry, `cluster`; nobody carries their frames."""
    parts = Assembly.of(release, dict(config or {}), switches)
    racks = racks or (None,) * count
    nodes = [Node(i, "127.0.0.1", 9092 + i, racks[i]) for i in range(count)]
    cluster = parts.cluster(nodes, Cluster, random.Random(0))
    made = [parts.broker(cluster, i, parts.memory(cluster, i)) for i in range(count)]
    spread_defaults(made[0])
    return made
