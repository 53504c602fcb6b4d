"""A client of one request (Metadata v4) for tests of the client campaign: healthy, or with a
planted defect that the campaign has to catch.

    healthy   gives up after a moment, believes no size, reports what does not parse
    trusts    makes room for whatever size an answer claims
    reserves  the same, and touches none of it
    patient   waits for the rest of an answer for ever
    computes  answers what does not parse with work that has no end
    dies      ends itself over what does not parse
    slow      shows nothing, fault or none, as on a machine that is too busy
    raises    lets an exception that is none of its own reach the application

It is an adapter that has a producer and hardly a setting.
"""

from __future__ import annotations

import os
import socket
import sys
import threading
from typing import Any

from touchstone.harness.adapters.programs import adapter
from touchstone.reference_impl.wire.headers import decode_response, encode_request

METADATA, VERSION = 3, 4
LIMIT = 1 << 20
MOMENT_S = 0.5


class ClientError(Exception):
    """What this client raises of its own."""


class Producer:
    """Each record that it is to send is an exchange."""

    def __init__(self, config: adapter.Config, say: adapter.Say) -> None:
        settings = adapter.translated(config, {"bootstrap.servers": "to", "client.id": "name"})
        self.bootstrap, self.say = settings["to"], say
        self.connection: socket.socket | None = None
        self.number = 0

    def send(self, topic: str, records: list[dict[str, Any]]) -> None:
        if MODE == "slow":
            threading.Event().wait()
        self.connection = self.connection or connected(self.bootstrap)
        self.number += 1
        try:
            exchange(self.connection, topic, self.number)
        except Exception:
            self.close()
            raise
        told = {"topic": topic, "partition": 0, "offset": -1, **records[0]}
        self.say("producer_send_success", **told)

    def tick(self) -> None:
        threading.Event().wait(0.005)

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()
            self.connection = None


def connected(bootstrap: str) -> socket.socket:
    host, _, port = bootstrap.rpartition(":")
    connection = socket.create_connection((host, int(port)))
    connection.settimeout(None if MODE == "patient" else MOMENT_S)
    return connection


def exchange(connection: socket.socket, topic: str, number: int) -> None:
    body = {"topics": [{"name": topic}], "allow_auto_topic_creation": False}
    frame = encode_request(METADATA, VERSION, number, "little", body)
    connection.sendall(len(frame).to_bytes(4, "big") + frame)
    check(read_frame(connection), number)


def read_frame(connection: socket.socket) -> bytes:
    size = int.from_bytes(read_exactly(connection, 4), "big", signed=True)
    if MODE in ("trusts", "reserves"):
        room = bytearray(max(size, 0))
        if MODE == "trusts":
            room[:] = b"\1" * len(room)
        content = read_exactly(connection, size)
        room[: len(content)] = content
        return content
    if not 0 <= size <= LIMIT:
        raise ClientError(f"a size of {size}")
    return read_exactly(connection, size)


def read_exactly(connection: socket.socket, size: int) -> bytes:
    content = b""
    while len(content) < size:
        try:
            chunk = connection.recv(size - len(content))
        except OSError as problem:
            raise ClientError(f"no answer: {problem}") from problem
        if not chunk:
            raise ClientError("the broker hung up")
        content += chunk
    return content


def check(answer: bytes, number: int) -> None:
    try:
        response = decode_response(METADATA, VERSION, answer)
    except ValueError as problem:
        if MODE == "dies":
            os.abort()
        while MODE == "computes":
            pass
        if MODE == "raises":
            raise LookupError("no such field") from problem
        raise ClientError(f"does not parse: {problem}") from problem
    if response.correlation_id != number:
        raise ClientError("the answer to another request")


if __name__ == "__main__":
    MODE = sys.argv[1]
    adapter.play("little", "1", {"producer": Producer})
