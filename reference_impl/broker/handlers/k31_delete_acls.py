"""DeleteAcls: there is no authorizer that could have one; each filter is refused.

A filter of which an element is UNKNOWN (0) cannot be parsed since 2.8.
Observed on all five releases.
"""

from __future__ import annotations

from touchstone.reference_impl.broker.effects import Hangup, Request
from touchstone.reference_impl.broker.personas.persona import Persona
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

UNKNOWN = 0
ELEMENTS = ("resource_type_filter", "pattern_type_filter", "operation", "permission_type")


def handle(request: Request, persona: Persona, now: int) -> Struct | Hangup:
    filters = request.body["filters"]
    unknown = any(row.get(name) == UNKNOWN for row in filters for name in ELEMENTS)
    if unknown and persona.quirk("acls.unknown-filters-close"):
        return Hangup("an UNKNOWN element in a filter")
    refusal = {
        "error_code": ErrorCode.SECURITY_DISABLED,
        "error_message": persona.quirk("acls.refusal"),
    }
    return {"filter_results": [refusal for _ in filters]}
