"""AlterUserScramCredentials: SCRAM credentials come and go (KIP-554).

One answer per user. A user that comes twice is refused: for ZooKeeper's controller twice with one
mechanism, for KRaft's twice at all. What is kept are the keys that a proof is checked by.

Sources: KIP-554; ZkAdminManager.alterUserScramCredentials@2.8.2, ScramControlManager@3.9.2, 4.3.1;
observed on the three.
"""

from __future__ import annotations

from collections import Counter

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.broker.control.cluster_controller import ClusterController
from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.broker.personas.persona import Persona
from touchstone.reference_impl.cluster.scram_credentials import (
    NAMES,
    ScramCredential,
)
from touchstone.reference_impl.cluster.scram_keys import of_salted
from touchstone.reference_impl.cluster.topology import Cluster
from touchstone.reference_impl.security.scram_limits import FEWEST, MOST
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

GONE = "Attempt to delete a user credential that does not exist"
TWICE = "A user credential cannot be altered twice in the same request"
BROKEN = "The server experienced an unexpected error when processing the request."


def handle(
    request: Request, controller: ClusterController, cluster: Cluster, persona: Persona, now: int
) -> Struct:
    body = request.body
    if not controller.here:
        return fail(request, ErrorCode.NOT_CONTROLLER)
    rows = [*body["upsertions"], *body["deletions"]]
    if not persona.kraft:
        rows = [*body["deletions"], *body["upsertions"]]
    refusals = _refusals(cluster, persona, rows)
    for row in rows:
        if row["name"] in refusals:
            continue
        settings, done = cluster.client_settings, True
        if "iterations" in row:
            settings.put_credential(row["name"], row["mechanism"], _credential(row))
        else:
            done = settings.drop_credential(row["name"], row["mechanism"])
        if not done:
            refusals[row["name"]] = ApiError(ErrorCode.RESOURCE_NOT_FOUND, GONE)
    fine = ApiError(ErrorCode.NONE, None if persona.kraft else "")
    return _answer({row["name"]: refusals.get(row["name"], fine) for row in rows})


def fail(request: Request, code: int) -> Struct:
    rows = [*request.body["upsertions"], *request.body["deletions"]]
    return _answer({row["name"]: ApiError(code) for row in rows})


def _answer(results: dict[str, ApiError]) -> Struct:
    return {
        "results": [
            {"user": user, "error_code": each.code, "error_message": each.message}
            for user, each in results.items()
        ]
    }


def _refusals(cluster: Cluster, persona: Persona, rows: list[Struct]) -> dict[str, ApiError]:
    """The refusals by user, before anything is done; the first reason counts."""
    found: dict[str, ApiError] = {}
    if persona.kraft:
        accepted: set[str] = set()
        for row in sorted(rows, key=lambda row: "iterations" in row):  # deletions come first
            refusal = _refusal(row, kraft=True) or _unknown(cluster, row)
            if refusal is None and row["name"] in accepted:
                refusal = ApiError(ErrorCode.DUPLICATE_RESOURCE, TWICE)
            if refusal is not None:
                found.setdefault(row["name"], refusal)
            accepted.add(row["name"])
        return found
    again = Counter((row["name"], row["mechanism"]) for row in rows)
    for row in rows:
        if again[row["name"], row["mechanism"]] > 1:
            found.setdefault(row["name"], ApiError(ErrorCode.DUPLICATE_RESOURCE, TWICE))
    for row in rows:
        refusal = _refusal(row, kraft=False)
        if refusal is not None:
            found.setdefault(row["name"], refusal)
    return found


def _credential(row: Struct) -> ScramCredential:
    mechanism = NAMES[row["mechanism"]]
    salted = bytes(row["salted_password"])
    return of_salted(mechanism, bytes(row["salt"]), salted, row["iterations"])


def _unknown(cluster: Cluster, row: Struct) -> ApiError | None:
    held = cluster.client_settings.credentials(row["name"])
    if "iterations" in row or row["mechanism"] in held:
        return None
    return ApiError(ErrorCode.RESOURCE_NOT_FOUND, GONE)


def _refusal(row: Struct, *, kraft: bool) -> ApiError | None:
    if row["name"] == "":
        return ApiError(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Username must not be empty")
    if row["mechanism"] not in NAMES:
        return ApiError(ErrorCode.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism")
    if "iterations" not in row:
        return None
    if row["iterations"] < FEWEST:
        return ApiError(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too few iterations")
    if row["iterations"] > MOST:
        return ApiError(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too many iterations")
    if not row["salted_password"]:
        return ApiError(ErrorCode.UNKNOWN_SERVER_ERROR, None if kraft else BROKEN)
    return None
