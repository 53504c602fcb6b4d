"""ApiVersions: what this listener of this release serves, and which features it has.

The ranges are the persona's, as recorded. From v3 on a client names its software and is refused
when the name or the version is not one (KIP-511); features are told too (KIP-584): version 3 hides
those whose minimum is 0, because clients of its time could not read them (KIP-1022, v4).
The answer to an unknown version is not made here but in `broker.py` (WIRE-19).

Sources: WIRE-20; ApiVersionsRequest.isValid@2.8.2 to 4.3.1; observed on all five releases.
"""

from __future__ import annotations

import re

from touchstone.reference_impl.broker.control.features import Features
from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.broker.personas.persona import Persona
from touchstone.reference_impl.cluster.topology import Cluster
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")


def handle(
    request: Request, features: Features, cluster: Cluster, persona: Persona, now: int
) -> Struct:
    version, body = request.header.version, request.body
    if version >= 3:
        software = (body["client_software_name"], body["client_software_version"])
        if not all(_SOFTWARE.fullmatch(word) for word in software):
            return {"error_code": ErrorCode.INVALID_REQUEST}
        request.connection.software = software
    listed = persona.listed(controller=request.connection.controller)
    if cluster.telemetry_receivers and not request.connection.controller:
        listed = dict(sorted({**listed, **persona.unlisted_but_served}.items()))
    answer: Struct = {
        "error_code": ErrorCode.NONE,
        "api_keys": [
            {"api_key": key, "min_version": low, "max_version": high}
            for key, (low, high) in listed.items()
        ],
    }
    if version >= 3:
        answer["supported_features"] = [
            {
                "name": feature.name,
                "min_version": feature.min_supported,
                "max_version": feature.max_supported,
            }
            for feature in persona.features
            if version >= 4 or feature.min_supported > 0
        ]
        answer["finalized_features_epoch"] = cluster.generation if persona.kraft else 0
        answer["finalized_features"] = [
            {"name": name, "max_version_level": level, "min_version_level": level}
            for name, level in features.finalized().items()
        ]
    return answer
