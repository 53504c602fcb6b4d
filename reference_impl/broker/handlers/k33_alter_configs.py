"""AlterConfigs: replace all overrides of a topic or a broker (deprecated by KIP-339 since 2.3).

Sources: DYN-17, KIP-133; observed on all five releases, with their oddities: a null value and a
resource that comes twice are answered differently by each (quirks `alter.*`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.broker.control import config_changes
from touchstone.reference_impl.broker.effects import Hangup, Wait
from touchstone.reference_impl.wire.errors import ErrorCode

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker
    from touchstone.reference_impl.broker.effects import Request

NEVER = 1 << 62
fail = config_changes.fail


def handle(request: Request, broker: Broker, now: int) -> dict[str, Any] | Wait | Hangup:
    persona, rows = broker.persona, request.body["resources"]
    resources = [(row["resource_type"], row["resource_name"]) for row in rows]
    if len(set(resources)) < len(resources):
        if persona.quirk("alter.repeated-resource-never-answered"):
            return Wait(NEVER, (), lambda _: None, lambda _: None)
        rows = list(dict(zip(resources, rows, strict=True)).values())
    nulls = any(c["value"] is None for row in rows for c in row["configs"])
    if nulls and persona.quirk("alter.null-value-hangs-up"):
        return Hangup("a null config value")
    return {"responses": [_altered(request, broker, row) for row in rows]}


def _altered(request: Request, broker: Broker, row: dict[str, Any]) -> dict[str, Any]:
    kind = row["resource_type"]

    def alter(name: str) -> None:
        config_changes.check_type(broker, kind, incremental=False)
        configs = _configs(broker, row)
        if kind == config_changes.TOPIC:
            config_changes.check_topic_name(broker, name)
        validate_only = bool(request.body["validate_only"])
        config_changes.change(broker, kind, name, configs, validate_only=validate_only)

    return config_changes.answer(broker, kind, row["resource_name"], alter)


def _configs(broker: Broker, row: dict[str, Any]) -> dict[str, str]:
    """Name to value; ZooKeeper releases let the last of two equal names win."""
    pairs = [(config["name"], config["value"]) for config in row["configs"]]
    nulls = [name for name, value in pairs if value is None]
    if broker.persona.kraft:
        if len(dict(pairs)) < len(pairs):
            message = "Error due to duplicate config keys"
            raise ApiError(ErrorCode.INVALID_REQUEST, message)
        if nulls:
            message = f"Null value not supported for : {', '.join(nulls)}"
            raise ApiError(ErrorCode.INVALID_REQUEST, message)
    elif nulls:
        raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR)
    return dict(pairs)
