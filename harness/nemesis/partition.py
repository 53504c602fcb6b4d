"""Cut a broker off from the other brokers, both ways, while clients and controller still reach it.

It keeps its session and its clients, and cannot replicate: followers fall out of its ISR, or it out
of theirs, and what it acknowledges alone must not be lost. Packets are dropped in the broker's own
network namespace (iptables); links of a reference cluster are cut. Evidence: neither side can make
a connection to the other, or links that refused frames.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from random import Random
from typing import Any

from touchstone.harness.nemesis import evidence
from touchstone.harness.nemesis.cuts import CHAINS, cut_links, dropped, unsupported
from touchstone.harness.nemesis.fault_target import FaultTarget, given

__all__ = ["ISOLATION", "SENTENCE", "inflicted", "unsupported"]

SENTENCE = "Cut a broker off from the other brokers, both ways; clients still reach it."
ISOLATION = "namespaces"


@contextmanager
def inflicted(cluster: FaultTarget, broker: int, random: Random) -> Iterator[Any]:
    others = cluster.others(broker)
    if cluster.running:
        pairs = [pair for other in others for pair in ((broker, other), (other, broker))]
        with cut_links(cluster, pairs) as look:
            yield look
        return
    network = given(cluster.network)
    with ExitStack() as rules:
        for other in others:
            for chain in CHAINS:
                rules.enter_context(dropped(network, broker, chain, other))
        yield (
            lambda: (
                evidence.unreachable(network, broker, others[0])
                and evidence.unreachable(network, others[0], broker)
            )
        )
