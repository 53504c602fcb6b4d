"""The brokers of one cluster without sockets and disk, as their rooms' tests build upon them."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence

from touchstone.reference_impl.broker.assembly import Assembly
from touchstone.reference_impl.broker.broker import Broker
from touchstone.reference_impl.broker.configs.config_view import spread_defaults
from touchstone.reference_impl.broker.configs.listener_settings import LISTENERS, ListenerSettings
from touchstone.reference_impl.cluster.endpoints import Endpoint
from touchstone.reference_impl.cluster.topology import Cluster, Node

HOST = "127.0.0.1"


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
    nodes = [_node(i, racks[i], config or {}) for i in range(count)]
    cluster = parts.cluster(nodes, Cluster, random.Random(0))
    made = [parts.broker(cluster, i, parts.memory(cluster, i)) for i in range(count)]
    spread_defaults(made[0])
    return made


def _node(number: int, rack: str | None, config: Mapping[str, str]) -> Node:
    """All its listeners are told at one address."""
    at = HOST, 9092 + number
    endpoints: tuple[Endpoint, ...] = ()
    if LISTENERS in config:
        told = ListenerSettings.of(config).listeners
        endpoints = tuple(Endpoint(each.name, each.protocol, *at, at) for each in told)
    return Node(number, *at, rack, endpoints=endpoints)
