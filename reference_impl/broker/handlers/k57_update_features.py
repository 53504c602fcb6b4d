"""UpdateFeatures: the levels a cluster runs at are raised or lowered (KIP-584, KIP-778).

2.8 has the request and no feature to use it on. KRaft checks an update by the kind of upgrade, the
level and what the controller supports; 3.9 answers feature by feature, 4.3 refuses all for the
first that fails. The metadata version can be lowered on 3.9 alone.

Sources: KafkaController.processFeatureUpdates@2.8.2, FeatureControlManager@3.9.2, 4.3.1; observed
on the three.
"""

from __future__ import annotations

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.broker.control.cluster_controller import (
    NOT_CONTROLLER_MESSAGE,
    ClusterController,
)
from touchstone.reference_impl.broker.control.features import Features
from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.broker.personas.persona import Persona
from touchstone.reference_impl.cluster.topology import Cluster
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE = 1, 2, 3
METADATA = "metadata.version"
ALL_FAILED = "The update failed for all features since the following feature had an error: "


def handle(
    request: Request,
    features: Features,
    controller: ClusterController,
    cluster: Cluster,
    persona: Persona,
    now: int,
) -> Struct:
    body = request.body
    if not controller.here:
        return _answer(ErrorCode.NOT_CONTROLLER, NOT_CONTROLLER_MESSAGE, [])
    updates = {row["feature"]: row for row in body["feature_updates"]}
    if not persona.kraft:
        return _answer(ErrorCode.NONE, None, [_zookeeper(row) for row in updates.values()])
    together = persona.quirk("features.fail-together")
    results, levels = [], {}
    for name, row in updates.items():
        kind = row["upgrade_type"]  # version 0 has none: it can only ask for an upgrade
        try:
            _check(features, cluster, persona, name, row["max_version_level"], kind)
        except ApiError as refused:
            if together:
                return _answer(refused.code, f"{ALL_FAILED}{refused.message}", [])
            results.append(_result(name, refused.code, refused.message))
        else:
            levels[name] = row["max_version_level"]
            results.append(_result(name, ErrorCode.NONE, "NONE" if together else None))
    if not body["validate_only"]:
        features.finalize(levels)
    return _answer(ErrorCode.NONE, None if together else "", results)


def _answer(code: int, message: str | None, results: list[Struct]) -> Struct:
    return {"error_code": code, "error_message": message, "results": results}


def _result(name: str, code: int, message: str | None) -> Struct:
    return {"feature": name, "error_code": code, "error_message": message}


def _check(
    features: Features, cluster: Cluster, persona: Persona, name: str, level: int, kind: int
) -> None:
    """In the controller's order; every refusal is an invalid update."""
    start = f"Invalid update version {level} for feature {name}. "
    current = features.finalized().get(name, 0)
    words = None
    if kind not in (UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE):
        words = "The controller does not support the given upgrade type."
    elif level < 0:
        words = "A feature version cannot be less than 0."
    else:
        words = _unsupported(cluster, persona, name, level)
    if words is None and level < current and kind == UPGRADE:
        words = (
            "Can't downgrade the version of this feature without setting the upgrade type to "
            "either safe or unsafe downgrade."
        )
    if words is None and level > current and kind != UPGRADE:
        words = "Can't downgrade to a newer version."
    if words is not None:
        raise ApiError(ErrorCode.INVALID_UPDATE_VERSION, start + words)
    keeps = persona.quirk("features.metadata-version-stays-up")
    if name == METADATA and level < current and keeps:
        raise ApiError(
            ErrorCode.INVALID_UPDATE_VERSION,
            f"Unsupported metadata.version downgrade from {current} to {level}. Refusing to "
            "perform the requested downgrade because it might delete metadata information.",
        )


def _unsupported(cluster: Cluster, persona: Persona, name: str, level: int) -> str | None:
    local = f"Local controller {cluster.controller_id} "
    known = next((each for each in persona.features if each.name == name), None)
    if known is None:
        return f"{local}does not support this feature."
    if not known.min_supported <= level <= known.max_supported:
        return f"{local}only supports versions {known.min_supported}-{known.max_supported}"
    return None


def _zookeeper(row: Struct) -> Struct:
    name, level = row["feature"], row["max_version_level"]
    if name == "":
        words = "Feature name can not be empty."
    elif level < 1 and not row["allow_downgrade"]:
        words = (
            f"Can not provide maxVersionLevel: {level} less than 1 without setting the "
            "allowDowngrade flag to true in the request."
        )
    elif level < 1:
        words = "Can not delete non-existing finalized feature."
    else:
        words = (
            "Could not apply finalized feature update because the provided feature is not "
            "supported."
        )
    return _result(name, ErrorCode.INVALID_REQUEST, words)
