"""Brokers behind sockets: order, back-pressure, limits, endings. Loopback only, no sleeps."""

from __future__ import annotations

import socket
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from touchstone.reference_impl.io.server import RunningCluster, serve
from touchstone.reference_impl.tests.broker.one_broker import NOW, batch
from touchstone.reference_impl.wire.headers import decode_response, encode_request
from touchstone.reference_impl.wire.records import build

T = TypeVar("T")
PATIENCE_S = 60
ROOT = Path(__file__).resolve().parents[3]
METADATA, API_VERSIONS, PRODUCE, FETCH, DESCRIBE_CONFIGS = 3, 18, 0, 1, 32


class Peer:
    """A raw client: frames out, frames in, with a deadline on everything."""

    def __init__(self, bootstrap: str) -> None:
        host, _, port = bootstrap.rpartition(":")
        self.sock = socket.create_connection((host, int(port)), timeout=PATIENCE_S)

    def __enter__(self) -> Peer:
        return self

    def __exit__(self, *_: object) -> None:
        self.sock.close()

    def send(self, key: int, version: int, correlation_id: int, body: dict) -> None:
        self.raw(encode_request(key, version, correlation_id, "peer", body))

    def raw(self, frame: bytes) -> None:
        self.sock.sendall(struct.pack(">i", len(frame)) + frame)

    def take(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            chunk = self.sock.recv(count - len(data))
            if not chunk:
                return data
            data += chunk
        return data

    def frame(self) -> bytes | None:
        """The next frame; None when the broker closed."""
        size = self.take(4)
        return self.take(struct.unpack(">i", size)[0]) if size else None

    def ask(self, key: int, version: int, body: dict) -> dict:
        self.send(key, version, 1, body)
        return decode_response(key, version, self.frame()).body


@pytest.fixture(scope="module")
def cluster():
    with serve(brokers=2, racks=("a", "b")) as running:
        yield running


@pytest.fixture
def peer(cluster):
    with Peer(cluster.bootstrap[0]) as connected:
        yield connected


def inside(running: RunningCluster, look: Callable[[], T]) -> T:
    """What the loop's own thread sees or does: it may be in the middle of something."""
    return running.server.call(lambda now: look()).result(PATIENCE_S)


def topic(running: RunningCluster, name: str) -> None:
    inside(running, lambda: running.cluster.create(name, [[0]]))


def append(*records: bytes, acks: int = -1, name: str = "t") -> dict:
    rows = [{"index": 0, "records": data} for data in records]
    return {
        "acks": acks,
        "timeout_ms": 1000,
        "transactional_id": None,
        "topic_data": [{"name": name, "partition_data": rows}],
    }


def reading(name: str, wait: int, **limits: int) -> dict:
    row = {"partition": 0, "fetch_offset": 0, "partition_max_bytes": limits.get("most", 1 << 20)}
    return {
        "max_wait_ms": wait,
        "min_bytes": limits.get("least", 1),
        "max_bytes": limits.get("most", 1 << 20),
        "topics": [{"topic": name, "partitions": [row]}],
    }


def test_every_broker_knows_all_listeners(cluster):
    for bootstrap in cluster.bootstrap:
        with Peer(bootstrap) as peer:
            answer = peer.ask(METADATA, 1, {"topics": []})
            assert [f"{n['host']}:{n['port']}" for n in answer["brokers"]] == cluster.bootstrap
            assert [n["rack"] for n in answer["brokers"]] == ["a", "b"]


@pytest.mark.parametrize(("release", "word"), [("2.8", "broker.id"), ("4.3", "node.id")])
def test_brokers_count_on_from_the_id_that_was_said(release, word):
    made = serve(2, release=release, config={word: "7"})
    with made as running, Peer(running.bootstrap[1]) as peer:
        answer = peer.ask(METADATA, 1, {"topics": []})
        assert [row["node_id"] for row in answer["brokers"]] == [7, 8]
        asked = {"resource_type": 4, "resource_name": "8", "configuration_keys": [word]}
        body = {"resources": [asked], "include_synonyms": False}
        row = peer.ask(DESCRIBE_CONFIGS, 1, body)["results"][0]
        assert row["configs"][0]["value"] == "8"


def test_an_id_is_a_number():
    with pytest.raises(ValueError, match=r"broker\.id"):
        serve(config={"broker.id": "one"})


def test_pipelined_requests_are_answered_in_order(cluster, peer):
    topic(cluster, "order")
    peer.send(FETCH, 4, 100, reading("order", wait=50))
    for number in range(101, 140):
        peer.send(METADATA, 1, number, {"topics": []})
    seen = [struct.unpack(">i", peer.frame()[:4])[0] for _ in range(40)]
    assert seen == list(range(100, 140))


def test_answers_before_a_refusal_in_one_pipeline_still_come(peer):
    frames = [encode_request(API_VERSIONS, 0, number, "peer", {}) for number in range(5)]
    frames.append(struct.pack(">hhih", 999, 0, 5, -1))
    peer.sock.sendall(b"".join(struct.pack(">i", len(frame)) + frame for frame in frames))
    assert [peer.frame()[:4] for _ in range(5)] == [struct.pack(">i", n) for n in range(5)]
    assert peer.frame() is None


def test_a_wait_in_a_pipeline_holds_what_comes_after_it(cluster, peer):
    topic(cluster, "hold")
    frames = [
        encode_request(API_VERSIONS, 0, 1, "peer", {}),
        encode_request(FETCH, 4, 2, "peer", reading("hold", wait=60)),
        encode_request(API_VERSIONS, 0, 3, "peer", {}),
    ]
    peer.sock.sendall(b"".join(struct.pack(">i", len(frame)) + frame for frame in frames))
    assert [peer.frame()[3] for _ in range(3)] == [1, 2, 3]


def test_frames_may_come_byte_by_byte(peer):
    frame = encode_request(API_VERSIONS, 0, 5, "peer", {})
    for byte in struct.pack(">i", len(frame)) + frame:
        peer.sock.sendall(bytes((byte,)))
    assert peer.frame()[:4] == struct.pack(">i", 5)


@pytest.mark.parametrize("size", [-1, -(2**31), 104_857_601, 2**31 - 1])
def test_an_impossible_size_closes_without_harm(cluster, peer, size):
    peer.sock.sendall(struct.pack(">i", size) + b"xxxx")
    assert peer.frame() is None
    with Peer(cluster.bootstrap[0]) as other:
        assert other.ask(API_VERSIONS, 0, {})["error_code"] == 0


def test_what_stands_before_an_impossible_size_is_answered(peer):
    frame = encode_request(API_VERSIONS, 0, 5, "peer", {})
    peer.sock.sendall(struct.pack(">i", len(frame)) + frame + struct.pack(">i", -1))
    assert peer.frame()[:4] == struct.pack(">i", 5)
    assert peer.frame() is None


def test_acks_zero_is_silent_and_its_error_closes(cluster, peer):
    topic(cluster, "silent")
    peer.send(PRODUCE, 9, 1, append(batch(), acks=0, name="silent"))
    peer.send(API_VERSIONS, 0, 2, {})
    assert peer.frame()[:4] == struct.pack(">i", 2)
    peer.send(PRODUCE, 9, 3, append(batch()[:-1] + b"?", acks=0, name="silent"))
    assert peer.frame() is None


def test_a_waiting_fetch_is_woken_by_another_connection(cluster, peer):
    topic(cluster, "wake")
    peer.send(FETCH, 4, 1, reading("wake", wait=20_000))
    with Peer(cluster.bootstrap[0]) as other:
        other.ask(PRODUCE, 9, append(batch(), name="wake"))
    body = decode_response(FETCH, 4, peer.frame()).body
    assert body["responses"][0]["partitions"][0]["high_watermark"] == 3


def test_a_peer_that_does_not_read_holds_one_answer(cluster, peer):
    topic(cluster, "slow")
    big = build(2, [b"x" * 900_000], timestamp=NOW)
    for _ in range(6):
        peer.ask(PRODUCE, 9, append(big, name="slow"))
    for number in range(30):
        peer.send(FETCH, 4, number, reading("slow", wait=0, most=1 << 23))
    with Peer(cluster.bootstrap[0]) as other:  # the loop is not held up
        assert other.ask(API_VERSIONS, 0, {})["error_code"] == 0
    held = inside(cluster, lambda: [each for each in cluster.server._channels if each.outbox])
    assert len(held) <= 1
    for number in range(30):
        frame = peer.frame()
        assert (struct.unpack(">i", frame[:4])[0], len(frame) > 5_000_000) == (number, True)


def test_a_fault_of_the_broker_ends_one_connection_only(cluster, peer, monkeypatch, caplog):
    def broken(*_):
        raise ZeroDivisionError("planted")

    with Peer(cluster.bootstrap[0]) as other, caplog.at_level("CRITICAL", "touchstone.server"):
        assert other.ask(API_VERSIONS, 0, {})["error_code"] == 0
        monkeypatch.setattr(cluster.brokers[0], "receive", broken)
        peer.send(API_VERSIONS, 0, 1, {})
        assert peer.frame() is None
        monkeypatch.undo()
        assert other.ask(API_VERSIONS, 0, {})["error_code"] == 0


def test_connections_above_the_limit_are_closed_and_free_their_slot():
    with serve(config={"max.connections.per.ip": "2"}) as running:
        first, second = Peer(running.bootstrap[0]), Peer(running.bootstrap[0])
        for each in (first, second):
            assert each.ask(API_VERSIONS, 0, {})["error_code"] == 0
        with Peer(running.bootstrap[0]) as third:
            assert third.frame() is None
        first.sock.shutdown(socket.SHUT_WR)
        assert first.frame() is None
        with Peer(running.bootstrap[0]) as fourth:
            assert fourth.ask(API_VERSIONS, 0, {})["error_code"] == 0
        first.sock.close()
        second.sock.close()


def test_idle_connections_are_closed():
    with (
        serve(config={"connections.max.idle.ms": "60"}) as running,
        Peer(running.bootstrap[0]) as peer,
    ):
        assert peer.ask(API_VERSIONS, 0, {})["error_code"] == 0
        assert peer.frame() is None


def test_stopping_closes_connections_and_frees_the_port():
    running = serve()
    host, _, port = running.bootstrap[0].rpartition(":")
    with Peer(running.bootstrap[0]) as peer:
        peer.ask(API_VERSIONS, 0, {})
        running.stop()
        assert peer.frame() is None
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host, int(port)), timeout=PATIENCE_S)


def test_fifty_clusters_leave_nothing_behind():
    """Nothing each, that is: what tests before this one let go of may be closed meanwhile."""
    descriptors = Path("/proc/self/fd")
    before = len(list(descriptors.iterdir())) if descriptors.exists() else 0
    for _ in range(50):
        with serve(brokers=2):
            pass
    after = len(list(descriptors.iterdir())) if descriptors.exists() else 0
    assert after - before < 50


@pytest.mark.slow
@pytest.mark.parametrize("number", [15, 2], ids=["SIGTERM", "SIGINT"])
def test_the_command_says_ready_and_ends_cleanly(number):
    command = [sys.executable, "-m", "touchstone", "broker", "--brokers", "3", "--racks", "a,b",
               "--advertised-listeners", "x:1,y:2,z:3"]  # fmt: skip
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        ready, _, addresses = process.stdout.readline().strip().partition(" ")
        assert (ready, addresses.count(":")) == ("ready", 3)
        with Peer(addresses.split(",")[2]) as peer:
            assert peer.ask(API_VERSIONS, 0, {})["error_code"] == 0
            told = peer.ask(METADATA, 1, {"topics": []})["brokers"]
            assert [(row["host"], row["port"]) for row in told] == [("x", 1), ("y", 2), ("z", 3)]
        process.send_signal(number)
        rest, errors = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, rest, errors) == (0, "", "")
