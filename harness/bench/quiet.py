"""Processor time that partitions take of which nothing is new, under virtual time.

Three brokers with a replica of everything each, and followers that fetch as often as Kafka's do.
Once nobody writes, once one writer adds a record every 10 ms or so to one partition, so that its
fetches are answered as fast as they come. What counts is how little a figure grows with the
partitions. There is no peer: virtual time is ours alone.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from touchstone.harness.bench.contest import Figure, Options
from touchstone.reference_impl.sim.cluster import Simulation
from touchstone.reference_impl.sim.workload import History, Writer

PARTITIONS = (1, 1_000)
WARM_UP_MS, MEASURED_MS = 3_000, 10_000
KAFKA_WAITS = {"replica.fetch.wait.max.ms": "500", "replica.lag.time.max.ms": "30000"}


def run(options: Options) -> Iterator[Figure]:
    for partitions in PARTITIONS:
        for writing in (False, True):
            took, written = turn(options.release, partitions, writing=writing)
            what = f"{partitions:,} partitions x3, {'one written to' if writing else 'idle'}"
            per, unit = (written, "us/record") if writing else (MEASURED_MS / 1000, "us/s")
            options.say(f"{what}: {took / per:.0f} {unit}")
            yield Figure("quiet", what, round(took / per), unit, more_is_better=False)


def turn(release: str, partitions: int, *, writing: bool) -> tuple[float, int]:
    """Microseconds of this process, and how many records were acknowledged meanwhile."""
    simulation = Simulation(seed=7, brokers=3, release=release, config=KAFKA_WAITS)
    simulation.create_topic("quiet", partitions=partitions, replication=3)
    history = History()
    writer = Writer(simulation.client("w"), simulation.world, history, [("quiet", 0)])
    if writing:
        writer.start()
    simulation.advance(WARM_UP_MS)
    before, began = len(history.writes), time.process_time()
    simulation.advance(MEASURED_MS)
    return (time.process_time() - began) * 1e6, len(history.writes) - before
