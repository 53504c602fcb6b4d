"""Transactions per second: one record and its commit, by producers that wait for each answer.

Each producer has a connection, a transactional id and a topic of its own, and goes through
transactions of version 2 (KIP-890) one after another: Produce 12, which adds the partition by
itself, then EndTxn 5, whose answer has the epoch of the next. While a coordinator still writes the
markers of the last one it answers CONCURRENT_TRANSACTIONS, or has the append tried again, and a
broker that has just made a topic may not lead it yet; then so does the producer, at once. The bytes
are the same for both sides, so is the client: one thread that stamps ids and checksums into frames
made beforehand.
"""

from __future__ import annotations

import contextlib
import selectors
import struct
import time
from collections.abc import Iterator
from functools import partial

from touchstone.harness.bench.contest import Figure, Options, available_peers
from touchstone.harness.bench.line import PATIENCE_S, Answers, Line, demand, frame
from touchstone.harness.bench.turn import Meter, Turn, contest
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.records import batch, build, fix_crc

PRODUCERS = (1, 8)
SECONDS, WARM_UP = 5.0, 1.0  # of measuring, and before it
BUSY = {
    int(ErrorCode.CONCURRENT_TRANSACTIONS),
    int(ErrorCode.NOT_ENOUGH_REPLICAS),
    int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    int(ErrorCode.NOT_LEADER_OR_FOLLOWER),
}
_WHO, _WHO_AT = struct.Struct(">qh"), batch.MAX_TIMESTAMP_AT + 8  # producer id and epoch
_ENDED = struct.Struct(">8x1x4xhqh")  # error, and who to go on as
_NOBODY = (0x0BADCAFE0BADCAFE, 0x0BAD)


def run(options: Options) -> Iterator[Figure]:
    for peer in available_peers(options, logs_in=True):
        for producers in PRODUCERS:
            what = f"{producers} producer{'s' * (producers > 1)}, a record each"
            yield from contest(
                options, peer, "transactions", what, "transaction",
                partial(transactions, producers=producers),
            )  # fmt: skip


def transactions(bootstrap: str, pids: list[int], producers: int, seconds: float = SECONDS) -> Turn:
    """Transactions of all producers together."""
    with selectors.DefaultSelector() as selector, contextlib.ExitStack() as closing:
        each = []
        for number in range(producers):
            producer = _Producer(bootstrap, f"bench-{number}")
            closing.callback(producer.close)
            selector.register(producer.sock, selectors.EVENT_READ, producer)
            each.append(producer)
        _commit(selector, each, min(WARM_UP, seconds))
        meter = Meter(pids)
        return meter.turn(_commit(selector, each, seconds))


def _commit(selector: selectors.BaseSelector, producers: list[_Producer], seconds: float) -> int:
    """How many were committed; each producer begins its next one when the last is."""
    done, until = 0, time.monotonic() + seconds
    for producer in producers:
        producer.begin()
    working = len(producers)
    while working:
        found = selector.select(PATIENCE_S)
        if not found:
            raise RuntimeError(f"{working} producers hear nothing")
        for key, _ in found:
            producer = key.data
            for answer in producer.answers():
                if not producer.hears(answer):
                    continue
                done += 1
                if time.monotonic() < until:
                    producer.begin()
                else:
                    working -= 1
    return done


class _Producer(Answers):
    """A transactional producer of one partition: it sends, and is told what was answered."""

    def __init__(self, bootstrap: str, name: str) -> None:
        self._line = Line(bootstrap)
        super().__init__(self._line.socket)
        self._line.create_topic(name)
        self._line.until("FindCoordinator", 2, {"key": name, "key_type": 1})
        begun = {"transactional_id": name, "transaction_timeout_ms": 60_000}
        answer = self._line.until("InitProducerId", 4, begun)
        own = dict(zip(("producer_id", "producer_epoch"), _NOBODY, strict=True))
        records = build(2, [b"v" * 100], timestamp=0, base_sequence=0, transactional=True, **own)
        row = {"index": 0, "records": records}
        body = {
            "transactional_id": name, "acks": -1, "timeout_ms": 30_000,
            "topic_data": [{"name": name, "partition_data": [row]}],
        }  # fmt: skip
        self._produce = bytearray(frame("Produce", 12, body))
        self._batch = self._produce.index(records)
        self._size = len(records)
        ends = {"transactional_id": name, "committed": True, **own}
        self._end = bytearray(frame("EndTxn", 5, ends))
        self._end_at = self._end.index(_WHO.pack(*_NOBODY))
        self._produced = struct.Struct(f">8x1x1x{1 + len(name)}x1x4xh")
        self._ending = False
        self._is(answer["producer_id"], answer["producer_epoch"])

    def begin(self) -> None:
        self._ending = False
        self.sock.sendall(self._produce)

    def hears(self, answer: bytes) -> bool:
        """Whether its transaction is over; else it has sent what comes next, or the same again."""
        if self._ending:
            code, producer_id, epoch = _ENDED.unpack_from(answer)
        else:
            (code,) = self._produced.unpack_from(answer)
        if code in BUSY:
            self.sock.sendall(self._end if self._ending else self._produce)
            return False
        demand(code, "EndTxn" if self._ending else "Produce")
        if self._ending:
            self._is(producer_id, epoch)
            return True
        self._ending = True
        self.sock.sendall(self._end)
        return False

    def close(self) -> None:
        self._line.close()

    def _is(self, producer_id: int, epoch: int) -> None:
        """Who it is from now on stands in both frames, under the batch's checksum."""
        _WHO.pack_into(self._end, self._end_at, producer_id, epoch)
        _WHO.pack_into(self._produce, self._batch + _WHO_AT, producer_id, epoch)
        fix_crc(self._produce, self._batch, self._size)
