"""kafka-consumer-perf-test against our broker and a peer's, on a topic of 100-byte records."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from functools import partial

from harness.bench import java_tools
from harness.bench.contest import Figure, Options, available_peers, best, our_broker, peer_broker


def run(options: Options) -> Iterator[Figure]:
    topic = f"bench-{uuid.uuid4().hex[:12]}"
    for peer in available_peers(options):
        with our_broker(options) as (ours, _), peer_broker(peer) as (theirs, _):
            for who, bootstrap in (("reference", ours), (peer, theirs)):
                options.say(f"consumer-perf fills {who}")
                java_tools.create_topic(bootstrap, topic)
                java_tools.produce(bootstrap, topic, options.records, "all")
            rates = best(
                options.rounds, max,
                partial(turn, options, "reference", ours, topic),
                partial(turn, options, peer, theirs, topic),
            )  # fmt: skip
            yield Figure(
                "consumer-perf", "100 B", round(rates[0]), "records/s", peer, round(rates[1]),
                notes={"records": options.records, "rounds": options.rounds},
            )  # fmt: skip


def turn(options: Options, who: str, bootstrap: str, topic: str) -> float:
    rate = java_tools.consume(bootstrap, topic, options.records)
    options.say(f"consumer-perf {who}: {rate:,.0f} records/s")
    return rate
