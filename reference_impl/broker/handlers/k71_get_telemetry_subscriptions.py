"""GetTelemetrySubscriptions: a client asks which metrics it is to send, and how often (KIP-714).

Who has no id gets one. No release lists the API while nobody receives what clients send.

Sources: KIP-714; broker/data/client_telemetry.py; observed on 3.9.2 and 4.3.1.
"""

from __future__ import annotations

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.broker.data.client_telemetry import (
    ACCEPTED,
    NOBODY,
    ClientTelemetry,
)
from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct


def handle(request: Request, telemetry: ClientTelemetry, now: int) -> Struct:
    asked = bytes(request.body["client_instance_id"])
    try:
        client, wanted = telemetry.subscription(asked, request, now)
    except ApiError as refused:
        return fail(request, refused.code)
    return {
        "error_code": ErrorCode.NONE,
        "client_instance_id": client,
        "subscription_id": wanted.id,
        "accepted_compression_types": list(ACCEPTED),
        "push_interval_ms": wanted.interval_ms,
        "telemetry_max_bytes": telemetry.max_bytes,
        "delta_temporality": True,
        "requested_metrics": list(wanted.metrics),
    }


def fail(request: Request, code: int) -> Struct:
    return {
        "error_code": code,
        "client_instance_id": NOBODY,
        "subscription_id": 0,
        "accepted_compression_types": [],
        "push_interval_ms": 0,
        "telemetry_max_bytes": 0,
        "delta_temporality": False,
        "requested_metrics": [],
    }
