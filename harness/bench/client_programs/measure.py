"""What every client does in this bench, and how it is timed."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

VALUE = b"x" * 100
PARTITIONS, LINGER_MS, SINGLES = 4, 5, 300


class Program(NamedTuple):
    """`produce` returns when all is acknowledged, `consume` when so many were read."""

    produce: Callable[[str, int], object]
    consume: Callable[[str, int], object]
    single: Callable[[str], object]


def p99(waits_ms: list[float]) -> float:
    return sorted(waits_ms)[int(0.99 * len(waits_ms))]


def timed(work: Callable[[], object]) -> float:
    """Seconds."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def tell(produced: float, consumed: float, p99_ms: float) -> None:
    print(json.dumps({"produced": produced, "consumed": consumed, "p99_ms": p99_ms}))


def main(program: Callable[[str], Program]) -> None:
    bootstrap, topic, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    made = program(bootstrap)
    made.single(topic)  # connections and metadata are nobody's rate
    produced = count / timed(lambda: made.produce(topic, count))
    consumed = count / timed(lambda: made.consume(topic, count))
    waits = [1000 * timed(lambda: made.single(topic)) for _ in range(SINGLES)]
    tell(produced, consumed, p99(waits))
