"""AlterClientQuotas: set and remove quotas of users, client ids, both, or addresses (KIP-546).

Each entry is answered under its entity, which is why KRaft refuses a second entry for one (after it
has done the first) and ZooKeeper's controller lets the last one count. Where a host name would be
looked up, only addresses and localhost are known here: the core asks nobody.

Sources: KIP-546, KIP-612; DYN-16; ZkAdminManager.alterClientQuotas@2.8.2,
ClientQuotaControlManager@3.9.2, 4.3.1; observed on the three.
"""

from __future__ import annotations

import ipaddress
import math
from typing import Any
from urllib.parse import quote

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.broker.control.cluster_controller import ClusterController
from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.broker.personas.persona import Persona
from touchstone.reference_impl.cluster.client_settings import Entity, entity
from touchstone.reference_impl.cluster.topology import Cluster
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

LONG, INT, DOUBLE = "LONG", "INT", "DOUBLE"
LARGEST = {LONG: 2**63 - 1, INT: 2**31 - 1}
CLIENT_KEYS = {
    "producer_byte_rate": LONG,
    "consumer_byte_rate": LONG,
    "request_percentage": DOUBLE,
    "controller_mutation_rate": DOUBLE,
}
KEYS = {"user": CLIENT_KEYS, "client-id": CLIENT_KEYS, "ip": {"connection_creation_rate": INT}}
INVALID = ErrorCode.INVALID_REQUEST


def handle(
    request: Request, controller: ClusterController, cluster: Cluster, persona: Persona, now: int
) -> Struct:
    body, kraft = request.body, persona.kraft
    if not controller.here:
        return fail(request, ErrorCode.NOT_CONTROLLER)
    results: dict[Entity | tuple[Any, ...], tuple[int, str | None]] = {}
    entries = [(_entity(row), _shown(row), row) for row in body["entries"]]
    if not kraft:
        entries = list({shown: (who, shown, row) for who, shown, row in entries}.values())
    for who, shown, row in entries:
        try:
            changes = _changes(persona, who, row)
            if shown in results or (kraft and len(changes) < len(row["ops"])):
                raise ApiError(INVALID, f"Ignoring duplicate entity {_java(shown)}")
            if not body["validate_only"]:
                cluster.client_settings.set_quotas(entity(who), changes)
            results[shown] = (ErrorCode.NONE, None)
        except ApiError as refused:
            results[shown] = (refused.code, refused.message)
    return {"entries": [_row(shown, code, words) for shown, (code, words) in results.items()]}


def fail(request: Request, code: int) -> Struct:
    return {"entries": [_row(_shown(row), code, None) for row in request.body["entries"]]}


def _row(shown: Entity, code: int, message: str | None) -> Struct:
    return {
        "error_code": code,
        "error_message": message,
        "entity": [{"entity_type": kind, "entity_name": name} for kind, name in shown],
    }


def _entity(row: Struct) -> dict[str, str | None]:
    """A type that comes twice has its last name."""
    return {part["entity_type"]: part["entity_name"] for part in row["entity"]}


def _shown(row: Struct) -> Entity:
    parts = _entity(row)
    known = entity(parts)
    return known + tuple(part for part in parts.items() if part[0] not in dict(known))


def _java(shown: Entity) -> str:
    pairs = ", ".join(f"{kind}={'null' if name is None else name}" for kind, name in shown)
    return f"ClientQuotaEntity(entries={{{pairs}}})"


def _changes(persona: Persona, who: dict[str, str | None], row: Struct) -> dict[str, float | None]:
    _check_entity(persona, who)
    types = KEYS["ip" if "ip" in who else "user"]
    changes: dict[str, float | None] = {}
    check = _check_kraft if persona.kraft else _check_zookeeper
    for op in row["ops"]:
        key, value = op["key"], op["value"]
        if not op["remove"]:  # what is taken away may be any word, as nobody looks at it
            if key not in types:
                raise ApiError(INVALID, f"Invalid configuration key {key}")
            check(key, value, types[key])
        if not (persona.kraft and key in changes):
            changes[key] = None if op["remove"] else value
    return changes


def _check_entity(persona: Persona, who: dict[str, str | None]) -> None:
    if not who:
        raise ApiError(INVALID, "Invalid empty client quota entity")
    for kind, name in who.items():
        if kind not in KEYS:
            raise ApiError(INVALID, f"Unhandled client quota entity type: {kind}")
        if name == "":
            raise ApiError(INVALID, f"Empty {kind} not supported")
    if "ip" in who and len(who) > 1:
        words = persona.quirk("quotas.address-stands-alone")
        raise ApiError(INVALID, f"Invalid quota entity combination, {words}")
    address = who.get("ip")
    if address is not None and not _resolves(address):
        shown = address if persona.kraft else quote(address)
        raise ApiError(INVALID, f"{shown} is not a valid IP or resolvable host.")


def _resolves(address: str) -> bool:
    try:
        ipaddress.ip_address(address)
    except ValueError:
        return address == "localhost"
    return True


def _check_kraft(key: str, value: float, kind: str) -> None:
    if value <= 0:
        raise ApiError(INVALID, f"Quota {key} must be greater than 0")
    if kind == DOUBLE or math.isnan(value):
        return
    if value > LARGEST[kind]:
        message = f"Proposed value for {key} is too large for a{'n' * (kind == INT)} {kind}."
        raise ApiError(INVALID, message)
    if value != math.floor(value):
        raise ApiError(INVALID, f"{key} cannot be a fractional value.")


def _check_zookeeper(key: str, value: float, kind: str) -> None:
    if kind == DOUBLE or math.isnan(value):
        return
    if not 0 <= value <= LARGEST[kind] or value != math.floor(value):
        raise ApiError(INVALID, f"Configuration {key} must be a {kind} value")
