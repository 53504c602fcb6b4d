"""The smallest thing that passes for a broker: three APIs on a loopback port, to test the judge.

It answers ApiVersions with a release's recorded table, Metadata with itself, CreateTopics by
Kafka's rule for zero partitions, and closes the connection on anything else. `twist` changes one
thing, to be somebody's liar.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from touchstone.harness.model import advertised
from touchstone.harness.targets.liars import LyingServer
from touchstone.harness.targets.misbehaviour import HangUp
from touchstone.reference_impl.wire import headers
from touchstone.reference_impl.wire.interpreter import DecodeError

API_VERSIONS, METADATA, CREATE_TOPICS = 18, 3, 19
UNSUPPORTED_VERSION, INVALID_PARTITIONS = 35, 37

Twist = Callable[[int, int, dict[str, Any]], dict[str, Any] | None]


def honest(key: int, version: int, answer: dict[str, Any]) -> dict[str, Any]:
    return answer


def small_kafka(release: str = "4.3", twist: Twist = honest) -> LyingServer:
    """A running one; stop it, or use it as a context manager."""
    table = advertised.table(release)
    server: list[LyingServer] = []

    def ask(frame: bytes) -> bytes:
        header, _ = headers.decode_request_header(frame)
        key, version = header.key, header.version
        low, high = table.get(key, (0, -1))
        if key == API_VERSIONS and not low <= version <= high:
            body, version = _versions(table, UNSUPPORTED_VERSION), 0
        elif not low <= version <= high:
            raise HangUp
        else:
            try:
                body = _ANSWERS[key](headers.decode_request(frame).body, table, server[0].address)
            except (KeyError, DecodeError):
                raise HangUp from None
        twisted = twist(key, version, body)
        if twisted is None:
            raise HangUp
        return headers.encode_response(key, version, header.correlation_id, twisted)

    server.append(LyingServer(None, lambda: ask))
    return server[0]


def word(server: LyingServer) -> str:
    host, port = server.address
    return f"{host}:{port}"


def _versions(table: advertised.Table, error: int = 0) -> dict[str, Any]:
    rows = [{"api_key": k, "min_version": a, "max_version": b} for k, (a, b) in table.items()]
    return {"error_code": error, "api_keys": rows}


def _metadata(body: dict[str, Any], _: Any, address: tuple[str, int]) -> dict[str, Any]:
    broker = {"node_id": 0, "host": address[0], "port": address[1]}
    return {"brokers": [broker], "controller_id": 0, "cluster_id": "small", "topics": []}


def _create(body: dict[str, Any], _: Any, address: tuple[str, int]) -> dict[str, Any]:
    codes = {t["name"]: 0 if t["num_partitions"] else INVALID_PARTITIONS for t in body["topics"]}
    return {"topics": [{"name": n, "error_code": c} for n, c in codes.items()]}


_ANSWERS: dict[int, Callable[..., dict[str, Any]]] = {
    API_VERSIONS: lambda body, table, address: _versions(table),
    METADATA: _metadata,
    CREATE_TOPICS: _create,
}
