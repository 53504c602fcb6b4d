"""A client of one request (Metadata v4) for tests of the client campaign: healthy, or with a
planted defect that the campaign has to catch.

    healthy   gives up after a moment, believes no size, reports what does not parse
    trusts    makes room for whatever size an answer claims
    patient   waits for the rest of an answer for ever
    dies      ends itself over what does not parse
    slow      shows nothing, fault or none, as on a machine that is too busy
    raises    lets an exception that is none of its own reach the application
"""

from __future__ import annotations

import os
import socket
import sys

from touchstone.fuzz.clients.programs.session import Session, play
from touchstone.reference_impl.wire.headers import decode_response, encode_request

METADATA, VERSION = 3, 4
LIMIT = 1 << 20
MOMENT_S = 0.5


class ClientError(Exception):
    """What this client raises of its own."""


def once(session: Session) -> None:
    if MODE == "slow":
        session.stopped.wait()
        return
    host, _, port = session.bootstrap.rpartition(":")
    with socket.create_connection((host, int(port))) as connection:
        connection.settimeout(None if MODE == "patient" else MOMENT_S)
        for number in range(1, 10_000):
            if session.stopped.is_set():
                return
            body = {"topics": [{"name": session.topic}], "allow_auto_topic_creation": False}
            frame = encode_request(METADATA, VERSION, number, "little", body)
            connection.sendall(len(frame).to_bytes(4, "big") + frame)
            answer = read_frame(connection)
            check(answer, number)
            session.note(acknowledged=True, read=True)
            session.stopped.wait(0.01)


def read_frame(connection: socket.socket) -> bytes:
    size = int.from_bytes(read_exactly(connection, 4), "big", signed=True)
    if MODE == "trusts":
        room = bytearray(b"\1") * max(size, 0)  # touched, not only reserved
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
        if MODE == "raises":
            raise LookupError("no such field") from problem
        raise ClientError(f"does not parse: {problem}") from problem
    if response.correlation_id != number:
        raise ClientError("the answer to another request")


if __name__ == "__main__":
    MODE = sys.argv[1]
    play(once, (ClientError, ConnectionError))
