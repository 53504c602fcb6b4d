"""CreateAcls: there is no authorizer that could keep one; each entry is refused.

Observed on all five releases.
"""

from __future__ import annotations

from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.broker.personas.persona import Persona
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct


def handle(request: Request, persona: Persona, now: int) -> Struct:
    refusal = {
        "error_code": ErrorCode.SECURITY_DISABLED,
        "error_message": persona.quirk("acls.refusal"),
    }
    return {"results": [refusal for _ in request.body["creations"]]}
