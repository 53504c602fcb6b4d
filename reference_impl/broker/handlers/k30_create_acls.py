"""CreateAcls: ACLs are added, each by itself; one that is there already is fine (KIP-140).

An entry whose elements mean nothing cannot be parsed, and which those are differs by release.
Without an authorizer that could keep them, each entry is refused.

Sources: AclApis.handleCreateAcls@3.9; observed on all five releases.
"""

from __future__ import annotations

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.broker.effects import Hangup, Request
from touchstone.reference_impl.broker.personas.persona import Persona
from touchstone.reference_impl.broker.security.acls import requests
from touchstone.reference_impl.broker.security.acls.access_control import AccessControl
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct


def handle(request: Request, control: AccessControl, persona: Persona, now: int) -> Struct | Hangup:
    closing = persona.quirk("acls.creations-that-close")
    creations = request.body["creations"]
    if any(row.get(name) in values for row in creations for name, values in closing.items()):
        return Hangup("an element of an ACL that means nothing")
    if control.authorizer is None:
        return _all(request, ErrorCode.SECURITY_DISABLED, persona.quirk("acls.refusal"))
    unfit = any(requests.fails_all(row) for row in creations)
    if unfit and persona.quirk("acls.filters-in-place-of-acls-fail-all"):
        return _all(request, ErrorCode.UNKNOWN_SERVER_ERROR, None)
    return {"results": [_created(control, persona, row) for row in creations]}


def fail(request: Request, code: int) -> Struct:
    return _all(request, code, None)


def _all(request: Request, code: int, message: str | None) -> Struct:
    refusal = {"error_code": code, "error_message": message}
    return {"results": [refusal for _ in request.body["creations"]]}


def _created(control: AccessControl, persona: Persona, row: Struct) -> Struct:
    pattern, entry = requests.binding_of(row)
    try:
        requests.check(persona, pattern, entry)
    except ApiError as refused:
        return {"error_code": refused.code, "error_message": refused.message}
    control.add(pattern, entry)
    return {"error_code": ErrorCode.NONE, "error_message": persona.quirk("acls.success-message")}
