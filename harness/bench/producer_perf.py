"""kafka-producer-perf-test against our broker and a peer's: 100-byte records, acks=all and acks=1.

The tool's default producer is idempotent and batches 16 KiB, so with acks=all a broker answers some
eight thousand requests for each million records and checks sequences on every one. Each size of
cluster has a topic with as many replicas; our broker stands there once for each store.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from functools import partial

from touchstone.harness.bench import java_tools
from touchstone.harness.bench.contest import (
    Figure,
    Options,
    available_peers,
    best,
    figures_of,
    side_by_side,
)

ACKS = ("all", "1")


def run(options: Options) -> Iterator[Figure]:
    notes = {"records": options.records, "rounds": options.rounds}
    for peer in available_peers(options, logs_in=True):
        for brokers in options.brokers:
            with side_by_side(options, peer, brokers) as sides:
                for acks in ACKS:
                    turns = [partial(turn, options, *side, acks, brokers) for side in sides.items()]
                    rates = dict(zip(sides, best(options.rounds, max, *turns), strict=True))
                    what = f"100 B, acks={acks}, {brokers} broker" + "s" * (brokers > 1)
                    yield from figures_of(
                        "producer-perf", what, "records/s", rates, peer, notes=notes
                    )


def turn(options: Options, who: str, bootstrap: str, acks: str, replicas: int) -> float:
    """One run of the tool on a topic of its own."""
    topic = f"bench-{uuid.uuid4().hex[:12]}"
    java_tools.create_topic(bootstrap, topic, replicas=replicas)
    rate = java_tools.produce(bootstrap, topic, options.records, acks)
    options.say(f"producer-perf acks={acks} x{replicas} {who}: {rate:,.0f} records/s")
    java_tools.delete_topic(bootstrap, topic)
    return rate
