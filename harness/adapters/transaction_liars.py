"""Planted defects of producers in transactions, epochs, requests in flight."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from touchstone.harness.adapters.lying import (
    Liar,
    Row,
    answer,
    event,
    fields,
    planted,
    records_of,
    request,
    requests,
    settings,
)
from touchstone.reference_impl.wire import records
from touchstone.reference_impl.wire.errors import ErrorCode

UNBOUNDED = {"enable_idempotence": "false", "max_in_flight_requests_per_connection": "1000"}
TIMES = {
    "timeout_ms": 1, "transaction_timeout_ms": 1000, "session_timeout_ms": 10_000,
    "rebalance_timeout_ms": 10_000,
}  # fmt: skip


def _epoch_kept(body: Row) -> Row:
    for topic in body["topic_data"]:
        for part in topic["partition_data"]:
            data = bytes(part["records"])
            if records.read_header(data, 0).producer_epoch > 0:
                part["records"] = records.rewrite(data, producer_epoch=0)
    return body


def _final(value: Any) -> Any:
    """CONCURRENT_TRANSACTIONS wherever it stands is an error that does not pass."""
    if isinstance(value, dict):
        return {key: _final(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_final(inner) for inner in value]
    return int(ErrorCode.INVALID_TXN_STATE) if value == ErrorCode.CONCURRENT_TRANSACTIONS else value


def _told_as_done(row: Row) -> Row:
    return {"name": "transaction_complete", "client": row["client"], "operation": row["operation"]}


def _told_as_failed(row: Row) -> Row:
    error = {"exception": "Invented", "message": "", "code": int(ErrorCode.UNKNOWN_SERVER_ERROR)}
    return row | error | {"name": "producer_send_error"}


TABLE: Mapping[str, Liar] = {
    "partitions-not-added": Liar(
        "A transaction's partitions are not told to its coordinator.",
        requests=request("AddPartitionsToTxn", lambda body: False),
    ),
    "groups-not-added": Liar(
        "A transaction's group is not told to its coordinator.",
        requests=request("AddOffsetsToTxn", lambda body: False),
    ),
    "concurrent-is-final": Liar(
        "CONCURRENT_TRANSACTIONS ends a transaction.",
        answers=answer("AddPartitionsToTxn", _final),
    ),
    "features-hidden": Liar(
        "A broker's features are not looked at.",
        answers=answer("ApiVersions", fields(finalized_features=[], finalized_features_epoch=-1)),
    ),
    "ends-not-told": Liar(
        "The application is not told that a transaction is over.",
        events=event(
            "transaction_complete",
            lambda row: None if row["operation"] in ("commit", "abort") else row,
        ),
    ),
    "failures-forgotten": Liar(
        "What failed in a transaction is told as done.",
        events=event("client_error", _told_as_done),
    ),
    "transactional-id-dropped": Liar(
        "A producer names no transactional id when it takes its producer id.",
        requests=request("InitProducerId", fields(transactional_id=None)),
    ),
    "epoch-kept": Liar("Every batch has epoch 0.", requests=request("Produce", _epoch_kept)),
    "deliveries-told-as-failures": Liar(
        "A delivery is told as a failure.",
        events=event("producer_send_success", _told_as_failed),
    ),
    "too-many-in-flight": Liar(
        "Any number of requests is in flight.", settings("producer", **UNBOUNDED)
    ),
    "reorders-on-retry": Liar(
        "A batch that is tried again goes behind those that wait.",
        planted("reorders-on-retry", "producer"),
    ),
    "times-dropped": Liar(
        "Records have the time 0.", records_of(lambda one, at: one | {"timestamp": 0})
    ),
    "timeout-not-said": Liar(
        "Requests name other timeouts than are configured.",
        requests=requests("Produce", "InitProducerId", "JoinGroup", change=fields(**TIMES)),
    ),
    "nameless": Liar(
        "A client does not name itself.",
        requests=request("ApiVersions", fields(client_software_name="")),
    ),
}
