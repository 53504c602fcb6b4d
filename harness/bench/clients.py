"""Python clients side by side on one broker: produce and consume rate, and p99 of a send.

Each client, in a process of its own, sends the same records of 100 bytes with acks=all, idempotence
where it has it and a linger of 5 ms, reads them back, and then sends one by one, waiting for each:
the p99 is of those. `by CPU` divides by the client's own CPU time, threads and all, and so says the
same on a busy machine. The broker is real Kafka (`--peer`), so that none of it is about ours.
"""

from __future__ import annotations

import json
import subprocess
import sys
import uuid
from collections.abc import Iterator
from importlib.util import find_spec

from touchstone.harness.bench.client_programs.measure import PARTITIONS
from touchstone.harness.bench.contest import Figure, Options, available_peers, peer_broker
from touchstone.reference_impl.io.client import Client

OURS = "touchstone"
PATIENCE_S = 600
MOST_RECORDS = 200_000  # pure Python clients need some seconds for so many
PROGRAMS = {  # client -> its program, and the package that it needs
    OURS: ("touchstone_client", "touchstone"),
    "kafka-python": ("kafka_python", "kafka"),
    "aiokafka": ("aiokafka_client", "aiokafka"),
    "confluent-kafka": ("confluent", "confluent_kafka"),
}
WHAT = (
    ("produced", "records/s", max),
    ("produced by CPU", "records/s", max),
    ("consumed", "records/s", max),
    ("consumed by CPU", "records/s", max),
    ("p99", "ms", min),
)


def run(options: Options) -> Iterator[Figure]:
    count = min(options.records, MOST_RECORDS)
    notes = {"records": count, "partitions": PARTITIONS, "rounds": options.rounds}
    clients = list(_installed(options))
    for peer in available_peers(options):
        with peer_broker(peer) as (bootstrap, _):
            rounds = [
                {name: _turn(options, name, bootstrap, count) for name in clients}
                for _ in range(options.rounds)
            ]
        for name in clients[1:]:
            for what, unit, better in WHAT:
                ours, theirs = (
                    round(better(each[who][what] for each in rounds), 2) for who in (OURS, name)
                )
                yield Figure(
                    "clients", f"{what}, 100 B, on {peer}", ours, unit, name, theirs,
                    more_is_better=better is max, notes=notes,
                )  # fmt: skip


def _installed(options: Options) -> Iterator[str]:
    """The clients that can run; each other one is named."""
    for name, (_, package) in PROGRAMS.items():
        if find_spec(package):
            yield name
        else:
            options.say(f"clients {name} not run: the package {package} is not installed")


def _turn(options: Options, name: str, bootstrap: str, count: int) -> dict[str, float]:
    topic = f"bench-{uuid.uuid4().hex[:12]}"
    with Client(bootstrap) as client:
        client.admin.create_topic(topic, partitions=PARTITIONS)
    module = f"touchstone.harness.bench.client_programs.{PROGRAMS[name][0]}"
    done = subprocess.run(
        [sys.executable, "-m", module, bootstrap, topic, str(count)],
        capture_output=True, text=True, timeout=PATIENCE_S,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"{name}: {done.stderr.strip()[-500:]}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    options.say(
        f"clients {name}: {found['produced']:,.0f}/s produced,"
        f" {found['consumed']:,.0f}/s consumed, p99 {found['p99']:.1f} ms; by its CPU time"
        f" {found['produced by CPU']:,.0f}/s and {found['consumed by CPU']:,.0f}/s"
    )
    return found
