"""A connection that asks and waits, for benches whose client must be the same for both sides.

No batching, no retries but those that a bench asks for: what is measured is the broker's answer.
"""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Sequence

from touchstone.harness.targets import reach
from touchstone.reference_impl.wire import headers
from touchstone.reference_impl.wire.apis import by_name
from touchstone.reference_impl.wire.schema import Struct

PATIENCE_S = 60.0
_CHUNK = 1 << 16
CLIENT = "bench"


class Line:
    """Requests to the first of some brokers, one at a time. `socket` may be driven by others."""

    def __init__(self, bootstrap: str) -> None:
        host, _, port = bootstrap.partition(",")[0].rpartition(":")
        address = host, int(port)
        made = socket.create_connection(address, PATIENCE_S)
        self.socket = reach.entered(made, address, PATIENCE_S)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __enter__(self) -> Line:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ask(self, api: str, version: int, body: Struct) -> Struct:
        self.socket.sendall(frame(api, version, body))
        return headers.decode_response(by_name(api).key, version, self.take()).body

    def until(self, api: str, version: int, body: Struct) -> Struct:
        """Ask again while the coordinator is not there yet, or busy; RuntimeError in the end."""
        until = time.monotonic() + PATIENCE_S
        while True:
            answer = self.ask(api, version, body)
            if not answer["error_code"] or time.monotonic() > until:
                demand(answer["error_code"], api)
                return answer

    def create_topic(self, name: str, partitions: int = 1) -> None:
        """With one replica; one that is there already will do."""
        topic = {"name": name, "num_partitions": partitions, "replication_factor": 1}
        self.ask("CreateTopics", 5, {"topics": [topic], "timeout_ms": 30_000})

    def take(self) -> bytes:
        """The next answer, without its length."""
        (size,) = struct.unpack(">i", self._read(4))
        return self._read(size)

    def close(self) -> None:
        self.socket.close()

    def _read(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            piece = self.socket.recv(size - len(data))
            if not piece:
                raise ConnectionError("the broker hung up")
            data += piece
        return data


class Answers:
    """What comes on a socket that somebody waits for together with others."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self._data = bytearray()

    def answers(self) -> Sequence[bytes]:
        """Whole ones, each with its length in front; mostly one recv is one answer."""
        data = self.sock.recv(_CHUNK)
        if not data:
            raise ConnectionError("the broker hung up")
        if not self._data and len(data) == 4 + int.from_bytes(data[:4], "big"):
            return (data,)
        self._data += data
        found = []
        while len(self._data) >= 4:
            end = 4 + int.from_bytes(self._data[:4], "big")
            if len(self._data) < end:
                break
            found.append(bytes(self._data[:end]))
            del self._data[:end]
        return found


def frame(api: str, version: int, body: Struct) -> bytes:
    """A request with its length in front."""
    request = headers.encode_request(by_name(api).key, version, 1, CLIENT, body)
    return struct.pack(">i", len(request)) + request


def demand(code: int, api: str) -> None:
    if code:
        raise RuntimeError(f"{api} answered {code}")
