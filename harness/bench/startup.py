"""From nothing to serving: a cold `touchstone broker`, a warm one in this process, and Kafka's.

Ours is timed from before the interpreter starts to its `ready` line, and warm from the call to a
broker that answers ApiVersions. Kafka's is its own cold start on formatted folders, with the
options of its scripts; the class archive that makes `kafka@` targets quick is a second figure.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial

from touchstone.harness.bench.contest import (
    Figure,
    Options,
    available_peers,
    our_broker,
    peer_broker,
)
from touchstone.harness.model.target import Shape
from touchstone.harness.targets import parse, probe

TURNS = 5


def run(options: Options) -> Iterator[Figure]:
    cold = {brokers: median(partial(cold_start, options, brokers)) for brokers in (1, 3)}
    warm = median(lambda: warm_start(options))
    yield Figure(
        "startup", "3 brokers warm, in process", round(warm * 1000, 1), "ms", more_is_better=False
    )
    for peer in available_peers(options, starts=True):
        for brokers, seconds in cold.items():
            theirs = min(peer_start(peer, brokers, "bench") for _ in range(options.rounds))
            options.say(f"startup {brokers} brokers: {seconds:.3f} s, {peer} {theirs:.2f} s")
            yield Figure(
                "startup", f"{brokers} broker{'s' * (brokers > 1)} cold", round(seconds * 1000, 1),
                "ms", peer, round(theirs * 1000), more_is_better=False,
            )  # fmt: skip
        mapped = min(peer_start(peer, 1, "test") for _ in range(options.rounds))
        yield Figure(
            "startup", "1 broker cold, peer with a class archive", round(cold[1] * 1000, 1), "ms",
            peer, round(mapped * 1000), more_is_better=False,
        )  # fmt: skip


def cold_start(options: Options, brokers: int) -> float:
    began = time.monotonic()
    with our_broker(options, brokers):
        return time.monotonic() - began


def warm_start(options: Options) -> float:
    target = parse(f"reference@{options.release}")
    began = time.monotonic()
    try:
        for address in target.start(Shape(3)).bootstrap:
            probe.api_versions(address)
        return time.monotonic() - began
    finally:
        target.stop()


def peer_start(peer: str, brokers: int, profile: str) -> float:
    began = time.monotonic()
    with peer_broker(peer, Shape(brokers), profile):
        return time.monotonic() - began


def median(measure: Callable[[], float]) -> float:
    return statistics.median(measure() for _ in range(TURNS))
