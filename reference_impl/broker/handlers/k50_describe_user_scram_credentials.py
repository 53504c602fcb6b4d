"""DescribeUserScramCredentials: mechanisms and iterations by user; no names mean all (KIP-554).

Observed on 2.8.2, 3.9.2 and 4.3.1.
"""

from __future__ import annotations

from collections import Counter

from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.broker.personas.persona import Persona
from touchstone.reference_impl.cluster.topology import Cluster
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct


def handle(request: Request, cluster: Cluster, persona: Persona, now: int) -> Struct:
    names = Counter(row["name"] for row in request.body["users"] or ())
    if not names:
        names = Counter(cluster.client_settings.users())
    return {
        "error_code": ErrorCode.NONE,
        "error_message": "",
        "results": [_result(cluster, persona, name, times) for name, times in names.items()],
    }


def _result(cluster: Cluster, persona: Persona, name: str, times: int) -> Struct:
    held = cluster.client_settings.credentials(name)
    code, message = ErrorCode.NONE, ""
    if times > 1:
        held, code = {}, ErrorCode.DUPLICATE_RESOURCE
        message = (
            f"Cannot describe SCRAM credentials for the same user twice in a single request: {name}"
        )
    elif not held:
        code = ErrorCode.RESOURCE_NOT_FOUND
        message = f"Attempt to describe a user credential that does not exist: {name}"
        if name == "" and not persona.kraft:
            message = "Username must not be empty"
    infos = [{"mechanism": kind, "iterations": of.iterations} for kind, of in held.items()]
    return {"user": name, "error_code": code, "error_message": message, "credential_infos": infos}
