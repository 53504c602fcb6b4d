"""A group's own configs change while it lives and override the broker's.

A group need not be there to have configs, nor do they go with it. A value must be of its type,
within the rule its table gives, within the bounds the broker sets for all groups, and a session
must be longer than the time between two heartbeats.

Sources: GroupConfig.validate, ConfigurationControlManager@4.3.1; KIP-848, KIP-932; observed
on 4.3.1.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.broker.configs import config_values, config_view
from touchstone.reference_impl.broker.configs.config_values import ValueRefused
from touchstone.reference_impl.broker.personas.config_rows import ConfigDefinition
from touchstone.reference_impl.wire.errors import ErrorCode

if TYPE_CHECKING:
    pass

RESET, ISOLATION = "share.auto.offset.reset", "share.isolation.level"
LEVELS = ("read_committed", "read_uncommitted")
_DURATION = re.compile(
    r"by_duration:P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?", re.IGNORECASE
)
_SECONDS = (86_400, 3_600, 60, 1)
_KINDS = ("consumer", "share", "streams")


def setting(broker: config_view.Configured, group_id: str, name: str) -> str | None:
    """The group's own value, else the broker's, else the default."""
    own = broker.cluster.group_configs.get(group_id, {}).get(name)
    if own is not None:
        return own
    definition = config_view.group_definitions(broker.persona.release).get(name)
    if definition is None:  # of a release whose groups have no configs of their own (3.9)
        return config_view.setting(broker, f"group.{name}")
    synonym = definition.synonym
    value = config_view.setting(broker, synonym) if synonym and synonym != name else None
    return definition.default if value is None else value


def number(broker: config_view.Configured, group_id: str, name: str) -> int:
    return int(setting(broker, group_id, name) or 0)


def current(broker: config_view.Configured, group_id: str) -> dict[str, str]:
    return dict(broker.cluster.group_configs.get(group_id, {}))


def change(
    broker: config_view.Configured,
    group_id: str,
    configs: Mapping[str, str],
    *,
    validate_only: bool,
) -> None:
    """Let `configs` be the group's overrides. Raises ApiError."""
    if not group_id:
        message = "Default group resources are not allowed."
        raise ApiError(ErrorCode.INVALID_REQUEST, message)
    definitions = config_view.group_definitions(broker.persona.release)
    for name in configs:
        if name not in definitions:
            raise ApiError(ErrorCode.INVALID_CONFIG, f"Unknown group config name: {name}")
    try:
        values = {name: _value(definitions[name], text) for name, text in configs.items()}
        for name, value in values.items():
            _bounded(broker, name, value)
        for kind in _KINDS:
            _alive(broker, kind, values)
    except ValueRefused as refused:
        raise ApiError(ErrorCode.INVALID_CONFIG, refused.message) from None
    if not validate_only:
        broker.cluster.group_configs[group_id] = dict(configs)
        if not configs:
            del broker.cluster.group_configs[group_id]


def reset_duration_ms(strategy: str) -> int | None:
    """How far back `by_duration:` goes; None for another strategy, or none at all."""
    found = _DURATION.fullmatch(strategy)
    if found is None or not any(found.groups()):
        return None
    parts = zip(found.groups(), _SECONDS, strict=True)
    return int(sum(float(part) * each for part, each in parts if part) * 1000)


def _value(definition: ConfigDefinition, text: str) -> Any:
    value = config_values.read(definition, text)
    if definition.name == ISOLATION and value not in LEVELS:
        words = f"String must be one of: {', '.join(LEVELS)}"
        raise ValueRefused(f"Invalid value {value} for configuration {ISOLATION}: {words}")
    known = value in ("earliest", "latest")
    if definition.name == RESET and not known and reset_duration_ms(value) is None:
        form = "'earliest', 'latest' or of the format 'by_duration:<PnDTnHnMn.nS>'"
        what = f"Invalid value `{value}` for configuration {RESET}. The value must be either"
        raise ValueRefused(f"Invalid value {value} for configuration {RESET}: {what} {form}.")
    return value


def _bounded(broker: config_view.Configured, name: str, value: Any) -> None:
    kind, _, rest = name.partition(".")
    definitions = config_view.broker_definitions(broker.persona.release)
    for bound, words in (("min", "greater"), ("max", "less")):
        limit = f"group.{kind}.{bound}.{rest.removeprefix('num.')}"
        if limit not in definitions or type(value) is not int:
            continue
        at = int(config_view.setting(broker, limit) or 0)
        if value < at if bound == "min" else value > at:
            raise ValueRefused(f"{name} must be {words} than or equal to {limit}")


def _alive(broker: config_view.Configured, kind: str, values: Mapping[str, Any]) -> None:
    session, beat = (f"{kind}.{each}" for each in ("session.timeout.ms", "heartbeat.interval.ms"))
    if session not in values and beat not in values:
        return
    ours, theirs = (
        values.get(name, int(setting(broker, "", name) or 0)) for name in (session, beat)
    )
    if ours <= theirs:
        raise ValueRefused(f"{session} must be greater than {beat}")
