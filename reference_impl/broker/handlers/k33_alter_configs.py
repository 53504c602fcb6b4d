"""AlterConfigs: replace all overrides of a topic or a broker (deprecated by KIP-339 since 2.3).

Sources: DYN-17, KIP-133; observed on all five releases, with their oddities: a null value and a
resource that comes twice are answered differently by each (quirks `alter.*`).
"""

from __future__ import annotations

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.broker.control import config_changes
from touchstone.reference_impl.broker.control.config_changes import ConfigChanges
from touchstone.reference_impl.broker.effects import Hangup, Request, Wait
from touchstone.reference_impl.broker.personas.persona import Persona
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

NEVER = 1 << 62
fail = config_changes.fail


def handle(
    request: Request, alterations: ConfigChanges, persona: Persona, now: int
) -> Struct | Wait | Hangup:
    rows = request.body["resources"]
    resources = [(row["resource_type"], row["resource_name"]) for row in rows]
    if persona.quirk("configs.negative-type-hangs-up") and any(kind < 0 for kind, _ in resources):
        return Hangup("a type of resource below zero")
    if len(set(resources)) < len(resources):
        if persona.quirk("alter.repeated-resource-never-answered"):
            return Wait(NEVER, (), lambda _: None, lambda _: None)
        last = dict(zip(resources, rows, strict=True))
        resources, rows = list(last), list(last.values())
    nulls = any(c["value"] is None for row in rows for c in row["configs"])
    if nulls and persona.quirk("alter.null-value-hangs-up"):
        return Hangup("a null config value")
    if nulls and persona.quirk("alter.null-value-refuses-all"):
        return alterations.refuse_all(resources, ApiError(ErrorCode.UNKNOWN_SERVER_ERROR))
    if refused := alterations.unknown_type(resources, incremental=False):
        return alterations.refuse_all(resources, refused)
    return {"responses": [_altered(request, alterations, persona, row) for row in rows]}


def _altered(request: Request, alterations: ConfigChanges, persona: Persona, row: Struct) -> Struct:
    kind = row["resource_type"]

    def alter(name: str) -> None:
        alterations.check_type(kind, incremental=False)
        configs = _configs(persona, row)
        if kind == config_changes.TOPIC:
            alterations.check_topic_name(name)
        validate_only = bool(request.body["validate_only"])
        alterations.change(kind, name, configs, validate_only=validate_only)

    return alterations.answer(kind, row["resource_name"], alter)


def _configs(persona: Persona, row: Struct) -> dict[str, str]:
    """Name to value; ZooKeeper releases let the last of two equal names win."""
    pairs = [(config["name"], config["value"]) for config in row["configs"]]
    nulls = [name for name, value in pairs if value is None]
    if persona.kraft:
        if len(dict(pairs)) < len(pairs):
            message = "Error due to duplicate config keys"
            raise ApiError(ErrorCode.INVALID_REQUEST, message)
        if nulls:
            message = f"Null value not supported for : {', '.join(nulls)}"
            raise ApiError(ErrorCode.INVALID_REQUEST, message)
    elif nulls:
        raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR)
    return dict(pairs)
