"""A raw client for one partition: an idempotent producer that chooses its own sequences."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Callable

from touchstone.harness.nemesis.evidence import until
from touchstone.reference_impl.wire.headers import decode_response, encode_request
from touchstone.reference_impl.wire.records import NONE, build, read

_UNSETTLED = frozenset({3, 5, 6})  # unknown topic, no leader yet, not the leader yet
SETTLES_S = 20.0
PRODUCE, FETCH, METADATA, CREATE_TOPICS, INIT_PRODUCER_ID = 0, 1, 3, 19, 22
TOPIC = "words"


class Client:
    def __init__(self, address: tuple[str, int]) -> None:
        self._sock = socket.create_connection(address, timeout=30)
        self._last = 0
        # Today: Kafka forgets a producer whose last batch is a week old when it loads a log.
        self._now = time.time_ns() // 1_000_000

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self._sock.close()

    def ask(self, key: int, version: int, body: dict) -> dict:
        self._last += 1
        frame = encode_request(key, version, self._last, "disk", body)
        self._sock.sendall(struct.pack(">i", len(frame)) + frame)
        (size,) = struct.unpack(">i", self._take(4))
        return decode_response(key, version, self._take(size)).body

    def _take(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            chunk = self._sock.recv(count - len(data))
            if not chunk:
                raise ConnectionError("the broker closed")
            data += chunk
        return data

    def create(self) -> int:
        topic = {
            "name": TOPIC, "num_partitions": 1, "replication_factor": 1, "assignments": [],
            "configs": [],
        }  # fmt: skip
        body = {"topics": [topic], "timeout_ms": 20_000, "validate_only": False}
        return self.ask(CREATE_TOPICS, 2, body)["topics"][0]["error_code"]

    def producer_id(self) -> int:
        """A fresh one; asked again while the broker has not made up its mind."""
        body = {"transactional_id": None, "transaction_timeout_ms": 60_000}
        answer = self._asked_until_settled(
            lambda: self.ask(INIT_PRODUCER_ID, 0, body), lambda code: code != 0
        )
        assert answer["error_code"] == 0, answer
        return answer["producer_id"]

    def produce(self, producer: int, sequence: int, size: int = 50) -> tuple[int, int]:
        """(error code, base offset) of one record."""
        value = b"%08d" % sequence
        batch = build(
            2, [value * (size // 8)], NONE, timestamp=self._now + sequence,
            producer_id=producer, producer_epoch=0, base_sequence=sequence,
        )  # fmt: skip
        rows = [{"index": 0, "records": batch}]
        body = {
            "transactional_id": None, "acks": -1, "timeout_ms": 20_000,
            "topic_data": [{"name": TOPIC, "partition_data": rows}],
        }  # fmt: skip
        row = self._asked_until_settled(
            lambda: self.ask(PRODUCE, 3, body)["responses"][0]["partition_responses"][0]
        )
        return row["error_code"], row["base_offset"]

    def all_batches(self) -> bytes:
        """The bytes of the partition, from its first record to its high watermark."""
        found, at = b"", 0
        while True:
            row = self._fetch(at)
            if at >= row["high_watermark"]:
                return found
            records = read(row["records"])
            assert records, row
            found += row["records"]
            at = records[-1]["offset"] + 1

    def _fetch(self, offset: int) -> dict:
        partition = {"partition": 0, "fetch_offset": offset, "partition_max_bytes": 1}
        body = {
            "replica_id": -1, "max_wait_ms": 500, "min_bytes": 1, "max_bytes": 1,
            "isolation_level": 0, "topics": [{"topic": TOPIC, "partitions": [partition]}],
        }  # fmt: skip
        row = self._asked_until_settled(
            lambda: self.ask(FETCH, 4, body)["responses"][0]["partitions"][0]
        )
        assert row["error_code"] == 0, row
        return row

    @staticmethod
    def _asked_until_settled(
        ask: Callable[[], dict], unsettled: Callable[[int], bool] = _UNSETTLED.__contains__
    ) -> dict:
        """The last answer; a broker that just started does not know yet what it leads."""
        answers: list[dict] = []

        def settled() -> str | None:
            answers.append(ask())
            return None if unsettled(answers[-1]["error_code"]) else "settled"

        until(settled, SETTLES_S)
        return answers[-1]
