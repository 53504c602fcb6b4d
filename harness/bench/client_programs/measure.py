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


def rates(what: str, count: int, work: Callable[[], object]) -> dict[str, float]:
    """Records a second, and a second of this process's own work, whatever else the machine does."""
    began = time.process_time()
    seconds = timed(work)
    return {what: count / seconds, f"{what} by CPU": count / (time.process_time() - began)}


def main(program: Callable[[str], Program]) -> None:
    bootstrap, topic, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    made = program(bootstrap)
    made.single(topic)  # connections and metadata are nobody's rate
    found = rates("produced", count, lambda: made.produce(topic, count))
    found |= rates("consumed", count, lambda: made.consume(topic, count))
    found["p99"] = p99([1000 * timed(lambda: made.single(topic)) for _ in range(SINGLES)])
    print(json.dumps(found))
