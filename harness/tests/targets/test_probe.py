"""The probe believes a whole answer and nothing less."""

import re
import socket
import struct
import threading

import pytest

from touchstone.harness.driver import line
from touchstone.harness.targets import probe, reach

ID = probe._CORRELATION
ROWS = struct.pack(">hihhhhhh", 0, 2, 0, 3, 13, 18, 0, 4)
CLUSTER = (
    struct.pack(">i", 2)
    + struct.pack(">ih1sih1s", 0, 1, b"h", 9092, 1, b"a")
    + struct.pack(">ih1sih", 7, 1, b"h", 9093, -1)
    + struct.pack(">ii", 7, 0)
)

pytestmark = pytest.mark.timeout(600)


@pytest.fixture
def answering():
    """A listener that reads one request on each connection and says the next thing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        threads = []

        def serve(*answers):
            def each():
                for data in answers:
                    connection, _ = server.accept()
                    with connection:
                        (size,) = struct.unpack(">i", connection.recv(4, socket.MSG_WAITALL))
                        connection.recv(size, socket.MSG_WAITALL)
                        connection.sendall(data)

            threads.append(threading.Thread(target=each))
            threads[-1].start()
            return server.getsockname()

        yield serve
        for thread in threads:
            thread.join()


def framed(body, correlation=ID):
    return struct.pack(">ii", len(body) + 4, correlation) + body


def test_versions(answering):
    assert probe.api_versions(answering(framed(ROWS))) == {0: (3, 13), 18: (0, 4)}


def test_cluster(answering):
    sight = probe.metadata(answering(framed(CLUSTER)))
    assert sight.brokers == {0: ("h", 9092), 7: ("h", 9093)}
    assert sight.racks == {0: "a", 7: None}
    assert sight.controller == 7


NOBODY = struct.pack(">iii", 0, -1, 0)
ONLY_LATER = struct.pack(">hihhh", 0, 1, 3, 12, 12)
FLEXIBLE = (
    b"\x00" + struct.pack(">i", 0)  # tags of the header, throttle_time_ms
    + b"\x03"  # two brokers
    + struct.pack(">i2si2s", 0, b"\x02h", 9092, b"\x02a") + b"\x01\x07\x01x"  # a tag
    + struct.pack(">i2sib", 7, b"\x02h", 9093, 0) + b"\x00"
    + b"\x02c" + struct.pack(">i", 7)
)  # fmt: skip


@pytest.mark.parametrize("first", [b"", framed(NOBODY)])
def test_who_serves_only_later_versions_is_asked_in_one_of_them(answering, first):
    sight = probe.metadata(answering(first, framed(ONLY_LATER), framed(FLEXIBLE)))
    assert sight.brokers == {0: ("h", 9092), 7: ("h", 9093)}
    assert (sight.racks, sight.controller) == ({0: "a", 7: None}, 7)


def test_who_serves_the_first_version_is_believed(answering):
    assert probe.metadata(answering(framed(NOBODY), framed(ROWS))).brokers == {}
    with pytest.raises(probe.NotReady, match="closed before the answer"):
        probe.metadata(answering(b"", framed(ROWS)))


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"", "closed before the answer"),
        (b"\0\0", "closed before the answer"),
        (framed(ROWS)[:-1], "closed before the answer"),
        (framed(ROWS, correlation=1), "does not speak Kafka"),
        (b"HTTP/1.1 400 Bad Request\r\n", "does not speak Kafka"),
        (framed(struct.pack(">h", 35)), "error 35"),
        (framed(ROWS[:-3]), "its answer ends at byte"),
        (framed(b""), "its answer ends at byte 0"),
    ],
)
def test_anything_else_is_not_ready(answering, data, complaint):
    with pytest.raises(probe.NotReady, match=complaint):
        probe.api_versions(answering(data))


def test_nobody_there_is_not_ready():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        with pytest.raises(probe.NotReady, match="refused"):
            probe.metadata(held.getsockname())


LEADERLESS = CLUSTER[:-8] + struct.pack(">ii", -1, 0)


@pytest.mark.parametrize(
    ("cluster", "expected", "lacks"),
    [
        (CLUSTER, {0, 7}, None),
        (CLUSTER, {0, 1, 2}, r"lacks the brokers \[1, 2\]"),
        (LEADERLESS, {0, 7}, "has no controller"),
        (b"", {0}, "does not answer"),
    ],
)
def test_what_a_cluster_lacks(answering, cluster, expected, lacks):
    said = probe.lacks(answering(framed(ROWS), framed(cluster)), expected)
    assert said is None if lacks is None else re.search(lacks, said)


class Dripping:
    """A socket that gives one byte a second, by a clock of its own, for ever."""

    def __init__(self):
        self.now, self.given, self.left = 0.0, 0, None

    def perf_counter(self):
        return self.now

    def settimeout(self, seconds):
        self.left = seconds

    def setblocking(self, blocking):
        self.left = 0.0

    def setsockopt(self, *_):
        pass

    def sendall(self, data):
        pass

    def close(self):
        pass

    def recv(self, count):
        if self.left < 1.0:
            self.now += self.left
            raise TimeoutError
        self.now, self.given = self.now + 1.0, self.given + 1
        return b"\x01" if self.given == 3 else b"\0"  # of a frame of 256 bytes


@pytest.mark.parametrize("ask", [probe.api_versions, probe.metadata])
def test_an_answer_has_one_deadline_however_it_arrives(monkeypatch, ask):
    """A byte a second kept `touchstone smoke` for nine minutes."""
    peer = Dripping()
    monkeypatch.setattr(probe, "time", peer)
    monkeypatch.setattr(line, "time", peer)
    monkeypatch.setattr(reach, "connect", lambda address, seconds, bare: peer)
    with pytest.raises(probe.NotReady, match="timed out, no whole answer in 7.5 s"):
        ask(("127.0.0.1", 9092), 7.5)
    assert (peer.given, peer.now) == (7, 7.5)


@pytest.mark.parametrize("size", [2**31 - 1, -1, -(2**31), (16 << 20) + 1])
def test_a_size_that_cannot_be_is_refused_by_its_four_bytes(answering, size):
    data = struct.pack(">ii", size, 0x746F7563)
    with pytest.raises(probe.NotReady, match=f"does not speak Kafka.* size {size} "):
        probe.api_versions(answering(data))


def test_a_varint_that_never_ends_is_cut_off(answering):
    endless = FLEXIBLE[:5] + b"\xff" * (1 << 20)
    with pytest.raises(probe.NotReady, match="its answer ends at byte"):
        probe.metadata(answering(b"", framed(ONLY_LATER), framed(endless)))
