"""Transactions per second: one record and its commit, by producers that wait for each answer.

Each producer has a connection, a transactional id and a topic of its own, and goes through
transactions of version 2 (KIP-890) one after another: Produce 12, which adds the partition by
itself, then EndTxn 5, whose answer has the epoch of the next. While a coordinator still writes the
markers of the last one it answers CONCURRENT_TRANSACTIONS, or has the append tried again; then so
does the producer, at once. The bytes are the same for both sides, so is the client.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

from harness.bench.contest import Figure, Options, available_peers, our_broker, peer_broker
from harness.bench.line import Line, demand
from reference_impl.wire.errors import ErrorCode
from reference_impl.wire.records import build

PRODUCERS = (1, 8)
SECONDS, WARM_UP = 5.0, 50  # of measuring, and transactions before it
BUSY = (ErrorCode.CONCURRENT_TRANSACTIONS, ErrorCode.NOT_ENOUGH_REPLICAS)


def run(options: Options) -> Iterator[Figure]:
    for peer in available_peers(options):
        for producers in PRODUCERS:
            ours, theirs = [], []
            for _ in range(options.rounds):
                with our_broker(options) as (bootstrap, _pid):
                    ours.append(rate(bootstrap, producers))
                with peer_broker(peer) as (bootstrap, _pids):
                    theirs.append(rate(bootstrap, producers))
            options.say(f"transactions, {producers}: {max(ours):.0f}/s, {peer} {max(theirs):.0f}/s")
            yield Figure(
                "transactions", f"{producers} producer{'s' * (producers > 1)}, a record each",
                round(max(ours)), "transactions/s", peer, round(max(theirs)),
            )  # fmt: skip


def rate(bootstrap: str, producers: int) -> float:
    """Transactions of all producers together in a second."""
    lines = [_Producer(bootstrap, f"bench-{number}") for number in range(producers)]
    for line in lines:
        for _ in range(WARM_UP):
            line.transaction()
    counts = [0] * producers
    until = time.monotonic() + SECONDS

    def work(number: int) -> None:
        while time.monotonic() < until:
            lines[number].transaction()
            counts[number] += 1

    threads = [threading.Thread(target=work, args=(number,)) for number in range(producers)]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.monotonic() - began
    for line in lines:
        line.socket.close()
    return sum(counts) / seconds


class _Producer(Line):
    """A transactional producer of one partition, in blocking steps."""

    def __init__(self, bootstrap: str, name: str) -> None:
        super().__init__(bootstrap)
        self.name = name
        self.create_topic(name)
        found = {"key": name, "key_type": 1}
        self.until("FindCoordinator", 2, found)
        begun = {"transactional_id": name, "transaction_timeout_ms": 60_000}
        answer = self.until("InitProducerId", 4, begun)
        self.id, self.epoch = answer["producer_id"], answer["producer_epoch"]

    def transaction(self) -> None:
        """One record, committed."""
        own = {"producer_id": self.id, "producer_epoch": self.epoch}
        records = build(2, [b"v" * 100], timestamp=0, base_sequence=0, transactional=True, **own)
        row = {"index": 0, "records": records}
        body = {
            "transactional_id": self.name,
            "acks": -1,
            "timeout_ms": 30_000,
            "topic_data": [{"name": self.name, "partition_data": [row]}],
        }
        code = BUSY[0]
        while code in BUSY:
            answer = self.ask("Produce", 12, body)
            code = answer["responses"][0]["partition_responses"][0]["error_code"]
        demand(code, "Produce")
        answer = self.until("EndTxn", 5, {"transactional_id": self.name, "committed": True, **own})
        self.id, self.epoch = answer["producer_id"], answer["producer_epoch"]
