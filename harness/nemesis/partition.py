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

from harness.nemesis import evidence
from harness.nemesis.patient import Network, Patient

SENTENCE = "Cut a broker off from the other brokers, both ways; clients still reach it."
GROUND = "namespaces"
CHAINS = {"INPUT": "-s", "OUTPUT": "-d"}  # who is dropped where
NO_WAY = "its brokers have no network of their own here"


def unsupported(patient: Patient) -> str | None:
    if len(patient.brokers) < 2:
        return "a broker that is alone has nobody to be cut off from"
    return None if patient.running or patient.network else NO_WAY


@contextmanager
def inflicted(patient: Patient, broker: int, random: Random) -> Iterator:
    others = patient.others(broker)
    if patient.running:
        pairs = [pair for other in others for pair in ((broker, other), (other, broker))]
        with cut_links(patient, pairs) as look:
            yield look
        return
    network = patient.network
    with ExitStack() as rules:
        for other in others:
            for chain in CHAINS:
                rules.enter_context(dropped(network, broker, chain, other))
        yield lambda: evidence.unreachable(network, broker, others[0]) and evidence.unreachable(
            network, others[0], broker
        )


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
def cut_links(patient: Patient, pairs: list[tuple[int, int]]) -> Iterator:
    """Links of a reference cluster, (from, to), that carry nothing."""
    links = patient.running.links
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
