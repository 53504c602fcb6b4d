"""DescribeClientQuotas: the quotas whose entities match a filter (KIP-546).

A filter names types, each with an exact name, the default, or anything; an entity has to have all
of them, and under `strict` no other.

Sources: KIP-546; ZkAdminManager.describeClientQuotas@2.8.2, ClientQuotaCache@3.9.2, 4.3.1; observed
on the three.
"""

from __future__ import annotations

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.broker.personas.persona import Persona
from touchstone.reference_impl.cluster.client_settings import ENTITY_TYPES, Entity
from touchstone.reference_impl.cluster.topology import Cluster
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

EXACT, DEFAULT, ANY = 0, 1, 2
INVALID = ErrorCode.INVALID_REQUEST
Filter = dict[str, tuple[int, str | None]]  # by type: match type, name


def handle(request: Request, cluster: Cluster, persona: Persona, now: int) -> Struct:
    check = _kraft if persona.kraft else _zookeeper
    wanted: Filter = {}
    try:
        for row in request.body["components"]:
            kind, match, name = row["entity_type"], row["match_type"], row["match"]
            check(persona, wanted, kind, match, name)
            wanted[kind] = match, name
        if "ip" in wanted and len(wanted) > 1:
            sign = "." if persona.kraft else ","
            raise ApiError(
                INVALID,
                f"Invalid entity filter component combination{sign} IP filter component should "
                "not be used with user or clientId filter component.",
            )
    except ApiError as refused:
        return _answer(refused.code, refused.message, None)
    strict = request.body["strict"]
    found = [
        {
            "entity": [{"entity_type": kind, "entity_name": name} for kind, name in who],
            "values": [{"key": key, "value": value} for key, value in values.items()],
        }
        for who, values in cluster.client_settings.quotas()
        if _matches(who, wanted, strict=strict)
    ]
    return _answer(ErrorCode.NONE, "", found)


def fail(request: Request, code: int) -> Struct:
    return _answer(code, None, None)


def _answer(code: int, message: str | None, entries: list[Struct] | None) -> Struct:
    return {"error_code": code, "error_message": message, "entries": entries}


def _matches(who: Entity, wanted: Filter, *, strict: bool) -> bool:
    parts = dict(who)
    if strict and len(parts) != len(wanted):
        return False
    return all(
        kind in parts
        and (match == ANY or (parts[kind] is None if match == DEFAULT else parts[kind] == name))
        for kind, (match, name) in wanted.items()
    )


def _unsupported(persona: Persona, kind: str) -> ApiError:
    message = persona.quirk("quotas.unknown-entity").format(kind)
    return ApiError(ErrorCode.UNSUPPORTED_VERSION, message)


def _kraft(persona: Persona, before: Filter, kind: str, match: int, name: str | None) -> None:
    if kind in before:
        raise ApiError(INVALID, f"Entity type {kind} cannot appear more than once in the filter.")
    if kind == "":
        raise ApiError(INVALID, "Invalid empty entity type.")
    if kind not in ENTITY_TYPES:
        raise _unsupported(persona, kind)
    if match not in (EXACT, DEFAULT, ANY):
        raise ApiError(INVALID, f"Unknown match type {match}")
    if match == EXACT and name is None:
        raise ApiError(INVALID, "Request specified MATCH_TYPE_EXACT, but set match string to null.")
    if match != EXACT and name is not None:
        word = "DEFAULT" if match == DEFAULT else "SPECIFIED"
        raise ApiError(
            INVALID, f"Request specified MATCH_TYPE_{word}, but also specified a match string."
        )


def _zookeeper(persona: Persona, before: Filter, kind: str, match: int, name: str | None) -> None:
    if match not in (EXACT, DEFAULT, ANY) or (match == EXACT and name is None):
        raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR)
    if kind == "":
        raise ApiError(INVALID, "Unexpected empty filter component entity type")
    if kind not in ENTITY_TYPES:
        raise _unsupported(persona, kind)
    if kind in before:
        raise ApiError(INVALID, f"Duplicate {kind} filter component entity type")
