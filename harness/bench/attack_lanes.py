"""What one peer can send so that the broker has much to do: a lane for each kind that did harm.

Each lane is a connection that goes on until it is told to stop. None of them needs a login or a
setting, none is refused by Kafka, and each held up everybody for seconds when it was first tried.
"""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from touchstone.reference_impl.wire.framing import Frames, framed
from touchstone.reference_impl.wire.headers import decode_response, encode_request
from touchstone.reference_impl.wire.records import ZSTD, batch, build

PRODUCE, FETCH, LIST_OFFSETS, API_VERSIONS, CREATE_TOPICS, DELETE_TOPICS = 0, 1, 2, 18, 19, 20
FIND_COORDINATOR, INIT_PRODUCER_ID, LIST_TRANSACTIONS, GROUP_HEARTBEAT = 10, 22, 66, 68
NAME, PATIENCE_S = "attacker", 20.0
RECORDS, HEADERS, TOPICS, PIPELINED, UNREAD = 100_000, 1_000_000, 500, 4_000, 40
NEWEST = -3  # of ListOffsets: the record with the largest timestamp (KIP-734)
Over = Callable[[], bool]
Sent = Callable[[], None]


class Peer:
    """A connection that asks one thing after another; `sent()` counts."""

    def __init__(self, address: tuple[str, int], sent: Sent) -> None:
        self.sock = socket.create_connection(address, PATIENCE_S)
        self._frames, self.sent = Frames(), sent

    def ask(self, key: int, version: int, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer's body. Raise OSError where there is none."""
        self.sock.sendall(framed(encode_request(key, version, 1, NAME, dict(body))))
        self.sent()
        while True:
            chunk = self.sock.recv(1 << 18)
            if not chunk:
                raise ConnectionError("the attacker's connection was closed")
            for frame in self._frames.feed(chunk):
                return decode_response(key, version, frame).body


class Lane(NamedTuple):
    """`run(peer, address, number, over)` until `over()`; the API that it needs."""

    run: Callable[[Peer, tuple[str, int], int, Over], None]
    needs: tuple[int, int]  # key and version


def expressions(peer: Peer, address: tuple[str, int], number: int, over: Over) -> None:
    """An expression that backtracks, over a long transactional id."""
    asked: dict[str, Any] = {"transactional_id": "a" * 60, "transaction_timeout_ms": 60_000}
    asked |= {"producer_id": -1, "producer_epoch": -1}
    peer.ask(FIND_COORDINATOR, 3, {"key": asked["transactional_id"], "key_type": 1})
    while not over() and peer.ask(INIT_PRODUCER_ID, 4, asked)["error_code"]:
        pass  # the coordinator loads
    body = {"state_filters": [], "producer_id_filters": [], "duration_filter": -1}
    while not over():
        peer.ask(LIST_TRANSACTIONS, 2, body | {"transactional_id_pattern": "(a+)+b"})


def payloads(peer: Peer, address: tuple[str, int], number: int, over: Over) -> None:
    """Small batches of many records, or of many headers, and lookups by time over them."""
    topic = made(peer, f"payloads-{number}")
    batches = [many_records(RECORDS), many_headers(HEADERS)]
    row = {"partition_index": 0, "current_leader_epoch": -1, "timestamp": NEWEST}
    lookup = {"replica_id": -1, "isolation_level": 0}
    at = 0
    while not over():
        produced(peer, topic, batches[at % len(batches)])
        peer.ask(LIST_OFFSETS, 7, lookup | {"topics": [{"name": topic, "partitions": [row]}]})
        at += 1


def pipelined(peer: Peer, address: tuple[str, int], number: int, over: Over) -> None:
    """Thousands of small frames at once."""
    wire = framed(encode_request(API_VERSIONS, 0, 1, NAME, {})) * PIPELINED
    frames, answers = Frames(), 0
    while not over():
        peer.sock.sendall(wire)
        peer.sent()
        while answers < PIPELINED:
            answers += len(frames.feed(peer.sock.recv(1 << 18)))
        answers = 0


def unread(peer: Peer, address: tuple[str, int], number: int, over: Over) -> None:
    """Connections that ask for all of a topic and read nothing."""
    topic = made(peer, f"unread-{number}")
    for _ in range(16):
        produced(peer, topic, build(2, [b"x" * 900_000], timestamp=now_ms()))
    row = {"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1 << 30}
    asked = {"max_wait_ms": 0, "min_bytes": 0, "max_bytes": 1 << 30}
    body = asked | {"topics": [{"topic": topic, "partitions": [row]}]}
    wire = framed(encode_request(FETCH, 11, 1, NAME, body))
    while not over():
        with contextlib.ExitStack() as stack:
            for _ in range(UNREAD):
                silent = stack.enter_context(socket.create_connection(address, PATIENCE_S))
                silent.sendall(wire)
                peer.sent()
            for _ in range(100):
                if over():
                    return
                peer.ask(API_VERSIONS, 0, {})


def groups(peer: Peer, address: tuple[str, int], number: int, over: Over) -> None:
    """Members of a consumer group over hundreds of topics come and go."""
    names = [f"many-{number}-{at}" for at in range(TOPICS)]
    created(peer, names)
    beat: dict[str, Any] = {
        "group_id": f"many-{number}", "instance_id": None, "rack_id": None,
        "rebalance_timeout_ms": 60_000, "server_assignor": None, "subscribed_topic_regex": None,
    }  # fmt: skip
    at = 0
    while not over():
        joins = {"subscribed_topic_names": names, "topic_partitions": [], "member_epoch": 0}
        answer = peer.ask(GROUP_HEARTBEAT, 1, beat | joins | {"member_id": f"m{at}"})
        goes_on: dict[str, Any] = {"subscribed_topic_names": None, "topic_partitions": None}
        goes_on |= {"member_id": f"m{at}", "member_epoch": answer["member_epoch"]}
        for _ in range(5):
            peer.ask(GROUP_HEARTBEAT, 1, beat | goes_on)
        peer.ask(GROUP_HEARTBEAT, 1, beat | goes_on | {"member_epoch": -1})
        at += 1


def topics(peer: Peer, address: tuple[str, int], number: int, over: Over) -> None:
    """Hundreds of topics are created and deleted by one request each."""
    names = [f"made-{number}-{at}" for at in range(TOPICS)]
    while not over():
        created(peer, names)
        peer.ask(DELETE_TOPICS, 4, {"topic_names": names, "timeout_ms": 30_000})


LANES: Mapping[str, Lane] = {
    "expressions": Lane(expressions, (LIST_TRANSACTIONS, 2)),
    "payloads": Lane(payloads, (LIST_OFFSETS, 7)),
    "pipelined": Lane(pipelined, (API_VERSIONS, 0)),
    "unread": Lane(unread, (FETCH, 11)),
    "groups": Lane(groups, (GROUP_HEARTBEAT, 1)),
    "topics": Lane(topics, (DELETE_TOPICS, 4)),
}


def run(lane: str, address: tuple[str, int], number: int, over: Over, sent: Sent) -> None:
    """Go along the lane until `over()`; a connection that breaks is made anew."""
    while not over():
        with contextlib.suppress(OSError):
            peer = Peer(address, sent)
            with peer.sock:
                LANES[lane].run(peer, address, number, over)


def created(peer: Peer, names: list[str]) -> None:
    rows = [
        {"name": name, "num_partitions": 1, "replication_factor": 1, "assignments": [],
         "configs": []} for name in names
    ]  # fmt: skip
    peer.ask(CREATE_TOPICS, 5, {"topics": rows, "timeout_ms": 30_000, "validate_only": False})


def made(peer: Peer, name: str) -> str:
    created(peer, [name])
    return name


def produced(peer: Peer, topic: str, records: bytes) -> None:
    rows = [{"name": topic, "partition_data": [{"index": 0, "records": records}]}]
    how = {"transactional_id": None, "acks": -1, "timeout_ms": 30_000}
    peer.ask(PRODUCE, 9, how | {"topic_data": rows})


def many_records(count: int) -> bytes:
    """A batch of records of which none is like the one before."""
    stamp, sizes = now_ms(), (b"", b"v", b"vv")
    rows = [{"key": None, "value": sizes[at % 3], "timestamp": stamp} for at in range(count)]
    return build(2, rows, ZSTD, timestamp=stamp)


def many_headers(count: int) -> bytes:
    """A batch of one record, which has so many headers."""
    record = batch.Record(0, 0, None, b"", [(b"", b"")] * count)
    return batch.encode_batch([record], base_timestamp=now_ms(), compression=ZSTD)


def now_ms() -> int:
    return int(time.time() * 1000)
