"""CreateAcls: there is no authorizer that could keep one; each entry is refused.

An entry whose elements mean nothing cannot be parsed, and which those are differs by release.
Observed on all five releases.
"""

from __future__ import annotations

from touchstone.reference_impl.broker.effects import Hangup, Request
from touchstone.reference_impl.broker.personas.persona import Persona
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct


def handle(request: Request, persona: Persona, now: int) -> Struct | Hangup:
    closing = persona.quirk("acls.creations-that-close")
    creations = request.body["creations"]
    if any(row.get(name) in values for row in creations for name, values in closing.items()):
        return Hangup("an element of an ACL that means nothing")
    refusal = {
        "error_code": ErrorCode.SECURITY_DISABLED,
        "error_message": persona.quirk("acls.refusal"),
    }
    return {"results": [refusal for _ in creations]}
