"""The 99th percentile of kafka-producer-perf-test at a fixed rate, acks=all, beside a peer's.

A rate below what either side can do, so that the figure is about waiting and not about queues.
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

RATE, SECONDS = 20_000, 10


def run(options: Options) -> Iterator[Figure]:
    for peer in available_peers(options, logs_in=True):
        for brokers in options.brokers:
            with side_by_side(options, peer, brokers) as sides:
                turns = [partial(turn, options, *side, brokers) for side in sides.items()]
                waits = dict(zip(sides, best(options.rounds, min, *turns), strict=True))
                what = f"p99 at {RATE:,}/s, acks=all, {brokers} broker" + "s" * (brokers > 1)
                yield from figures_of(
                    "latency", what, "ms", waits, peer, more_is_better=False,
                    notes={"seconds": SECONDS, "rounds": options.rounds},
                )  # fmt: skip


def turn(options: Options, who: str, bootstrap: str, replicas: int) -> float:
    topic = f"bench-{uuid.uuid4().hex[:12]}"
    java_tools.create_topic(bootstrap, topic, replicas=replicas)
    wait = java_tools.latency(bootstrap, topic, RATE * SECONDS, "all", RATE)
    options.say(f"latency x{replicas} {who}: {wait:g} ms")
    java_tools.delete_topic(bootstrap, topic)
    return wait
