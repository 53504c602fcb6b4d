"""A broker's wall clock jumps by up to an hour, forth or back, and in the end returns.

Leases, idle times and retention must not hang on the wall clock alone; timestamps of LogAppendTime
will, and that is the evidence: a record that the broker stamps. The monotonic clock goes on as if
nothing had happened, as it does when an operator corrects a date. All brokers of a reference
cluster live in one process and share its clock, so there it jumps for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from random import Random
from typing import Any

from touchstone.harness.nemesis import evidence
from touchstone.harness.nemesis.fault_target import FaultTarget, given

SENTENCE = "A broker's wall clock jumps by up to an hour, and in the end returns."
ISOLATION = "clocks"
LEAST_MS, MOST_MS = 60_000, 3_600_000


def unsupported(cluster: FaultTarget) -> str | None:
    if cluster.running or cluster.clocks:
        return None
    return "its brokers have no clock of their own here"


@contextmanager
def inflicted(cluster: FaultTarget, broker: int, random: Random) -> Iterator[Any]:
    turn: Callable[[int], None]
    turn = cluster.running.jump if cluster.running else partial(given(cluster.clocks).set, broker)
    addresses = [cluster.address(each) for each in cluster.brokers]
    stamp = evidence.Stamp(addresses, broker, random)
    jump = random.choice((-1, 1)) * random.randint(LEAST_MS, MOST_MS)

    def look() -> str | None:
        ahead = stamp.ahead_ms()
        if ahead is None or abs(ahead - jump) >= LEAST_MS // 2:
            return None
        return f"broker {broker} stamps records {ahead / 1000:+.0f} s from now"

    try:
        turn(jump)
        yield lambda: evidence.until(look)
    finally:
        turn(0)
