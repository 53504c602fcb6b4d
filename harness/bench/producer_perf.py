"""kafka-producer-perf-test against our broker and a peer's: 100-byte records, acks=all and acks=1.

The tool's default producer is idempotent and batches 16 KiB, so with acks=all a broker answers some
eight thousand requests for each million records and checks sequences on every one.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from functools import partial

from harness.bench import java_tools
from harness.bench.contest import Figure, Options, available_peers, best, our_broker, peer_broker

ACKS = ("all", "1")


def run(options: Options) -> Iterator[Figure]:
    for peer in available_peers(options):
        with our_broker(options) as (ours, _), peer_broker(peer) as (theirs, _):
            for acks in ACKS:
                rates = best(
                    options.rounds, max,
                    partial(turn, options, "reference", ours, acks),
                    partial(turn, options, peer, theirs, acks),
                )  # fmt: skip
                yield Figure(
                    "producer-perf", f"100 B, acks={acks}", round(rates[0]), "records/s", peer,
                    round(rates[1]), notes={"records": options.records, "rounds": options.rounds},
                )  # fmt: skip


def turn(options: Options, who: str, bootstrap: str, acks: str) -> float:
    """One run of the tool on a topic of its own."""
    topic = f"bench-{uuid.uuid4().hex[:12]}"
    java_tools.create_topic(bootstrap, topic)
    rate = java_tools.produce(bootstrap, topic, options.records, acks)
    options.say(f"producer-perf acks={acks} {who}: {rate:,.0f} records/s")
    java_tools.delete_topic(bootstrap, topic)
    return rate
