"""Everything to and from a broker takes longer: its link carries a few kilobytes a second.

Slow is not dead: no connection breaks, and each timeout, lag bound and back-off along the way has
its turn. A token bucket (tc-tbf) holds a broker's packets back on its own network device; the links
of a reference cluster deliver later. Evidence: an answer takes several times as long as before, or
links that delivered late.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

from touchstone.harness.nemesis import evidence
from touchstone.harness.nemesis.cuts import no_way
from touchstone.harness.nemesis.fault_target import FaultTarget, given

__all__ = ["ISOLATION", "SENTENCE", "inflicted", "unsupported"]
SENTENCE = "A broker's link carries a few kilobytes a second."
ISOLATION = "namespaces"
BUCKET = ("tbf", "rate", "64kbit", "burst", "1600", "latency", "4s")
LATER_MS = 400


def unsupported(cluster: FaultTarget) -> str | None:
    return no_way(cluster, "tc")


@contextmanager
def inflicted(cluster: FaultTarget, broker: int, random: Random) -> Iterator[Any]:
    if cluster.running:
        with _late_links(cluster, broker) as late:
            yield late
        return
    network, address = given(cluster.network), cluster.address(broker)
    before = evidence.answer_ms(address)

    def look() -> str | None:
        now = evidence.answer_ms(address, 1)
        word = f"an answer takes {now:.0f} ms, {before:.0f} ms before"
        return word if now > 4 * before + 20 else None

    network.inside(broker, "tc", "qdisc", "add", "dev", "eth0", "root", *BUCKET)
    try:
        yield lambda: evidence.until(look)
    finally:
        network.inside(broker, "tc", "qdisc", "del", "dev", "eth0", "root")


@contextmanager
def _late_links(cluster: FaultTarget, broker: int) -> Iterator[Any]:
    links = cluster.running.links
    pairs = [p for other in cluster.others(broker) for p in ((broker, other), (other, broker))]
    before = {pair: links.delayed[pair] for pair in pairs}

    def look() -> str | None:
        count = sum(links.delayed[pair] - before[pair] for pair in pairs)
        return f"{count} frames were {LATER_MS} ms late" if count else None

    try:
        for pair in pairs:
            links.delay(*pair, LATER_MS)
        yield lambda: evidence.until(look)
    finally:
        for pair in pairs:
            links.delay(*pair, 0)
