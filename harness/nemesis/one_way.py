"""A broker hears nothing from the other brokers, while they still hear it.

The half-open case that connection-based reasoning forgets: requests arrive, answers do not, so a
follower has been served by a leader that thinks it was not. Packets from the others are dropped in
the broker's namespace; in a reference cluster the links towards it are cut. Evidence: the rules
count the packets that they dropped; what the broker sends is not hindered.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from random import Random
from typing import Any

from touchstone.harness.nemesis import evidence
from touchstone.harness.nemesis.cuts import cut_links, dropped, unsupported
from touchstone.harness.nemesis.fault_target import FaultTarget, Network, given

__all__ = ["ISOLATION", "SENTENCE", "inflicted", "unsupported"]
SENTENCE = "A broker hears nothing from the other brokers, while they still hear it."
ISOLATION = "namespaces"


@contextmanager
def inflicted(cluster: FaultTarget, broker: int, random: Random) -> Iterator[Any]:
    others = cluster.others(broker)
    if cluster.running:
        with cut_links(cluster, [(other, broker) for other in others]) as look:
            yield look
        return
    network = given(cluster.network)
    with ExitStack() as rules:
        for other in others:
            rules.enter_context(dropped(network, broker, "INPUT", other))
        yield lambda: evidence.until(lambda: _dropped(network, broker))


def _dropped(network: Network, broker: int) -> str | None:
    """What the rules have counted so far, and that the other direction has none."""
    rows = network.inside(broker, "iptables", "-w", "-nvxL").stdout.splitlines()
    counted = sum(int(row.split()[0]) for row in rows if " DROP " in row)
    free = all("DROP" not in row for row in rows[next_chain(rows) :])
    return f"{counted} packets to broker {broker} were dropped" if counted and free else None


def next_chain(rows: list[str]) -> int:
    """Where the chain after INPUT begins."""
    return next(at for at, row in enumerate(rows) if row.startswith("Chain") and at > 0)
