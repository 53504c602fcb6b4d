"""IncrementalAlterConfigs: set, delete, append to and subtract from single configs (KIP-339).

Append and subtract are for lists of topics and brokers; a client metrics subscription's are none
to them. To KRaft a list is a set; 2.8 appends what is there once more and subtracts one occurrence.
A list that lost its last element stays, empty. Deleting takes any name. The level of a logger is
set or taken away, but for the root's, which is always there.

Sources: KIP-339, KIP-412; ZkAdminManager.incrementalAlterConfigs@2.8.2,
ConfigurationControlManager, RuntimeLoggerManager@3.9.2, 4.3.1; observed on the three.
"""

from __future__ import annotations

from collections import Counter

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.broker.configs import config_view
from touchstone.reference_impl.broker.control import config_changes, zookeeper_paths
from touchstone.reference_impl.broker.control.config_changes import (
    BROKER,
    LOGGER,
    TOPIC,
    ConfigChanges,
)
from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.broker.personas.persona import Persona
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

SET, DELETE, APPEND, SUBTRACT = OPERATIONS = 0, 1, 2, 3
VERBS = {APPEND: "append", SUBTRACT: "subtract"}
ROOT = "root"
Change = tuple[str, int, str | None]
fail = config_changes.fail


def handle(request: Request, alterations: ConfigChanges, persona: Persona, now: int) -> Struct:
    rows = request.body["resources"]
    resources = [(row["resource_type"], row["resource_name"]) for row in rows]
    if persona.kraft:
        repeated = {resource for resource, times in Counter(resources).items() if times > 1}
    else:
        repeated = set()
        rows = list(dict(zip(resources, rows, strict=True)).values())
    if refused := alterations.unknown_type(resources, incremental=True):
        return alterations.refuse_all(resources, refused)
    return {"responses": [_altered(request, alterations, persona, row, repeated) for row in rows]}


def _altered(
    request: Request,
    alterations: ConfigChanges,
    persona: Persona,
    row: Struct,
    repeated: set[tuple[int, str]],
) -> Struct:
    kind = row["resource_type"]

    def alter(name: str) -> None:
        if (kind, name) in repeated:
            message = "Each resource must appear at most once."
            raise ApiError(ErrorCode.INVALID_REQUEST, message)
        alterations.check_type(kind, incremental=True)
        changes = [(c["name"], c["config_operation"], c["value"]) for c in row["configs"]]
        _check_changes(persona, changes)
        if kind == LOGGER:
            _check_loggers(alterations, persona, name, changes)
        else:
            _apply(request, alterations, persona, kind, name, changes)

    return alterations.answer(kind, row["resource_name"], alter)


def _check_changes(persona: Persona, changes: list[Change]) -> None:
    kraft = persona.kraft
    names = [name for name, _, _ in changes]
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        which = "" if kraft else f" : {','.join(twice)}"
        message = f"Error due to duplicate config keys{which}"
        raise ApiError(ErrorCode.INVALID_REQUEST, message)
    words = {SET: "SET", APPEND: "APPEND", SUBTRACT: "SUBTRACT"}
    nulls = [
        name if kraft else f"{words.get(operation, 'null')}:{name}"
        for name, operation, value in changes
        if operation != DELETE and value is None
    ]
    if nulls:
        message = f"Null value not supported for : {','.join(nulls)}"
        raise ApiError(ErrorCode.INVALID_REQUEST, message)


def _check_operation(operation: int) -> None:
    """Of one that does not exist nothing is said. At KRaft it comes as far as the controller, which
    resigns: until it is elected again, nobody of a real cluster is (seen on 3.9.2).
    """
    if operation not in OPERATIONS:
        raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR)


def _check_loggers(
    alterations: ConfigChanges, persona: Persona, name: str, changes: list[Change]
) -> None:
    """There is one logger, and its level stays."""
    alterations.check_logger_id(name)
    levels = persona.quirk("configs.log-levels")
    for logger, operation, level in changes:
        _check_operation(operation)
        if operation in VERBS:
            verb = VERBS[operation].upper()
            message = f"{verb} operation is not allowed for the BROKER_LOGGER resource"
            raise ApiError(ErrorCode.INVALID_REQUEST, message)
        if logger != ROOT:
            message = f"Logger {logger} does not exist!"
            raise alterations.bad_value(LOGGER, name, message)
        if operation == DELETE:
            message = "Removing the log level of the root logger is not allowed"
            raise ApiError(ErrorCode.INVALID_REQUEST, message)
        if level not in levels:
            message = (
                f"Cannot set the log level of {logger} to {level} as it is not a supported log "
                f"level. Valid log levels are {', '.join(levels)}"
            )
            raise alterations.bad_value(LOGGER, name, message)


def _apply(
    request: Request,
    alterations: ConfigChanges,
    persona: Persona,
    kind: int,
    name: str,
    changes: list[Change],
) -> None:
    if kind == TOPIC and not persona.kraft:
        alterations.check_topic_name(name)
        if said := zookeeper_paths.refusal(f"/config/topics/{name}", persona):
            raise alterations.bad_value(TOPIC, name, said)
    elif kind == BROKER:
        alterations.check_broker_id(name)
        odd = next((operation for _, operation, _ in changes if operation not in OPERATIONS), None)
        if persona.kraft and odd is not None:
            raise ApiError(ErrorCode.INVALID_REQUEST, f"Unknown operations type {odd}")
    configs = alterations.current(kind, name)
    for key, operation, value in changes:
        _check_operation(operation)
        if operation == SET:
            configs[key] = value or ""
        elif operation == DELETE:
            configs.pop(key, None)
        else:
            configs[key] = _edited(persona, kind, configs, (key, operation, value))
    if kind == TOPIC and persona.kraft:
        alterations.check_topic_name(name)
    validate_only = bool(request.body["validate_only"])
    alterations.change(kind, name, configs, validate_only=validate_only)


def _edited(persona: Persona, kind: int, configs: dict[str, str], change: Change) -> str:
    """A list with elements put in or taken out, starting from the default where it is not set."""
    key, operation, value = change
    release, kraft = persona.release, persona.kraft
    tables = {TOPIC: config_view.topic_definitions, BROKER: config_view.broker_definitions}
    definition = tables[kind](release).get(key) if kind in tables else None
    if definition is None or definition.type != "LIST":
        verb = VERBS[operation]
        if kraft:
            message = f"Can't {verb.upper()} to key {key} because its type is not LIST."
            raise ApiError(ErrorCode.INVALID_CONFIG, message)
        message = f"Config value {verb} is not allowed for config key: {key}"
        raise ApiError(ErrorCode.INVALID_REQUEST, message)
    held = configs.get(key, definition.default) or ""
    parts = [part.strip() for part in held.split(",") if part.strip()]
    given = [part.strip() for part in (value or "").split(",") if part.strip()]
    if operation == APPEND:
        parts += [part for part in given if not (kraft and part in parts)]
    elif kraft:
        parts = [part for part in parts if part not in given]
    else:
        for part in given:  # one occurrence each
            if part in parts:
                parts.remove(part)
    return ",".join(parts)
