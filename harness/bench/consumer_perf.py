"""kafka-consumer-perf-test against our broker and a peer's, on a topic of 100-byte records.

The tool always joins a group. Where a side has no groups yet, both are read by Java's consumer with
a partition assigned, and the figure says so.
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

GROUP, ASSIGNMENT = "100 B", "100 B, by assignment"


def run(options: Options) -> Iterator[Figure]:
    topic = f"bench-{uuid.uuid4().hex[:12]}"
    notes = {"records": options.records, "rounds": options.rounds}
    for peer in available_peers(options, logs_in=True):
        for brokers in options.brokers:
            with side_by_side(options, peer, brokers) as sides:
                for who, bootstrap in sides.items():
                    options.say(f"consumer-perf fills {who}")
                    java_tools.create_topic(bootstrap, topic, replicas=brokers)
                    java_tools.produce(bootstrap, topic, options.records, "all")
                grouped = all(has_groups(options, *side, topic) for side in sides.items())
                way = GROUP if grouped else ASSIGNMENT
                turns = [partial(turn, options, way, *side, topic) for side in sides.items()]
                rates = dict(zip(sides, best(options.rounds, max, *turns), strict=True))
                what = f"{way}, {brokers} broker" + "s" * (brokers > 1)
                yield from figures_of("consumer-perf", what, "records/s", rates, peer, notes=notes)


def has_groups(options: Options, who: str, bootstrap: str, topic: str) -> bool:
    """Whether the tool, which insists on a group, gets anywhere at all."""
    try:
        java_tools.consume(bootstrap, topic, 1000, patience_s=8)
    except java_tools.ToolFailed:
        options.say(f"consumer-perf: {who} has no groups; both are read by assignment")
        return False
    return True


def turn(options: Options, way: str, who: str, bootstrap: str, topic: str) -> float:
    read = java_tools.consume if way == GROUP else java_tools.consume_by_assignment
    rate = read(bootstrap, topic, options.records)
    options.say(f"consumer-perf {who}: {rate:,.0f} records/s")
    return rate
