"""DeleteAcls: the ACLs that filters match are removed, and told (KIP-140).

An ACL that several filters match is told for the first of them, in KRaft for each.
A filter of which an element is UNKNOWN (0) cannot be parsed since 2.8. Without an authorizer each
filter is refused.

Sources: AclApis.handleDeleteAcls@3.9; AclAuthorizer.deleteAcls@2.8.2,
AclControlManager.deleteAcls@3.9; observed on all five releases.
"""

from __future__ import annotations

from touchstone.reference_impl.broker.effects import Hangup, Request
from touchstone.reference_impl.broker.personas.persona import Persona
from touchstone.reference_impl.broker.security.acls import requests
from touchstone.reference_impl.broker.security.acls.access_control import AccessControl
from touchstone.reference_impl.cluster.acls import Entry, Pattern
from touchstone.reference_impl.cluster.hash_order import mutable_212_numbers
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

UNKNOWN = 0
Binding = tuple[Pattern, Entry]
ELEMENTS = ("resource_type_filter", "pattern_type_filter", "operation", "permission_type")


def handle(request: Request, control: AccessControl, persona: Persona, now: int) -> Struct | Hangup:
    filters = request.body["filters"]
    unknown = any(row.get(name) == UNKNOWN for row in filters for name in ELEMENTS)
    if unknown and persona.quirk("acls.unknown-filters-close"):
        return Hangup("an UNKNOWN element in a filter")
    if control.authorizer is None:
        return _all(request, ErrorCode.SECURITY_DISABLED, persona.quirk("acls.refusal"))
    old = persona.quirk("acls.filters-are-a-map")
    if old and all(requests.means_one(persona, row) for row in filters):
        refusals = [requests.unfit(persona, row) for row in filters]
    else:
        refusals = [requests.unknown_filter(persona, row) for row in filters]
    found = [
        [] if refused else control.acls.found(requests.filter_of(row))
        for row, refused in zip(filters, refusals, strict=True)
    ]
    if not persona.kraft:
        numbers = list(range(len(found)))
        found = _each_once(found, mutable_212_numbers(numbers) if old else numbers)
    control.remove(binding for each in found for binding in each)
    rows = [
        _result(bindings)
        if words is None
        else {"error_code": ErrorCode.INVALID_REQUEST, "error_message": words}
        for bindings, words in zip(found, refusals, strict=True)
    ]
    return {"filter_results": rows}


def fail(request: Request, code: int) -> Struct:
    return _all(request, code, None)


def _all(request: Request, code: int, message: str | None) -> Struct:
    refusal = {"error_code": code, "error_message": message}
    return {"filter_results": [refusal for _ in request.body["filters"]]}


def _each_once(found: list[list[Binding]], order: list[int]) -> list[list[Binding]]:
    """An ACL is removed by the first filter that matches it, in this order of filters."""
    seen: set[Binding] = set()
    once: list[list[Binding]] = [[] for _ in found]
    for at in order:
        once[at] = [each for each in found[at] if each not in seen]
        seen.update(found[at])
    return once


def _result(bindings: list[Binding]) -> Struct:
    matching = [
        {"error_code": ErrorCode.NONE, "error_message": None, **requests.binding_row(*each)}
        for each in bindings
    ]
    return {"error_code": ErrorCode.NONE, "error_message": None, "matching_acls": matching}
