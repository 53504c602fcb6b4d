"""DescribeAcls: the ACLs that a filter matches; without an authorizer nobody knows any (KIP-140).

A filter of which an element is UNKNOWN (0) cannot be parsed since 2.8. v1 knows pattern types
(KIP-290); v0 asks for literal ones.

Sources: AclApis.handleDescribeAcls@3.9; observed on all five releases.
"""

from __future__ import annotations

from touchstone.reference_impl.broker.effects import Hangup, Request
from touchstone.reference_impl.broker.personas.persona import Persona
from touchstone.reference_impl.broker.security.acls import requests
from touchstone.reference_impl.broker.security.acls.access_control import AccessControl
from touchstone.reference_impl.cluster.acls import Pattern
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

UNKNOWN = 0
FILTERS = ("resource_type_filter", "pattern_type_filter", "operation", "permission_type")


def handle(request: Request, control: AccessControl, persona: Persona, now: int) -> Struct | Hangup:
    unknown = any(request.body.get(name) == UNKNOWN for name in FILTERS)
    if unknown and persona.quirk("acls.unknown-filters-close"):
        return Hangup("an UNKNOWN element in a filter")
    if control.authorizer is None:
        return {
            "error_code": ErrorCode.SECURITY_DISABLED,
            "error_message": "No Authorizer is configured on the broker",
        }
    by_pattern: dict[Pattern, list[Struct]] = {}
    for pattern, entry in control.acls.found(requests.filter_of(request.body)):
        by_pattern.setdefault(pattern, []).append(requests.entry_row(entry))
    resources = [
        {
            "resource_type": pattern.resource_type,
            "resource_name": pattern.name,
            "pattern_type": pattern.type,
            "acls": entries,
        }
        for pattern, entries in by_pattern.items()
    ]
    message = persona.quirk("acls.success-message")
    return {"error_code": ErrorCode.NONE, "error_message": message, "resources": resources}
