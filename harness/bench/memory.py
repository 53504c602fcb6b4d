"""Resident memory of three brokers that have nothing to do.

Ours are three in one process; Kafka's are three processes and the controller beside them, with the
small heaps of `kafka@` targets, which flatters Kafka: its own scripts reserve a gigabyte each.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator

from touchstone.harness.bench.contest import (
    Figure,
    Options,
    available_peers,
    our_broker,
    peer_broker,
)
from touchstone.harness.model.target import Shape
from touchstone.harness.targets import probe


def run(options: Options) -> Iterator[Figure]:
    with our_broker(options, brokers=3) as (bootstrap, pid):
        for address in bootstrap.split(","):
            host, _, port = address.rpartition(":")
            probe.metadata((host, int(port)))
        ours = resident([pid])
    options.say(f"memory of 3 brokers: {ours:.0f} MB")
    made = False
    for peer in available_peers(options, starts=True):
        with peer_broker(peer, Shape(3), profile="test") as (_, pids):
            if pids:
                made = True
                yield Figure(
                    "memory", "3 brokers idle", round(ours, 1), "MB", peer,
                    round(resident(pids)), more_is_better=False, notes={"processes": len(pids)},
                )  # fmt: skip
    if not made:
        yield Figure("memory", "3 brokers idle", round(ours, 1), "MB", more_is_better=False)


def resident(pids: Iterable[int]) -> float:
    """Megabytes that these processes hold, as `ps` has it on every POSIX system."""
    argv = ["ps", "-o", "rss=", "-p", ",".join(map(str, pids))]
    said = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    return sum(int(line) for line in said.split()) * 1024 / 1e6
