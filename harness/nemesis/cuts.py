"""What partition, one-way and slow-link share: ways between brokers that carry nothing, or late.

Packets are dropped by rules in a broker's own network namespace; the links of a reference cluster
are objects that can be cut and that count what they refused.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from touchstone.harness.nemesis import evidence
from touchstone.harness.nemesis.fault_target import FaultTarget, Network

CHAINS = {"INPUT": "-s", "OUTPUT": "-d"}  # who is dropped where


def unsupported(cluster: FaultTarget) -> str | None:
    if len(cluster.brokers) < 2:
        return "a broker that is alone has nobody to be cut off from"
    return no_way(cluster, "iptables")


def no_way(cluster: FaultTarget, tool: str) -> str | None:
    """Return why nothing can be done to the ways between brokers with this program."""
    if cluster.running:
        return None
    if cluster.network is None:
        return "its brokers have no network of their own here"
    return None if shutil.which(tool) else f"no {tool}"


@contextmanager
def dropped(network: Network, broker: int, chain: str, other: int) -> Iterator[None]:
    """Packets from (INPUT) or to (OUTPUT) the other broker vanish in this broker's namespace."""
    rule = (chain, CHAINS[chain], network.addresses[other], "-j", "DROP")
    network.inside(broker, "iptables", "-w", "-I", *rule)
    try:
        yield
    finally:
        network.inside(broker, "iptables", "-w", "-D", *rule)


@contextmanager
def cut_links(cluster: FaultTarget, pairs: list[tuple[int, int]]) -> Iterator[Any]:
    """Links of a reference cluster, (from, to), that carry nothing."""
    links = cluster.running.links
    before = {pair: links.refused[pair] for pair in pairs}

    def look() -> str | None:
        counts = {pair: links.refused[pair] - before[pair] for pair in pairs}
        words = [f"{count} from {a} to {b}" for (a, b), count in counts.items() if count]
        return f"links refused frames: {', '.join(words)}" if words else None

    try:
        for pair in pairs:
            links.cut(*pair)
        yield lambda: evidence.until(look)
    finally:
        for pair in pairs:
            links.heal(*pair)
