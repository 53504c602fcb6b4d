"""Simulated hours per second: a cluster of three under faults, two writers, one reader.

There is no peer; the figure says how many seeds a night can look at. One process, one core.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from touchstone.harness.bench.contest import Figure, Options
from touchstone.reference_impl.sim.trial import trial

SEEDS = 20
_MS_PER_HOUR = 3_600_000


def run(options: Options) -> Iterator[Figure]:
    trial(SEEDS, release=options.release)  # codecs are compiled at first use
    began, simulated = time.perf_counter(), 0
    for seed in range(SEEDS):
        found = trial(seed, release=options.release)
        simulated += found.simulated_ms
        if found.violation:
            raise RuntimeError(found.violation)
    rate = simulated / _MS_PER_HOUR / (time.perf_counter() - began)
    options.say(f"simulation: {rate:.4f} hours per second")
    yield Figure(
        "simulation", "3 brokers under faults", round(rate, 4), "h/s", notes={"seeds": SEEDS}
    )
