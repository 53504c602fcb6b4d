"""The harness's own questions of a broker that has one version of Metadata, and answers in that."""

from __future__ import annotations

import pytest

from touchstone.harness.driver import brokers
from touchstone.harness.model.placeholders import Leader, Unresolved
from touchstone.harness.targets.liars import LyingServer
from touchstone.reference_impl.wire import headers

LONG_S = 60.0
METADATA, ONLY = 3, 12
TOPIC_ID = bytes(range(16))


def stubborn(low, high):
    """It advertises these versions of Metadata and answers each in the bytes of ONLY."""
    server = None

    def answer(frame):
        header, _ = headers.decode_request_header(frame)
        if header.key != METADATA:
            rows = [{"api_key": METADATA, "min_version": low, "max_version": high}]
            body = {"error_code": 0, "api_keys": rows}
            return headers.encode_response(header.key, 0, header.correlation_id, body)
        host, port = server.address
        part = {"partition_index": 0, "leader_id": 5, "replica_nodes": [5], "isr_nodes": [5]}
        topic = {"name": "t", "topic_id": TOPIC_ID, "partitions": [part]}
        body = {
            "brokers": [{"node_id": 5, "host": host, "port": port}],
            "controller_id": 5, "topics": [topic],
        }  # fmt: skip
        said = headers.encode_response(METADATA, ONLY, header.correlation_id, body)
        return said if header.version >= 9 else said[:4] + said[5:]  # without tags of the header

    server = LyingServer(None, lambda: answer)
    return server


def test_it_is_asked_in_the_version_that_it_has():
    with stubborn(ONLY, ONLY) as server:
        assert brokers.lookup(server.address, Leader("t", 0), LONG_S) == (5, server.address)


def test_who_advertises_the_version_and_cannot_be_read_is_not_excused():
    with stubborn(0, ONLY) as server, pytest.raises(Unresolved, match="does not decode"):
        brokers.lookup(server.address, Leader("t", 0), LONG_S)
