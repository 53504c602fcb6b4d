"""DeleteAcls: there is no authorizer that could have one; each filter is refused.

Observed on all five releases.
"""

from __future__ import annotations

from typing import Any

from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.broker.personas.persona import Persona
from touchstone.reference_impl.wire.errors import ErrorCode


def handle(request: Request, persona: Persona, now: int) -> dict[str, Any]:
    refusal = {
        "error_code": ErrorCode.SECURITY_DISABLED,
        "error_message": persona.quirk("acls.refusal"),
    }
    return {"filter_results": [refusal for _ in request.body["filters"]]}
