"""PushTelemetry: a client sends its metrics (KIP-714).

Sources: KIP-714; broker/data/client_telemetry.py; observed on 3.9.2 and 4.3.1.
"""

from __future__ import annotations

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.broker.data.client_telemetry import ClientTelemetry
from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct


def handle(request: Request, telemetry: ClientTelemetry, now: int) -> Struct:
    try:
        telemetry.push(request, now)
    except ApiError as refused:
        return fail(request, refused.code)
    return {"error_code": ErrorCode.NONE}


def fail(request: Request, code: int) -> Struct:
    return {"error_code": code}
